/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/grouping.h"

#include "core/stats/seeds.h"

#include <stdbool.h>
#include <string.h>

struct row {
    int64_t age_order;
    uint64_t seed;
    bool is_replaced;
};
struct orch_grouping {
    unsigned value_count;
    GArray *rows;       /* struct row, in order of adding */
    GArray *values;     /* double, value_count for each row */
    GPtrArray *groups;  /* GArray * of guint: the rows of each group */
    GHashTable *places; /* char * group -> its index + 1 */
    GHashTable *trials; /* char * group and trial -> its newest row + 1 */
};

struct orch_grouping *orch_grouping_new(unsigned value_count)
{
    struct orch_grouping *g = g_new0(struct orch_grouping, 1);
    g->value_count = value_count;
    g->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    g->values = g_array_new(FALSE, FALSE, sizeof(double));
    g->groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g->trials = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return g;
}

void orch_grouping_free(struct orch_grouping *g)
{
    if (!g)
        return;
    g_array_unref(g->rows);
    g_array_unref(g->values);
    g_ptr_array_unref(g->groups);
    g_hash_table_unref(g->places);
    g_hash_table_unref(g->trials);
    g_free(g);
}

static struct row *row_at(const struct orch_grouping *g, guint place)
{
    return &g_array_index(g->rows, struct row, place);
}

static guint group_of(struct orch_grouping *g, const char *text)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(g->places, text));
    if (number)
        return number - 1;
    g_ptr_array_add(g->groups, g_array_new(FALSE, FALSE, sizeof(guint)));
    g_hash_table_insert(g->places, g_strdup(text), GUINT_TO_POINTER(g->groups->len));
    return g->groups->len - 1;
}

/* Marks the older of two runs of a trial as replaced. */
static void replace(struct orch_grouping *g, guint group, const char *trial, guint place)
{
    char *key = g_strdup_printf("%u %s", group, trial);
    guint before = GPOINTER_TO_UINT(g_hash_table_lookup(g->trials, key));
    if (before && row_at(g, before - 1)->age_order >= row_at(g, place)->age_order) {
        row_at(g, place)->is_replaced = true;
        g_free(key);
        return;
    }
    if (before)
        row_at(g, before - 1)->is_replaced = true;
    g_hash_table_replace(g->trials, key, GUINT_TO_POINTER(place + 1));
}

guint orch_grouping_add(struct orch_grouping *g, const struct orch_grouping_run *run)
{
    guint group = group_of(g, run->group), place = g->rows->len;
    struct row row = {.age_order = run->age_order, .seed = run->seed};
    g_array_append_val(g->rows, row);
    g_array_append_vals(g->values, run->values, g->value_count);
    g_array_append_val((GArray *)g->groups->pdata[group], place);
    if (run->trial)
        replace(g, group, run->trial, place);
    return group;
}

guint orch_grouping_runs(const struct orch_grouping *g, guint group)
{
    return ((const GArray *)g->groups->pdata[group])->len;
}

GArray *orch_grouping_counted(const struct orch_grouping *g, guint group)
{
    const GArray *all = g->groups->pdata[group];
    GArray *counted = g_array_sized_new(FALSE, FALSE, sizeof(guint), all->len);
    for (guint i = 0; i < all->len; i++) {
        guint place = g_array_index(all, guint, i);
        if (!row_at(g, place)->is_replaced)
            g_array_append_val(counted, place);
    }
    return counted;
}

double orch_grouping_number(const struct orch_grouping *g, guint place, unsigned value)
{
    return g_array_index(g->values, double, (gsize)place * g->value_count + value);
}

GArray *orch_grouping_means(const struct orch_grouping *g, guint group, unsigned value)
{
    g_autoptr(GArray) counted = orch_grouping_counted(g, group);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (guint i = 0; i < counted->len; i++) {
        guint place = g_array_index(counted, guint, i);
        double number = orch_grouping_number(g, place, value);
        g_array_append_val(numbers, number);
        g_array_append_val(seeds, row_at(g, place)->seed);
    }
    return orch_seed_means(numbers, seeds);
}
