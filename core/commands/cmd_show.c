/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/parts.h"
#include "core/commands/rerun_command.h"
#include "core/commands/show.h"

#include "core/inputs/left_files.h"
#include "core/results/run_named.h"
#include "core/results/whole_run.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <errno.h>
#include <unistd.h>

struct show_options {
    const char **metrics;
    const char *artifact, *file, *on;
    bool rerun;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct show_options, metrics, LIST, "metric", .letter = 'm', .value = "NAME",
                .help = "print all values of a metric, with their steps"),
    ORCH_OPTION(struct show_options, artifact, TEXT, "artifact", .letter = 'a', .value = "NAME",
                .help = "print an artifact to stdout"),
    ORCH_OPTION(struct show_options, file, TEXT, "file", .value = "PATH",
                .help = "print a file that the run wrote"),
    ORCH_OPTION(struct show_options, on, TEXT, "on", .value = "GPU",
                .help = "forecast a running trial's remaining time as if it ran on this GPU"),
    ORCH_OPTION(struct show_options, rerun, FLAG, "rerun",
                .help = "print the command that runs the same setting again"),
    {0}};

/* Writes all bytes to a file or a pipe; for a terminal control sequences are neutralised. */
static void write_bytes(const struct orch_cli *cli, char *bytes, size_t length)
{
    if (cli->stdout_is_tty)
        orch_cli_write_plain(bytes, length);
    else
        fwrite(bytes, 1, length, stdout);
}

/* Writes such a file to stdout. */
static int show_file(const struct orch_cli *cli, const struct orch_store *store, const char *key,
                     const char *path, GError **error)
{
    char buffer[65536];
    ssize_t n;
    int fd = orch_left_open(store, key, path, error);
    if (fd < 0)
        return -1;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        write_bytes(cli, buffer, (size_t)n);
    if (n < 0)
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot read '%s'", path);
    close(fd);
    return n < 0 ? -1 : ORCH_EXIT_OK;
}

static json_t *as_json(struct orch_cli *cli, struct orch_store *store,
                       const struct orch_whole_run *s, GError **error)
{
    json_t *json = orch_whole_run_json(store, s, error);
    if (!json)
        return NULL;
    const struct orch_subject subject = {.store = store, .run = s->run};
    if (orch_cli_parts_show(cli, &subject, json, error))
        return json;
    json_decref(json);
    return NULL;
}

static void add_points(void *ctx, const struct orch_series *series)
{
    struct orch_table *table = ctx;
    for (size_t j = 0; j < series->count; j++) {
        char text[ORCH_REAL_CHARS];
        orch_table_add(table, series->name, NULL);
        orch_table_add_int(table, series->step[j]);
        orch_table_add_real(table, series->t_ms[j]);
        orch_table_add(table, orch_real_format(series->value[j], text),
                       orch_json_real(series->value[j]));
    }
}

static int show_series(struct orch_cli *cli, struct orch_store *store, const struct orch_run *run,
                       const char **names, GError **error)
{
    static const char *const headers[] = {"metric", ">step", ">t_ms", ">value", NULL};
    struct orch_table *table = orch_table_new(headers);
    if (!orch_run_visit_series(store, run, (const char *const *)names, add_points, table, error)) {
        orch_table_free(table);
        return -1;
    }
    orch_cli_table_print(cli, table, "points");
    return ORCH_EXIT_OK;
}

/* Writes an artifact's bytes to stdout. */
static int show_artifact(struct orch_cli *cli, struct orch_store *store,
                         const struct orch_whole_run *whole, const char *name, GError **error)
{
    size_t length = 0;
    g_autofree char *bytes = orch_whole_run_artifact(store, whole, name, &length, error);
    if (bytes)
        write_bytes(cli, bytes, length);
    return bytes ? ORCH_EXIT_OK : -1;
}

static int show_ended(struct orch_cli *cli, struct orch_store *store, const struct orch_run *run,
                      const struct show_options *o, GError **error)
{
    struct orch_whole_run whole;
    int status = ORCH_EXIT_OK;
    if (!orch_whole_run_read(store, run, &whole, error)) {
        status = -1;
    } else if (o->artifact) {
        status = show_artifact(cli, store, &whole, o->artifact, error);
    } else if (o->file) {
        status = show_file(cli, store, run->key, o->file, error);
    } else if (o->metrics) {
        status = show_series(cli, store, run, o->metrics, error);
    } else if (cli->json) {
        json_t *json = as_json(cli, store, &whole, error);
        if (json)
            orch_cli_print_json(json);
        else
            status = -1;
    } else if (!orch_cli_show_run(cli, store, &whole, error)) {
        status = -1;
    }
    orch_whole_run_clear(&whole);
    return status;
}

/* Prints a command for each run; under --json an object, with the reason where there is none, which
 * is an error otherwise. */
static int show_reruns(struct orch_cli *cli, struct orch_store *store, GError **error)
{
    g_autoptr(GPtrArray) runs = orch_named_runs(store, cli->args, cli->arg_count, error);
    g_autoptr(json_t) rows = json_array();
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(GError) why = NULL;
        g_autofree char *command = orch_rerun_command(run, &why);
        g_autofree char *reason = why ? orch_error_what(why) : NULL;
        json_array_append_new(rows, json_pack("{s:s s:s? s:s?}", "key", run->key, "command",
                                              command, "why_none", reason));
        if (!cli->json && command)
            orch_cli_print_line("%s", command);
        else if (!cli->json && error && !*error)
            g_propagate_error(error, g_steal_pointer(&why));
    }
    if (runs && cli->json)
        orch_cli_print_json(json_pack("{s:O}", "reruns", rows));
    return runs && !*error ? ORCH_EXIT_OK : -1;
}

static bool is_one_run(const struct orch_cli *cli, GError **error)
{
    if (cli->arg_count > 1)
        orch_error_set(error, ORCH_ERROR_USAGE, "name one run; only --rerun accepts several",
                       "too many arguments: '%s'", cli->args[1]);
    return cli->arg_count == 1;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct show_options *o = options;
    if (!o->rerun && !is_one_run(cli, error))
        return -1;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_named_run named = {0};
    if (!store)
        return -1;
    if (o->rerun)
        return show_reruns(cli, store, error);
    bool is_found = orch_named_run_find(store, cli->args[0], false, &named, error);
    int status = -1;
    if (named.trial) {
        status = orch_cli_show_active(cli, store, named.trial, o->on, error);
    } else if (o->on) {
        g_clear_error(error);
        orch_error_set(error, ORCH_ERROR_USAGE, "'orch ls' lists the running trials",
                       "option '--on' needs a running trial, and '%s' is not running",
                       cli->args[0]);
    } else if (is_found) {
        status = show_ended(cli, store, named.run, o, error);
    }
    orch_named_run_clear(&named);
    return status;
}

const struct orch_command ORCH_COMMAND_SHOW = {
    .name = "show",
    .group = "Look at results",
    .pages = true,
    .is_listed = true,
    .summary = "show a run: source, machine, parameters, results, metrics, artifacts",
    .usage = "RUN...",
    .min_args = 1,
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct show_options),
    .about = "RUN is a key as 'orch ls' prints it, @last, or @{2} for the run two before the last. "
             "For a running trial the output also has the progress and the remaining time. Only "
             "--rerun accepts several runs.",
    .examples =
        "  orch show @last\n"
        "  orch show 3f2a91c0 -m loss -m val_accuracy --format tsv > curves.tsv\n"
        "  orch show --rerun @last 3f2a91c0        # commands that run these settings again",
    .run = run,
};
