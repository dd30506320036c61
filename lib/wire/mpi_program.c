/* SPDX-License-Identifier: MIT */
#include "lib/wire/mpi_program.h"

#include <glib.h>

char *orch_mpi_program(bool *out_is_srun)
{
    const char *slurm_job = g_getenv("SLURM_JOB_ID");
    char *srun = slurm_job && *slurm_job ? g_find_program_in_path("srun") : NULL;
    *out_is_srun = srun;
    return srun ? srun : g_find_program_in_path("mpirun");
}
