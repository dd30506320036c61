/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open MPI reads its parameters from the environment in MPI_Init of each process; that it took one
 * is asked of MPI's tool interface (MPI 3.1, chapter 14.3). */
#include "plugins/common/comm/mpi_setup.h"

#include "lib/base/error.h"

#include <string.h>

bool orch_mpi_ok(int code, const char *what, GError **error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "MPI: %s failed: %s", what, text);
    return false;
}

static bool is_open_mpi(char *out_name)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    g_strlcpy(out_name, text, 64);
    out_name[strcspn(out_name, ",\n")] = '\0';
    return strstr(text, "Open MPI") != NULL;
}

/* Before MPI, NCCL and LibTorch, which start threads. Segments of 1 MiB are Open MPI's own choice
 * for rings. A waiting rank gives its processor away: the communication thread shares it with the
 * computing one. */
static void set_environment(const struct orch_comm_algorithm *a)
{
    g_autofree char *number = g_strdup_printf("%d", a->open_mpi);
    g_setenv("OMPI_MCA_mpi_yield_when_idle", "1", TRUE);
    if (a->nccl && *a->nccl)
        g_setenv("NCCL_ALGO", a->nccl, TRUE);
    if (!a->open_mpi)
        return;
    g_setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", TRUE);
    g_setenv("OMPI_MCA_coll_tuned_allreduce_algorithm", number, TRUE);
    g_setenv("OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize", "1048576", TRUE);
}

/* The value of an integer parameter of the library; -1: it has none of that name. */
static int read_parameter(const char *name)
{
    int provided, index, count, value = -1;
    MPI_T_cvar_handle handle;
    if (MPI_T_init_thread(MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return -1;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        int values[16] = {-1};
        if (count <= (int)G_N_ELEMENTS(values) && MPI_T_cvar_read(handle, values) == MPI_SUCCESS)
            value = values[0];
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return value;
}

static bool check_algorithm(const struct orch_comm_algorithm *a, bool is_open, const char *library,
                            GError **error)
{
    const int taken =
        a->open_mpi && is_open ? read_parameter("coll_tuned_allreduce_algorithm") : a->open_mpi;
    if (a->open_mpi && !is_open)
        orch_error_set(
            error, ORCH_ERROR_TRIAL, "set algorithm: auto or hierarchical, or install Open MPI",
            "algorithm '%s': orch can choose the algorithm of Open MPI only, and this is %s",
            a->name, library);
    else if (taken != a->open_mpi)
        orch_error_set(error, ORCH_ERROR_TRIAL, "set algorithm: auto or hierarchical",
                       "algorithm '%s': %s did not accept coll_tuned_allreduce_algorithm = %d, its "
                       "value is %d",
                       a->name, library, a->open_mpi, taken);
    else
        return true;
    return false;
}

static int open_comm(struct orch_comm *comm, const struct orch_comm_algorithm *algorithm,
                     int per_node)
{
    const int code = orch_comm_open(comm, algorithm);
    return code == MPI_SUCCESS && per_node > 0 ? orch_comm_divide_nodes(comm, per_node) : code;
}

bool orch_mpi_start(const struct orch_comm_algorithm *algorithm, int per_node,
                    struct orch_comm *comm, GError **error)
{
    char library[64];
    int provided;
    const bool is_open = is_open_mpi(library);
    set_environment(algorithm);
    if (!orch_mpi_ok(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided), "MPI_Init",
                     error) ||
        !orch_mpi_ok(open_comm(comm, algorithm, per_node), "making the communicators", error))
        return false;
    if (provided < MPI_THREAD_SERIALIZED) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "%s does not let a thread communicate while another computes "
                       "(MPI_THREAD_SERIALIZED)",
                       library);
        return false;
    }
    return comm->ranks == 1 || check_algorithm(algorithm, is_open, library, error);
}

void orch_mpi_end(struct orch_comm *comm)
{
    int is_started, is_ended;
    MPI_Initialized(&is_started);
    MPI_Finalized(&is_ended);
    if (!is_started || is_ended)
        return;
    orch_comm_close(comm);
    MPI_Finalize();
}
