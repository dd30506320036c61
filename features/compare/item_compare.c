/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `compare`: settings compared with a baseline, each at its best; a value with one that
 * the same runs had before; or predicted values compared with measured ones. */
#include "core/recipe/report_shapes.h"
#include "core/report/answer.h"
#include "features/compare/allowed_settings.h"
#include "features/compare/compare_predicted.h"
#include "features/compare/question_tests.h"

#include "core/stats/numbers.h"
#include "core/stats/seeds.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* Returns the best cell of each row (over `best_of`), in order of first appearance. The caller
 * unrefs. */
static GPtrArray *best_of_rows(const struct orch_grid *grid)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(GPtrArray) rows = orch_grid_rows(grid);
    for (guint i = 0; i < rows->len; i++) {
        struct orch_grid_cell *best = NULL;
        for (guint j = 0; j < grid->cells->len; j++) {
            struct orch_grid_cell *cell = grid->cells->pdata[j];
            if (strcmp(cell->row, rows->pdata[i]) == 0 &&
                (!best || orch_grid_compare(grid, cell, best) < 0))
                best = cell;
        }
        g_ptr_array_add(out, best);
    }
    return out;
}

/* A row in words, with its best column: "finetune (best: learning rate 0.1)". */
static char *words_of(const struct orch_section_grid *g, const struct orch_grid_cell *cell)
{
    g_autofree char *row = orch_answer_row(g->trials, g->grid, cell);
    g_autofree char *column =
        cell->trials->len && g->columns->len
            ? orch_answer_setting(g->trials, cell->trials->pdata[0], g->columns)
            : NULL;
    return column ? g_strdup_printf("%s (best: %s)", row, column) : g_steal_pointer(&row);
}

/* A cell's value with its interval or range, in words. The caller frees. */
static char *value_of(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    const struct orch_spread spread = orch_grid_spread(grid, cell, 0);
    GString *text = g_string_new(NULL);
    orch_answer_spread_append(text, &spread, grid->units[0]);
    if (cell->done < cell->planned)
        g_string_append_printf(text, ", from %u of %u trials", cell->done, cell->planned);
    return g_string_free(text, FALSE);
}

/* One row's best setting compared with the baseline's. */
struct contrast {
    const struct orch_grid_cell *cell;
    struct orch_difference difference; /* cell - baseline */
    unsigned unmatched;                /* runs without a partner of equal setting and seed */
};

/* Two times whose difference is certainly less than this share of the baseline count as the same.
 */
#define SAME_TIME_SHARE 0.05

/* One word for the difference of two times or rates; NULL for other units. */
static const char *timing_verdict(const struct orch_grid *grid, const struct orch_grid_cell *base,
                                  const struct orch_difference *d)
{
    bool is_rate;
    if (!orch_unit_is_timing(grid->units[0], &is_rate) || d->is_uneven || isnan(d->p))
        return NULL;
    if (d->is_more_than_noise)
        return (d->mean.mid > 0) == is_rate ? "FASTER" : "SLOWER";
    double most = fmax(fabs(d->mean.low), fabs(d->mean.high)),
           mean = fabs(orch_grid_spread(grid, base, 0).stat.mean);
    return isfinite(d->mean.low) && isfinite(d->mean.high) && most <= SAME_TIME_SHARE * mean
               ? "SAME"
               : "UNSURE";
}

static void add_contrast(struct orch_section *section, const struct orch_section_grid *g,
                         const struct orch_grid_cell *base, const struct contrast *c)
{
    const struct orch_grid *grid = g->grid;
    g_autofree char *label = words_of(g, c->cell);
    if (!c->cell->done) {
        orch_section_text(section, "%s: missing", label);
        return;
    }
    const struct orch_difference *d = &c->difference;
    g_autofree char *mean = orch_within_format(d->mean.mid, d->mean.low, d->mean.high),
                    *own = value_of(grid, c->cell);
    g_autofree char *noise = orch_difference_text(d, grid->better);
    const char *verdict = timing_verdict(grid, base, d);
    const char *unit = grid->units[0];
    orch_section_text(section, "%s: %s%s%s. Difference from the baseline: %s%s%s%s%s", label,
                      verdict ? verdict : "", verdict ? ", " : "", own, d->mean.mid > 0 ? "+" : "",
                      mean, unit ? " " : "", unit ? unit : "", noise);
}

