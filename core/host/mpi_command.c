/* SPDX-License-Identifier: MIT */
#include "core/host/mpi_command.h"

#include "lib/base/subprocess.h"
#include "lib/wire/mpi_program.h"

#include <string.h>

enum { RANKS_MAX = 65536, VERSION_S = 30 };

/* ---- the launcher -----------------------------------------------------------------------------
 */

enum orch_mpi_kind orch_mpi_kind_of_version(const char *text)
{
    bool is_open = strstr(text, "Open MPI") || strstr(text, "OpenRTE") || strstr(text, "PRRTE");
    return is_open ? ORCH_MPI_OPEN_MPI : ORCH_MPI_HYDRA;
}

static enum orch_mpi_kind kind_of(const char *mpirun)
{
    const char *const words[] = {mpirun, "--version", NULL};
    const struct orch_subprocess command = {.argv = words, .timeout_s = VERSION_S};
    struct orch_subprocess_end end;
    if (!orch_subprocess_run(&command, &end, NULL))
        return orch_mpi_kind_of_version("");
    enum orch_mpi_kind kind = orch_mpi_kind_of_version(end.out->str);
    orch_subprocess_end_clear(&end);
    return kind;
}

bool orch_mpi_find(struct orch_mpi_launcher *out)
{
    bool is_srun;
    *out = (struct orch_mpi_launcher){.node = g_getenv("SLURMD_NODENAME"),
                                      .path = orch_mpi_program(&is_srun)};
    if (out->path)
        out->kind = is_srun ? ORCH_MPI_SRUN : kind_of(out->path);
    return out->kind != ORCH_MPI_NONE;
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* The host has pinned the trial to the CPUs of its slot. Open MPI would otherwise bind the first
 * ranks of every trial to the same cores. A rank that ends badly ends the others. */
static const struct {
    const char *count;
    const char *options[5];
    const char *for_root[2];
} LAUNCHERS[] = {
    [ORCH_MPI_OPEN_MPI] = {"-n", {"--oversubscribe", "--bind-to", "none"}, {"--allow-run-as-root"}},
    [ORCH_MPI_HYDRA] = {"-n", {NULL}, {NULL}},
    [ORCH_MPI_SRUN] = {"-n",
                       {"--nodes=1", "--overlap", "--kill-on-bad-exit=1", "--cpu-bind=none"},
                       {NULL}},
};

char **orch_mpi_command(const struct orch_mpi_launcher *launcher, unsigned ranks, bool is_root,
                        const char *program, const char *argument)
{
    GPtrArray *words = g_ptr_array_new();
    g_ptr_array_add(words, g_strdup(launcher->path));
    for (const char *const *option = LAUNCHERS[launcher->kind].options; *option; option++)
        g_ptr_array_add(words, g_strdup(*option));
    for (const char *const *option = LAUNCHERS[launcher->kind].for_root; is_root && *option;
         option++)
        g_ptr_array_add(words, g_strdup(*option));
    if (launcher->kind == ORCH_MPI_SRUN && launcher->node)
        g_ptr_array_add(words, g_strconcat("--nodelist=", launcher->node, NULL));
    g_ptr_array_add(words, g_strdup(LAUNCHERS[launcher->kind].count));
    g_ptr_array_add(words, g_strdup_printf("%u", ranks));
    g_ptr_array_add(words, g_strdup(program));
    g_ptr_array_add(words, g_strdup(argument));
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* ---- the rank ---------------------------------------------------------------------------------
 */

const char *const orch_mpi_inherited[] = {
    "OMPI_COMM_WORLD_", "OMPI_UNIVERSE_", "PMI_", "PMIX_", "MPI_LOCAL", NULL};

static const struct {
    const char *number, *count, *local_number, *local_count;
} IDENTITIES[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL},
};

static bool read_number(char *const *environment, const char *name, unsigned *out)
{
    const char *text = name ? g_environ_getenv((char **)(uintptr_t)environment, name) : NULL;
    guint64 number;
    if (!text || !g_ascii_string_to_unsigned(text, 10, 0, RANKS_MAX, &number, NULL))
        return false;
    *out = (unsigned)number;
    return true;
}

bool orch_rank_read(char *const *environment, struct orch_rank *out)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(IDENTITIES); i++) {
        struct orch_rank rank;
        if (!read_number(environment, IDENTITIES[i].number, &rank.number) ||
            !read_number(environment, IDENTITIES[i].count, &rank.count) ||
            rank.number >= rank.count)
            continue;
        if (!read_number(environment, IDENTITIES[i].local_number, &rank.local_number))
            rank.local_number = rank.number;
        if (!read_number(environment, IDENTITIES[i].local_count, &rank.local_count))
            rank.local_count = rank.count;
        *out = rank;
        return true;
    }
    return false;
}
