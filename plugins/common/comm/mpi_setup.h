/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting MPI so that it uses the algorithm that was asked for. */
#ifndef ORCH_PLUGINS_COMMON_COMM_MPI_SETUP_H
#define ORCH_PLUGINS_COMMON_COMM_MPI_SETUP_H

#include "plugins/common/comm/collective.h"

#include <glib.h>
#include <stdbool.h>

/** Tells this rank's MPI which all-reduce to use, calls MPI_Init_thread, checks that Open MPI took
 * the algorithm, and opens `comm`, with nodes of at most `per_node` workers (0: those of a
 * machine). MPI may then be used by any thread, one at a time. Fails where the library is not Open
 * MPI and the algorithm is one of Open MPI's. Even then MPI has been started: end with
 * orch_mpi_end. */
bool orch_mpi_start(const struct orch_comm_algorithm *algorithm, int per_node,
                    struct orch_comm *comm, GError **error);
/** Closes `comm` and calls MPI_Finalize, which waits for all ranks: not where another rank may have
 * stopped halfway. */
void orch_mpi_end(struct orch_comm *comm);

/** Sets `error` to MPI's text for `code` and what failed. Returns code == MPI_SUCCESS. */
bool orch_mpi_ok(int code, const char *what, GError **error);

#endif
