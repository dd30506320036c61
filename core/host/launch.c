/* SPDX-License-Identifier: MIT */
/* Executes mpirun or srun for a plugin that needs MPI. */
#include "core/host/child.h"

#include "core/host/rank_process.h"
#include "lib/wire/mpi_program.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Without the variables of an MPI job that this program itself may be part of. */
static char **make_environment(const struct child_setup *setup)
{
    char **env = NULL;
    for (char **entry = environ; *entry; entry++) {
        bool is_inherited = false;
        for (const char *const *prefix = orch_mpi_inherited; *prefix; prefix++)
            is_inherited = is_inherited || g_str_has_prefix(*entry, *prefix);
        g_autofree char *name = g_strndup(*entry, strcspn(*entry, "="));
        if (!is_inherited)
            env = g_environ_setenv(env, name, *entry + MIN(strlen(*entry), strlen(name) + 1), TRUE);
    }
    for (char **entry = setup->trial->env; entry && *entry; entry++) {
        g_autofree char *name = g_strndup(*entry, strcspn(*entry, "="));
        env = g_environ_setenv(env, name, *entry + strlen(name) + 1, TRUE);
    }
    g_autofree char *start = g_strdup_printf("%" G_GINT64_FORMAT, setup->start_ns);
    env = g_environ_setenv(env, "ORCH_RUN", setup->trial->key, TRUE);
    env = g_environ_setenv(env, ORCH_RANK_TRIAL, setup->trial_dir, TRUE);
    env = orch_opened_files_environment(setup->opened, env);
    env = g_environ_setenv(env, ORCH_RANK_LINK, setup->link, TRUE);
    return g_environ_setenv(env, ORCH_RANK_START, start, TRUE);
}

void orch_launch_main(const struct child_setup *setup)
{
    struct orch_mpi_launcher launcher;
    if (!orch_mpi_find(&launcher))
        orch_child_skip(ORCH_MPI_NO_PROGRAM);
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    char **words = orch_mpi_command(&launcher, setup->trial->ranks, geteuid() == 0,
                                    program ? program : setup->argv[0], ORCH_RANK_OPTION);
    environ = make_environment(setup);
    execv(words[0], words);
    int saved = errno;
    g_autofree char *text = g_strdup_printf("cannot start '%s': %s", words[0], g_strerror(saved));
    orch_child_fail(text);
}
