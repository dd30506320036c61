/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/pack/rerun.h"

#include "core/plan/plan_forecast.h"
#include "core/schedule/schedule.h"
#include "core/stats/numbers.h"
#include "core/stats/spread.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* The state of a rerun. */
struct job {
    const struct orch_pack *pack;
    const struct orch_verified *verified;
    const struct orch_rerun_options *options;
    struct orch_workspace *workspace;
    struct orch_plan *plan;
    GHashTable *new_runs; /* item -> char *: key of the new run */
    struct orch_forecaster forecaster;
};

/* ---- which -------------------------------------------------------------------------------------
 */

static bool ref_is_here(const struct job *job, const struct orch_ref *ref)
{
    g_autofree char *why = NULL;
    unsigned chosen;
    if (!orch_plan_choose(job->plan, ref, &chosen, &why, NULL))
        return false;
    const struct orch_plan_item *other = &job->plan->items[chosen];
    if (other->state != ORCH_PLAN_DONE || ref->is_result)
        return other->state == ORCH_PLAN_DONE;
    struct orch_run *run = orch_store_run(job->plan->store, other->run_key, NULL);
    g_autoptr(GPtrArray) artifacts =
        run ? orch_store_artifacts(job->plan->store, run->id, NULL) : NULL;
    bool here = false;
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        here = here || (strcmp(artifact->name, ref->artifact) == 0 && artifact->here);
    }
    orch_run_free(run);
    return here;
}

/* Why a trial cannot be run here; NULL when it can. Borrowed. */
static const char *why_not(const struct job *job, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_manifest *manifest = experiment->manifest;
    const struct orch_machine *machine = orch_workspace_machine(job->workspace);
    bool is_theirs =
        experiment->program || !manifest->path || orch_pack_contains(job->pack, manifest->path);
    if (!experiment->program && !manifest->path)
        return "its plugin is not here";
    if (is_theirs && !job->options->trusts)
        return "its program comes with the pack (--trust runs it here)";
    if (item->refused)
        return item->refused;
    if (!item->fingerprint[0])
        return "its inputs are not known here";
    if (orch_experiment_gpus(experiment) > machine->gpus->len)
        return "it needs more GPUs than there are here";
    if (experiment->memory_bytes > machine->memory_bytes)
        return "it needs more memory than there is here";
    for (guint i = 0; i < item->cell->refs->len; i++)
        if (!ref_is_here(job, item->cell->refs->pdata[i]))
            return "its inputs from other runs are not in the pack";
    return NULL;
}

/* Chooses randomly among the trials that can run, and marks the plan so that only these will run.
 */
