/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/question_tests.h"

#include "core/stats/numbers.h"
#include "features/compare/allowed_settings.h"
#include "features/compare/family.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

struct orch_question_tests {
    GPtrArray *settings;       /* struct setting * */
    struct orch_family *pairs; /* of all settings; or NULL */
    GHashTable *contrasts;     /* set of "i j", i < j: settings that an item contrasts */
};

/* A setting is known by its runs: items group the same runs by different axes. */
struct setting {
    char *runs;
    GArray *means;
    bool is_disturbed;
};

static void setting_free(gpointer pointer)
{
    struct setting *s = pointer;
    g_array_unref(s->means);
    g_free(s->runs);
    g_free(s);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* The keys of a cell's runs in order. The caller frees. */
static char *runs_of(const struct orch_grid_cell *cell)
{
    g_autoptr(GPtrArray) keys = g_ptr_array_new();
    for (guint i = 0; i < cell->trials->len; i++) {
        const struct orch_report_trial *trial = cell->trials->pdata[i];
        if (trial->run)
            g_ptr_array_add(keys, trial->run->key);
    }
    g_ptr_array_sort(keys, orch_compare_texts);
    g_ptr_array_add(keys, NULL);
    return g_strjoinv(" ", (char **)keys->pdata);
}

static bool has_number(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    return cell->done && !isnan(orch_grid_spread(grid, cell, 0).stat.mean);
}

/* Returns the setting's place; -1: it is not known. */
static int place_of(const struct orch_question_tests *tests, const struct orch_grid_cell *cell)
{
    g_autofree char *runs = runs_of(cell);
    for (guint i = 0; i < tests->settings->len; i++)
        if (strcmp(((struct setting *)tests->settings->pdata[i])->runs, runs) == 0)
            return (int)i;
    return -1;
}

static void add_settings(struct orch_question_tests *tests, const struct orch_grid *grid)
{
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (!has_number(grid, cell) || place_of(tests, cell) >= 0)
            continue;
        struct setting *s = g_new0(struct setting, 1);
        s->runs = runs_of(cell);
        s->means = orch_grid_means(cell, 0);
        s->is_disturbed = cell->is_disturbed;
        g_ptr_array_add(tests->settings, s);
    }
}

/* ---- contrasts ------------------------------------------------------------------------------- */

static void add_contrast(struct orch_question_tests *tests, const struct orch_grid_cell *a,
                         const struct orch_grid_cell *b)
{
    int x = place_of(tests, a), y = place_of(tests, b);
    if (x >= 0 && y >= 0 && x != y)
        g_hash_table_add(tests->contrasts, g_strdup_printf("%d %d", MIN(x, y), MAX(x, y)));
}

/* The cells of a row that have a number (borrowed). The caller unrefs. */
static GPtrArray *cells_of(const struct orch_grid *grid, const char *row)
{
    GPtrArray *cells = g_ptr_array_new();
    for (guint i = 0; i < grid->cells->len; i++) {
        struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (strcmp(cell->row, row) == 0 && has_number(grid, cell))
            g_ptr_array_add(cells, cell);
    }
    return cells;
}

static bool can_be_tested(const GPtrArray *some, const GPtrArray *others)
{
    unsigned unmatched;
    for (guint i = 0; i < some->len; i++)
        for (guint j = 0; j < others->len; j++)
            if (!isnan(orch_grid_difference(some->pdata[i], others->pdata[j], &unmatched).p))
                return true;
    return false;
}

/* Adds every pair of a cell of the baseline and one of another row: each row's best cell was picked
 * from these. */
static void add_contrasts(struct orch_question_tests *tests, const struct orch_grid *grid,
                          const char *baseline)
{
    g_autoptr(GPtrArray) rows = orch_grid_rows(grid);
    const char *base = baseline ? baseline : rows->len ? rows->pdata[0] : "";
    g_autoptr(GPtrArray) of_base = cells_of(grid, base);
    for (guint r = 0; r < rows->len; r++) {
        g_autoptr(GPtrArray) of_row = cells_of(grid, rows->pdata[r]);
        if (strcmp(rows->pdata[r], base) == 0 || !can_be_tested(of_base, of_row))
            continue;
        for (guint i = 0; i < of_base->len; i++)
            for (guint j = 0; j < of_row->len; j++)
                add_contrast(tests, of_base->pdata[i], of_row->pdata[j]);
    }
}

/* ---- items ----------------------------------------------------------------------------------- */

static const char *key_of(const struct orch_report_item *item, const char *key)
{
    return orch_json_text(item->spec, key, NULL);
}

