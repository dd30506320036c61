/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `correlate`: does one number forecast the order of another? Spearman's rank correlation
 * of two values over settings, within each group of `by`, and its mean over the groups. */
#include "core/report/answer.h"
#include "core/report/items.h"
#include "lib/base/text.h"

#include "core/stats/rank_correlation.h"

#include <math.h>
#include <string.h>

#define PERMUTATION_SEED 1

/* A setting: the sums over its repeats. */
struct point {
    char *name;
    double x, y;
    unsigned count;
};
struct group {
    char *label;
    GPtrArray *points; /* struct point * */
    GArray *x, *y;     /* double: means of the points that have been measured */
};

static void point_free(gpointer pointer)
{
    struct point *p = pointer;
    g_free(p->name);
    g_free(p);
}

static void group_free(gpointer pointer)
{
    struct group *g = pointer;
    g_ptr_array_unref(g->points);
    g_array_unref(g->x);
    g_array_unref(g->y);
    g_free(g->label);
    g_free(g);
}

static struct group *group_of(GPtrArray *groups, const char *label)
{
    for (guint i = 0; i < groups->len; i++)
        if (strcmp(((struct group *)groups->pdata[i])->label, label) == 0)
            return groups->pdata[i];
    struct group *g = g_new0(struct group, 1);
    g->label = g_strdup(label);
    g->points = g_ptr_array_new_with_free_func(point_free);
    g->x = g_array_new(FALSE, FALSE, sizeof(double));
    g->y = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(groups, g);
    return g;
}

static struct point *point_of(struct group *g, const char *name)
{
    for (guint i = 0; i < g->points->len; i++)
        if (strcmp(((struct point *)g->points->pdata[i])->name, name) == 0)
            return g->points->pdata[i];
    struct point *p = g_new0(struct point, 1);
    p->name = g_strdup(name);
    g_ptr_array_add(g->points, p);
    return p;
}

static const char *name_of(const GPtrArray *values)
{
    return ((const struct orch_item_value *)values->pdata[0])->name;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static bool read_pair(const struct orch_trials *trials, struct orch_report_trial *trial,
                      const GPtrArray *wanted[2], double out[2], GError **error)
{
    for (int i = 0; i < 2; i++) {
        const char *better = NULL, *unit = NULL;
        if (!orch_trial_number(trials, trial, wanted[i]->pdata[0], &out[i], &better, &unit, error))
            return false;
    }
    return true;
}

/* Adds a trial that has both values to its group's point. */
static bool add_trial(struct orch_section_context *a, struct orch_trials *trials,
                      struct orch_report_trial *trial, const GPtrArray *wanted[2],
                      const GPtrArray *by, GPtrArray *groups, GError **error)
{
    static const char *const setting[] = {"experiment", "setting"};
    const GPtrArray axes = {(gpointer *)(uintptr_t)setting, G_N_ELEMENTS(setting)};
    for (int i = 0; i < 2; i++)
        if (!orch_trial_has(trials, trial, name_of(wanted[i])))
            return true;
    g_autofree char *label = orch_trial_label(trials, trial, by);
    g_autofree char *name = orch_trial_label(trials, trial, &axes);
    double pair[2];
    if (!label)
        return true;
    orch_section_trial(a->section, trials, trial);
    if (!read_pair(trials, trial, wanted, pair, error))
        return false;
    struct group *g = group_of(groups, by->len ? label : "all");
    struct point *p = point_of(g, name ? name : "");
    if (isfinite(pair[0]) && isfinite(pair[1])) {
        p->x += pair[0];
        p->y += pair[1];
        p->count++;
    }
    return true;
}

static bool gather(struct orch_section_context *a, struct orch_trials *trials, const GPtrArray *by,
                   GPtrArray *groups, GError **error)
{
    g_autoptr(GPtrArray) x = orch_item_values_parse(json_object_get(a->item->spec, "x"));
    g_autoptr(GPtrArray) y = orch_item_values_parse(json_object_get(a->item->spec, "y"));
    const GPtrArray *wanted[2] = {x, y};
    for (guint i = 0; i < trials->all->len; i++)
        if (!add_trial(a, trials, trials->all->pdata[i], wanted, by, groups, error))
            return false;
    for (guint i = 0; i < groups->len; i++) {
        struct group *g = groups->pdata[i];
        for (guint k = 0; k < g->points->len; k++) {
            const struct point *p = g->points->pdata[k];
            const double mean_x = p->x / p->count, mean_y = p->y / p->count;
            if (!p->count)
                continue;
            g_array_append_val(g->x, mean_x);
            g_array_append_val(g->y, mean_y);
        }
    }
    return true;
}

/* ---- output ---------------------------------------------------------------------------------- */

static struct orch_rank_group pairs_of(const struct group *g)
{
    return (struct orch_rank_group){(const double *)(void *)g->x->data,
                                    (const double *)(void *)g->y->data, g->x->len};
}

/* y at the lowest x, the mean and the highest of all y. */
static void add_chosen(struct orch_table *table, const struct orch_rank_group *pairs)
{
    double sum = 0, highest = -HUGE_VAL;
    size_t chosen = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        chosen = pairs->x[i] < pairs->x[chosen] ? i : chosen;
        sum += pairs->y[i];
        highest = fmax(highest, pairs->y[i]);
    }
    const double none = (double)NAN;
    orch_table_add_real(table, pairs->count ? pairs->y[chosen] : none);
    orch_table_add_real(table, pairs->count ? sum / (double)pairs->count : none);
    orch_table_add_real(table, pairs->count ? highest : none);
}

