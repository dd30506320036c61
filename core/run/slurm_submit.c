/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/run/slurm_private.h"

#include "core/run/schedule.h"
#include "core/run/slurm_command.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/vcs/vcs.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

void orch_slurm_submission_clear(struct orch_slurm_submission *submission)
{
    if (submission->arrays)
        g_ptr_array_unref(submission->arrays);
    *submission = (struct orch_slurm_submission){0};
}

static void free_array(void *pointer)
{
    struct orch_slurm_array *array = pointer;
    g_free(array->options);
    g_free(array->dependency);
    g_free(array);
}

static void free_batch(void *pointer)
{
    struct slurm_batch *batch = pointer;
    g_array_unref(batch->elements);
    g_ptr_array_unref(batch->options);
    g_free(batch->dependency);
    g_free(batch);
}

/* ---- memory of earlier runs -------------------------------------------------------------------
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

static int64_t memory_cached(const struct slurm_submitter *s, GHashTable *cache,
                             const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    int64_t *known = g_hash_table_lookup(cache, key);
    if (!known) {
        known = g_new(int64_t, 1);
        *known = experiment->memory_bytes ? 0 : memory_of(s->plan, experiment);
        g_hash_table_insert(cache, key, known);
    }
    return *known;
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
            if (item->state == ORCH_PLAN_DONE)
                continue;
            if (item->state == ORCH_PLAN_SKIPPED || item->state == ORCH_PLAN_UNUSED)
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
        if (!row || !orch_runner_is_slurm(&row->runner))
            continue;
        s->places[i] = (struct slurm_place){row->runner.pid, (unsigned)row->runner.start};
        g_free(item->run_key);
        item->run_key = g_strdup(row->key);
    }
}

/* ---- batches ----------------------------------------------------------------------------------
 */

/* A trial that can be submitted now. */
struct ready {
    unsigned item;
    struct orch_slurm_request request;
    GPtrArray *options;
    char *same;      /* equal for trials of one array: options and files of references */
    GArray *deps;    /* struct slurm_place */
    char *deps_text; /* "12_3:12_4"; "": none */
};

static void free_ready(void *pointer)
{
    struct ready *ready = pointer;
    g_ptr_array_unref(ready->options);
    g_array_unref(ready->deps);
    g_free(ready->same);
    g_free(ready->deps_text);
    g_free(ready);
}

static char *places_text(const GArray *deps)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < deps->len; i++) {
        const struct slurm_place *place = &g_array_index(deps, struct slurm_place, i);
        g_autofree char *element =
            g_strdup_printf("%" G_GINT64_FORMAT "_%u", place->job, place->index);
        if (!strstr(text->str, element))
            g_string_append_printf(text, "%s%s", text->len ? ":" : "", element);
    }
    return g_string_free(text, FALSE);
}

static unsigned ranks_of(const struct slurm_submitter *s, const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    if (!experiment->manifest->needs.mpi)
        return 0;
    g_autoptr(json_t) cost =
        orch_plugins_cost(s->plan->plugins, experiment->manifest, item->cell->params, NULL);
    return orch_experiment_ranks(experiment, cost);
}

static struct ready *make_ready(const struct slurm_submitter *s, unsigned index, GArray *deps,
                                int64_t memory_bytes)
{
    const struct orch_plan_item *item = &s->plan->items[index];
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_slurm_settings *settings = &s->plan->expansion->slurm;
    const struct orch_forecaster *forecaster = s->options->forecaster;
    struct orch_forecast forecast;
    bool is_known = forecaster && forecaster->forecast(forecaster->ctx, item, &forecast);
    struct ready *ready = g_new0(struct ready, 1);
    ready->item = index;
    ready->deps = g_array_ref(deps);
    ready->deps_text = places_text(deps);
    orch_slurm_request_make(settings, experiment, is_known ? forecast.p95_s : (double)NAN,
                            memory_bytes, &ready->request);
    ready->options = orch_slurm_options(settings, experiment, ranks_of(s, item));
    g_ptr_array_add(ready->options, NULL);
    ready->same = g_strjoinv(" ", (char **)ready->options->pdata);
    g_ptr_array_set_size(ready->options, (int)ready->options->len - 1);
    return ready;
}