/* Returns whether another item tests the same value. */
static bool tests_same_value(const struct orch_report_item *item,
                             const struct orch_report_item *other)
{
    if (other->kind->tests == ORCH_TESTS_NONE || !json_object_get(other->spec, "value") ||
        json_object_get(other->spec, "predicted") || json_object_get(other->spec, "before"))
        return false;
    g_autoptr(GPtrArray) one = orch_item_values_parse(json_object_get(item->spec, "value"));
    g_autoptr(GPtrArray) two = orch_item_values_parse(json_object_get(other->spec, "value"));
    const struct orch_item_value *x = one->pdata[0], *y = two->pdata[0];
    return x->aggregate == y->aggregate && strcmp(x->name, y->name) == 0;
}

static bool is_of_question(const struct orch_report_item *item, const char *question)
{
    return question && g_strcmp0(item->question, question) == 0;
}

static bool are_of_one(const struct orch_report_item *item, const struct orch_report_item *other)
{
    return item == other ||
           (is_of_question(other, item->question) && tests_same_value(item, other));
}

/* Adds the settings and contrasts of an item. Returns false when the store cannot be read. */
static bool add_item(struct orch_question_tests *tests, const struct orch_section_context *a,
                     const struct orch_report_item *item, bool *has_all, GError **error)
{
    struct orch_document *scratch = orch_document_new("");
    struct orch_section_context of = *a;
    of.item = item;
    of.section = orch_document_add(scratch, item->kind->name, NULL, NULL);
    const bool is_all = item->kind->tests == ORCH_TESTS_ALL;
    struct orch_section_grid *g = orch_allowed_grid(&of, "by", is_all ? NULL : "best_of", error);
    if (g) {
        *has_all |= is_all;
        add_settings(tests, g->grid);
        if (!is_all)
            add_contrasts(tests, g->grid, key_of(item, "baseline"));
    }
    orch_section_grid_free(g);
    orch_document_free(scratch);
    return g != NULL;
}

static struct orch_question_tests *tests_new(void)
{
    struct orch_question_tests *tests = g_new0(struct orch_question_tests, 1);
    tests->settings = g_ptr_array_new_with_free_func(setting_free);
    tests->contrasts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return tests;
}

void orch_question_tests_free(struct orch_question_tests *tests)
{
    if (!tests)
        return;
    orch_family_free(tests->pairs);
    g_ptr_array_unref(tests->settings);
    g_hash_table_unref(tests->contrasts);
    g_free(tests);
}

static struct orch_best_metric metric_of(const struct orch_grid *grid)
{
    const struct orch_item_value *first = grid->wanted->pdata[0];
    return (struct orch_best_metric){first->name, grid->units[0],
                                     g_strcmp0(grid->better, "min") != 0};
}

static void test_all_pairs(struct orch_question_tests *tests, const struct orch_grid *grid)
{
    const guint count = tests->settings->len;
    const struct orch_best_metric metric = metric_of(grid);
    g_autofree GArray **means = g_new(GArray *, count + 1);
    g_autofree bool *is_disturbed = g_new(bool, count + 1);
    for (guint i = 0; i < count; i++) {
        const struct setting *s = tests->settings->pdata[i];
        means[i] = s->means;
        is_disturbed[i] = s->is_disturbed;
    }
    tests->pairs = orch_family_new(means, is_disturbed, count, &metric);
}

struct orch_question_tests *orch_question_tests_new(const struct orch_section_context *a,
                                                    const struct orch_section_grid *g,
                                                    GError **error)
{
    struct orch_question_tests *tests = tests_new();
    const GPtrArray *items = a->plan->expansion->report;
    bool ok = true, has_all = false;
    for (guint i = 0; ok && i < items->len; i++)
        if (are_of_one(a->item, items->pdata[i]))
            ok = add_item(tests, a, items->pdata[i], &has_all, error);
    if (ok && has_all)
        test_all_pairs(tests, g->grid);
    if (ok)
        return tests;
    orch_question_tests_free(tests);
    return NULL;
}

struct orch_question_tests *orch_question_tests_of_grid(const struct orch_grid *grid)
{
    struct orch_question_tests *tests = tests_new();
    add_settings(tests, grid);
    test_all_pairs(tests, grid);
    return tests;
}

/* ---- tests ----------------------------------------------------------------------------------- */

struct orch_difference orch_question_difference(const struct orch_question_tests *tests,
                                                const struct orch_grid_cell *a,
                                                const struct orch_grid_cell *b,
                                                unsigned *out_unmatched)
{
    int x = place_of(tests, a), y = place_of(tests, b);
    *out_unmatched = 0;
    if (tests->pairs && x >= 0 && y >= 0)
        return orch_family_difference(tests->pairs, (size_t)x, (size_t)y);
    struct orch_difference d = orch_grid_difference(a, b, out_unmatched);
    orch_difference_allow_for(&d, orch_question_contrasts(tests));
    return d;
}

size_t orch_question_contrasts(const struct orch_question_tests *tests)
{
    return tests->pairs ? 0 : g_hash_table_size(tests->contrasts);
}

