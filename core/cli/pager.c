/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/pager.h"

#include "lib/base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process of the pager, or 0: a part of the state of stdout, which is the process's own, too.
 */
static volatile pid_t pager;

int orch_terminal_columns(int fd)
{
    enum { LEAST = 20, MOST = 10000 };
    struct winsize size;
    int64_t given;
    bool is_terminal = isatty(fd) || (fd == STDOUT_FILENO && pager > 0);
    const char *columns = g_getenv("COLUMNS");
    if (is_terminal && columns && orch_int_parse(columns, &given) && given >= LEAST &&
        given <= MOST)
        return (int)given;
    return is_terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST ? size.ws_col
                                                                                    : 0;
}

static const char *program(void)
{
    static const char *const names[] = {"ORCH_PAGER", "PAGER"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *text = g_getenv(names[i]);
        if (text)
            return *text && strcmp(text, "cat") != 0 ? text : NULL;
    }
    g_autofree char *less = g_find_program_in_path("less");
    return less ? "less" : NULL;
}

static void wait_for_pager(void)
{
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && pager > 0)
        if (errno != EINTR)
            break;
}

/* Ctrl-C ends orch, and the pager is left by its own key: it has the terminal. */
static void on_interrupt(int signal_number)
{
    wait_for_pager();
    _exit(128 + signal_number);
}

void orch_pager_start(const struct orch_cli *cli)
{
    const char *text = cli->stdout_is_tty && !cli->no_pager && cli->command->pages &&
                               !orch_cli_is_given(cli, "follow")
                           ? program()
                           : NULL;
    if (!text)
        return;
    g_autofree char *width = g_strdup_printf("%d", orch_terminal_columns(STDOUT_FILENO));
    char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t)text, NULL};
    g_auto(GStrv) environment = g_get_environ();
    /* F: what fits on one screen is only printed; R: colours; X: it stays on the screen */
    environment = g_environ_setenv(environment, "LESS", "FRX", FALSE);
    environment = g_environ_setenv(environment, "LV", "-c", FALSE);
    GPid pid;
    int in;
    if (!g_spawn_async_with_pipes(NULL, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                  &pid, &in, NULL, NULL, NULL))
        return;
    fflush(stdout);
    dup2(in, STDOUT_FILENO);
    if (cli->stderr_is_tty)
        dup2(in, STDERR_FILENO);
    close(in);
    pager = pid;
    if (strcmp(width, "0") != 0)
        g_setenv("COLUMNS", width, TRUE);
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
}

void orch_pager_end(void)
{
    if (!pager)
        return;
    fflush(stderr);
    wait_for_pager();
}
