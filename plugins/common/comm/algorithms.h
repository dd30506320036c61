/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The all-reduce algorithms that orch can choose, under which name each library has them, and their
 * cost in the alpha-beta model: an all-reduce of S bytes takes `messages` * alpha + `volume` * S *
 * beta seconds, with alpha the latency of a message in seconds and beta the seconds per byte of a
 * link (1 / bandwidth). No MPI, GLib or LibTorch here: the same file is compiled for measured and
 * for simulated clusters. Sources: Thakur, Rabenseifner and Gropp 2005 (recursive doubling,
 * Rabenseifner); Patarasuk and Yuan 2009 (ring); Open MPI 4.1, ompi/mca/coll/base. */
#ifndef ORCH_PLUGINS_COMMON_COMM_ALGORITHMS_H
#define ORCH_PLUGINS_COMMON_COMM_ALGORITHMS_H

#include <stdbool.h>
#include <stddef.h>

/** Who takes part: `workers` > 0 in all, at most `per_node` > 0 of them on one machine. */
struct orch_comm_shape {
    int workers, per_node;
};

/** Coefficients of alpha and of bytes * beta, see above. */
struct orch_comm_cost {
    double messages, volume;
};

struct orch_comm_algorithm {
    const char *name;       /* orch's: "ring" */
    const char *assignment; /* what TensorFlow and the assignments call it */
    int open_mpi;           /* coll_tuned_allreduce_algorithm; 0: Open MPI's own decision */
    bool is_hierarchical;   /* composed by orch from communicators of a node and of the leaders */
    /* Algorithms of SimGrid for --cfg=smpi/allreduce:X, smpi/reduce:X and smpi/bcast:X; NULL: the
     * option is not given. */
    const char *smpi, *smpi_reduce, *smpi_bcast;
    const char *nccl;    /* value of NCCL_ALGO; NULL: NCCL does not have it; "": its own choice */
    const char *formula; /* of the time, in n workers, a (alpha), S bytes, B bytes a second; NULL */
    struct orch_comm_cost (*cost)(struct orch_comm_shape shape); /* NULL: no formula */
    /* The same for NCCL, whose trees and chains are pipelined; NULL: as above */
    const char *nccl_formula;
    struct orch_comm_cost (*nccl_cost)(struct orch_comm_shape shape);
};

/** All algorithms, `auto` first. */
extern const struct orch_comm_algorithm orch_comm_algorithms[];
extern const size_t orch_comm_algorithm_count;
/** Their names, NULL-terminated: the choices of a parameter. */
extern const char *const orch_comm_algorithm_names[];

/** The algorithm of that name, NULL if there is none. */
const struct orch_comm_algorithm *orch_comm_algorithm_find(const char *name);

/** Seconds of an all-reduce of `bytes` in the alpha-beta model: `alpha_s` of a message, `beta_s` of
 * a byte. 0 for one worker. NaN for an algorithm without a formula. */
double orch_comm_seconds(const struct orch_comm_algorithm *algorithm, struct orch_comm_shape shape,
                         double bytes, double alpha_s, double beta_s);

/** 2 (n - 1) / n: bus bandwidth = this * bytes / time, as nccl-tests define it. 0 for one worker.
 */
double orch_comm_bus_factor(int workers);

#endif
