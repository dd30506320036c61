/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/notify.h"

#include "lib/base/json.h"
#include "lib/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int orch_cli_start_command(const char *command, char **env, const char *text, pid_t *out_pid)
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
    /* the text fits into the pipe, which is filled before the command starts reading */
    bool written = write(fds[1], text, strlen(text)) == (ssize_t)strlen(text);
    close(fds[1]);
    int code = written ? orch_spawn(&program, out_pid) : EIO;
    close(fds[0]);
    return code;
}

const char *orch_cli_notify_command(const char *option)
{
    const char *chosen = option ? option : g_getenv("ORCH_NOTIFY");
    return chosen && *chosen ? chosen : NULL;
}

void orch_cli_notify_alert(const char *command, const char *recipe, const char *experiment,
                           const char *key, const char *text)
{
    if (!command)
        return;
    g_autoptr(json_t) about = json_pack("{s:s s:s s:s s:s s:s}", "recipe", recipe, "experiment",
                                        experiment, "run", key, "state", "alert", "alert", text);
    g_autofree char *canonical = orch_json_canonical(about);
    g_autofree char *line = g_strconcat(canonical ? canonical : "{}", "\n", NULL);
    g_auto(GStrv) env = g_environ_setenv(g_strdupv(environ), "ORCH_RECIPE", recipe, TRUE);
    env = g_environ_setenv(env, "ORCH_STATE", "alert", TRUE);
    pid_t pid;
    (void)orch_cli_start_command(command, env, line, &pid);
}
