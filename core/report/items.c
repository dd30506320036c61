/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/items.h"

#include "core/report/averaged_over.h"
#include "core/report/section_words.h"
#include "core/stats/numbers.h"
#include "core/stats/seeds.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

char *orch_section_command(const struct orch_section_context *a, const char *verb, const char *more)
{
    const char *recipe = a->options->recipe;
    g_autofree char *path = recipe ? g_strdup(recipe) : g_shell_quote(a->plan->expansion->path);
    return g_strdup_printf("orch %s %s%s%s", verb, path, more ? " " : "", more ? more : "");
}

bool orch_item_without_trials(const json_t *spec)
{
    (void)spec;
    return false;
}

bool orch_item_flag(const json_t *spec, const char *key)
{
    static const char *const yes[] = {"true", "yes", "on", NULL};
    const json_t *value = json_object_get(spec, key);
    return json_is_true(value) ||
           (json_is_string(value) && g_strv_contains(yes, json_string_value(value)));
}

struct orch_trials *orch_section_trials(struct orch_section_context *a, const char *key,
                                        GError **error)
{
    struct orch_trials *trials = orch_trials_of_item(a->plan, a->item, key, error);
    if (!trials)
        return NULL;
    trials->who = a->options->who;
    orch_section_label(a->section, trials);
    if (!a->options->counts_disturbed)
        orch_trials_leave_out_disturbed(trials, a->section);
    return trials;
}

/* Reports the experiments of the item that the profile leaves out. */
static void add_left_out(struct orch_section_context *a)
{
    g_autoptr(GPtrArray) names = orch_texts_from_json(
        json_is_object(a->item->spec) ? json_object_get(a->item->spec, "experiments") : NULL);
    const struct orch_expansion *expansion = a->plan->expansion;
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (!experiment->skipped || (names->len && !orch_texts_have(names, experiment->name)))
            continue;
        const char *why = experiment->skip_reason ? experiment->skip_reason : "";
        if (experiment->is_unavailable)
            orch_section_missing(a->section, experiment->skip_hint, "%s is not available: %s",
                                 experiment->name, why);
        else
            orch_section_missing(a->section, NULL, "experiment %s is left out by profile '%s'%s%s",
                                 experiment->name, expansion->profile ? expansion->profile : "none",
                                 *why ? ": " : "", why);
    }
}

/* Why a trial that can run on this machine has no usable run. */
enum lack { NOT_RUN, OF_OTHER_CODE, WITH_OTHER_SETTINGS, LACKS };

static bool is_to_run(const struct orch_report_trial *trial)
{
    return !trial->run && trial->item && trial->item->state != ORCH_PLAN_SKIPPED &&
           trial->item->state != ORCH_PLAN_PRUNED;
}

static enum lack lack_of(const struct orch_report_trial *trial)
{
    if (trial->item->state != ORCH_PLAN_STALE)
        return NOT_RUN;
    return trial->item->other_settings ? WITH_OTHER_SETTINGS : OF_OTHER_CODE;
}

/* Joins the names of the experiments with such trials, and returns the first such trial. NULL when
 * there are none. */
static char *names_of_lack(const struct orch_trials *trials, enum lack lack, unsigned *out_count,
                           const struct orch_plan_item **out_first)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    *out_count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (!is_to_run(trial) || lack_of(trial) != lack)
            continue;
        char *name = trial->item->cell->experiment->name;
        if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_ptr_array_add(names, name);
        if (!(*out_count)++)
            *out_first = trial->item;
    }
    g_ptr_array_add(names, NULL);
    return *out_count ? g_strjoinv(" ", (char **)names->pdata) : NULL;
}

/* Returns how the first of the trials to run that were tried has ended ("skipped before: no CUDA
 * device"); NULL when none was tried. Borrowed. */
static const char *how_tried(const struct orch_trials *trials)
{
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (is_to_run(trial) && lack_of(trial) == NOT_RUN && trial->item->attempts)
            return trial->item->reason;
    }
    return NULL;
}

