/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/run_list.h"

#include "core/plan/executor.h"
#include "core/results/live_trial.h"
#include "core/results/run_setting.h"
#include "core/stats/group.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <unistd.h>

static void free_listed(gpointer pointer)
{
    struct orch_listed_run *row = pointer;
    char *texts[] = {row->key, row->state,  row->setting, row->experiment,
                     row->who, row->commit, row->name};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    json_decref(row->coords);
    g_ptr_array_unref(row->tags);
    g_free(row->values);
    g_free(row);
}

static void free_lacking(gpointer pointer)
{
    struct orch_lacking_metric *lacking = pointer;
    g_free(lacking->hint);
    g_free(lacking);
}

void orch_run_list_free(struct orch_run_list *list)
{
    if (!list)
        return;
    g_ptr_array_unref(list->runs);
    g_ptr_array_unref(list->lacking);
    g_free(list);
}

/* Makes a row with NaN for each metric. */
static struct orch_listed_run *new_row(const char *key, guint metrics)
{
    struct orch_listed_run *row = g_new0(struct orch_listed_run, 1);
    row->key = g_strdup(key);
    row->tags = g_ptr_array_new_with_free_func(g_free);
    row->values = g_new(double, metrics + 1);
    for (guint i = 0; i < metrics; i++)
        row->values[i] = NAN;
    return row;
}

/* What was submitted to an executor waits there until its host has made the journal. */
static const char *active_state(const struct orch_active_row *active)
{
    if (!orch_active_is_alive(active))
        return "interrupted";
    if (!orch_executor_has_submitted(&active->runner))
        return "running";
    g_autofree char *journal = g_build_filename(active->trial_dir, "journal", NULL);
    return access(journal, F_OK) == 0 ? "running" : "queued";
}

static struct orch_listed_run *row_of_trial(const struct orch_active_row *active, guint metrics)
{
    struct orch_listed_run *row = new_row(active->key, metrics);
    g_autoptr(json_t) record = json_loads(active->record ? active->record : "{}", 0, NULL);
    row->coords = json_incref(json_object_get(json_object_get(record, "facts"), "coords"));
    row->state = g_strdup(active_state(active));
    row->setting =
        orch_run_setting_text(row->coords, NULL, (int)orch_json_int(record, "repeat", 1));
    row->experiment = g_strdup(orch_json_text(record, "experiment", NULL));
    row->who = g_strdup(orch_json_text(record, "who", NULL));
    row->commit = g_strdup(orch_json_text(json_object_get(record, "source"), "commit", NULL));
    row->started_ns = active->started_ns;
    row->wall_s = (double)(orch_now_ns() - active->started_ns) / 1e9;
    row->is_running = true;
    return row;
}

static bool read_labels(struct orch_store *store, struct orch_listed_run *row, GError **error)
{
    GError *problem = NULL;
    row->name = orch_store_name(store, row->key, &problem);
    GPtrArray *tags = problem ? NULL : orch_store_tags(store, row->key, &problem);
    if (tags) {
        g_ptr_array_unref(row->tags);
        row->tags = tags;
    }
    if (problem)
        g_propagate_error(error, problem);
    return tags != NULL;
}

static bool read_values(struct orch_store *store, const struct orch_run *run,
                        const char *const *metrics, double *out, GError **error)
{
    for (int i = 0; metrics && metrics[i]; i++)
        if (!orch_run_number(store, run, metrics[i], ORCH_AGGREGATE_LAST, &out[i], NULL, NULL,
                             error))
            return false;
    return true;
}

/* Fills the row of a run that has ended. */
static bool fill_row(struct orch_store *store, const struct orch_run *run,
                     const char *const *metrics, struct orch_listed_run *row, GError **error)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    row->coords = json_incref(json_object_get(facts, "coords"));
    row->state = g_strdup(run->state);
    row->setting = orch_run_setting_text(row->coords, run, run->repeat);
    row->experiment = g_strdup(run->experiment);
    row->who = g_strdup(run->who);
    row->commit = g_strdup(run->source_commit);
    row->wall_s = run->wall_ms / 1e3;
    row->started_ns = run->started_ns;
    row->is_hidden = run->hidden;
    row->has_tree = run->source_tree != NULL;
    row->is_dirty = run->source_dirty;
    return read_labels(store, row, error) && read_values(store, run, metrics, row->values, error);
}

/* The last values of a running trial, as its journal has them. */
static void read_live_values(struct orch_store *store, const struct orch_active_row *active,
                             const char *const *metrics, double *out)
{
    struct orch_live_trial trial;
    orch_live_trial_read(store, active, &trial);
    for (int i = 0; metrics[i]; i++) {
        const json_t *value = json_object_get(trial.last, metrics[i]);
        out[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    orch_live_trial_clear(&trial);
}

static bool add_trials(struct orch_store *store, const char *const *metrics,
                       struct orch_run_list *list, GError **error)
{
    guint count = metrics ? g_strv_length((char **)(uintptr_t)metrics) : 0;
    g_autoptr(GPtrArray) actives = orch_store_actives(store, error);
    for (guint i = 0; actives && i < actives->len; i++) {
        struct orch_listed_run *row = row_of_trial(actives->pdata[i], count);
        g_ptr_array_add(list->runs, row);
        if (metrics)
            read_live_values(store, actives->pdata[i], metrics, row->values);
    }
    return actives != NULL;
}

static bool add_runs(struct orch_store *store, const struct orch_selection *selection,
                     const char *const *metrics, struct orch_run_list *list, GError **error)
{
    guint count = metrics ? g_strv_length((char **)(uintptr_t)metrics) : 0;
    g_autoptr(GPtrArray) runs = orch_selection_runs(selection, store, &list->total, error);
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        struct orch_listed_run *row = new_row(run->key, count);
        g_ptr_array_add(list->runs, row);
        if (!fill_row(store, run, metrics, row, error))
            return false;
        list->has_labels = list->has_labels || row->name || row->tags->len;
        list->ended++;
    }
    return runs != NULL;
}

/* Finds the metrics that no run that has ended has. */
static void find_lacking(struct orch_store *store, const char *const *metrics,
                         struct orch_run_list *list)
{
    for (guint i = 0; list->ended && metrics && metrics[i]; i++) {
        bool some = false;
        for (guint k = 0; !some && k < list->runs->len; k++)
            some = !isnan(((const struct orch_listed_run *)list->runs->pdata[k])->values[i]);
        if (some)
            continue;
        struct orch_lacking_metric *lacking = g_new0(struct orch_lacking_metric, 1);
        *lacking =
            (struct orch_lacking_metric){metrics[i], orch_store_metric_hint(store, metrics[i])};
        g_ptr_array_add(list->lacking, lacking);
    }
}

struct orch_run_list *orch_run_list_make(struct orch_store *store,
                                         const struct orch_selection *selection,
                                         const char *const *metrics, bool with_running,
                                         GError **error)
{
    struct orch_run_list *list = g_new0(struct orch_run_list, 1);
    list->runs = g_ptr_array_new_with_free_func(free_listed);
    list->lacking = g_ptr_array_new_with_free_func(free_lacking);
    if ((with_running && !add_trials(store, metrics, list, error)) ||
        !add_runs(store, selection, metrics, list, error)) {
        orch_run_list_free(list);
        return NULL;
    }
    find_lacking(store, metrics, list);
    return list;
}