char *orch_question_method(const struct orch_question_tests *tests, const struct orch_grid_cell *a,
                           const struct orch_difference *shown, size_t count)
{
    int place = place_of(tests, a);
    g_autofree char *method = tests->pairs && place >= 0
                                  ? orch_family_method(tests->pairs, (size_t)place, shown, count)
                                  : NULL;
    if (!method || tests->settings->len <= count + 1)
        return g_steal_pointer(&method);
    return g_strconcat(
        method, ". The settings are all that this question compares, also in its other items",
        NULL);
}

/* The difference of two cells in the family of another item's question, and how many settings that
 * family has: 0 when it does not have both. */
static bool look_elsewhere(const struct orch_section_context *a,
                           const struct orch_report_item *item, const struct orch_grid_cell *x,
                           const struct orch_grid_cell *y, struct orch_difference *out,
                           guint *out_settings, GError **error)
{
    struct orch_document *scratch = orch_document_new("");
    struct orch_section_context of = *a;
    of.item = item;
    of.section = orch_document_add(scratch, item->kind->name, NULL, NULL);
    struct orch_section_grid *g = orch_allowed_grid(&of, "by", NULL, error);
    struct orch_question_tests *tests = g ? orch_question_tests_new(&of, g, error) : NULL;
    bool ok = tests != NULL;
    int i = ok ? place_of(tests, x) : -1, j = ok ? place_of(tests, y) : -1;
    *out_settings = ok && tests->pairs && i >= 0 && j >= 0 ? tests->settings->len : 0;
    if (*out_settings)
        *out = orch_family_difference(tests->pairs, (size_t)i, (size_t)j);
    orch_question_tests_free(tests);
    orch_section_grid_free(g);
    orch_document_free(scratch);
    return ok;
}

bool orch_question_note_other(struct orch_section_context *a,
                              const struct orch_question_tests *tests,
                              const struct orch_grid_cell *x, const struct orch_grid_cell *y,
                              bool is_more_than_noise, GError **error)
{
    const GPtrArray *items = a->plan->expansion->report;
    for (guint i = 0; i < items->len; i++) {
        const struct orch_report_item *item = items->pdata[i];
        struct orch_difference d;
        guint settings;
        if (item->kind->tests != ORCH_TESTS_ALL || !item->question ||
            is_of_question(item, a->item->question) || !tests_same_value(a->item, item))
            continue;
        if (!look_elsewhere(a, item, x, y, &d, &settings, error))
            return false;
        if (!settings || isnan(d.p) || d.is_more_than_noise == is_more_than_noise)
            continue;
        g_autofree char *p = orch_p_format(d.p_corrected);
        orch_section_note(a->section,
                          "Question %s compares the same two settings among %u settings, not %u. "
                          "There the difference is %smore than noise (p %s), because p is "
                          "corrected for the number of settings",
                          item->question, settings, tests->settings->len,
                          d.is_more_than_noise ? "" : "not ", p);
        return true;
    }
    return true;
}

static int compare_cells(gconstpointer a, gconstpointer b, gpointer grid)
{
    return orch_grid_compare(grid, *(struct orch_grid_cell *const *)a,
                             *(struct orch_grid_cell *const *)b);
}

struct orch_winner orch_question_winner(const struct orch_question_tests *tests,
                                        const struct orch_grid *grid)
{
    struct orch_winner winner = {.others = g_ptr_array_new()};
    for (guint i = 0; i < grid->cells->len; i++) {
        struct orch_grid_cell *cell = grid->cells->pdata[i];
        winner.missing += !cell->done;
        if (has_number(grid, cell))
            g_ptr_array_add(winner.others, cell);
    }
    g_ptr_array_sort_with_data(winner.others, compare_cells, (gpointer)(uintptr_t)grid);
    if (!winner.others->len)
        return winner;
    winner.first = g_ptr_array_remove_index(winner.others, 0);
    winner.margins = g_new0(struct orch_difference, winner.others->len + 1);
    for (guint i = 0; i < winner.others->len; i++) {
        unsigned unmatched;
        struct orch_difference *d = &winner.margins[i];
        *d = orch_question_difference(tests, winner.others->pdata[i], winner.first, &unmatched);
        if (!metric_of(grid).larger_wins)
            *d = orch_difference_turned(d);
        winner.worse += d->is_more_than_noise;
        winner.uneven += d->is_uneven;
    }
    winner.method = orch_question_method(tests, winner.first, winner.margins, winner.others->len);
    return winner;
}

void orch_winner_clear(struct orch_winner *winner)
{
    g_clear_pointer(&winner->others, g_ptr_array_unref);
    g_clear_pointer(&winner->margins, g_free);
    g_clear_pointer(&winner->method, g_free);
}
