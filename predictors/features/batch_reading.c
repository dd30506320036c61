/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/batch_reading.h"

#include "lib/base/text.h"
#include "predictors/features/feature_names.h"

#include <string.h>

/* A single sweep whose author doubled the batch with the GPUs would look the same, so several rows
 * of several settings have to agree. */
#define ROWS_LEAST 5
#define SETTINGS_LEAST 2
#define OTHERS_SHARE 0.1 /* so many rows at most may say otherwise */

/* Features that may change with the number of GPUs while the work stays the same. */
static const char *const BESIDE[] = {"gpus",        "workers",      "servers", "threads", "batch",
                                     "batch_total", "images",       "epochs",  "epoch",   "step",
                                     "platform",    "connectivity", NULL};

/* A column that is a part of the setting. */
struct part {
    const struct orch_feature_name *feature;
    int column;
};

struct columns {
    int batch, gpus;
    GArray *setting; /* struct part, in the order of features */
};

static const struct orch_feature_name *feature_of(const char *column)
{
    const struct orch_feature_name *own = orch_feature_name_find(column);
    return own ? own : orch_feature_name_of_other(column);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    return x->feature != y->feature ? (x->feature > y->feature ? 1 : -1) : x->column - y->column;
}

/* False without columns of batches and of numbers of GPUs, or where the batch of all GPUs is given
 * by its name, or where one of them is the target. */
static bool find_columns(const struct orch_csv *csv, const char *target, struct columns *out)
{
    bool has_total = false;
    out->batch = out->gpus = -1;
    out->setting = g_array_new(FALSE, FALSE, sizeof(struct part));
    for (int c = 0; c < orch_csv_columns(csv); c++) {
        const struct orch_feature_name *f = feature_of(orch_csv_name(csv, c));
        if (!f)
            continue;
        if (strcmp(f->name, "batch") == 0)
            out->batch = c;
        else if (strcmp(f->name, "gpus") == 0 || (strcmp(f->name, "workers") == 0 && out->gpus < 0))
            out->gpus = c;
        has_total |= strcmp(f->name, "batch_total") == 0;
        const struct part part = {f, c};
        if (!g_strv_contains(BESIDE, f->name))
            g_array_append_val(out->setting, part);
    }
    g_array_sort(out->setting, compare_parts);
    return out->batch >= 0 && out->gpus >= 0 && !has_total &&
           strcmp(orch_csv_name(csv, out->batch), target) != 0 &&
           strcmp(orch_csv_name(csv, out->gpus), target) != 0;
}

static bool numbers_at(const struct orch_csv *csv, const struct columns *c, size_t row,
                       double *out_batch, double *out_gpus)
{
    return orch_real_parse(orch_csv_text(csv, row, c->batch), out_batch) &&
           orch_real_parse(orch_csv_text(csv, row, c->gpus), out_gpus) && *out_batch > 0 &&
           *out_gpus >= 1;
}

/* The setting of a row by names and values, so that two tables may order their columns as they
 * like. */
static char *setting_of(const struct orch_csv *csv, const struct columns *c, size_t row)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < c->setting->len; i++) {
        const struct part *part = &g_array_index(c->setting, struct part, i);
        g_string_append_printf(out, "%s=%s\x1f", part->feature->name,
                               orch_csv_text(csv, row, part->column));
    }
    return g_string_free(out, FALSE);
}

/* Rows by setting, number of GPUs and batch. */
struct cells {
    GHashTable *seen;   /* char *, see key_of: whether it was asked already */
    GHashTable *counts; /* double *: numbers of GPUs */
};

static char *key_of(const char *setting, double gpus, double batch)
{
    return g_strdup_printf("%s%.6g\x1f%.6g", setting, gpus, batch);
}

/* What the rows say: how many have the batch of fewer GPUs in proportion, and how many the same one
 * or its part (one step's batch is shared). A row of which both are there says nothing. */
struct votes {
    unsigned grow, others;
    GHashTable *settings; /* char *: those in which it grows */
};

static void ask(const struct cells *cells, const char *setting, double gpus, double batch,
                struct votes *votes)
{
    bool grows = false, is_other = false;
    GHashTableIter iter;
    gpointer count;
    g_hash_table_iter_init(&iter, cells->counts);
    while (g_hash_table_iter_next(&iter, &count, NULL)) {
        double fewer = *(const double *)count;
        if (!(fewer < gpus))
            continue;
        g_autofree char *same = key_of(setting, fewer, batch);
        g_autofree char *shared = key_of(setting, fewer, batch * gpus / fewer);
        g_autofree char *smaller = key_of(setting, fewer, batch * fewer / gpus);
        is_other |= g_hash_table_contains(cells->seen, same);
        is_other |= g_hash_table_contains(cells->seen, shared);
        grows |= g_hash_table_contains(cells->seen, smaller);
    }
    votes->others += is_other && !grows;
    votes->grow += grows && !is_other;
    if (grows && !is_other)
        g_hash_table_add(votes->settings, g_strdup(setting));
}

/* Adds the rows to the cells, or, with `votes`, asks about each cell once. */
static void visit(const struct orch_csv *csv, const struct columns *c, struct cells *cells,
                  struct votes *votes)
{
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        double batch, gpus;
        if (!numbers_at(csv, c, row, &batch, &gpus))
            continue;
        g_autofree char *setting = setting_of(csv, c, row);
        char *key = key_of(setting, gpus, batch);
        if (!votes)
            g_hash_table_add(cells->counts, g_memdup2(&gpus, sizeof gpus));
        else if (!g_hash_table_lookup(cells->seen, key))
            ask(cells, setting, gpus, batch, votes);
        g_hash_table_insert(cells->seen, key, GINT_TO_POINTER(votes != NULL));
    }
}

static void divide(struct orch_csv *csv, const struct columns *c)
{
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        double batch, gpus;
        if (numbers_at(csv, c, row, &batch, &gpus))
            orch_csv_set_real(csv, row, c->batch, batch / gpus);
    }
}

static char *sentence(const char *column, const struct votes *votes)
{
    return g_strdup_printf("column '%s' is read as the batch of all GPUs together: in %u rows it "
                           "grows with their number, in %u it does not",
                           column, votes->grow, votes->others);
}

char *orch_batch_reading_apply(struct orch_csv *csv, struct orch_csv *other, const char *target)
{
    struct orch_csv *tables[] = {csv, other};
    struct columns columns[2];
    struct cells cells = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                          g_hash_table_new_full(g_double_hash, g_double_equal, g_free, NULL)};
    struct votes votes = {.settings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    int count = other ? 2 : 1;
    bool has = true;
    for (int k = 0; k < count; k++)
        has &= find_columns(tables[k], target, &columns[k]);
    for (int k = 0; has && k < 2 * count; k++) /* all are seen before the first is asked */
        visit(tables[k % count], &columns[k % count], &cells, k < count ? NULL : &votes);
    bool grows = votes.grow >= ROWS_LEAST && votes.others <= OTHERS_SHARE * votes.grow &&
                 g_hash_table_size(votes.settings) >= SETTINGS_LEAST;
    for (int k = 0; k < count; k++) {
        if (grows)
            divide(tables[k], &columns[k]);
        g_array_unref(columns[k].setting);
    }
    g_hash_table_unref(cells.seen);
    g_hash_table_unref(cells.counts);
    g_hash_table_unref(votes.settings);
    return grows ? sentence(orch_csv_name(csv, columns[0].batch), &votes) : NULL;
}