/* What differences are corrected for, where the family of tests is contrasts with a baseline. */
static void note_contrasts(struct orch_section *section, const struct orch_section_grid *g,
                           const struct orch_grid_cell *base, size_t tests, size_t pairs)
{
    g_autofree char *axes = orch_answer_axes(g->trials->labels, g->columns);
    g_autofree char *of = orch_answer_row(g->trials, g->grid, base);
    if (g->columns->len)
        orch_section_note(section,
                          "p and the intervals are corrected for %zu pairs (Bonferroni): %zu "
                          "comparison%s with %s, and choosing the best %s for each of them",
                          pairs, tests, orch_plural(tests), of, axes);
    else if (pairs == 1)
        orch_section_note(section, "p is two-sided");
    else if (pairs == tests)
        orch_section_note(
            section,
            "p and the intervals are corrected for %zu comparisons with the baseline (Bonferroni)",
            pairs);
    else
        orch_section_note(
            section,
            "p and the intervals are corrected for %zu comparisons in this question (Bonferroni)",
            pairs);
}

static void note_method(struct orch_section *section, const struct orch_section_grid *g,
                        const struct orch_grid_cell *base, const struct orch_question_tests *all,
                        const struct orch_difference *shown, size_t tests)
{
    size_t pairs = orch_question_contrasts(all);
    g_autofree char *method = orch_question_method(all, base, shown, tests);
    if (orch_unit_is_timing(g->grid->units[0], NULL))
        orch_section_note(
            section,
            "FASTER or SLOWER: the difference is more than noise. SAME: the 95 %% interval of the "
            "difference is within +-%.0f %% of the value of %s. UNSURE: more repeats are needed",
            100 * SAME_TIME_SHARE, base->row);
    if (method)
        orch_section_note(section, "p is %s", method);
    else
        note_contrasts(section, g, base, tests, pairs);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The groups of settings that the answer names, in its order. */
enum verdict { BETTER, WORSE, DIFFERENT, SIMILAR, UNTESTED, VERDICTS };

static enum verdict verdict_of(const struct orch_grid *grid, const struct orch_difference *d)
{
    if (isnan(d->p) || d->is_uneven)
        return UNTESTED;
    if (!d->is_more_than_noise)
        return SIMILAR;
    if (strcmp(grid->better, "min") != 0 && strcmp(grid->better, "max") != 0)
        return DIFFERENT;
    return (d->mean.mid > 0) == (strcmp(grid->better, "max") == 0) ? BETTER : WORSE;
}

/* "by +0.04 (95 % interval 0.02 to 0.06)" */
static void append_change(GString *out, const struct orch_section_grid *g, const struct contrast *c)
{
    const struct orch_grid *grid = g->grid;
    const struct orch_interval *mean = &c->difference.mean;
    const bool is_finite = isfinite(mean->low) && isfinite(mean->high);
    g_string_append(out, mean->mid > 0 ? "by +" : "by ");
    orch_answer_number_append(out, mean->mid, is_finite ? mean->low : (double)NAN,
                              is_finite ? mean->high : (double)NAN, grid->units[0]);
}

static void append_named(GString *out, const struct orch_section_grid *g, const struct contrast *c)
{
    g_autofree char *label = words_of(g, c->cell);
    g_string_append_printf(out, "%s, %s", label,
                           verdict_of(g->grid, &c->difference) == UNTESTED ? "which differs " : "");
    append_change(out, g, c);
}

/* Of many settings of one verdict the one that is farthest from the baseline stands for all. */
#define NAMED_MOST 2

static void append_verdict(GString *out, const struct orch_section_grid *g,
                           const struct contrast *contrasts, size_t count, enum verdict verdict)
{
    static const char *const words[VERDICTS] = {
        "better than the baseline", "worse than the baseline", "different from the baseline",
        "not clearly different from the baseline", "not tested"};
    g_autoptr(GPtrArray) named = g_ptr_array_new();
    const struct contrast *farthest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct contrast *c = &contrasts[i];
        if (!c->cell->done || verdict_of(g->grid, &c->difference) != verdict)
            continue;
        g_ptr_array_add(named, (gpointer)(uintptr_t)c);
        if (!farthest || fabs(c->difference.mean.mid) > fabs(farthest->difference.mean.mid))
            farthest = c;
    }
    if (!named->len)
        return;
    if (named->len <= NAMED_MOST)
        g_string_append_printf(out, ". %c%s: ", g_ascii_toupper(*words[verdict]),
                               words[verdict] + 1);
    for (guint i = 0; named->len <= NAMED_MOST && i < named->len; i++) {
        g_string_append(out, i ? "; and " : "");
        append_named(out, g, named->pdata[i]);
    }
    if (named->len > NAMED_MOST) {
        g_string_append_printf(out, ". %u settings are %s. The farthest setting is ", named->len,
                               words[verdict]);
        append_named(out, g, farthest);
    }
}

/* "final accuracy is 0.86 for feature. Better: by +0.04 (95 % interval 0.02 to 0.06) for finetune
 * (best: learning rate 0.1)" */
