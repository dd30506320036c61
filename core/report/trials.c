/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/trials.h"

#include "core/report/labels.h"
#include "core/report/metric_bounds.h"
#include "core/stats/numbers.h"
#include "core/stats/same_trial.h"
#include "core/stats/task.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/system_metrics.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

/* ---- requested values ------------------------------------------------------------------------ */

GPtrArray *orch_texts_from_json(const json_t *value)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    if (json_is_string(value))
        g_ptr_array_add(out, g_strdup(json_string_value(value)));
    for (size_t i = 0; i < json_array_size(value); i++)
        g_ptr_array_add(out, g_strdup(json_string_value(json_array_get(value, i))));
    return out;
}

static void free_wanted(gpointer pointer)
{
    struct orch_item_value *wanted = pointer;
    g_free(wanted->name);
    g_free(wanted);
}

GPtrArray *orch_item_values_parse(const json_t *value)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(free_wanted);
    g_autoptr(GPtrArray) words = orch_texts_from_json(value);
    for (guint i = 0; i < words->len; i++) {
        g_auto(GStrv) parts = g_strsplit(g_strstrip(words->pdata[i]), " ", 2);
        struct orch_item_value *wanted = g_new0(struct orch_item_value, 1);
        bool two = parts[0] && parts[1];
        if (!two || !orch_aggregate_parse(parts[0], &wanted->aggregate))
            wanted->aggregate = ORCH_AGGREGATE_LAST; /* "result x" or a bare name */
        wanted->name = g_strdup(two ? g_strstrip(parts[1]) : parts[0]);
        g_ptr_array_add(out, wanted);
    }
    return out;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static void free_trial(gpointer pointer)
{
    struct orch_report_trial *trial = pointer;
    orch_run_free(trial->run);
    orch_run_numbers_free(trial->numbers);
    g_free(trial);
}

static struct orch_trials *trials_new(struct orch_store *store)
{
    struct orch_trials *trials = g_new0(struct orch_trials, 1);
    trials->store = store;
    trials->all = g_ptr_array_new_with_free_func(free_trial);
    trials->labels = orch_labels_new();
    trials->bounds = orch_bounds_new();
    return trials;
}

void orch_trials_keep(struct orch_trials *trials, GHashTable *kept)
{
    for (guint i = trials->all->len; i-- > 0;)
        if (!g_hash_table_contains(kept, trials->all->pdata[i]))
            g_ptr_array_remove_index(trials->all, i);
}

void orch_trials_free(struct orch_trials *trials)
{
    if (!trials)
        return;
    g_ptr_array_unref(trials->all);
    g_hash_table_unref(trials->labels);
    g_hash_table_unref(trials->bounds);
    orch_disturbed_clear(&trials->disturbed);
    g_free(trials);
}

static void add_trial(struct orch_trials *trials, const struct orch_plan_item *item,
                      struct orch_run *run)
{
    struct orch_report_trial *trial = g_new0(struct orch_report_trial, 1);
    trial->item = item;
    trial->run = run;
    if (run) {
        g_autoptr(json_t) params = item ? json_incref(item->cell->params)
                                        : orch_store_params(trials->store, run->id, NULL);
        trial->seed = orch_run_seed(run, params);
    }
    g_ptr_array_add(trials->all, trial);
}

static bool is_meant(const GPtrArray *experiments, const char *name)
{
    return !experiments->len || orch_texts_have(experiments, name);
}

/* Returns the keys of the runs that a filter selects; NULL with an error. The recipe's reader has
 * already checked the filter's names, so a name that the store does not know just matches no run.
 */
static GHashTable *keys_of(struct orch_store *store, const struct orch_where *filter,
                           GError **error)
{
    struct orch_run_query query = {.where = filter};
    GError *problem = NULL;
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, &problem);
    if (problem && !g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_USAGE)) {
        g_propagate_error(error, problem);
        return NULL;
    }
    g_clear_error(&problem);
    GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; runs && i < runs->len; i++)
        g_hash_table_add(keys, g_strdup(((const struct orch_run *)runs->pdata[i])->key));
    return keys;
}

/* Looks up the values that are known of a trial before it runs. */
static char *planned_value(void *ctx, const char *name)
{
    const struct orch_cell *cell = ctx;
    if (strcmp(name, "experiment") == 0)
        return g_strdup(cell->experiment->name);
    if (strcmp(name, "plugin") == 0)
        return g_strdup(cell->experiment->manifest->name);
    if (strcmp(name, "repeat") == 0)
        return g_strdup_printf("%d", cell->repeat);
    return orch_cell_value_text(cell, name);
}