/* The dependency of a trial and its index in the array. Of trials that each depend on one element
 * of an array, and on which nobody else depends, the indices are those of these elements
 * (aftercorr). Else the trials that depend on the same elements become an array (afterok). */
static char *dependency_of(const struct ready *ready, GHashTable *users, int *out_index)
{
    *out_index = -1;
    if (!*ready->deps_text)
        return NULL;
    g_autofree char *user = g_strconcat(ready->same, "|", ready->deps_text, NULL);
    bool is_alone = GPOINTER_TO_UINT(g_hash_table_lookup(users, user)) == 1;
    if (!is_alone || strchr(ready->deps_text, ':'))
        return g_strdup_printf("afterok:%s", ready->deps_text);
    const struct slurm_place *place = &g_array_index(ready->deps, struct slurm_place, 0);
    *out_index = (int)place->index;
    return g_strdup_printf("aftercorr:%" G_GINT64_FORMAT, place->job);
}

/* Adds a trial to the batch of its options and dependency, which it makes when there is none yet.
 */
static void add_to_batch(struct ready *ready, GHashTable *users, GPtrArray *batches,
                         GHashTable *by_text)
{
    int index;
    g_autofree char *dependency = dependency_of(ready, users, &index);
    char *text = g_strconcat(ready->same, "|", dependency ? dependency : "", NULL);
    struct slurm_batch *batch = g_hash_table_lookup(by_text, text);
    if (!batch) {
        batch = g_new0(struct slurm_batch, 1);
        batch->elements = g_array_new(FALSE, TRUE, sizeof(struct slurm_element));
        batch->options = g_ptr_array_ref(ready->options);
        batch->dependency = g_steal_pointer(&dependency);
        batch->request = ready->request;
        g_ptr_array_add(batches, batch);
        g_hash_table_insert(by_text, text, batch);
    } else {
        g_free(text);
        orch_slurm_request_join(&batch->request, &ready->request);
    }
    struct slurm_element element = {.item = ready->item,
                                    .index = index >= 0 ? (unsigned)index : batch->elements->len};
    g_array_append_val(batch->elements, element);
}

static int compare_elements(const void *a, const void *b)
{
    const struct slurm_element *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* Submits a batch in arrays of at most the cluster's size, whose indices start at 0 again. */
static bool submit_batch(struct slurm_submitter *s, const struct slurm_batch *batch, GError **error)
{
    g_array_sort(batch->elements, compare_elements);
    bool keeps_indices = batch->dependency && g_str_has_prefix(batch->dependency, "aftercorr");
    for (guint from = 0; from < batch->elements->len; from += s->array_size) {
        guint count = MIN(s->array_size, batch->elements->len - from);
        struct slurm_batch part = {.dependency = batch->dependency, .request = batch->request};
        part.options = g_ptr_array_copy(batch->options, (GCopyFunc)(void *)g_strdup, NULL);
        g_ptr_array_set_free_func(part.options, g_free);
        part.elements = g_array_sized_new(FALSE, TRUE, sizeof(struct slurm_element), count);
        g_array_append_vals(part.elements,
                            &g_array_index(batch->elements, struct slurm_element, from), count);
        for (guint i = 0; !keeps_indices && i < count; i++)
            g_array_index(part.elements, struct slurm_element, i).index = i;
        orch_slurm_options_add(part.options, &s->plan->expansion->slurm, &part.request);
        bool ok = orch_slurm_batch_submit(s, &part, error);
        g_array_unref(part.elements);
        g_ptr_array_unref(part.options);
        if (!ok)
            return false;
    }
    return true;
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
    enum orch_limit limit =
        s->options->limits
            ? orch_limits_refuse(s->options->limits, &usage,
                                 is_known ? forecast.p50_s : (double)NAN, devices, orch_now_ns())
            : ORCH_LIMIT_NONE;
    if (limit == ORCH_LIMIT_NONE) {
        s->planned_s += is_known ? forecast.p50_s * devices : 0;
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

/* The trials that can go now, in the plan's order (struct ready *); NULL on error. */
static GPtrArray *find_ready(struct slurm_submitter *s, GHashTable *memory, bool *refused,
                             GError **error)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(free_ready);
    for (unsigned i = 0; i < s->plan->count; i++) {
        unsigned index = s->plan->order[i];
        const struct orch_plan_item *item = &s->plan->items[index];
        g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(struct slurm_place));
        if (!orch_plan_will_run(item) || refused[index] || look_at_refs(s, index, deps) != READY)
            continue;
        if (!settle(s, index, error)) {
            g_ptr_array_unref(all);
            return NULL;
        }
        if (!orch_plan_will_run(item) || !item->fingerprint[0])
            continue;
        refused[index] = is_refused(s, item);
        if (!refused[index])
            g_ptr_array_add(
                all, make_ready(s, index, deps, memory_cached(s, memory, item->cell->experiment)));
    }
    return all;
}

static bool submit_round(struct slurm_submitter *s, const GPtrArray *all, GError **error)
{
    g_autoptr(GHashTable) users = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) by_text = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) batches = g_ptr_array_new_with_free_func(free_batch);
    for (guint i = 0; i < all->len; i++) {
        const struct ready *ready = all->pdata[i];
        char *user = g_strconcat(ready->same, "|", ready->deps_text, NULL);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(users, user));
        g_hash_table_insert(users, user, GUINT_TO_POINTER(count + 1));
    }
    for (guint i = 0; i < all->len; i++)
        add_to_batch(all->pdata[i], users, batches, by_text);
    bool ok = true;
    for (guint i = 0; ok && i < batches->len; i++)
        ok = submit_batch(s, batches->pdata[i], error);
    return ok;
}

