/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `best`: the best setting, its margin, and whether the margin is more than noise. */
#include "core/report/answer.h"
#include "core/report/grid_table.h"
#include "features/compare/allowed_settings.h"
#include "features/compare/question_tests.h"

#include "core/stats/numbers.h"
#include "lib/base/json.h"

#include <math.h>

/* Compares the winner with each other setting, when there are several. */
static void add_margins(struct orch_section *section, const struct orch_grid *grid,
                        const struct orch_winner *winner)
{
    g_autofree char *axes = orch_names_joined(grid->rows);
    const char *const headers[] = {axes, ">value", ">n", ">winner is better by", ">95 % interval",
                                   ">p", NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autofree char *value = orch_grid_value_words(grid, 0);
    orch_table_set_heading(table, 1, NULL, value); /* people read the unit, too */
    orch_table_set_heading(table, 2, NULL, "repeats");
    orch_table_set_heading(table, 3, NULL, "the best is better by");
    orch_table_set_heading(table, 5, NULL, "corrected p");
    bool has_verdict = false;
    for (guint i = 0; i < winner->others->len; i++) {
        const struct orch_grid_cell *cell = winner->others->pdata[i];
        const struct orch_difference *d = &winner->margins[i];
        struct orch_spread spread = orch_grid_spread(grid, cell, 0);
        g_autofree char *margin = orch_within_format(d->mean.mid, d->mean.low, d->mean.high);
        g_autofree char *interval = orch_interval_format(d->mean.low, d->mean.high);
        g_autofree char *p = orch_p_format(d->p_corrected);
        orch_table_add(table, cell->row, NULL);
        orch_table_add_spread(table, &spread, cell->done, cell->planned);
        orch_table_add_int(table, (int64_t)spread.stat.count);
        orch_table_add(table, margin, orch_json_finite(d->mean.mid));
        orch_table_add(table, interval, NULL);
        orch_table_add(table, p, orch_json_finite(d->p_corrected));
        has_verdict |= !isnan(d->p);
    }
    orch_section_table(section, table);
    if (has_verdict)
        orch_section_text(
            section,
            "%zu of %zu other settings are clearly worse (the difference is more than noise)",
            winner->worse, winner->others->len - winner->uneven);
}

/* "full accuracy is 0.912 (3 repeats: 0.905 to 0.918)", with the unit where there is one */
static char *value_of(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    const struct orch_item_value *wanted = grid->wanted->pdata[0];
    const struct orch_spread spread = orch_grid_spread(grid, cell, 0);
    g_autofree char *name = orch_answer_value(grid->trials->labels, wanted, grid->units[0]);
    const bool has_unit = orch_answer_names_unit(name, grid->units[0]);
    GString *text = g_string_new(name);
    g_string_append(text, " is ");
    orch_answer_spread_append(text, &spread, has_unit ? NULL : grid->units[0]);
    return g_string_free(text, FALSE);
}

static void add_winner(struct orch_section *section, const struct orch_section_grid *g,
                       const struct orch_winner *winner)
{
    const struct orch_grid *grid = g->grid;
    g_autofree char *first = orch_answer_row(g->trials, grid, winner->first),
                    *text = value_of(grid, winner->first);
    if (!winner->others->len) {
        orch_section_answer(
            section, "no winner yet: only %s has a number. Its %s, from %u of %u trials",
            *first ? first : "one setting", text, winner->first->done, winner->first->planned);
        return;
    }
    g_autofree char *count = orch_grid_count_text(winner->first);
    const struct orch_grid_cell *second = winner->others->pdata[0];
    const struct orch_difference *d = &winner->margins[0];
    g_autofree char *noise = orch_difference_text(d, NULL),
                    *middle = orch_within_format(d->mean.mid, d->mean.low, d->mean.high),
                    *other = orch_answer_row(g->trials, grid, second);
    g_autoptr(GString) margin = g_string_new(NULL);
    const char *unit = grid->units[0];
    orch_answer_number_append(margin, d->mean.mid, d->mean.low, d->mean.high, unit);
    const bool is_exact = isnan(d->p) && section->simulated && section->simulated == section->done;
    const bool is_noise = !isnan(d->p) && !d->is_more_than_noise;
    if (isnan(d->p) && d->mean.mid == 0)
        orch_section_answer(section, "best of %u settings: %s. Its %s, the same as that of %s",
                            winner->others->len + 1, first, text, other);
    else
        orch_section_answer(section, "best of %u settings: %s. Its %s. It is %s than %s%s%s%s",
                            winner->others->len + 1, first, text,
                            isnan(d->p) ? "better"
                            : is_noise  ? "not clearly better"
                                        : "clearly better",
                            other, is_noise ? ": the difference is " : ", by ", margin->str,
                            is_noise                   ? ", which may be noise"
                            : isnan(d->p) && !is_exact ? ", without a test for noise"
                                                       : "");
    orch_section_text(section, "difference between %s (%s) and %s: %s%s", first, count, other,
                      middle, is_exact ? ". A simulation has no noise" : noise);
    g_autofree char *lost = orch_grid_lost_text(grid, winner->first);
    if (lost)
        orch_section_text(section, "%s: %s", first, lost);
    if (winner->others->len > 1)
        add_margins(section, grid, winner);
    if (winner->method)
        orch_section_note(section, "p is %s", winner->method);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_allowed_grid(a, "by", NULL, error);
    if (!g)
        return false;
    struct orch_question_tests *tests = orch_question_tests_new(a, g, error);
    if (!tests) {
        orch_section_grid_free(g);
        return false;
    }
    struct orch_winner winner = orch_question_winner(tests, g->grid);
    const bool has_verdict = winner.others && winner.others->len && !isnan(winner.margins[0].p);
    bool ok = true;
    if (winner.first) {
        add_winner(a->section, g, &winner);
        orch_section_note_direction(a, g->grid);
        orch_section_note_mixed(a, g->grid);
        orch_section_note_shared_base(a, g->grid);
    }
    if (has_verdict)
        ok = orch_question_note_other(a, tests, winner.first, winner.others->pdata[0],
                                      winner.margins[0].is_more_than_noise, error);
    if (winner.first && winner.missing)
        orch_section_note(a->section, "(%u setting%s missing)", winner.missing,
                          winner.missing == 1 ? " is" : "s are");
    orch_section_add_missing_trials(a, g->trials);
    if (winner.uneven)
        orch_section_add_uneven(a, g->trials);
    if (!winner.first && a->section->done)
        orch_section_missing(a->section, NULL, "no setting has a value of the metric");
    orch_winner_clear(&winner);
    orch_question_tests_free(tests);
    orch_section_grid_free(g);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_BETTER, .is_required = true},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_BEST = {
    .name = "best",
    .keys = KEYS,
    .tests = ORCH_TESTS_ALL,
    .fill = fill,
};