static void add_answer(struct orch_section *section, const struct orch_section_grid *g,
                       const struct orch_grid_cell *base, const struct contrast *contrasts,
                       size_t count)
{
    const struct orch_grid *grid = g->grid;
    const struct orch_item_value *wanted = grid->wanted->pdata[0];
    g_autofree char *name = orch_answer_value(grid->trials->labels, wanted, grid->units[0]);
    g_autofree char *label = words_of(g, base);
    g_autofree char *value = orch_number_format(orch_grid_spread(grid, base, 0).centre);
    g_autoptr(GString) text = g_string_new(NULL);
    for (enum verdict v = 0; v < VERDICTS; v++)
        append_verdict(text, g, contrasts, count, v);
    if (text->len)
        orch_section_answer(section, "The baseline, %s, has %s %s%s%s%s", label, name, value,
                            grid->units[0] ? " " : "", grid->units[0] ? grid->units[0] : "",
                            text->str);
}

/* Compares all other rows with the baseline. */
static void add_contrasts(struct orch_section *section, const struct orch_section_grid *g,
                          const GPtrArray *rows, const struct orch_grid_cell *base,
                          const struct orch_question_tests *all, bool *out_is_uneven)
{
    g_autofree struct contrast *contrasts = g_new0(struct contrast, rows->len + 1);
    g_autofree struct orch_difference *tested = g_new0(struct orch_difference, rows->len + 1);
    size_t count = 0, tests = 0, unmatched = 0;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_grid_cell *cell = rows->pdata[i];
        if (cell == base)
            continue;
        struct contrast *c = &contrasts[count++];
        c->cell = cell;
        c->difference = orch_question_difference(all, base, cell, &c->unmatched);
        unmatched += c->unmatched;
        *out_is_uneven |= c->difference.is_uneven;
        if (!isnan(c->difference.p))
            tested[tests++] = c->difference;
        add_contrast(section, g, base, c);
    }
    add_answer(section, g, base, contrasts, count);
    if (tests)
        note_method(section, g, base, all, tested, tests);
    g_autofree char *axes = orch_answer_axes(g->trials->labels, g->rows);
    if (unmatched)
        orch_section_note(section,
                          "the difference is over pairs of runs with the same seed that differ "
                          "only in %s. %zu run%s no such partner and %s left out",
                          axes, unmatched, unmatched == 1 ? " has" : "s have",
                          unmatched == 1 ? "is" : "are");
}

static const struct orch_grid_cell *find_baseline(const GPtrArray *rows, const char *named)
{
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_grid_cell *cell = rows->pdata[i];
        if (!named || strcmp(cell->row, named) == 0)
            return cell;
    }
    return NULL;
}

static bool against_baseline(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_allowed_grid(a, "by", "best_of", error);
    if (!g)
        return false;
    const char *named = orch_json_text(a->item->spec, "baseline", NULL);
    struct orch_question_tests *tests = orch_question_tests_new(a, g, error);
    if (!tests) {
        orch_section_grid_free(g);
        return false;
    }
    bool is_uneven = false;
    g_autoptr(GPtrArray) rows = best_of_rows(g->grid);
    const struct orch_grid_cell *base = find_baseline(rows, named);
    if (base && base->done) {
        g_autofree char *label = words_of(g, base), *text = value_of(g->grid, base);
        g_autofree char *count = orch_grid_count_text(base);
        const bool is_counted =
            base->done < base->planned || (strstr(text, " repeats: ") && !strchr(count, ','));
        orch_section_text(a->section, "%s: %s%s%s", label, text, is_counted ? "" : ", ",
                          is_counted ? "" : count);
        add_contrasts(a->section, g, rows, base, tests, &is_uneven);
        orch_section_note_direction(a, g->grid);
        orch_section_note_mixed(a, g->grid);
        orch_section_note_shared_base(a, g->grid);
    } else if (g->grid->cells->len) {
        orch_section_missing(a->section, NULL, "no run of the baseline%s%s%s has a result yet",
                             named ? " (" : "", named ? named : "", named ? ")" : "");
    }
    orch_section_add_missing_trials(a, g->trials);
    if (is_uneven)
        orch_section_add_uneven(a, g->trials);
    orch_question_tests_free(tests);
    orch_section_grid_free(g);
    return true;
}

/* ---- before and after ------------------------------------------------------------------------ */

enum { AFTER, BEFORE };

