/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/bisect/bisect_commits.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define AD_HOC_RECIPE "try" /* core/recipe/ad_hoc.c */

/* ---- life -------------------------------------------------------------------------------------
 */

static void clear_value(gpointer value)
{
    g_free(((struct orch_bisect_value *)value)->key);
}

void orch_bisect_commits_init(struct orch_bisect_commits *commits, GPtrArray *path)
{
    *commits = (struct orch_bisect_commits){.path = path,
                                            .rows = g_new0(struct orch_bisect_commit, path->len),
                                            .count = path->len,
                                            .by_tree = g_hash_table_new(g_str_hash, g_str_equal)};
    for (size_t i = 0; i < commits->count; i++) {
        struct orch_bisect_commit *row = &commits->rows[i];
        row->is = path->pdata[i];
        row->values = g_array_new(FALSE, FALSE, sizeof(struct orch_bisect_value));
        g_array_set_clear_func(row->values, clear_value);
        row->repeats = g_array_new(FALSE, FALSE, sizeof(int));
        const struct orch_bisect_commit *twin =
            g_hash_table_lookup(commits->by_tree, row->is->tree);
        if (twin)
            row->skipped = g_strdup_printf("has the same files as %.8s", twin->is->commit);
        else
            g_hash_table_insert(commits->by_tree, row->is->tree, row);
    }
}

void orch_bisect_commits_clear(struct orch_bisect_commits *commits)
{
    for (size_t i = 0; i < commits->count; i++) {
        g_array_unref(commits->rows[i].values);
        g_array_unref(commits->rows[i].repeats);
        g_free(commits->rows[i].skipped);
    }
    g_clear_pointer(&commits->by_tree, g_hash_table_unref);
    g_clear_pointer(&commits->rows, g_free);
    g_clear_pointer(&commits->path, g_ptr_array_unref);
    commits->count = 0;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static void note_failure(struct orch_bisect_commit *row, const struct orch_run *run)
{
    if (row->values->len || row->skipped)
        return;
    row->skipped =
        run->reason ? g_strdup_printf("%s: %s", run->state, run->reason) : g_strdup(run->state);
    orch_text_plain(row->skipped);
}

bool orch_bisect_commits_add(struct orch_bisect_commits *commits, size_t index,
                             struct orch_store *store, const struct orch_run *run, bool is_new,
                             struct orch_bisect_metric *metric, GError **error)
{
    struct orch_bisect_commit *row = &commits->rows[index];
    enum orch_verdict verdict = orch_verdict_parse(run->state);
    const struct orch_verdict_facts *facts = orch_verdict_facts(verdict);
    double value;
    const char *unit = NULL, *better = NULL;
    bool is_from_outside = verdict == ORCH_VERDICT_LOST || verdict == ORCH_VERDICT_PREEMPTED ||
                           verdict == ORCH_VERDICT_CANCELLED;
    if (is_from_outside) /* says nothing of the commit */
        return true;
    if (!facts->is_reused) {
        g_array_append_val(row->repeats, run->repeat);
        if (facts->fault || verdict == ORCH_VERDICT_SKIPPED)
            note_failure(row, run);
        return true;
    }
    if (!orch_run_number(store, run, metric->name, metric->aggregate, &value, &better, &unit,
                         error))
        return false;
    orch_bisect_metric_learn(metric, better, unit);
    g_array_append_val(row->repeats, run->repeat);
    if (!isfinite(value)) {
        if (!row->skipped && !row->values->len)
            row->skipped = g_strdup_printf("recorded no number for '%s'", metric->name);
        return true;
    }
    struct orch_bisect_value one = {.key = g_strdup(run->key),
                                    .value = value,
                                    .wall_s = run->wall_ms / 1e3,
                                    .is_disturbed = orch_run_is_disturbed(store, run),
                                    .is_new = is_new};
    g_array_append_val(row->values, one);
    g_clear_pointer(&row->skipped, g_free);
    return true;
}

static bool is_of(const struct orch_run *run, const struct orch_bisect_command *command)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    const char *id = facts ? orch_json_text(facts, "command_id", NULL) : NULL;
    return g_strcmp0(id, command->command_id) == 0;
}

/* Times count only where they are measured; which metrics are times is known from a run on. */
static bool counts_here(struct orch_store *store, const struct orch_run *run,
                        const struct orch_bisect_command *command,
                        struct orch_bisect_metric *metric)
{
    double value;
    const char *unit = NULL, *better = NULL;
    if (!metric->unit &&
        orch_run_number(store, run, metric->name, metric->aggregate, &value, &better, &unit, NULL))
        orch_bisect_metric_learn(metric, better, unit);
    return !orch_bisect_metric_is_timing(metric) ||
           g_strcmp0(run->device_key, command->device_key) == 0;
}

