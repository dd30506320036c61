/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_PLUGINS_COMMON_COMM_NEEDS_MPI_H
#define ORCH_PLUGINS_COMMON_COMM_NEEDS_MPI_H

/** `needs.mpi` of a plugin that is linked with orch_comm, or with orch_comm_alone. */
#ifdef ORCH_COMM_ALONE
#define ORCH_COMM_NEEDS_MPI 2
#else
#define ORCH_COMM_NEEDS_MPI 1
#endif

#endif
