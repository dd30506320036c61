/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch measurements share`: the steps of the store's runs as a table for others. What could tell
 * who made them or what they were for stays: only GPUs and networks with public names, sizes and
 * times.
 */
#include "core/cli/cli.h"

#include "core/rows/run_rows.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/devices/gpus.h"
#include "lib/net/net.h"

#include <string.h>

#define TARGET "step_ms"

struct share_options {
    const char *output;
};

static const struct orch_option OPTIONS[] = {ORCH_OPTION(struct share_options, output, TEXT,
                                                         "output", .letter = 'o', .value = "FILE",
                                                         .help = "write to FILE instead of stdout"),
                                             {0}};

/* The columns that are shared; of the first two only public names. */
static const struct {
    const char *name;
    bool is_number;
} COLUMNS[] = {{"gpu", false},       {"net", false},    {"input", false},
               {"precision", false}, {"mode", false},   {"batch", true},
               {"workers", true},    {"classes", true}, {"framework", false}};

/* The public name of a field's value; NULL: it has none, and its row stays. Caller frees. */
static char *public_value(const char *column, const char *text)
{
    const struct orch_gpu_spec *gpu;
    if (strcmp(column, "gpu") == 0)
        return (gpu = orch_gpu_find(text)) ? g_strdup(gpu->name) : NULL;
    return strcmp(column, "net") == 0 ? orch_net_canonical_name(text) : g_strdup(text);
}

/* A row as fields joined by tabs, its time last; NULL for one that stays. Caller frees. */
static char *row_of(const struct orch_csv *csv, size_t row)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++) {
        int at = orch_csv_find(csv, COLUMNS[i].name);
        g_autofree char *text =
            public_value(COLUMNS[i].name, at >= 0 ? orch_csv_text(csv, row, at) : "");
        if (!text)
            return NULL;
        g_string_append_printf(line, "%s\t", text);
    }
    g_string_append(line, orch_csv_text(csv, row, orch_csv_find(csv, TARGET)));
    return g_strdup(line->str);
}

/* In the order of the texts, which says nothing of when they were measured. */
static GPtrArray *rows_of(const struct orch_csv *csv)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        char *row = row_of(csv, i);
        if (row)
            g_ptr_array_add(rows, row);
    }
    g_ptr_array_sort(rows, orch_compare_texts);
    return rows;
}

static void fill(struct orch_dataset *set, const GPtrArray *rows)
{
    double *numbers[G_N_ELEMENTS(COLUMNS)] = {NULL};
    const char **texts[G_N_ELEMENTS(COLUMNS)] = {NULL};
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        if (COLUMNS[i].is_number)
            numbers[i] = orch_dataset_add_numbers(set, COLUMNS[i].name);
        else
            texts[i] = orch_dataset_add_texts(set, COLUMNS[i].name);
    for (guint r = 0; r < rows->len; r++) {
        g_auto(GStrv) fields = g_strsplit(rows->pdata[r], "\t", -1);
        for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
            if (numbers[i])
                orch_real_parse(fields[i], &numbers[i][r]);
            else
                texts[i][r] = *fields[i] ? orch_dataset_keep(set, fields[i]) : NULL;
        orch_real_parse(fields[G_N_ELEMENTS(COLUMNS)], &set->targets[r]);
    }
}

/* The table as text; its name has the begin of its digest, so that those of several people have
 * different ones. */
static GString *encode(const GPtrArray *rows)
{
    struct orch_dataset *set = orch_dataset_new("steps", TARGET, "ms", rows->len);
    fill(set, rows);
    g_string_free(orch_dataset_encode(set), TRUE);
    g_free(set->name);
    set->name = g_strdup_printf("steps-%.8s", set->sha256);
    GString *text = orch_dataset_encode(set);
    orch_dataset_free(set);
    return text;
}

static bool write_rows(struct orch_cli *cli, const struct share_options *o, const GPtrArray *rows,
                       guint left, GError **error)
{
    GString *text = encode(rows);
    bool ok = !o->output || orch_file_write(o->output, text->str, text->len, false, error);
    if (!o->output)
        orch_cli_write_data(cli, text->str, text->len);
    g_string_free(text, TRUE);
    if (ok)
        orch_cli_info(cli,
                      "%u row%s for 'orch import'; %u left out (of CPUs, or of networks without a "
                      "public name)",
                      rows->len, orch_plural(rows->len), left);
    return ok;
}

static int run_share(struct orch_cli *cli, const void *options, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_csv *csv = store ? orch_rows_of_runs(store, NULL, TARGET, NULL, NULL, error) : NULL;
    if (!csv)
        return -1;
    g_autoptr(GPtrArray) rows = rows_of(csv);
    guint left = (guint)orch_csv_rows(csv) - rows->len;
    orch_csv_free(csv);
    if (rows->len)
        return write_rows(cli, options, rows, left, error) ? ORCH_EXIT_OK : -1;
    orch_error_set(
        error, ORCH_ERROR_NOT_FOUND,
        "a row needs a GPU of 'orch gpu ls' and a network of 'orch net ls'",
        "there is nothing to share: no run measured a step of a known network on a known GPU");
    return -1;
}

const struct orch_command ORCH_COMMAND_MEASUREMENTS_SHARE = {
    .name = "measurements share",
    .group = "Data",
    .summary = "write the step times of your runs for others, without names and paths",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct share_options),
    .about =
        "A row has the GPU, the network, its input and classes, precision, mode, batch, workers, "
        "framework and the time of a step. Rows of GPUs and networks without a public name are "
        "left out. People, machines, files, experiments and times of day are never written.",
    .examples = "orch measurements share -o steps.set && orch -C ../mine import steps.set",
    .run = run_share,
};
