/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `gain`: what each setting gains or loses for each per cent of cost, compared with a
 * baseline, seed by seed. */
#include "core/report/answer.h"
#include "core/report/items.h"

#include "core/stats/numbers.h"
#include "core/stats/seeds.h"
#include "features/scaling/quotient.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* The two values, in the order in which the grid has them. */
enum { VALUE, COST };

/* One number of one seed; NaN where there is none. */
static double number_of(const struct orch_grid_cell *cell, guint value, uint64_t seed)
{
    g_autoptr(GArray) means = orch_grid_means(cell, value);
    const struct orch_seed_mean *mean = orch_seed_mean_find(means, seed);
    return mean ? mean->value : (double)NAN;
}

/* Over the seeds that have both numbers on both sides. */
static struct orch_quotient quotient_of(const struct orch_grid_cell *base,
                                        const struct orch_grid_cell *cell)
{
    g_autoptr(GArray) seeds = orch_grid_means(base, VALUE);
    g_autoptr(GArray) gained = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) spent = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < seeds->len; i++) {
        const struct orch_seed_mean *of_base = &g_array_index(seeds, struct orch_seed_mean, i);
        const uint64_t seed = of_base->seed;
        const double gain = number_of(cell, VALUE, seed) - of_base->value;
        const double share = number_of(cell, COST, seed) / number_of(base, COST, seed);
        const double percent = 100 * (share - 1);
        if (!isfinite(gain) || !isfinite(percent))
            continue;
        g_array_append_val(gained, gain);
        g_array_append_val(spent, percent);
    }
    return orch_quotient_of((const double *)(void *)spent->data,
                            (const double *)(void *)gained->data, gained->len);
}

static void add_row(struct orch_table *table, const struct orch_grid_cell *base,
                    const struct orch_grid_cell *cell)
{
    const struct orch_quotient q = quotient_of(base, cell);
    g_autofree char *interval = q.count < 2 ? g_strdup("-")
                                : isnan(q.value.low)
                                    ? g_strdup("unbounded")
                                    : orch_interval_format(q.value.low, q.value.high);
    orch_table_add(table, cell->row, NULL);
    orch_table_add_int(table, (int64_t)q.count);
    orch_table_add_real(table, q.y);
    orch_table_add_real(table, q.x);
    orch_table_add_real(table, isnan(q.value.low) ? (double)NAN : q.value.mid);
    orch_table_add(table, interval, NULL);
}

static struct orch_table *make_table(const struct orch_grid *grid,
                                     const struct orch_grid_cell *base)
{
    const char *value = ((const struct orch_item_value *)grid->wanted->pdata[VALUE])->name;
    const char *cost = ((const struct orch_item_value *)grid->wanted->pdata[COST])->name;
    g_autofree char *axes = orch_names_joined(grid->rows);
    g_autofree char *gained = g_strdup_printf(">%s gained", value);
    g_autofree char *spent = g_strdup_printf(">%s spent (%%)", cost);
    const char *headers[] = {axes, ">seeds", gained, spent, ">gained per %", ">95 % interval",
                             NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (cell != base && cell->done)
            add_row(table, base, cell);
    }
    return table;
}

/* "gained final accuracy for each % of training time, against all: -0.02 [-0.03 to -0.01]
 * (no_flip); of 3 other settings the cost does not differ by more than noise" */
static void add_answer(struct orch_section *section, const struct orch_grid *grid,
                       const struct orch_grid_cell *base)
{
    const struct orch_item_value *value = grid->wanted->pdata[VALUE],
                                 *cost = grid->wanted->pdata[COST];
    g_autofree char *gained = orch_answer_value(grid->trials->labels, value, grid->units[VALUE]);
    g_autofree char *spent = orch_answer_value(grid->trials->labels, cost, grid->units[COST]);
    g_autoptr(GArray) entries = orch_answer_entries_new();
    g_autoptr(GString) text = g_string_new(NULL);
    unsigned unbounded = 0;
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (cell == base || !cell->done)
            continue;
        const struct orch_quotient q = quotient_of(base, cell);
        if (isnan(q.value.low))
            unbounded++;
        else
            orch_answer_entries_add(entries, cell->row, q.value.mid, q.value.low, q.value.high);
    }
    g_autofree char *name = g_strdup_printf(
        "gain in %s for each additional %% of %s, compared with %s", gained, spent, base->row);
    orch_answer_entries_append(text, entries, name, grid->units[VALUE]);
    if (unbounded)
        g_string_append_printf(text, "%s%s of %u setting%s does not differ clearly from that of %s",
                               text->len ? ". " : "", spent, unbounded, orch_plural(unbounded),
                               base->row);
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}

static const struct orch_grid_cell *baseline_of(const struct orch_grid *grid, const char *named)
{
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (!named || strcmp(cell->row, named) == 0)
            return cell;
    }
    return NULL;
}

static void fill(struct orch_section_context *a, const struct orch_grid *grid)
{
    const char *named = orch_json_text(a->item->spec, "baseline", NULL);
    const struct orch_grid_cell *base = baseline_of(grid, named);
    if (!base || !base->done) {
        if (grid->cells->len)
            orch_section_missing(a->section, NULL, "no run of the baseline%s%s%s has a result yet",
                                 named ? " (" : "", named ? named : "", named ? ")" : "");
        return;
    }
    orch_section_table(a->section, make_table(grid, base));
    add_answer(a->section, grid, base);
    orch_section_note(
        a->section,
        "compared with %s, between runs with the same seed. The interval is for the ratio of gain "
        "to cost (Fieller). It is unbounded if the costs do not differ by more than noise",
        base->row);
}

static bool fill_section(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid_begin(a, "by", NULL, error);
    if (!g)
        return false;
    g_autoptr(GPtrArray) cost = orch_item_values_parse(json_object_get(a->item->spec, "cost"));
    g_ptr_array_extend_and_steal(g->wanted, g_steal_pointer(&cost));
    const bool ok = orch_section_grid_fill(a, g, error);
    if (ok) {
        fill(a, g->grid);
        orch_section_add_missing_trials(a, g->trials);
    }
    orch_section_grid_free(g);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "cost", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES, .is_required = true},
    {.name = "baseline", .shape = ORCH_SHAPE_TEXT},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_GAIN = {
    .name = "gain",
    .divides_times = true,
    .keys = KEYS,
    .fill = fill_section,
};
