/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/plan.h"
#include "core/schedule/schedule.h"
#include "features/slurm/slurm_command.h"
#include "features/slurm/slurm_jobs.h"
#include "features/slurm/slurm_private.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/program_path.h"
#include "lib/vcs/vcs.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- forecast of memory -------------------------------------------------------------------------
 */

static int compare_bytes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The 95 % quantile of the memory that the newest runs of the experiment used; 0: none is known. */
static int64_t memory_of(struct orch_plan *plan, const struct orch_experiment *experiment)
{
    enum { RUNS = 100 };
    const struct orch_run_query query = {.recipe = plan->expansion->name,
                                         .experiment = experiment->name,
                                         .ended_well = true,
                                         .with_counted = true,
                                         .limit = RUNS};
    g_autoptr(GPtrArray) runs = orch_store_runs(plan->store, &query, NULL, NULL);
    g_autoptr(GArray) bytes = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; runs && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
        int64_t used =
            MAX(orch_json_int(facts, "max_pss_bytes", 0), orch_json_int(facts, "max_rss_bytes", 0));
        if (used > 0)
            g_array_append_val(bytes, used);
    }
    if (!bytes->len)
        return 0;
    g_array_sort(bytes, compare_bytes);
    return g_array_index(bytes, int64_t, (guint)ceil(0.95 * bytes->len) - 1);
}

/* Returns the 95 % quantile of the memory in bytes that the newest runs of an experiment used; 0
 * where none is known, or the experiment itself sets it. `cache`: from experiments to int64_t *,
 * freed with g_free. */
static int64_t slurm_memory_forecast(struct orch_plan *plan, GHashTable *cache,
                                     const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    int64_t *known = g_hash_table_lookup(cache, key);
    if (!known) {
        known = g_new(int64_t, 1);
        *known = experiment->memory_bytes ? 0 : memory_of(plan, experiment);
        g_hash_table_insert(cache, key, known);
    }
    return *known;
}

/* ---- submitting ---------------------------------------------------------------------------------
 */

void orch_slurm_submission_clear(struct orch_slurm_submission *submission)
{
    g_clear_pointer(&submission->arrays, g_ptr_array_unref);
    g_clear_pointer(&submission->problems, g_ptr_array_unref);
    *submission = (struct orch_slurm_submission){0};
}

static void free_array(void *pointer)
{
    struct orch_slurm_array *array = pointer;
    g_free(array->options);
    g_free(array->dependency);
    g_free(array);
}

/* ---- which trials can go now ------------------------------------------------------------------
 */

enum readiness { READY, NOT_YET, NEVER };

/* Whether all trials that an item refers to are done or submitted. `deps` gets the elements on
 * which it depends (struct slurm_place). */
static enum readiness look_at_refs(const struct slurm_submitter *s, unsigned index, GArray *deps)
{
    const GPtrArray *refs = s->plan->items[index].cell->refs;
    enum readiness readiness = READY;
    for (guint i = 0; i < refs->len; i++) {
        const struct orch_ref *ref = refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++) {
            unsigned other = g_array_index(ref->cells, unsigned, j);
            const struct orch_plan_item *item = &s->plan->items[other];
            if (item->state == ORCH_PLAN_DONE ||
                (ref->best_metric && orch_plan_is_passed_over(item)))
                continue;
            if (item->state == ORCH_PLAN_SKIPPED || item->state == ORCH_PLAN_UNUSED ||
                item->state == ORCH_PLAN_PRUNED || s->fates[other] == SLURM_GIVEN_UP)
                return NEVER;
            if (ref->best_metric || !s->places[other].job)
                readiness = NOT_YET;
            else
                g_array_append_val(deps, s->places[other]);
        }
    }
    return readiness;
}

/* Trials that an earlier command has submitted. */
static void find_places(struct slurm_submitter *s)
{
    for (unsigned i = 0; i < s->plan->count; i++) {
        struct orch_plan_item *item = &s->plan->items[i];
        const struct orch_active_row *row =
            item->state == ORCH_PLAN_HELD ? g_hash_table_lookup(s->plan->active, item->fingerprint)
                                          : NULL;
        if (!row || !orch_slurm_is_runner(&row->runner))
            continue;
        s->places[i] = (struct slurm_place){row->runner.pid, (unsigned)row->runner.start};
        g_free(item->run_key);
        item->run_key = g_strdup(row->key);
    }
}

/* True when submitting one more trial would exceed a limit, by the forecasts of all that this
 * command submitted. */
static bool is_refused(struct slurm_submitter *s, const struct orch_plan_item *item)
{
    const struct orch_forecaster *forecaster = s->options->forecaster;
    struct orch_forecast forecast;
    bool is_known = forecaster && forecaster->forecast(forecaster->ctx, item, &forecast);
    const struct orch_usage usage = {.expected_s = s->planned_s};
    unsigned devices = orch_plan_item_devices(item);
    enum orch_limit limit = s->options->limits
                                ? orch_limits_refuse(s->options->limits, &usage,
                                                     is_known ? forecast.time_s.mid : (double)NAN,
                                                     devices, orch_now_ns())
                                : ORCH_LIMIT_NONE;
    if (limit == ORCH_LIMIT_NONE) {
        s->expected_s[item - s->plan->items] = is_known ? forecast.time_s.mid * devices : 0;
        s->planned_s += s->expected_s[item - s->plan->items];
        return false;
    }
    s->out->limit = limit;
    return true;
}