/* A trial that the filter asks for by the recipe's values, and its filter. */
struct asked {
    const struct orch_cell *cell;
    const GArray *names; /* struct orch_where_name */
};

/* The same of a trial that has run: what every run has of its own (a state, a machine) is the run's
 * to say. */
static char *value_of_done(void *ctx, const char *name)
{
    const struct asked *asked = ctx;
    static const char *const of_cell[] = {"experiment", "plugin", "repeat", NULL};
    for (guint i = 0; i < asked->names->len; i++) {
        const struct orch_where_name *n = &g_array_index(asked->names, struct orch_where_name, i);
        if (n->is_column && strcmp(n->name, name) == 0 && !g_strv_contains(of_cell, name))
            return NULL;
    }
    return planned_value((struct orch_cell *)(uintptr_t)asked->cell, name);
}

/* A run may serve trials of several settings that a parameter without effect tells apart. Its
 * record has one of them, so the recipe's values come first. */
static bool is_let_in(const struct orch_where *filter, GHashTable *keys,
                      const struct orch_plan_item *trial, const struct orch_run *run)
{
    if (!filter)
        return true;
    if (!run || !keys)
        return orch_where_may_hold(filter, planned_value,
                                   (struct orch_cell *)(uintptr_t)trial->cell);
    g_autoptr(GArray) names = orch_where_names(filter);
    struct asked asked = {trial->cell, names};
    return orch_where_must_hold(filter, value_of_done, &asked) ||
           (orch_where_may_hold(filter, value_of_done, &asked) &&
            g_hash_table_contains(keys, run->key));
}

struct orch_trials *orch_trials_of_item(const struct orch_plan *plan,
                                        const struct orch_report_item *item, const char *key,
                                        GError **error)
{
    const char *where =
        json_is_object(item->spec) ? orch_json_text(item->spec, "where", NULL) : NULL;
    struct orch_where *filter = where ? orch_where_parse(where, error) : NULL;
    g_autoptr(GHashTable) keys = NULL;
    if ((where && !filter) ||
        (filter && plan->store && !(keys = keys_of(plan->store, filter, error)))) {
        orch_where_free(filter);
        return NULL;
    }
    g_autoptr(GPtrArray) experiments =
        orch_texts_from_json(json_is_object(item->spec) ? json_object_get(item->spec, key) : NULL);
    struct orch_trials *trials = trials_new(plan->store);
    const struct orch_experiment *labelled = NULL;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *trial = &plan->items[i];
        const struct orch_experiment *experiment = trial->cell->experiment;
        if (!is_meant(experiments, experiment->name) || trial->state == ORCH_PLAN_UNUSED ||
            experiment->skipped)
            continue;
        if (experiment != labelled) {
            orch_labels_add(trials->labels, experiment->manifest);
            orch_bounds_add(trials->bounds, experiment->manifest);
        }
        labelled = experiment;
        bool done = trial->state == ORCH_PLAN_DONE && trial->run_key && plan->store;
        struct orch_run *run = done ? orch_store_run(plan->store, trial->run_key, NULL) : NULL;
        if (is_let_in(filter, keys, trial, run))
            add_trial(trials, trial, run);
        else
            orch_run_free(run);
    }
    orch_where_free(filter);
    return trials;
}

struct orch_trials *orch_trials_of_filter(struct orch_store *store, const char *where,
                                          GError **error)
{
    struct orch_where *filter = where ? orch_where_parse(where, error) : NULL;
    if (where && !filter)
        return NULL;
    struct orch_run_query query = {.where = filter, .ended_well = true};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    orch_where_free(filter);
    if (!runs)
        return NULL;
    struct orch_trials *trials = trials_new(store);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < runs->len; i++) {
        struct orch_run *run = runs->pdata[i];
        bool is_seen;
        if (!orch_trial_is_repeated(store, run, seen, &is_seen, error)) {
            orch_trials_free(trials);
            return NULL;
        }
        if (is_seen)
            continue;
        add_trial(trials, NULL, run);
        runs->pdata[i] = NULL;
    }
    return trials;
}

GPtrArray *orch_trials_task_names(const struct orch_trials *trials, GHashTable *about,
                                  const char *const *chosen)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < trials->all->len; i++) {
        const struct orch_report_trial *trial = trials->all->pdata[i];
        if (!trial->item && (!about || g_hash_table_contains(about, trial)))
            g_ptr_array_add(runs, trial->run);
    }
    struct orch_tasks *tasks = orch_tasks_new(trials->store, runs, chosen);
    GPtrArray *names = orch_tasks_names(tasks);
    orch_tasks_free(tasks);
    return names;
}