/* The runs of the store by commit: for each one an array of const struct orch_run *, or NULL. */
static GPtrArray **candidates(const struct orch_bisect_commits *commits, struct orch_store *store,
                              const GPtrArray *runs, const struct orch_bisect_command *command,
                              struct orch_bisect_metric *metric)
{
    GPtrArray **found = g_new0(GPtrArray *, commits->count);
    for (guint i = 0; i < runs->len; i++) {
        struct orch_run *run = runs->pdata[i];
        const struct orch_bisect_commit *row =
            run->source_tree ? g_hash_table_lookup(commits->by_tree, run->source_tree) : NULL;
        if (!row || !is_of(run, command) || !counts_here(store, run, command, metric))
            continue;
        size_t index = (size_t)(row - commits->rows);
        if (!found[index])
            found[index] = g_ptr_array_new();
        g_ptr_array_add(found[index], run);
    }
    return found;
}

static bool add_candidates(struct orch_bisect_commits *commits, size_t index,
                           struct orch_store *store, const GPtrArray *runs,
                           const struct orch_bisect_command *command,
                           struct orch_bisect_metric *metric, GError **error)
{
    int repeats = 1;
    for (guint i = 0; i < runs->len; i++)
        repeats = MAX(repeats, ((const struct orch_run *)runs->pdata[i])->repeat);
    g_autoptr(GHashTable) known =
        command->fingerprints(command->ctx, commits->rows[index].is, repeats);
    for (guint i = 0; i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        if (run->fingerprint && g_hash_table_contains(known, run->fingerprint) &&
            !orch_bisect_commits_add(commits, index, store, run, false, metric, error))
            return false;
    }
    return true;
}

bool orch_bisect_commits_load(struct orch_bisect_commits *commits, struct orch_store *store,
                              const struct orch_bisect_command *command,
                              struct orch_bisect_metric *metric, GError **error)
{
    const struct orch_run_query query = {
        .recipe = AD_HOC_RECIPE, .experiment = command->experiment, .oldest_first = true};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, error);
    if (!runs)
        return false;
    g_autofree GPtrArray **found = candidates(commits, store, runs, command, metric);
    bool ok = true;
    for (size_t i = 0; i < commits->count; i++) {
        if (!found[i])
            continue;
        ok = ok && add_candidates(commits, i, store, found[i], command, metric, error);
        g_ptr_array_unref(found[i]);
    }
    return ok;
}

int orch_bisect_commit_next_repeat(const struct orch_bisect_commit *commit)
{
    for (int repeat = 1;; repeat++) {
        bool is_free = true;
        for (guint i = 0; i < commit->repeats->len; i++)
            is_free = is_free && g_array_index(commit->repeats, int, i) != repeat;
        if (is_free)
            return repeat;
    }
}

/* ---- what counts ------------------------------------------------------------------------------
 */

static size_t count_values(const struct orch_bisect_commits *commits, size_t *out_disturbed)
{
    size_t all = 0;
    *out_disturbed = 0;
    for (size_t i = 0; i < commits->count; i++)
        for (guint k = 0; k < commits->rows[i].values->len; k++, all++)
            *out_disturbed +=
                g_array_index(commits->rows[i].values, struct orch_bisect_value, k).is_disturbed;
    return all;
}

void orch_bisect_data_make(const struct orch_bisect_commits *commits,
                           const struct orch_bisect_metric *metric, struct orch_bisect_data *out)
{
    size_t disturbed, all = count_values(commits, &disturbed), count = 0;
    bool leaves_out = orch_bisect_metric_is_timing(metric) && 2 * disturbed <= all;
    *out = (struct orch_bisect_data){.places = g_new0(struct orch_change_place, commits->count),
                                     .badness = g_new(double, all + 1),
                                     .values = g_new(double, all + 1),
                                     .from = g_new(const struct orch_bisect_value *, all + 1),
                                     .first = g_new0(size_t, commits->count + 1),
                                     .left_out = leaves_out ? disturbed : 0};
    for (size_t i = 0; i < commits->count; i++) {
        const struct orch_bisect_commit *row = &commits->rows[i];
        out->first[i] = count;
        out->places[i].is_closed = row->skipped != NULL;
        for (guint k = 0; k < row->values->len; k++) {
            const struct orch_bisect_value *value =
                &g_array_index(row->values, struct orch_bisect_value, k);
            if (leaves_out && value->is_disturbed)
                continue;
            out->from[count] = value;
            out->values[count++] = value->value;
        }
        out->places[i].count = count - out->first[i];
    }
    out->first[commits->count] = count;
    out->is_ratio = orch_bisect_metric_is_ratio(metric, out->values, count);
    for (size_t k = 0; k < count; k++)
        out->badness[k] = orch_bisect_metric_badness(metric, out->is_ratio, out->values[k]);
    for (size_t i = 0; i < commits->count; i++)
        out->places[i].values = out->badness + out->first[i];
    out->change = (struct orch_change_data){.places = out->places, .count = commits->count};
}

void orch_bisect_data_clear(struct orch_bisect_data *data)
{
    g_free(data->places);
    g_free(data->badness);
    g_free(data->values);
    g_free(data->from);
    g_free(data->first);
    *data = (struct orch_bisect_data){0};
}
