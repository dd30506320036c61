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
    int node_rank;                /* among the workers of this machine, from 0 */
    struct orch_comm_shape shape; /* per_node: workers of the machine that has most */
    MPI_Comm world;               /* a copy of MPI_COMM_WORLD that returns errors */
    MPI_Comm node, leaders;       /* workers of this machine; rank 0 of each machine, else null */
};

/** Makes the communicators; collective. Returns MPI_SUCCESS or MPI's error code. End with
 * orch_comm_close. */
int orch_comm_open(struct orch_comm *comm, const struct orch_comm_algorithm *algorithm);
/** Frees the communicators; collective. Zeroed memory is allowed. */
void orch_comm_close(struct orch_comm *comm);

/** Replaces `count` values of `data` by `op` over all workers; collective. Returns MPI_SUCCESS or
 * MPI's error code. `count` may exceed the range of int. */
int orch_comm_reduce(const struct orch_comm *comm, void *data, size_t count, MPI_Datatype type,
                     MPI_Op op);

#endif