static GArray *choose(struct job *job, json_t *reasons)
{
    g_autoptr(GArray) able = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (unsigned i = 0; i < job->plan->count; i++) {
        struct orch_plan_item *item = &job->plan->items[i];
        if (item->state != ORCH_PLAN_DONE) {
            item->state = ORCH_PLAN_UNUSED;
            continue;
        }
        const char *why = why_not(job, item);
        if (!why)
            g_array_append_val(able, i);
        else
            json_object_set_new(reasons, why, json_integer(orch_json_int(reasons, why, 0) + 1));
    }
    GArray *chosen = g_array_new(FALSE, FALSE, sizeof(unsigned));
    GRand *random = g_rand_new_with_seed(job->options->seed);
    while (able->len && chosen->len < job->options->count) {
        guint at = (guint)g_rand_int_range(random, 0, (gint32)able->len);
        g_array_append_val(chosen, g_array_index(able, unsigned, at));
        g_array_remove_index(able, at);
    }
    g_rand_free(random);
    for (guint i = 0; i < chosen->len; i++) {
        struct orch_plan_item *item = &job->plan->items[g_array_index(chosen, unsigned, i)];
        item->state = ORCH_PLAN_MISSING;
        item->forced = true;
    }
    return chosen;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static void ended(void *ctx, const struct orch_running *trial,
                  const struct orch_collected *collected, bool again,
                  const struct orch_totals *totals)
{
    (void)collected;
    (void)again;
    (void)totals;
    struct job *job = ctx;
    g_hash_table_insert(job->new_runs, (gpointer)(uintptr_t)trial->item, g_strdup(trial->key));
}

/* Opens the scratch workspace for writing. It has no repository, so that programs run where they
 * were unpacked. */
static bool open_plan(struct job *job, struct orch_plugins *plugins, GError **error)
{
    const struct orch_workspace *from = job->verified->workspace;
    struct orch_source *source = g_new0(struct orch_source, 1);
    source->left_out = g_ptr_array_new();
    job->workspace = orch_workspace_apart(from->root, from->folder, job->pack->db, source, NULL);
    if (!orch_workspace_store(job->workspace, ORCH_STORE_WRITE, error))
        return false;
    const struct orch_plan_options options = {.slots = 1, .any_slots = true, .reads_only = true};
    struct orch_diags *diags = orch_diags_new();
    job->plan =
        orch_plan_new(job->workspace, plugins, job->verified->expansion, &options, diags, error);
    orch_diags_free(diags);
    if (!job->plan)
        return false;
    struct orch_pinned pinned;
    orch_pins_apply(job->plan, orch_pack_member(job->pack, "trials"), job->verified->pins_by_label,
                    &pinned);
    orch_pinned_clear(&pinned);
    return true;
}

static bool run_all(struct job *job, GError **error)
{
    struct orch_listener listener = {.ctx = job, .ended = ended};
    const struct orch_run_options options = {
        .slots = 1, .on_change = ORCH_ON_CHANGE_FROZEN, .argv_json = job->options->argv_json};
    struct orch_totals totals;
    return orch_run_plan(job->plan, &options, &listener, &totals, error);
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

/* A value of a run by name: a metric's last point, a result, or "wall_s". */
static double value_of(struct orch_store *store, const struct orch_run *run, const char *name)
{
    double value = NAN;
    if (strcmp(name, "wall_s") == 0)
        return run->wall_ms / 1e3;
    struct orch_series *series = orch_store_series(store, run->id, name, NULL);
    if (series && series->count)
        value = series->value[series->count - 1];
    bool found = series && series->count;
    orch_series_free(series);
    g_autoptr(json_t) results = found ? NULL : orch_store_results(store, run->id, NULL);
    if (!found)
        orch_json_get_real(json_object_get(results, name), &value);
    return value;
}

/* The prediction interval for another repeat, from the pack's runs with the same experiment and
 * parameters. */
static struct orch_spread next_of(const struct job *job, const struct orch_plan_item *item,
                                  const char *name, const char *unit)
{
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (unsigned i = 0; i < job->plan->count; i++) {
        const struct orch_plan_item *other = &job->verified->plan->items[i];
        if (other->cell->experiment != item->cell->experiment || other->state != ORCH_PLAN_DONE ||
            !json_equal(other->cell->params, item->cell->params))
            continue;
        struct orch_run *run = orch_store_run(job->plan->store, other->run_key, NULL);
        double value = run ? value_of(job->plan->store, run, name) : (double)NAN;
        if (isfinite(value))
            g_array_append_val(values, value);
        orch_run_free(run);
    }
    return orch_spread_of_next((const double *)(void *)values->data, values->len, name, unit);
}

/* A run of the pack and its rerun. */
struct pair {
    const struct job *job;
    const struct orch_plan_item *item;
    const struct orch_run *old, *new;
    bool same_machine, same_place, is_timing;
    json_t *values;
    unsigned differs, confirmed;
};

static void add_value(struct pair *pair, const char *name, double recorded, double found,
                      const char *outcome, char *why)
{
    pair->differs += strcmp(outcome, "differs") == 0;
    pair->confirmed += strcmp(outcome, "confirmed") == 0;
    json_array_append_new(pair->values,
                          json_pack("{s:s, s:o, s:o, s:s, s:s}", "name", name, "said",
                                    orch_json_real(recorded), "found", orch_json_real(found),
                                    "outcome", outcome, "why", why));
    g_free(why);
}

static char *numbers(double recorded, double found, const char *rest)
{
    return g_strdup_printf("says %.9g, ran %.9g; %s", recorded, found, rest);
}

static void compare_by_spread(struct pair *pair, const char *name, double recorded, double found,
                              const struct orch_spread *next)
{
    bool within = found >= next->low && found <= next->high;
    bool counts = pair->is_timing || strcmp(name, "wall_s") != 0;
    g_autofree char *interval = orch_interval_format(next->low, next->high);
    g_autofree char *rest = g_strdup_printf(
        "%s the 95 %% prediction interval of its %zu repeats, %s%s", within ? "within" : "outside",
        next->stat.count, interval, within || counts ? "" : "; times of this trial do not count");
    add_value(pair, name, recorded, found,
              within   ? "confirmed"
              : counts ? "differs"
                       : "not comparable",
              numbers(recorded, found, rest));
}

static void compare_value(struct pair *pair, const char *name, const char *unit, double recorded,
                          double found)
{
    struct orch_spread next = next_of(pair->job, pair->item, name, unit);
    if (recorded == found || (isnan(recorded) && isnan(found)))
        add_value(pair, name, recorded, found, "confirmed", numbers(recorded, found, "equal"));
    else if (next.stat.count >= 2)
        compare_by_spread(pair, name, recorded, found, &next);
    else if (pair->same_machine)
        add_value(pair, name, recorded, found, "differs",
                  numbers(recorded, found, "although machine, plugin and seed are the same"));
    else
        add_value(pair, name, recorded, found, "not comparable",
                  numbers(recorded, found, "another machine or plugin version"));
}

static void compare_time(struct pair *pair, const char *name, const char *unit, double recorded,
                         double found)
{
    struct orch_spread next = next_of(pair->job, pair->item, name, unit);
    struct orch_forecast forecast;
    const struct job *job = pair->job;
    bool is_wall = strcmp(name, "wall_s") == 0;
    if (pair->same_place && next.stat.count >= 2) {
        compare_by_spread(pair, name, recorded, found, &next);
    } else if (pair->same_place) {
        add_value(pair, name, recorded, found, "not comparable",
                  numbers(recorded, found, "one repeat does not show how much times vary"));
    } else if (is_wall && job->forecaster.forecast(job->forecaster.ctx, pair->item, &forecast)) {
        bool within = found >= forecast.time_s.low && found <= forecast.time_s.high;
        g_autofree char *rest = g_strdup_printf(
            "%s the forecast for this machine, %.3g to %.3g s (%s)", within ? "within" : "outside",
            forecast.time_s.low, forecast.time_s.high, forecast.why);
        add_value(pair, name, recorded, found, within ? "confirmed" : "not comparable",
                  numbers(recorded, found, rest));
    } else {
        add_value(pair, name, recorded, found, "not comparable",
                  numbers(recorded, found, "another machine"));
    }
}

static void compare_run(struct pair *pair, const char *name, const char *unit)
{
    struct orch_store *store = pair->job->plan->store;
    double recorded = value_of(store, pair->old, name), found = value_of(store, pair->new, name);
    if (strcmp(name, "wall_s") == 0 || (unit && orch_unit_is_timing(unit, NULL)))
        compare_time(pair, name, unit ? unit : "s", recorded, found);
    else
        compare_value(pair, name, unit, recorded, found);
}

static void compare_all(struct pair *pair)
{
    struct orch_store *store = pair->job->plan->store;
    g_autoptr(GPtrArray) metrics = orch_store_own_summaries(store, pair->old->id, NULL);
    g_autoptr(GPtrArray) results = orch_store_result_rows(store, pair->old->id, NULL);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; metrics && i < metrics->len; i++) {
        const struct orch_metric_summary *metric = metrics->pdata[i];
        g_hash_table_add(seen, metric->name);
        compare_run(pair, metric->name, metric->unit);
    }
    for (guint i = 0; results && i < results->len; i++) {
        const struct orch_stored_result *result = results->pdata[i];
        if (!g_hash_table_contains(seen, result->name))
            compare_run(pair, result->name, result->unit);
    }
    compare_run(pair, "wall_s", NULL);
}

static json_t *row_new(const struct orch_plan_item *item, const char *key, const char *outcome,
                       const char *why, json_t *values)
{
    g_autofree char *label = orch_cell_label(item->cell);
    return json_pack("{s:s, s:s?, s:s, s:s, s:o}", "trial", label, "run", key, "outcome", outcome,
                     "why", why, "values", values);
}

/* Compares a trial's run in the pack with its rerun. */
static json_t *compare(const struct job *job, unsigned index)
{
    const struct orch_plan_item *item = &job->plan->items[index];
    const struct orch_plan_item *was = &job->verified->plan->items[index];
    const char *key = g_hash_table_lookup(job->new_runs, item);
    struct orch_run *old = orch_store_run(job->plan->store, was->run_key, NULL);
    struct orch_run *new = key ? orch_store_run(job->plan->store, key, NULL) : NULL;
    json_t *row;
    if (!old || !new) {
        row = row_new(item, was->run_key, "not run", "it did not start", json_array());
    } else if (strcmp(old->state, new->state) != 0) {
        g_autofree char *why =
            g_strdup_printf("ended %s there and %s here%s%s", old->state, new->state,
                            new->reason ? ": " : "", new->reason ? new->reason : "");
        row = row_new(item, was->run_key, "not comparable", why, json_array());
    } else {
        struct pair pair = {.job = job, .item = item, .old = old, .new = new};
        pair.same_machine = g_strcmp0(old->machine_key, new->machine_key) == 0 &&
                            g_strcmp0(old->plugin_version, new->plugin_version) == 0;
        pair.same_place = g_strcmp0(old->device_key, new->device_key) == 0;
        pair.is_timing = item->cell->experiment->manifest->flags & ORCH_PLUGIN_TIMING;
        pair.values = json_array();
        compare_all(&pair);
        const char *outcome = pair.differs     ? "differs"
                              : pair.confirmed ? "confirmed"
                                               : "not comparable";
        g_autofree char *why =
            g_strdup_printf("%u of %zu values confirmed, %u differ", pair.confirmed,
                            json_array_size(pair.values), pair.differs);
        row = row_new(item, was->run_key, outcome, why, pair.values);
    }
    orch_run_free(old);
    orch_run_free(new);
    return row;
}

static void add_reasons(json_t *rows, const json_t *reasons)
{
    const char *why;
    json_t *count;
    json_object_foreach((json_t *)(uintptr_t)reasons, why, count)
    {
        g_autofree char *which = g_strdup_printf("%d other trial%s", (int)json_integer_value(count),
                                                 orch_plural(json_integer_value(count)));
        json_array_append_new(rows, json_pack("{s:s, s:n, s:s, s:s, s:[]}", "trial", which, "run",
                                              "outcome", "not run", "why", why, "values"));
    }
}

static json_t *rerun(struct job *job, GError **error)
{
    g_autoptr(json_t) reasons = json_object();
    g_autoptr(GArray) chosen = choose(job, reasons);
    job->forecaster = orch_forecaster_open(job->plan);
    if (chosen->len && !run_all(job, error))
        return NULL;
    json_t *rows = json_array();
    for (guint i = 0; i < chosen->len; i++)
        json_array_append_new(rows, compare(job, g_array_index(chosen, unsigned, i)));
    add_reasons(rows, reasons);
    return rows;
}

json_t *orch_pack_rerun(const struct orch_pack *pack, const struct orch_verified *verified,
                        struct orch_plugins *plugins, const struct orch_rerun_options *options,
                        GError **error)
{
    if (!verified->plan)
        return json_array();
    struct job job = {.pack = pack, .verified = verified, .options = options};
    job.new_runs = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    json_t *rows = open_plan(&job, plugins, error) ? rerun(&job, error) : NULL;
    orch_forecaster_close(&job.forecaster);
    orch_plan_free(job.plan);
    orch_workspace_free(job.workspace);
    g_hash_table_unref(job.new_runs);
    return rows;
}
