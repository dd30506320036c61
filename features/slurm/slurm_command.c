/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_command.h"

#include "lib/base/error.h"
#include "lib/base/subprocess.h"

#include <stdio.h>
#include <string.h>

enum { ASK_S = 20, CHANGE_S = 60 };

/* Set by users, not by a job. */
static bool is_setting(const char *name)
{
    static const char *const settings[] = {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS",
                                           "SLURM_JWT", NULL};
    return g_strv_contains(settings, name);
}

/* Options of an enclosing job (srun, salloc) would apply to the new job, too. */
static char **make_environment(void)
{
    char **env = g_get_environ();
    g_auto(GStrv) names = g_listenv();
    for (char **name = names; *name; name++)
        if (g_str_has_prefix(*name, "SLURM_") && !is_setting(*name))
            env = g_environ_unsetenv(env, *name);
    return env;
}

/* The controller may be busy; one that submits waits longer, because whether its job was accepted
 * would be unknown. */
static double limit_s(const char *program)
{
    static const char *const changing[] = {"sbatch", "scancel", NULL};
    return g_strv_contains(changing, program) ? CHANGE_S : ASK_S;
}

int orch_slurm_run(const char *const *argv, char **out, char **err, GError **error)
{
    g_auto(GStrv) env = make_environment();
    GError *problem = NULL;
    struct orch_subprocess_end end;
    const struct orch_subprocess command = {
        .argv = argv, .environment = env, .timeout_s = limit_s(argv[0])};
    *out = *err = NULL;
    if (orch_subprocess_run(&command, &end, &problem)) {
        int status = end.status;
        *out = g_string_free(g_steal_pointer(&end.out), FALSE);
        *err = g_steal_pointer(&end.err);
        orch_subprocess_end_clear(&end);
        return status;
    }
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND)) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "run orch on a login node of the cluster", "%s",
                       problem->message);
        g_error_free(problem);
    } else {
        g_propagate_error(error, problem);
    }
    return -1;
}

char *orch_slurm_complaint(const char *err)
{
    static const char *const marks[] = {": error: ", ": fatal: "};
    g_autofree char *copy = g_strdup(err ? err : "");
    g_strstrip(copy);
    const char *last = strrchr(copy, '\n') ? strrchr(copy, '\n') + 1 : copy;
    for (unsigned i = 0; i < G_N_ELEMENTS(marks); i++) {
        const char *at = strstr(last, marks[i]);
        last = at ? at + strlen(marks[i]) : last;
    }
    return *last ? g_utf8_make_valid(last, -1) : g_strdup("the program gave no reason");
}

bool orch_slurm_limits_ask(struct orch_slurm_limits *out, GError **error)
{
    static const char *const argv[] = {"scontrol", "show", "config", NULL};
    g_autofree char *text = NULL, *err = NULL;
    int status = orch_slurm_run(argv, &text, &err, error);
    const char *at = status == 0 ? strstr(text, "MaxArraySize") : NULL;
    if (status < 0)
        return false;
    if (at && sscanf(at, "MaxArraySize = %u", &out->array_size) == 1 && out->array_size > 0)
        return true;
    g_autofree char *complaint = orch_slurm_complaint(err);
    orch_error_set(error, ORCH_ERROR_IO, "'scontrol ping' shows whether the controller answers",
                   at || status == 0 ? "'scontrol show config' shows no valid MaxArraySize"
                                     : "cannot ask Slurm for its limits: %s",
                   complaint);
    return false;
}
