/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/find.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct log_options {
    bool follow, out, err;
};

static const struct orch_option OPTIONS[] = {
    {"follow", 'f', NULL, ORCH_OPT_FLAG, offsetof(struct log_options, follow),
     "go on until the trial ends"},
    {"stdout", 0, NULL, ORCH_OPT_FLAG, offsetof(struct log_options, out),
     "only its standard output"},
    {"stderr", 0, NULL, ORCH_OPT_FLAG, offsetof(struct log_options, err),
     "only its standard error"},
    {0}};

/* Copies what a descriptor has to stdout. */
static void copy_all(int fd)
{
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        fwrite(buffer, 1, (size_t)n, stdout);
}

static bool is_wanted(const struct log_options *o, const char *name)
{
    if (o->out || o->err)
        return (o->out && strcmp(name, "stdout") == 0) || (o->err && strcmp(name, "stderr") == 0);
    return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0 || strcmp(name, "log") == 0;
}

static void follow_active(const struct orch_active_row *row, const struct log_options *o,
                          struct orch_store *store)
{
    static const char *const names[] = {"stdout", "stderr"};
    int fds[2] = {-1, -1};
    bool alive = true;
    do {
        alive = orch_process_is_alive(&row->runner) && access(row->trial_dir, F_OK) == 0;
        for (int i = 0; i < 2; i++) {
            g_autofree char *path = g_build_filename(row->trial_dir, names[i], NULL);
            if (fds[i] < 0 && is_wanted(o, names[i]))
                fds[i] = open(path, O_RDONLY | O_CLOEXEC);
            if (fds[i] >= 0)
                copy_all(fds[i]);
        }
        fflush(stdout);
        if (o->follow && alive)
            g_usleep(100000);
    } while (o->follow && alive && !ferror(stdout));
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    (void)store;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct log_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (!store)
        return -1;
    struct orch_active_row *active = orch_cli_find_active(store, cli->args[0]);
    if (active) {
        follow_active(active, o, store);
        orch_active_row_free(active);
        return ORCH_EXIT_OK;
    }
    struct orch_run *run = orch_store_run(store, cli->args[0], error);
    g_autoptr(GPtrArray) artifacts = run ? orch_store_artifacts(store, run->id, error) : NULL;
    if (!artifacts) {
        orch_run_free(run);
        return -1;
    }
    bool any = false, several = !o->out && !o->err;
    for (guint i = 0; i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        if (!is_wanted(o, artifact->name))
            continue;
        g_autofree char *path = orch_store_object_path(store, artifact->sha256);
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (several && artifacts->len > 1 && cli->stdout_is_tty)
            printf("--- %s\n", artifact->name);
        if (fd >= 0) {
            copy_all(fd);
            close(fd);
        } else {
            orch_cli_warn(cli, "the %s of run %s is not on this machine", artifact->name,
                          orch_cli_short_key(run->key));
        }
        any = true;
    }
    if (!any)
        orch_cli_say(cli, "run %s printed nothing", orch_cli_short_key(run->key));
    if (run->reason)
        orch_cli_say(cli, "%s: %s", run->state, run->reason);
    orch_run_free(run);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_LOG = {
    .name = "log",
    .group = "Looking",
    .summary = "what a trial printed",
    .usage = "RUN",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct log_options),
    .examples = "  orch log @last\n  orch log 3f2a91c0 -f",
    .run = run,
};
