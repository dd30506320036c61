/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_PLUGINS_COMMON_COMM_NO_MPI_H
#define ORCH_PLUGINS_COMMON_COMM_NO_MPI_H

#include "lib/base/program_parts.h"

#include <glib.h>

/* What a plugin says that was built without MPI, and what adds it. The caller frees. */
static inline char *orch_no_mpi(void)
{
    return g_strdup_printf("this orch was built without MPI: %s", orch_program_way(ORCH_PART_MPI));
}

#endif