/* Reports how many trials lack a run for this reason, with the command that helps. Returns their
 * number. */
static unsigned add_missing_reason(struct orch_section_context *a, const struct orch_trials *trials,
                                   enum lack lack)
{
    unsigned count;
    const struct orch_plan_item *first = NULL;
    g_autofree char *names = names_of_lack(trials, lack, &count, &first);
    if (!names)
        return 0;
    g_autofree char *run = orch_section_command(a, "run", names);
    const char *are = count == 1 ? "is" : "are", *have = count == 1 ? "has" : "have";
    if (lack == NOT_RUN) {
        const char *tried = how_tried(trials);
        orch_section_missing(a->section, run, "%u of %u trials %s not run%s%s%s", count,
                             trials->all->len, are, tried ? " (" : "", tried ? tried : "",
                             tried ? ")" : "");
        return count;
    }
    if (lack == OF_OTHER_CODE) {
        a->section->stale += count;
        orch_section_missing(
            a->section, run,
            "%u of %u trials %s stale, which means that only an earlier version was run: %s", count,
            trials->all->len, are, first->reason);
        return count;
    }
    g_autofree char *report = orch_section_command(a, "report", first->other_settings);
    orch_section_missing(a->section, run,
                         "%u of %u trials %s runs with other settings only (%s); '%s' reports on "
                         "those",
                         count, trials->all->len, have, first->reason, report);
    return count;
}

const char *orch_trials_skip_reason(const struct orch_trials *trials, unsigned *out_count)
{
    const char *why = NULL;
    *out_count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (trial->run || !trial->item || trial->item->state != ORCH_PLAN_SKIPPED)
            continue;
        why = why ? why : trial->item->reason;
        (*out_count)++;
    }
    return why;
}

static unsigned count_pruned(const struct orch_trials *trials)
{
    unsigned count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        count += !trial->run && trial->item && trial->item->state == ORCH_PLAN_PRUNED;
    }
    return count;
}

/* Values of a parameter that are named; of more, the others are counted. */
enum { NAMED_VALUES_MOST = 8 };

static void append_coordinate(GString *out, const char *name, const GPtrArray *values)
{
    g_string_append_printf(out, "; %s", name);
    for (guint i = 0; i < MIN(values->len, NAMED_VALUES_MOST); i++)
        g_string_append_printf(out, "%s%s", i ? ", " : " ", (char *)values->pdata[i]);
    if (values->len > NAMED_VALUES_MOST)
        g_string_append_printf(out, " and %u more", values->len - NAMED_VALUES_MOST);
}

/* The trials that cannot run here: "gpu_add; scenario gpu_1x1, gpu_grid; millions 1,
 * 5". The caller frees. */
static char *would_add(const struct orch_trials *trials)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new(), experiments = g_ptr_array_new();
    g_autoptr(GHashTable) values = g_hash_table_new_full(NULL, NULL, NULL, /* interned names */
                                                         (GDestroyNotify)g_ptr_array_unref);
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (trial->run || !trial->item || trial->item->state != ORCH_PLAN_SKIPPED)
            continue;
        const char *experiment = g_intern_string(trial->item->cell->experiment->name), *name;
        if (!g_ptr_array_find(experiments, experiment, NULL))
            g_ptr_array_add(experiments, (gpointer)(uintptr_t)experiment);
        g_autoptr(json_t) coords = orch_trial_coords(trial);
        json_t *value;
        json_object_foreach(coords, name, value)
        {
            const char *key = g_intern_string(name);
            g_autofree char *text = orch_trial_value(trials, trial, key);
            GPtrArray *of = orch_is_seed_name(key) ? NULL : g_hash_table_lookup(values, key);
            if (!text || orch_is_seed_name(key))
                continue;
            if (!of) {
                g_hash_table_insert(values, (gpointer)(uintptr_t)key,
                                    of = g_ptr_array_new_with_free_func(g_free));
                g_ptr_array_add(names, (gpointer)(uintptr_t)key);
            }
            orch_texts_add_once(of, text);
        }
    }
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < experiments->len; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "", (char *)experiments->pdata[i]);
    for (guint i = 0; i < names->len; i++)
        append_coordinate(out, names->pdata[i], g_hash_table_lookup(values, names->pdata[i]));
    return g_string_free(out, FALSE);
}

