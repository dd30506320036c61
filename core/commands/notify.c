/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/commands/notify.h"

#include "core/results/selection.h"
#include "lib/base/json.h"
#include "lib/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 60 };

static const char *state_of(int status)
{
    static const struct {
        int status;
        const char *state;
    } rows[] = {{ORCH_EXIT_OK, "ok"},
                {ORCH_EXIT_TRIAL, "failed"},
                {ORCH_EXIT_BUDGET, "stopped by a limit"},
                {ORCH_EXIT_INTERRUPTED, "interrupted"},
                {ORCH_EXIT_TERMINATED, "terminated"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].status == status)
            return rows[i].state;
    return "error";
}

/* Counts the runs of the recipe that started since `started_ns`, by state. New reference. */
static json_t *count_runs(struct orch_cli *cli, const char *recipe, int64_t started_ns)
{
    json_t *counts = json_object();
    const struct orch_selection selection = {.recipe = recipe, .limit = 100000};
    struct orch_store *store = cli->workspace ? cli->workspace->store : NULL;
    g_autoptr(GPtrArray) runs = store ? orch_selection_runs(&selection, store, NULL, NULL) : NULL;
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (run->started_ns >= started_ns)
            json_object_set_new(counts, run->state,
                                json_integer(orch_json_int(counts, run->state, 0) + 1));
    }
    return counts;
}

/* Waits for the command, then kills the remaining processes of its group. Returns its exit status,
 * or -1 when it took longer than LIMIT_S. */
static int wait_for(pid_t pid)
{
    int64_t until = orch_mono_ns() + LIMIT_S * INT64_C(1000000000);
    const struct timespec moment = {0, 10000000};
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && orch_mono_ns() < until)
        nanosleep(&moment, NULL);
    kill(-pid, SIGKILL);
    if (ended == 0)
        waitpid(pid, &status, 0);
    return ended == 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_command(const char *command, char **env, const char *text)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return errno;
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct orch_spawn program = {
        .argv = argv,
        .fds = {fds[0], 2, -1}, /* stdout is reserved for orch's own output */
        .environment = env,
    };
    pid_t pid;
    /* the summary fits into the pipe, which is filled before the command starts reading */
    bool written = write(fds[1], text, strlen(text)) == (ssize_t)strlen(text);
    close(fds[1]);
    int code = written ? orch_spawn(&program, &pid) : EIO;
    close(fds[0]);
    return code ? 127 : wait_for(pid);
}

void orch_cli_notify_end(struct orch_cli *cli, const char *command, const char *recipe, int status,
                         const GError *problem, int64_t started_ns)
{
    const char *chosen = command ? command : g_getenv("ORCH_NOTIFY");
    if (!chosen || !*chosen)
        return;
    g_autofree char *error =
        problem ? g_utf8_make_valid(problem->message, (gssize)strnlen(problem->message, 2000))
                : NULL;
    g_autoptr(json_t) summary =
        json_pack("{s:s s:s s:i s:s? s:o s:s? s:o}", "recipe", recipe, "state", state_of(status),
                  "status", status, "error", error, "seconds",
                  orch_json_finite((double)(orch_now_ns() - started_ns) / 1e9), "store",
                  cli->workspace ? cli->workspace->db_path : NULL, "runs",
                  count_runs(cli, recipe, started_ns));
    g_autofree char *canonical = orch_json_canonical(summary);
    g_autofree char *text = g_strconcat(canonical ? canonical : "{}", "\n", NULL);
    g_autofree char *number = g_strdup_printf("%d", status);
    g_auto(GStrv) env = g_environ_setenv(g_strdupv(environ), "ORCH_RECIPE", recipe, TRUE);
    env = g_environ_setenv(env, "ORCH_STATE", state_of(status), TRUE);
    env = g_environ_setenv(env, "ORCH_STATUS", number, TRUE);
    int code = run_command(chosen, env, text);
    if (code < 0)
        orch_cli_warn(cli, "the command of --notify was ended after %d s", LIMIT_S);
    else if (code)
        orch_cli_warn(cli, "the command of --notify failed with exit status %d", code);
}
