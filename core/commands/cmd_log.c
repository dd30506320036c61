/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/plan/executor.h"

#include "core/results/run_named.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct log_options {
    bool follow, out, err;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct log_options, follow, FLAG, "follow", .letter = 'f',
                .help = "follow the output until the trial ends"),
    ORCH_OPTION(struct log_options, out, FLAG, "stdout", .help = "only its standard output"),
    ORCH_OPTION(struct log_options, err, FLAG, "stderr", .help = "only its standard error"),
    {0}};

/* Returns the length of the buffer without an incomplete last character, which may continue in the
 * next buffer. */
static size_t whole_characters(const char *text, size_t length)
{
    for (size_t back = 1; back <= 3 && back <= length; back++)
        if ((unsigned char)text[length - back] >= 0xc2)
            return length - back;
    return length;
}

/* Copies a descriptor to stdout. On a terminal control sequences are neutralised, because merged
 * runs are untrusted. */
static void copy_all(int fd, bool for_terminal)
{
    char buffer[65536 + 1];
    size_t kept = 0;
    ssize_t n;
    while ((n = read(fd, buffer + kept, sizeof buffer - 1 - kept)) > 0) {
        size_t length = kept + (size_t)n;
        size_t whole = for_terminal ? whole_characters(buffer, length) : length;
        if (for_terminal)
            orch_cli_write_plain(buffer, whole);
        else
            fwrite(buffer, 1, whole, stdout);
        kept = length - whole;
        memmove(buffer, buffer + whole, kept);
    }
    orch_cli_write_plain(buffer, kept); /* an incomplete character, if any */
}

static bool is_wanted(const struct log_options *o, const char *name)
{
    if (o->out || o->err)
        return (o->out && strcmp(name, "stdout") == 0) || (o->err && strcmp(name, "stderr") == 0);
    return strcmp(name, "stdout") == 0 || strcmp(name, "stderr") == 0 || strcmp(name, "log") == 0;
}

/* Returns false when the trial has ended and there was nothing to copy. */
static bool follow_active(const struct orch_active_row *row, const struct log_options *o,
                          bool for_terminal)
{
    static const char *const names[] = {"stdout", "stderr"};
    int fds[2] = {-1, -1};
    bool alive = true, any = false;
    do {
        alive = orch_active_is_alive(row) && access(row->trial_dir, F_OK) == 0;
        for (int i = 0; i < 2; i++) {
            g_autofree char *path = g_build_filename(row->trial_dir, names[i], NULL);
            if (fds[i] < 0 && is_wanted(o, names[i]))
                fds[i] = orch_file_open(path, NULL);
            if (fds[i] >= 0)
                copy_all(fds[i], for_terminal);
        }
        fflush(stdout);
        if (o->follow && alive)
            g_usleep(100000);
    } while (o->follow && alive && !ferror(stdout));
    for (int i = 0; i < 2; i++) {
        any = any || fds[i] >= 0;
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return any || alive;
}

/* Prints one captured output of an ended run. */
static void print_output(struct orch_cli *cli, const struct orch_run *run,
                         const struct orch_run_output *output, bool with_head)
{
    int fd = output->path ? orch_file_open(output->path, NULL) : -1;
    if (with_head)
        orch_cli_print("--- %s", output->name);
    if (fd >= 0) {
        copy_all(fd, cli->stdout_is_tty);
        close(fd);
    } else {
        orch_cli_warn(cli, "the %s of run %s is not on this machine", output->name,
                      orch_run_short_key(run->key));
    }
}

static int print_ended(struct orch_cli *cli, struct orch_store *store, const struct orch_run *run,
                       const struct log_options *o, GError **error)
{
    g_autoptr(GPtrArray) outputs = orch_run_outputs(store, run, error);
    if (!outputs)
        return -1;
    bool any = false, several = !o->out && !o->err && outputs->len > 1 && cli->stdout_is_tty;
    for (guint i = 0; i < outputs->len; i++) {
        const struct orch_run_output *output = outputs->pdata[i];
        if (!is_wanted(o, output->name))
            continue;
        print_output(cli, run, output, several);
        any = true;
    }
    if (!any)
        orch_cli_info(cli, "run %s printed nothing", orch_run_short_key(run->key));
    if (run->reason)
        orch_cli_info(cli, "%s: %s", run->state, run->reason);
    return ORCH_EXIT_OK;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct log_options *o = options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_named_run named;
    if (!store || !orch_named_run_find(store, cli->args[0], o->follow, &named, error))
        return -1;
    int status = -1;
    if (named.trial && follow_active(named.trial, o, cli->stdout_is_tty)) {
        status = ORCH_EXIT_OK;
    } else if (named.trial) { /* it has ended meanwhile */
        const char *const keys[] = {named.trial->key};
        g_autoptr(GPtrArray) ended = orch_named_runs(store, keys, 1, error);
        status = ended ? print_ended(cli, store, ended->pdata[0], o, error) : -1;
    } else {
        status = print_ended(cli, store, named.run, o, error);
    }
    orch_named_run_clear(&named);
    return status;
}

const struct orch_command ORCH_COMMAND_LOG = {
    .name = "log",
    .group = "Look at results",
    .pages = true,
    .is_listed = true,
    .summary = "print the output of a trial",
    .usage = "RUN",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct log_options),
    .about = "With -f, @last is the newest running trial, or the last run if no trial is running.",
    .examples = "  orch log @last\n  orch log -f @last\n  orch log 3f2a91c0 -f",
    .run = run,
};
