/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

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
        orch_table_add(table, item->path ? item->path : "-",
                       item->path ? json_string(item->path) : json_null());
        orch_table_add(table, entry->package ? entry->package : "",
                       entry->package ? json_string(entry->package) : json_null());
        orch_table_add(table, entry->about, NULL);
        orch_table_add(table, entry->licence, NULL);
    }
    orch_table_print(cli, table, "data");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_DATA_LS = {
    .name = "data ls",
    .group = "Data",
    .summary = "the data sets and weights that can be had by name, and which are here",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* One line that is drawn again and again, on a terminal only. */
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

const struct orch_command ORCH_COMMAND_DATA_GET = {
    .name = "data get",
    .group = "Data",
    .summary = "download a data set or weights into the shared cache, and check them",
    .usage = "NAME...",
    .min_args = 1,
    .max_args = -1,
    .about =
        "Into $ORCH_DATA, else ~/.cache/orch/data. A download that was cut off goes on where it "
        "stopped; proxies (https_proxy) and $ORCH_DATA_MIRROR are respected; what does not have "
        "its published digest is not kept. What is here already is not fetched again.",
    .examples = "  orch data get cifar10\n  orch data get resnet50",
    .run = run_get,
};