/* ---- queries --------------------------------------------------------------------------------- */

int orch_trial_repeat(const struct orch_report_trial *trial)
{
    return trial->item ? trial->item->cell->repeat : trial->run->repeat;
}

json_t *orch_trial_coords(const struct orch_report_trial *trial)
{
    if (trial->item)
        return json_incref(trial->item->cell->coords);
    g_autoptr(json_t) facts =
        trial->run && trial->run->facts ? json_loads(trial->run->facts, 0, NULL) : NULL;
    json_t *coords = facts ? json_object_get(facts, "coords") : NULL;
    return json_is_object(coords) ? json_incref(coords) : json_object();
}

/* Formats what was swept: "lr=0.1 mode=full". */
static char *setting_of(const struct orch_report_trial *trial)
{
    g_autoptr(json_t) coords = orch_trial_coords(trial);
    GString *text = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach(coords, name, value)
    {
        g_autofree char *shown = trial->item ? orch_cell_value_text(trial->item->cell, name)
                                             : orch_value_format_json(value);
        g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", name, shown);
    }
    return g_string_free(text, FALSE);
}

char *orch_trial_name(const struct orch_report_trial *trial)
{
    if (trial->item)
        return orch_cell_label(trial->item->cell);
    g_autofree char *setting = setting_of(trial);
    return g_strdup_printf("%s%s%s #%d", trial->run->experiment, *setting ? " " : "", setting,
                           trial->run->repeat);
}

/* The host's name and the beginning of the machine's key, for hosts may share a name. */
static char *machine_of(const struct orch_run *run)
{
    g_autoptr(json_t) facts = run->machine_facts ? json_loads(run->machine_facts, 0, NULL) : NULL;
    const char *host = orch_json_text(facts, "hostname", NULL);
    return host && run->machine_key ? g_strdup_printf("%s %.8s", host, run->machine_key)
                                    : g_strdup(run->machine_key);
}

char *orch_trial_value(const struct orch_trials *trials, const struct orch_report_trial *trial,
                       const char *axis)
{
    if (trial->item && strcmp(axis, "experiment") == 0)
        return g_strdup(trial->item->cell->experiment->name);
    if (strcmp(axis, "repeat") == 0)
        return g_strdup_printf("%d", orch_trial_repeat(trial));
    char *value = trial->item ? orch_cell_value_text(trial->item->cell, axis) : NULL;
    if (value)
        return value;
    if (strcmp(axis, "setting") == 0)
        return setting_of(trial);
    if (trial->run && strcmp(axis, "machine") == 0)
        return machine_of(trial->run);
    return trial->run ? orch_run_field(trials->store, trial->run, axis) : NULL;
}

char *orch_trial_label(const struct orch_trials *trials, const struct orch_report_trial *trial,
                       const GPtrArray *axes)
{
    GString *label = g_string_new(NULL);
    bool any = !axes->len;
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = orch_trial_value(trials, trial, axes->pdata[i]);
        any = any || value;
        g_string_append_printf(label, "%s%s", i ? " " : "", value ? value : "-");
    }
    if (any)
        return g_string_free(label, FALSE);
    g_string_free(label, TRUE);
    return NULL;
}

void orch_trials_leave_out_disturbed(struct orch_trials *trials, struct orch_section *section)
{
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < trials->all->len; i++)
        g_ptr_array_add(runs, ((const struct orch_report_trial *)trials->all->pdata[i])->run);
    orch_disturbed_clear(&trials->disturbed);
    orch_disturbed_find(trials->store, runs, &trials->disturbed);
    trials->section = section;
}

/* Returns the numbers of the trial's run. They are read once and owned by the trial. NULL with an
 * error. */
static struct orch_run_numbers *numbers_of(const struct orch_trials *trials,
                                           struct orch_report_trial *trial, GError **error)
{
    if (!trial->numbers)
        trial->numbers = orch_run_numbers_read(trials->store, trial->run, error);
    return trial->numbers;
}

/* Returns whether the trial's run is simulated: its result `simulated` is above 0, so no machine
 * ran what its times are about, and other programs cannot have disturbed them. */
static bool trial_is_simulated(const struct orch_trials *trials, struct orch_report_trial *trial)
{
    return trial->run && orch_run_is_simulated(trials->store, trial->run);
}

bool orch_trial_is_disturbed(const struct orch_trials *trials, struct orch_report_trial *trial)
{
    return trial->run && orch_run_is_disturbed(trials->store, trial->run);
}