static void add_skipped(struct orch_section_context *a, const struct orch_trials *trials)
{
    unsigned count;
    const char *why = orch_trials_skip_reason(trials, &count);
    g_autofree char *adds = count ? would_add(trials) : NULL;
    if (count)
        orch_section_missing(a->section, NULL, "%u of %u trials (%s) cannot run here: %s", count,
                             trials->all->len, adds, why ? why : "skipped");
}

void orch_section_add_missing_trials(struct orch_section_context *a,
                                     const struct orch_trials *trials)
{
    unsigned missing = 0;
    if (!trials->all->len)
        add_left_out(a);
    for (enum lack lack = NOT_RUN; lack < LACKS; lack++)
        missing += add_missing_reason(a, trials, lack);
    unsigned pruned = count_pruned(trials);
    if (pruned)
        orch_section_note(a->section,
                          "%u of %u trials %s stopped early by %s search (pruned) and %s no result",
                          pruned, trials->all->len, pruned == 1 ? "was" : "were",
                          pruned == 1 ? "its" : "their", pruned == 1 ? "has" : "have");
    add_skipped(a, trials);
    if (!a->section->done && !missing)
        a->section->state = ORCH_SECTION_SKIPPED;
}

void orch_section_add_uneven(struct orch_section_context *a, const struct orch_trials *trials)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_ptr_array_add(words, (gpointer)(uintptr_t) "--disturbed");
    guint count = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!trial->item || !orch_trial_is_disturbed(trials, trial) ||
            orch_disturbed_has(&trials->disturbed, trial->run))
            continue;
        count++;
        char *name = trial->item->cell->experiment->name;
        if (!g_ptr_array_find_with_equal_func(words, name, g_str_equal, NULL))
            g_ptr_array_add(words, name);
    }
    g_ptr_array_add(words, NULL);
    g_autofree char *list = g_strjoinv(" ", (char **)words->pdata);
    g_autofree char *run = orch_section_command(a, "run", list);
    orch_section_missing(
        a->section, run,
        "%u run%s disturbed by other programs, and %s setting has no undisturbed run", count,
        count == 1 ? " was" : "s were", count == 1 ? "its" : "their");
}

struct orch_section_grid *orch_section_grid_begin(struct orch_section_context *a,
                                                  const char *rows_key, const char *columns_key,
                                                  GError **error)
{
    const json_t *spec = a->item->spec;
    struct orch_section_grid *grid = g_new0(struct orch_section_grid, 1);
    grid->wanted = orch_item_values_parse(json_object_get(spec, "value"));
    grid->rows = orch_texts_from_json(json_object_get(spec, rows_key));
    grid->columns = orch_texts_from_json(columns_key ? json_object_get(spec, columns_key) : NULL);
    grid->trials = orch_section_trials(a, "experiments", error);
    if (grid->trials)
        return grid;
    orch_section_grid_free(grid);
    return NULL;
}

bool orch_section_grid_fill(struct orch_section_context *a, struct orch_section_grid *grid,
                            GError **error)
{
    grid->grid = orch_grid_new(grid->trials, grid->wanted, grid->rows, grid->columns, error);
    g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
    for (guint i = 0; grid->grid && i < grid->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->grid->cells->pdata[i];
        for (guint j = 0; j < cell->trials->len; j++) {
            orch_section_trial(a->section, grid->trials, cell->trials->pdata[j]);
            g_hash_table_add(kept, cell->trials->pdata[j]);
        }
    }
    for (guint i = 0; grid->grid && i < grid->grid->unplaced->len; i++) {
        orch_section_trial(a->section, grid->trials, grid->grid->unplaced->pdata[i]);
        g_hash_table_add(kept, grid->grid->unplaced->pdata[i]);
    }
    orch_trials_keep(grid->trials, kept); /* drop trials without any of the values */
    return grid->grid;
}

