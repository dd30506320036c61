/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/published_steps.h"

#include "lib/base/error.h"
#include "lib/devices/columns.h"

#include <string.h>

extern const char ORCH_STEPS_CSV[],
    ORCH_STEP_SOURCES_CSV[]; /* CMakeLists.txt of features/predict */

static const char *const MODES[] = {"train", "infer", NULL};
static const char *const PRECISIONS[] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp32-ieee", NULL};

#define AT(member) offsetof(struct orch_published_step, member)
#define OF(member) offsetof(struct orch_published_source, member)
#define FULL ORCH_COLUMN_FULL

static const struct orch_column COLUMNS[] = {
    {"source", ORCH_COLUMN_TEXT, AT(source_name), FULL, 0, 0, NULL},
    {"gpu", ORCH_COLUMN_TEXT, AT(gpu_name), FULL, 0, 0, NULL},
    {"net", ORCH_COLUMN_TEXT, AT(net), FULL, 0, 0, NULL},
    {"input", ORCH_COLUMN_TEXT, AT(input), FULL, 0, 0, NULL},
    {"mode", ORCH_COLUMN_CHOICE, AT(mode), FULL, 0, 0, MODES},
    {"precision", ORCH_COLUMN_CHOICE, AT(precision), FULL, 0, 0, PRECISIONS},
    {"batch", ORCH_COLUMN_COUNT, AT(batch), FULL, 1, 1e6, NULL},
    {"workers", ORCH_COLUMN_COUNT, AT(workers), FULL, 1, 1e4, NULL},
    {"step_ms", ORCH_COLUMN_REAL, AT(step_ms), FULL, 1e-3, 1e7, NULL},
    {"software", ORCH_COLUMN_TEXT, AT(software), FULL, 0, 0, NULL},
    {"date", ORCH_COLUMN_DATE, AT(date), FULL, 0, 0, NULL},
    {0}};

static const struct orch_column SOURCE_COLUMNS[] = {
    {"name", ORCH_COLUMN_TEXT, OF(name), FULL, 0, 0, NULL},
    {"by", ORCH_COLUMN_TEXT, OF(by), FULL, 0, 0, NULL},
    {"where", ORCH_COLUMN_TEXT, OF(where), FULL, 0, 0, NULL},
    {"licence", ORCH_COLUMN_TEXT, OF(licence), FULL, 0, 0, NULL},
    {"date", ORCH_COLUMN_DATE, OF(date), ORCH_COLUMN_SPARSE, 0, 0, NULL},
    {0}};

/* The texts of the rows are borrowed from the table, which therefore stays. */
static GPtrArray *read_table(const char *name, const char *text, const struct orch_column *columns,
                             size_t size)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse(name, text, strlen(text), &error);
    GPtrArray *rows = csv ? orch_columns_rows(columns, csv, size, &error) : NULL;
    if (!rows)
        g_error("the table %s that is built in is damaged: %s", name, error->message);
    return rows;
}

const GPtrArray *orch_published_sources(void)
{
    static GPtrArray *sources;
    if (g_once_init_enter(&sources)) {
        GPtrArray *read = read_table("share/measured/sources.csv", ORCH_STEP_SOURCES_CSV,
                                     SOURCE_COLUMNS, sizeof(struct orch_published_source));
        g_once_init_leave(&sources, read);
    }
    return sources;
}

static const struct orch_published_source *source_of(const char *name)
{
    const GPtrArray *sources = orch_published_sources();
    for (guint i = 0; i < sources->len; i++)
        if (strcmp(((const struct orch_published_source *)sources->pdata[i])->name, name) == 0)
            return sources->pdata[i];
    g_error("share/measured/steps.csv: source '%s' is not in sources.csv", name);
}

/* Finds the rows' GPUs and sources, each once for the rows in a sequence that share it. */
static void link_rows(GPtrArray *rows)
{
    const struct orch_published_step *last = NULL;
    for (guint i = 0; i < rows->len; i++) {
        struct orch_published_step *row = rows->pdata[i];
        bool same_gpu = last && strcmp(last->gpu_name, row->gpu_name) == 0;
        bool same_source = last && strcmp(last->source_name, row->source_name) == 0;
        row->gpu = same_gpu ? last->gpu : orch_gpu_find(row->gpu_name);
        if (!row->gpu)
            g_error("share/measured/steps.csv: GPU '%s' is not in gpus.csv", row->gpu_name);
        row->source = same_source ? last->source : source_of(row->source_name);
        row->precision = (int)orch_precision_run(row->gpu, (enum orch_precision)row->precision);
        last = row;
    }
}

const GPtrArray *orch_published_steps(void)
{
    static GPtrArray *steps;
    if (g_once_init_enter(&steps)) {
        GPtrArray *read = read_table("share/measured/steps.csv", ORCH_STEPS_CSV, COLUMNS,
                                     sizeof(struct orch_published_step));
        link_rows(read);
        g_once_init_leave(&steps, read);
    }
    return steps;
}
