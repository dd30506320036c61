/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "features/datasets/training_sets.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    static const char *const headers[] = {"name",    "kind",  ">download", "here",
                                          "package", "about", "licence",   NULL};
    g_autoptr(GPtrArray) sets = orch_training_sets();
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < sets->len; i++) {
        const struct orch_training_set *set = sets->pdata[i];
        g_autofree char *bytes = orch_bytes_format(set->bytes);
        g_autofree char *shown = g_strconcat(set->is_estimated ? "about " : "", bytes, NULL);
        orch_table_add(table, set->name, NULL);
        orch_table_add(table, set->is_weights ? "weights" : "set", NULL);
        orch_table_add(table, shown, json_integer(set->bytes));
        orch_table_add(table, set->path ? set->path : "-", orch_json_text_or_null(set->path));
        orch_table_add(table, set->package ? set->package : "",
                       orch_json_text_or_null(set->package));
        orch_table_add(table, set->about, NULL);
        orch_table_add(table, set->licence, NULL);
    }
    orch_cli_table_print(cli, table, "data");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_DATASET_LS = {
    .name = "dataset ls",
    .group = "Data",
    .summary = "list training sets and weights, and which of them are downloaded",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* Redraws one line, on a terminal only. */
static void on_progress(void *ctx, const char *stage, const char *file, int64_t done_bytes,
                        int64_t total_bytes)
{
    const struct orch_cli *cli = ctx;
    if (!cli->stderr_is_tty || cli->quiet)
        return;
    g_autofree char *done = orch_bytes_format(done_bytes);
    g_autofree char *total = orch_bytes_format(total_bytes);
    fprintf(stderr, "\r\033[K%s %s: %s%s%s", stage, file, done, total_bytes ? " of " : "",
            total_bytes ? total : "");
    fflush(stderr);
}

static int run_get(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    json_t *paths = json_object();
    int status = ORCH_EXIT_OK;
    for (int i = 0; i < cli->arg_count && status == ORCH_EXIT_OK; i++) {
        g_autofree char *path = orch_training_set_get(cli->args[i], on_progress, cli, error);
        if (cli->stderr_is_tty && !cli->quiet)
            fputs("\r\033[K", stderr);
        if (!path)
            status = -1;
        else if (cli->json)
            json_object_set_new(paths, cli->args[i], json_string(path));
        else
            puts(path);
    }
    if (cli->json && status == ORCH_EXIT_OK)
        orch_cli_print_json(json_pack("{s:O}", "paths", paths));
    json_decref(paths);
    return status;
}

const struct orch_command ORCH_COMMAND_DATASET_GET = {
    .name = "dataset get",
    .group = "Data",
    .summary = "download and verify a training set or weights into the shared cache",
    .usage = "NAME...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Downloads to $ORCH_DATA, else ~/.cache/orch/data. An interrupted download is resumed. "
        "Proxies (https_proxy) and $ORCH_DATA_MIRROR are respected. A file without its "
        "published digest is deleted, and an existing file is not downloaded again.",
    .examples = "  orch dataset get cifar10\n  orch dataset get resnet50",
    .run = run_get,
};