/* One setting's value against the one that the same runs had before, seed by seed. */
static void add_change(struct orch_section *section, const struct orch_section_grid *g,
                       const struct orch_grid_cell *cell, size_t tests, GString *answer)
{
    g_autoptr(GArray) before = orch_grid_means(cell, BEFORE), after = orch_grid_means(cell, AFTER);
    struct orch_difference d = orch_seed_difference(before, after);
    orch_difference_allow_for(&d, tests);
    const struct orch_spread was = orch_grid_spread(g->grid, cell, BEFORE),
                             is = orch_grid_spread(g->grid, cell, AFTER);
    const struct contrast change = {.cell = cell, .difference = d};
    g_autoptr(GString) values = g_string_new(NULL);
    orch_answer_spread_append(values, &was, g->grid->units[BEFORE]);
    g_string_append(values, " before, ");
    orch_answer_spread_append(values, &is, g->grid->units[AFTER]);
    g_autofree char *noise = orch_difference_text(&d, g->grid->better),
                    *mean = orch_within_format(d.mean.mid, d.mean.low, d.mean.high);
    g_autofree char *label = words_of(g, cell);
    orch_section_text(section, "%s: %s after. Difference: %s%s", label, values->str, mean, noise);
    g_string_append_printf(answer, ". %s: from %.4g to %.4g, ", label, was.centre, is.centre);
    append_change(answer, g, &change);
    g_string_append(answer, isnan(d.p)             ? ", not tested"
                            : d.is_more_than_noise ? ", more than noise"
                                                   : ", not more than noise");
}

static bool against_before(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid_begin(a, "by", NULL, error);
    if (!g)
        return false;
    g_autoptr(GPtrArray) before = orch_item_values_parse(json_object_get(a->item->spec, "before"));
    g_ptr_array_set_size(g->wanted, 1);
    g_ptr_array_add(g->wanted, g_ptr_array_steal_index(before, 0));
    if (!orch_section_grid_fill(a, g, error)) {
        orch_section_grid_free(g);
        return false;
    }
    g_autoptr(GString) answer = g_string_new(NULL);
    size_t tests = 0;
    for (guint i = 0; i < g->grid->cells->len; i++)
        tests += ((const struct orch_grid_cell *)g->grid->cells->pdata[i])->done > 0;
    for (guint i = 0; i < g->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = g->grid->cells->pdata[i];
        if (cell->done)
            add_change(a->section, g, cell, tests, answer);
    }
    const struct orch_item_value *const *wanted =
        (const struct orch_item_value *const *)(void *)g->wanted->pdata;
    GHashTable *labels = g->trials->labels;
    g_autofree char *now = orch_answer_value(labels, wanted[AFTER], g->grid->units[AFTER]);
    g_autofree char *was = orch_answer_value(labels, wanted[BEFORE], g->grid->units[BEFORE]);
    if (answer->len)
        orch_section_answer(a->section, "%s, compared with %s of the same runs%s", now, was,
                            answer->str);
    orch_section_note_shared_base(a, g->grid);
    orch_section_add_missing_trials(a, g->trials);
    orch_section_grid_free(g);
    return true;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    return json_object_get(a->item->spec, "predicted") ? orch_compare_predicted(a, error)
           : json_object_get(a->item->spec, "before")  ? against_before(a, error)
                                                       : against_baseline(a, error);
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUES},
    {.name = "by", .shape = ORCH_SHAPE_AXES, .is_required = true},
    {.name = "predicted", .shape = ORCH_SHAPE_SIDE},
    {.name = "measured", .shape = ORCH_SHAPE_SIDE},
    {.name = "best_of", .shape = ORCH_SHAPE_AXES},
    {.name = "baseline", .shape = ORCH_SHAPE_TEXT},
    {.name = "before", .shape = ORCH_SHAPE_VALUE},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

/* Checks that a comparison has a baseline or two sides. */
static void check_compare(struct report_item *item)
{
    const struct orch_yaml *predicted = orch_yaml_get(item->spec, "predicted");
    const struct orch_yaml *measured = orch_yaml_get(item->spec, "measured");
    bool value = orch_yaml_get(item->spec, "value");
    if (!predicted != !measured)
        orch_recipe_error_at(item->draft, predicted ? predicted : measured,
                             "write both 'predicted' and 'measured'",
                             "'compare' needs both 'predicted' and 'measured', or neither");
    else if (!value && (!predicted || orch_report_names_experiment(item, predicted) ||
                        orch_report_names_experiment(item, measured)))
        orch_recipe_error_at(item->draft, item->spec, "see 'orch help reports'",
                             "'compare' needs 'value'");
    if (predicted &&
        (orch_yaml_get(item->spec, "baseline") || orch_yaml_get(item->spec, "best_of")))
        orch_recipe_error_at(item->draft, predicted, "leave 'baseline' and 'best_of' out",
                             "'predicted' excludes 'baseline' and 'best_of'");
    const struct orch_yaml *best_of = orch_yaml_get(item->spec, "best_of");
    for (guint i = 0; best_of && i < item->metrics->len; i++)
        orch_report_check_better(item, best_of, item->metrics->pdata[i]);
}

const struct orch_report_kind ORCH_REPORT_COMPARE = {
    .name = "compare",
    .keys = KEYS,
    .tests = ORCH_TESTS_BASELINE,
    .check = check_compare,
    .fill = fill,
};
