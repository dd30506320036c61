/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "features/datasets/data.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- the catalogue ------------------------------------------------------------------------------
 */

/** A set of the catalogue. Its texts live as long as the process, except the path. */
struct orch_training_set {
    const char *name, *about, *licence;
    const char *package; /* Debian package with the same contents; NULL: none */
    bool is_weights;     /* weights of a network, not a set of examples */
    int64_t bytes;       /* size of the download */
    bool is_estimated;   /* the size */
    char *path;          /* where it is on this machine; NULL: not downloaded */
};

static void free_set(gpointer pointer)
{
    struct orch_training_set *set = pointer;
    g_free(set->path);
    g_free(set);
}

/* All sets, then all weights: struct orch_training_set *; the caller unrefs. */
static GPtrArray *training_sets(void)
{
    g_autoptr(GPtrArray) items = orch_data_list(NULL);
    GPtrArray *sets = g_ptr_array_new_with_free_func(free_set);
    for (guint i = 0; i < items->len; i++) {
        const struct orch_data_item *item = items->pdata[i];
        struct orch_training_set *set = g_new0(struct orch_training_set, 1);
        *set = (struct orch_training_set){.name = item->entry->name,
                                          .about = item->entry->about,
                                          .licence = item->entry->licence,
                                          .package = item->entry->package,
                                          .is_weights = item->entry->kind == ORCH_DATA_WEIGHTS,
                                          .bytes = item->bytes,
                                          .is_estimated = !item->bytes_exact,
                                          .path = g_strdup(item->path)};
        g_ptr_array_add(sets, set);
    }
    return sets;
}

/* ---- the command --------------------------------------------------------------------------------
 */

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    (void)error;
    static const char *const headers[] = {"name",    "kind",  ">download", "here",
                                          "package", "about", "licence",   NULL};
    g_autoptr(GPtrArray) sets = training_sets();
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
    .family = "training sets: list, download",
    .summary = "list training sets and weights, and which of them are downloaded",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* Redraws one line, on a terminal only. */
static bool on_progress(void *ctx, const struct orch_data_progress *p)
{
    const struct orch_cli *cli = ctx;
    if (!cli->stderr_is_tty || cli->quiet)
        return true;
    g_autofree char *done = orch_bytes_format(p->done_bytes);
    g_autofree char *total = orch_bytes_format(p->total_bytes);
    fprintf(stderr, "\r\033[K%s %s: %s%s%s", p->stage, p->file, done, p->total_bytes ? " of " : "",
            p->total_bytes ? total : "");
    fflush(stderr);
    return true;
}

static int run_get(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    const struct orch_data_options data_options = {.progress = on_progress, .ctx = cli};
    json_t *paths = json_object();
    int status = ORCH_EXIT_OK;
    for (int i = 0; i < cli->arg_count && status == ORCH_EXIT_OK; i++) {
        g_autofree char *path = orch_data_get(cli->args[i], &data_options, error);
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
    .about = "The files are stored in $ORCH_DATA, else in ~/.cache/orch/data. An interrupted "
             "download is resumed. A file whose digest is not the published one is deleted.",
    .examples = "  orch dataset get cifar10\n  orch dataset get resnet50",
    .run = run_get,
};