/* Settles an item whose references are done by now. False on error. */
static bool settle(struct slurm_submitter *s, unsigned index, GError **error)
{
    const struct orch_plan_item *item = &s->plan->items[index];
    return (item->state != ORCH_PLAN_WAITING && item->fingerprint[0]) ||
           orch_plan_settle(s->plan, index, error);
}

/* The trials that can go now, in the plan's order (struct slurm_ready *); NULL on error. */
static GPtrArray *find_ready(struct slurm_submitter *s, GHashTable *memory, GError **error)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(orch_slurm_ready_free);
    for (unsigned i = 0; i < s->plan->count; i++) {
        unsigned index = s->plan->order[i];
        const struct orch_plan_item *item = &s->plan->items[index];
        g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(struct slurm_place));
        if (!orch_plan_will_run(item) || s->fates[index] != SLURM_OPEN ||
            look_at_refs(s, index, deps) != READY)
            continue;
        bool may = true;
        if ((orch_cell_is_open(item->cell) && !orch_slurm_choose(s, index, &may, error)) ||
            (may && !settle(s, index, error))) {
            g_ptr_array_unref(all);
            return NULL;
        }
        if (!may || !orch_plan_will_run(item))
            continue;
        if (!item->fingerprint[0])
            orch_slurm_give_up(s, index, item->reason);
        else if (is_refused(s, item))
            s->fates[index] = SLURM_HELD_BACK;
        else
            g_ptr_array_add(all,
                            orch_slurm_ready_new(
                                s, index, deps,
                                slurm_memory_forecast(s->plan, memory, item->cell->experiment)));
    }
    return all;
}

/* Round by round, because the dependencies of a trial need the jobs of those that it refers to. */
static bool submit_all(struct slurm_submitter *s, GError **error)
{
    g_autoptr(GHashTable) memory = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (;;) {
        g_autoptr(GPtrArray) all = find_ready(s, memory, error);
        if (!all)
            return false;
        if (!all->len)
            return true;
        if (!orch_slurm_round_submit(s, all, error))
            return false;
    }
}

static void count_rest(struct slurm_submitter *s)
{
    for (unsigned i = 0; i < s->plan->count; i++) {
        g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(struct slurm_place));
        if (!orch_plan_will_run(&s->plan->items[i]))
            continue;
        if (s->fates[i] == SLURM_GIVEN_UP)
            continue;
        if (s->fates[i] == SLURM_HELD_BACK)
            s->out->held_back++;
        else if (orch_cell_is_open(s->plan->items[i].cell) && look_at_refs(s, i, deps) == READY)
            s->out->unchosen++;
        else if (look_at_refs(s, i, deps) == NEVER)
            s->out->not_run++;
        else
            s->out->waiting++;
    }
}

/* The paths of trials are lines of a file, and the one of their output is a pattern for sbatch, in
 * which a backslash cannot be written. */
static bool path_fits(const struct orch_store *store, GError **error)
{
    const char *folder = orch_store_folder(store);
    if (!strpbrk(folder, "\n\\"))
        return true;
    g_autofree char *shown = g_strescape(folder, NULL);
    orch_error_set(error, ORCH_ERROR_USAGE, "rename the folder, or name another store with --db",
                   "Slurm cannot write to the store's folder \"%s\": its path has a %s", shown,
                   strchr(folder, '\n') ? "line break" : "backslash");
    return false;
}

static bool has_work(const struct orch_plan *plan)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (orch_plan_will_run(&plan->items[i]))
            return true;
    return false;
}

static bool submit_work(struct slurm_submitter *s, GError **error)
{
    struct orch_slurm_limits limits;
    if (!path_fits(s->plan->store, error) || !orch_slurm_limits_ask(&limits, error) ||
        !(s->host_program = orch_program_path("orch-host", error)))
        return false;
    s->array_size = limits.array_size;
    orch_process_get(getpid(), &s->self);
    orch_workspace_hold_source(s->plan->workspace);
    orch_run_note_inputs(s->plan);
    find_places(s);
    if (!submit_all(s, error) || !orch_store_sync(s->plan->store, error))
        return false;
    count_rest(s);
    return true;
}

bool orch_slurm_submit(struct orch_plan *plan, const struct orch_slurm_submit_options *options,
                       struct orch_slurm_submission *out, GError **error)
{
    *out = (struct orch_slurm_submission){.arrays = g_ptr_array_new_with_free_func(free_array),
                                          .problems = g_ptr_array_new_with_free_func(g_free),
                                          .reused = orch_plan_count(plan, ORCH_PLAN_DONE),
                                          .held = orch_plan_count(plan, ORCH_PLAN_HELD),
                                          .skipped = orch_plan_count(plan, ORCH_PLAN_SKIPPED)};
    struct slurm_submitter s = {.plan = plan,
                                .options = options,
                                .out = out,
                                .places = g_new0(struct slurm_place, plan->count),
                                .fates = g_new0(enum slurm_fate, plan->count),
                                .expected_s = g_new0(double, plan->count)};
    bool ok = orch_slurm_promote(&s, error) && (!has_work(plan) || submit_work(&s, error));
    g_free(s.places);
    g_free(s.fates);
    g_free(s.expected_s);
    g_free(s.host_program);
    return ok;
}
