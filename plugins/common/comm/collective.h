/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over all workers by MPI, with a chosen algorithm. No GLib and no LibTorch here: the same
 * file is compiled for MPI and for SimGrid's SMPI.
 *
 * Open MPI is told its algorithm by orch_mpi_start (mpi_setup.h), SMPI by its options; both then
 * apply it to every MPI_Allreduce. The hierarchical one is composed here. */
#ifndef ORCH_PLUGINS_COMMON_COMM_COLLECTIVE_H
#define ORCH_PLUGINS_COMMON_COMM_COLLECTIVE_H

#include "plugins/common/comm/algorithms.h"

#include <mpi.h>

/** The workers of a trial. */
struct orch_comm {
    const struct orch_comm_algorithm *algorithm;
    int rank, ranks;
    int node_rank;                /* among the workers of this node, from 0 */
    struct orch_comm_shape shape; /* per_node: workers of the node that has most */
    MPI_Comm world;               /* a copy of MPI_COMM_WORLD that returns errors */
    MPI_Comm node, leaders;       /* workers of this node; rank 0 of each node, else null */
    int local;                    /* workers of the machine that has most */
};

/** Makes the communicators; collective. Returns MPI_SUCCESS or MPI's error code. End with
 * orch_comm_close. */
int orch_comm_open(struct orch_comm *comm, const struct orch_comm_algorithm *algorithm);
/** Makes a node of the workers with the same `node` >= 0, whichever machine they are on. The
 * workers of orch_comm_open's nodes are those of a machine. Collective; as orch_comm_open. */
int orch_comm_set_node(struct orch_comm *comm, int node);
/** Makes nodes of `workers` > 0 workers at most, each on one machine. As orch_comm_set_node. */
int orch_comm_divide_nodes(struct orch_comm *comm, int workers);
/** Frees the communicators; collective. Zeroed memory is allowed. */
void orch_comm_close(struct orch_comm *comm);

/** Replaces `count` values of `data` by `op` over all workers; collective. Returns MPI_SUCCESS or
 * MPI's error code. `count` may exceed the range of int. */
int orch_comm_reduce(const struct orch_comm *comm, void *data, size_t count, MPI_Datatype type,
                     MPI_Op op);

#endif
