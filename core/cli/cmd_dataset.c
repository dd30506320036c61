/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/data/data.h"

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    static const char *const headers[] = {"name",    "kind",  ">download", "here",
                                          "package", "about", "licence",   NULL};
    static const char *const kinds[] = {"set", "weights"};
    g_autoptr(GPtrArray) items = orch_data_list(NULL);
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < items->len; i++) {
        const struct orch_data_item *item = items->pdata[i];
        const struct orch_data_entry *entry = item->entry;
        g_autofree char *bytes = orch_bytes_format(item->bytes);
        g_autofree char *shown = g_strconcat(item->bytes_exact ? "" : "about ", bytes, NULL);
        orch_table_add(table, entry->name, NULL);
        orch_table_add(table, kinds[entry->kind == ORCH_DATA_WEIGHTS], NULL);
        orch_table_add(table, shown, json_integer(item->bytes));
        orch_table_add(table, item->path ? item->path : "-", orch_json_text_or_null(item->path));
        orch_table_add(table, entry->package ? entry->package : "",
                       orch_json_text_or_null(entry->package));
        orch_table_add(table, entry->about, NULL);
        orch_table_add(table, entry->licence, NULL);
    }
    orch_table_print(cli, table, "data");
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
static bool on_progress(void *ctx, const struct orch_data_progress *progress)
{
    const struct orch_cli *cli = ctx;
    if (!cli->stderr_is_tty || cli->quiet)
        return true;
    g_autofree char *done = orch_bytes_format(progress->done_bytes);
    g_autofree char *total = orch_bytes_format(progress->total_bytes);
    fprintf(stderr, "\r\033[K%s %s: %s%s%s", progress->stage, progress->file, done,
            progress->total_bytes ? " of " : "", progress->total_bytes ? total : "");
    fflush(stderr);
    return true;
}

static int run_get(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_data_options data = {.progress = on_progress, .ctx = cli};
    json_t *paths = json_object();
    int status = ORCH_EXIT_OK;
    for (int i = 0; i < cli->arg_count && status == ORCH_EXIT_OK; i++) {
        g_autofree char *path = orch_data_get(cli->args[i], &data, error);
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
        "Proxies (https_proxy) and $ORCH_DATA_MIRROR are respected. A file without its published "
        "digest is deleted, and a file that is there already is not downloaded again.",
    .examples = "  orch dataset get cifar10\n  orch dataset get resnet50",
    .run = run_get,
};