static struct orch_table *make_table(const GPtrArray *groups, const GPtrArray *by, const char *x,
                                     const char *y)
{
    g_autofree char *axes = by->len ? orch_names_joined(by) : g_strdup("trials");
    g_autofree char *at_lowest = g_strdup_printf(">%s at the lowest %s", y, x);
    g_autofree char *mean = g_strdup_printf(">mean %s", y);
    g_autofree char *highest = g_strdup_printf(">highest %s", y);
    const char *headers[] = {axes,    ">settings", ">rank correlation", at_lowest, mean,
                             highest, NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < groups->len; i++) {
        const struct group *g = groups->pdata[i];
        const struct orch_rank_group pairs = pairs_of(g);
        orch_table_add(table, g->label, NULL);
        orch_table_add_int(table, (int64_t)pairs.count);
        orch_table_add_real(table, orch_rank_correlation(&pairs));
        add_chosen(table, &pairs);
    }
    return table;
}

static void add_mean(struct orch_section_context *a, const GPtrArray *groups, const char *x,
                     const char *y)
{
    g_autofree struct orch_rank_group *pairs = g_new(struct orch_rank_group, groups->len + 1);
    for (guint i = 0; i < groups->len; i++)
        pairs[i] = pairs_of(groups->pdata[i]);
    const struct orch_rank_mean mean =
        orch_rank_correlation_mean(pairs, groups->len, PERMUTATION_SEED);
    if (!mean.groups) {
        orch_section_note(a->section,
                          "no group has 3 settings with different values of both metrics");
        return;
    }
    g_autofree char *x_words = orch_answer_words(a->section->labels, x, NULL),
                    *y_words = orch_answer_words(a->section->labels, y, NULL);
    g_autofree char *interval = isnan(mean.rho.low) ? g_strdup("no interval: too few settings")
                                                    : g_strdup_printf("95 %% interval %.2f to %.2f",
                                                                      mean.rho.low, mean.rho.high);
    orch_section_answer(
        a->section, "mean rank correlation of %s and %s: %.2f (%s), p %.4f, over %zu group%s",
        x_words, y_words, mean.rho.mid, interval, mean.p, mean.groups, orch_plural(mean.groups));
    orch_section_note(a->section,
                      "Spearman's rank correlation of the settings' means. p is from a permutation "
                      "test, the interval from %s",
                      mean.groups > 1 ? "Student's t over the groups" : "Fisher's z");
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) by = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) groups = g_ptr_array_new_with_free_func(group_free);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    const bool ok = trials && gather(a, trials, by, groups, error);
    if (ok && groups->len) {
        g_autoptr(GPtrArray) x = orch_item_values_parse(json_object_get(a->item->spec, "x"));
        g_autoptr(GPtrArray) y = orch_item_values_parse(json_object_get(a->item->spec, "y"));
        orch_section_table(a->section, make_table(groups, by, name_of(x), name_of(y)));
        add_mean(a, groups, name_of(x), name_of(y));
    }
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "x", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "y", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_CORRELATE = {
    .name = "correlate",
    .keys = KEYS,
    .fill = fill,
};
