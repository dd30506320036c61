/* SPDX-License-Identifier: MIT */
/* The program that starts the ranks of plugins with needs.mpi. */
#ifndef ORCH_WIRE_MPI_PROGRAM_H
#define ORCH_WIRE_MPI_PROGRAM_H

#include <stdbool.h>

/** Finds srun on the PATH inside of a Slurm allocation ($SLURM_JOB_ID), else mpirun. NULL when
 * there is neither. The caller frees. */
char *orch_mpi_program(bool *out_is_srun);

/** What to tell the user when there is none. */
#define ORCH_MPI_NO_PROGRAM                                                                        \
    "it needs MPI, and there is no mpirun on the PATH: install Open MPI (Debian: apt-get install " \
    "openmpi-bin) or load the cluster's MPI module"

#endif