struct orch_section_grid *orch_section_grid(struct orch_section_context *a, const char *rows_key,
                                            const char *columns_key, GError **error)
{
    struct orch_section_grid *grid = orch_section_grid_begin(a, rows_key, columns_key, error);
    if (!grid || orch_section_grid_fill(a, grid, error))
        return grid;
    orch_section_grid_free(grid);
    return NULL;
}

void orch_section_grid_free(struct orch_section_grid *grid)
{
    if (!grid)
        return;
    orch_grid_free(grid->grid);
    orch_trials_free(grid->trials);
    g_ptr_array_unref(grid->wanted);
    g_ptr_array_unref(grid->rows);
    g_ptr_array_unref(grid->columns);
    g_free(grid);
}

void orch_section_note_shared_base(struct orch_section_context *a, const struct orch_grid *grid)
{
    g_autofree char *shared = orch_grid_shared_base(grid, a->plan->store);
    if (shared)
        orch_section_note(a->section, "%s", shared);
}

void orch_section_note_direction(struct orch_section_context *a, const struct orch_grid *grid)
{
    const struct orch_item_value *wanted = grid->wanted->pdata[0];
    struct orch_direction direction = {ORCH_BETTER_NONE, NULL};
    for (guint i = 0; i < grid->trials->all->len && !direction.by; i++) {
        const struct orch_report_trial *trial = grid->trials->all->pdata[i];
        if (trial->numbers && orch_run_numbers_has(trial->numbers, wanted->name))
            direction = orch_run_numbers_direction(trial->numbers, wanted->name);
    }
    bool is_plain = g_strcmp0(direction.by, "unit") == 0; /* a time, or a rate */
    g_autofree char *said = is_plain ? NULL : orch_direction_said(wanted->name, direction, false);
    if (said)
        orch_section_note(a->section, "%s", said);
}

void orch_section_note_mixed(struct orch_section_context *a, const struct orch_grid *grid)
{
    g_autofree char *mixed = orch_grid_mixed(grid);
    if (mixed)
        orch_section_note(a->section, "%s", mixed);
}

/* Names the direction of a difference. A metric without a better direction is only higher or
 * lower. */
static const char *difference_way(double mean, const char *better)
{
    if (strcmp(better, "none") == 0)
        return mean > 0 ? "higher by " : "lower by ";
    return (mean > 0) == (strcmp(better, "max") == 0) ? "better by " : "worse by ";
}

char *orch_difference_text(const struct orch_difference *d, const char *better)
{
    if (d->is_uneven)
        return g_strdup(", " ORCH_UNEVEN_WORDS);
    if (isnan(d->p))
        return g_strdup(isfinite(d->mean.mid) ? ", not tested, because one repeat shows no spread"
                                              : ", an infinite value cannot be tested");
    g_autofree char *interval = orch_interval_format(d->mean.low, d->mean.high),
                    *p = orch_p_format(d->p);
    g_autofree char *corrected = orch_p_format(d->p_corrected);
    const char *way = better && d->is_more_than_noise ? difference_way(d->mean.mid, better) : "";
    g_autofree char *count = d->is_paired && !d->is_pooled
                                 ? g_strdup_printf("%zu pairs of runs", d->count_a)
                                 : g_strdup_printf("%zu and %zu repeats", d->count_b, d->count_a);
    return g_strdup_printf(" (95 %% interval %s), %s%s. Test: %s test of %s, p %s, corrected p %s",
                           interval, way,
                           d->is_more_than_noise ? "more than noise" : "not more than noise",
                           orch_difference_test(d), count, p, corrected);
}