/* Round by round, because the dependencies of a trial need the jobs of those that it refers to. */
static bool submit_all(struct slurm_submitter *s, bool *refused, GError **error)
{
    g_autoptr(GHashTable) memory = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    for (;;) {
        g_autoptr(GPtrArray) all = find_ready(s, memory, refused, error);
        if (!all)
            return false;
        if (!all->len)
            return true;
        if (!submit_round(s, all, error))
            return false;
    }
}

static void count_rest(struct slurm_submitter *s, const bool *refused)
{
    for (unsigned i = 0; i < s->plan->count; i++) {
        g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(struct slurm_place));
        if (!orch_plan_will_run(&s->plan->items[i]))
            continue;
        if (refused[i])
            s->out->held_back++;
        else if (look_at_refs(s, i, deps) == NEVER)
            s->out->not_run++;
        else
            s->out->waiting++;
    }
}

bool orch_slurm_submit(struct orch_plan *plan, const struct orch_slurm_submit_options *options,
                       struct orch_slurm_submission *out, GError **error)
{
    struct orch_slurm_limits limits;
    *out = (struct orch_slurm_submission){.arrays = g_ptr_array_new_with_free_func(free_array),
                                          .reused = orch_plan_count(plan, ORCH_PLAN_DONE),
                                          .held = orch_plan_count(plan, ORCH_PLAN_HELD),
                                          .skipped = orch_plan_count(plan, ORCH_PLAN_SKIPPED)};
    bool has_work = false;
    for (unsigned i = 0; i < plan->count; i++)
        has_work = has_work || orch_plan_will_run(&plan->items[i]);
    if (!has_work)
        return true;
    if (!orch_slurm_limits_ask(&limits, error))
        return false;
    struct slurm_submitter s = {.plan = plan,
                                .options = options,
                                .out = out,
                                .places = g_new0(struct slurm_place, plan->count),
                                .host_program = orch_program_path("orch-host", error),
                                .array_size = limits.array_size};
    g_autofree bool *refused = g_new0(bool, plan->count);
    bool ok = s.host_program != NULL;
    orch_process_get(getpid(), &s.self);
    orch_workspace_hold_source(plan->workspace);
    orch_run_note_inputs(plan);
    find_places(&s);
    ok = ok && submit_all(&s, refused, error) && orch_store_sync(plan->store, error);
    if (ok)
        count_rest(&s, refused);
    g_free(s.places);
    g_free(s.host_program);
    return ok;
}