bool orch_trial_is_left_out(const struct orch_trials *trials, struct orch_report_trial *trial)
{
    if (!trials->section || !orch_trial_is_disturbed(trials, trial))
        return false;
    bool is_out = orch_disturbed_has(&trials->disturbed, trial->run);
    char *counted = g_strconcat("disturbed ", trial->run->key, NULL);
    if (g_hash_table_add(trials->section->counted, counted)) /* one run may serve several trials */
        *(is_out ? &trials->section->disturbed_left_out : &trials->section->disturbed_kept) += 1;
    return is_out;
}

bool orch_value_depends_on_load(const struct orch_item_value *value, const char *unit)
{
    return orch_unit_is_timing(unit, NULL) ||
           (g_str_has_prefix(value->name, "system/") && g_strcmp0(unit, "%") == 0);
}

bool orch_trial_number(const struct orch_trials *trials, struct orch_report_trial *trial,
                       const struct orch_item_value *wanted, double *out, const char **out_better,
                       const char **out_unit, GError **error)
{
    *out = NAN;
    if (!trial->run)
        return true;
    if (!numbers_of(trials, trial, error))
        return false;
    const char *unit = NULL;
    *out = orch_run_numbers_get(trial->numbers, wanted->name, wanted->aggregate, out_better, &unit);
    if (out_unit && unit)
        *out_unit = unit;
    if (!isnan(*out) && orch_value_depends_on_load(wanted, unit) &&
        orch_trial_is_left_out(trials, trial))
        *out = NAN;
    return true;
}

bool orch_trial_has(const struct orch_trials *trials, struct orch_report_trial *trial,
                    const char *name)
{
    if (strcmp(name, "wall_s") == 0)
        return true;
    const struct orch_manifest *manifest =
        trial->item ? trial->item->cell->experiment->manifest : NULL;
    if (manifest && (orch_system_metric_find(name) || orch_manifest_metric(manifest, name)))
        return true;
    if (manifest && (!manifest->any_metric || !trial->run))
        return manifest->any_metric;
    return numbers_of(trials, trial, NULL) && orch_run_numbers_has(trial->numbers, name);
}

char *orch_run_artifact(struct orch_store *store, const struct orch_run *run, const char *name,
                        bool *out_gone)
{
    g_autoptr(GPtrArray) all = orch_store_artifacts(store, run->id, NULL);
    if (out_gone)
        *out_gone = false;
    for (guint i = 0; all && i < all->len; i++) {
        const struct orch_stored_artifact *artifact = all->pdata[i];
        if (strcmp(artifact->name, name) != 0)
            continue;
        char *path = orch_store_object_path(store, artifact->sha256);
        if (out_gone)
            *out_gone = !path;
        return path;
    }
    return NULL;
}

static bool params_agree(struct orch_store *store, const struct orch_run *run,
                         const struct orch_cell *cell)
{
    g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        const json_t *had = params ? json_object_get(params, name) : NULL;
        if (orch_cell_identifies(cell, spec) && had && !json_equal(had, value))
            return false;
    }
    return true;
}

bool orch_run_is_of(struct orch_store *store, const struct orch_run *run,
                    const struct orch_plan_item *item)
{
    bool has_other_seed =
        item->cell->experiment->seed_by_device && g_strcmp0(run->device_key, item->device_key) != 0;
    if (item->fingerprint[0] && !has_other_seed)
        return g_strcmp0(run->fingerprint, item->fingerprint) == 0;
    return g_strcmp0(run->experiment, item->cell->experiment->name) == 0 &&
           run->repeat == item->cell->repeat && params_agree(store, run, item->cell);
}

void orch_section_trial(struct orch_section *section, const struct orch_trials *trials,
                        struct orch_report_trial *trial)
{
    const struct orch_run *run = trial->run;
    /* trials of which one run serves several, such as a single worker of both kinds of scaling */
    const char *counted = run                                        ? run->key
                          : trial->item && *trial->item->fingerprint ? trial->item->fingerprint
                                                                     : NULL;
    if (counted && !g_hash_table_add(section->counted, g_strdup(counted)))
        return;
    section->planned++;
    if (!run)
        return;
    section->done++;
    section->simulated += trial_is_simulated(trials, trial);
    g_autofree char *label = orch_trial_name(trial);
    struct orch_section_run noted = {
        run->key,
        run->experiment,
        label,
        run->who,
        run->device_key,
        run->source_commit,
        !trials->who || orch_who_is_same(run->who, trials->who),
    };
    orch_section_run_add(section, &noted);
}
