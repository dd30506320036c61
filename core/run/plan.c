/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Items are settled depth first along their references, because a fingerprint holds the
 * fingerprints of what it refers to. A reference to the best of several trials is open until all of
 * them are done; the scheduler settles such an item again when they are. */
#include "core/run/plan.h"
#include "core/run/spare.h"

#include "core/run/fingerprint.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

unsigned orch_experiment_gpus(const struct orch_experiment *experiment)
{
    return MAX(experiment->gpus, experiment->manifest->needs.gpus);
}

bool orch_experiment_is_timing(const struct orch_experiment *experiment)
{
    return experiment->manifest->flags & ORCH_PLUGIN_TIMING;
}

int orch_experiment_threads(const struct orch_experiment *experiment,
                            const struct orch_machine *machine, unsigned slots)
{
    if (experiment->cores)
        return (int)MIN(experiment->cores, (unsigned)machine->threads);
    if (orch_experiment_is_timing(experiment))
        return machine->threads;
    return MAX(1, machine->threads / (int)MAX(1u, slots));
}

const char *orch_plan_state_name(enum orch_plan_state state)
{
    static const char *const names[] = {"done", "missing", "stale", "waiting",
                                        "held", "skipped", "unused"};
    return names[state];
}

unsigned orch_plan_count(const struct orch_plan *plan, enum orch_plan_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++)
        count += plan->items[i].state == state;
    return count;
}

static void set_state(struct orch_plan_item *item, enum orch_plan_state state, char *reason)
{
    item->state = state;
    g_free(item->reason);
    item->reason = reason;
}

static char *ago(int64_t then_ns)
{
    double seconds = (double)(orch_now_ns() - then_ns) / 1e9;
    if (seconds < 60)
        return g_strdup("just now");
    if (seconds < 3600)
        return g_strdup_printf("%d min ago", (int)(seconds / 60));
    if (seconds < 86400)
        return g_strdup_printf("%d h ago", (int)(seconds / 3600));
    return g_strdup_printf("%d d ago", (int)(seconds / 86400));
}

/* ---- references -------------------------------------------------------------------------------
 */

/* The value by which best() compares a run: the metric's last point, else the result. */
static bool run_value(struct orch_store *store, const char *key, const char *metric, double *out,
                      GError **error)
{
    struct orch_run *run = orch_store_run(store, key, error);
    if (!run)
        return false;
    bool found = false;
    struct orch_series *series = orch_store_series(store, run->id, metric, error);
    if (series && series->count) {
        *out = series->value[series->count - 1];
        found = true;
    }
    orch_series_free(series);
    g_autoptr(json_t) results = found ? NULL : orch_store_results(store, run->id, NULL);
    if (!found && results)
        found = orch_json_get_real(json_object_get(results, metric), out);
    orch_run_free(run);
    return found;
}

bool orch_plan_choose(struct orch_plan *plan, const struct orch_ref *ref, unsigned *out_index,
                      char **out_why, GError **error)
{
    if (!ref->best_metric) {
        *out_index = g_array_index(ref->cells, unsigned, 0);
        return true;
    }
    bool chosen = false;
    double best = 0;
    for (guint i = 0; i < ref->cells->len; i++) {
        unsigned index = g_array_index(ref->cells, unsigned, i);
        const struct orch_plan_item *item = &plan->items[index];
        if (item->state != ORCH_PLAN_DONE) {
            *out_why =
                g_strdup_printf("waits for %u trials, to choose %s", ref->cells->len, ref->text);
            return false;
        }
        GError *problem = NULL;
        double value;
        if (!run_value(plan->store, item->run_key, ref->best_metric, &value, &problem)) {
            if (problem) {
                g_propagate_error(error, problem);
                return false;
            }
            continue;
        }
        if (isfinite(value) && (!chosen || (ref->best_is_max ? value > best : value < best))) {
            chosen = true;
            best = value;
            *out_index = index;
        }
    }
    if (!chosen)
        *out_why = g_strdup_printf("no run of %s has a finite '%s'", ref->text, ref->best_metric);
    return chosen;
}

/* ---- one item ---------------------------------------------------------------------------------
 */

/* What check sees: a reference that is not made yet arrives as its text, a number as 0. */
static json_t *params_for_check(const struct orch_cell *cell)
{
    json_t *params = json_copy(cell->params);
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        json_object_set_new(params, ref->param,
                            ref->is_result ? json_integer(0) : json_string(ref->text));
    }
    return params;
}

/* True when item fits this machine; else it is skipped, with the reason. */
static bool machine_fits(struct orch_plan *plan, struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    unsigned gpus = orch_experiment_gpus(experiment);
    if (experiment->skipped) {
        set_state(item, ORCH_PLAN_SKIPPED,
                  g_strdup(experiment->skip_reason ? experiment->skip_reason : "by the profile"));
        return false;
    }
    if (gpus > machine->gpus->len) {
        set_state(item, ORCH_PLAN_SKIPPED,
                  g_strdup_printf("needs %u GPU%s, this machine has %u (%s)", gpus,
                                  gpus == 1 ? "" : "s", machine->gpus->len,
                                  machine->gpu_note ? machine->gpu_note : "NVML"));
        return false;
    }
    if (experiment->memory_bytes > machine->memory_bytes) {
        g_autofree char *wanted = orch_bytes_format(experiment->memory_bytes);
        g_autofree char *there = orch_bytes_format(machine->memory_bytes);
        set_state(item, ORCH_PLAN_SKIPPED,
                  g_strdup_printf("needs %s of memory, this machine has %s", wanted, there));
        return false;
    }
    return true;
}

/* Which words tell why a run that was there does not count any more. */
static char *why_stale(struct orch_plan *plan, const struct orch_plan_item *item,
                       const struct orch_history_row *row)
{
    const char *version = item->cell->experiment->manifest->version;
    if (g_strcmp0(version, row->plugin_version) != 0)
        return g_strdup_printf("plugin '%s' %s -> %s", item->cell->experiment->manifest->name,
                               row->plugin_version, version);
    struct orch_run *run = orch_store_run(plan->store, row->key, NULL);
    if (!run)
        return NULL;
    char *why = NULL;
    g_autoptr(json_t) old = orch_store_params(plan->store, run->id, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(item->cell->params, name, value)
    {
        const json_t *before = old ? json_object_get(old, name) : NULL;
        const struct orch_param_spec *spec =
            orch_manifest_param(item->cell->experiment->manifest, name);
        bool compared = spec && spec->type != ORCH_SECRET && !(spec->flags & ORCH_PARAM_NEUTRAL);
        if (why || !before || !compared || json_equal(before, value))
            continue;
        g_autofree char *a = orch_value_format_json(before);
        g_autofree char *b = orch_value_format_json(value);
        why = g_strdup_printf("%s was %s, is %s", name, a, b);
    }
    if (!why && run->seed != item->cell->seed)
        why = g_strdup("the seed changed");
    g_autoptr(json_t) facts = why || !run->facts ? NULL : json_loads(run->facts, 0, NULL);
    const char *before = facts ? orch_json_text(facts, "inputs_id", "") : NULL;
    if (before && g_strcmp0(before, item->inputs_id) != 0) {
        g_autoptr(GPtrArray) changes =
            plan->workspace->vcs && *before && *item->inputs_id
                ? orch_vcs_diff(plan->workspace->vcs, before, item->inputs_id, NULL)
                : NULL;
        if (changes && changes->len) {
            const struct orch_left_out *first = changes->pdata[0];
            why = changes->len == 1 ? g_strdup_printf("%s %s", first->path, first->why)
                                    : g_strdup_printf("%s %s, and %u more", first->path, first->why,
                                                      changes->len - 1);
        } else {
            why = g_strdup("its code changed");
        }
    }
    orch_run_free(run);
    return why ? why : g_strdup("what it reads changed");
}

/* No run spares the item: says what there is instead. */
static bool set_to_run(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    const struct orch_cell *cell = item->cell;
    g_autoptr(GPtrArray) rows =
        orch_store_history(plan->store, plan->expansion->name, cell->experiment->name, cell->repeat,
                           cell->coords, 20, error);
    if (!rows)
        return false;
    const struct orch_history_row *same = NULL, *older = NULL;
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        bool equal = strcmp(row->fingerprint, item->fingerprint) == 0;
        if (equal)
            item->attempts = MAX(item->attempts, row->attempt);
        if (equal && !same)
            same = row;
        if (!equal && !older && orch_verdict_facts(orch_verdict_parse(row->state))->spares)
            older = row;
    }
    g_autofree char *who = same ? orch_who_name(same->who) : NULL;
    if (same && orch_verdict_facts(orch_verdict_parse(same->state))->spares) {
        if (item->forced)
            set_state(item, ORCH_PLAN_MISSING, g_strdup("forced: makes a new run"));
        else if (cell->experiment->reuse == ORCH_RECIPE_REUSE_NEVER)
            set_state(item, ORCH_PLAN_MISSING, g_strdup("reuse: never"));
        else
            set_state(item, ORCH_PLAN_MISSING,
                      g_strdup_printf("done by %s on %s; timings count where they are made", who,
                                      same->where_key));
    } else if (same) {
        set_state(item, ORCH_PLAN_MISSING,
                  g_strdup_printf("%s before%s%s", same->state, same->reason ? ": " : "",
                                  same->reason ? same->reason : ""));
    } else if (older) {
        g_autofree char *why = why_stale(plan, item, older);
        set_state(item, ORCH_PLAN_STALE, g_steal_pointer(&why));
    } else {
        set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
    }
    return true;
}

static bool find_done(struct orch_plan *plan, struct orch_plan_item *item, bool *out_done,
                      GError **error)
{
    *out_done = false;
    bool by_where = item->cell->experiment->reuse == ORCH_RECIPE_REUSE_WHERE;
    GError *problem = NULL;
    struct orch_run *run = orch_spare_find(plan, item, &problem);
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (!run)
        return true;
    g_autofree char *when = ago(run->ended_ns);
    g_autofree char *who = orch_who_name(run->who);
    g_free(item->run_key);
    item->run_key = g_strdup(run->key);
    set_state(item, ORCH_PLAN_DONE,
              g_strdup_printf("%s %s by %s (%s)", run->state, when, who,
                              by_where ? run->where_key : "any machine"));
    orch_run_free(run);
    *out_done = true;
    return true;
}

static bool look_up(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    if (!plan->store) {
        set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
        return true;
    }
    if (!item->forced && item->cell->experiment->reuse != ORCH_RECIPE_REUSE_NEVER) {
        bool done;
        if (!find_done(plan, item, &done, error))
            return false;
        if (done)
            return true;
        const struct orch_active_row *active = g_hash_table_lookup(plan->active, item->fingerprint);
        if (active && orch_process_is_alive(&active->runner)) {
            set_state(item, ORCH_PLAN_HELD,
                      g_strdup_printf("running now (process %lld)", (long long)active->runner.pid));
            return true;
        }
    }
    return set_to_run(plan, item, error);
}

static bool settle(struct orch_plan *plan, unsigned index, GError **error);

/* Fingerprints of what the cell refers to; false without error when one is open yet. */
static bool settle_refs(struct orch_plan *plan, struct orch_plan_item *item,
                        struct orch_fingerprint_ref *out, GError **error)
{
    const GPtrArray *refs = item->cell->refs;
    for (guint i = 0; i < refs->len; i++) {
        const struct orch_ref *ref = refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++)
            if (!settle(plan, g_array_index(ref->cells, unsigned, j), error))
                return false;
        unsigned chosen;
        char *why = NULL;
        if (!orch_plan_choose(plan, ref, &chosen, &why, error)) {
            if (why)
                set_state(item, ORCH_PLAN_WAITING, why);
            return false;
        }
        const struct orch_plan_item *other = &plan->items[chosen];
        if (!other->fingerprint[0]) {
            set_state(item, ORCH_PLAN_WAITING,
                      g_strdup_printf("waits for '%s'", other->cell->experiment->name));
            return false;
        }
        out[i] = (struct orch_fingerprint_ref){ref->param, ref->artifact, other->fingerprint};
    }
    return true;
}

/* An item without a fingerprint of its own, for those who only read: the newest run of its
 * parameters, else it is skipped. */
static bool adopt_run(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    struct orch_history_row *row = NULL;
    if (!orch_spare_by_params(plan, item, &row, error))
        return false;
    if (row) {
        item->run_key = g_strdup(row->key);
        g_autofree char *who = orch_who_name(row->who);
        set_state(item, ORCH_PLAN_DONE, g_strdup_printf("done by %s", who));
    } else if (item->refused) {
        set_state(item, ORCH_PLAN_SKIPPED, g_strdup(item->refused));
    }
    orch_history_row_free(row);
    return true;
}

static bool settle(struct orch_plan *plan, unsigned index, GError **error)
{
    struct orch_plan_item *item = &plan->items[index];
    if (item->visited)
        return true;
    item->visited = true;
    GError *problem = NULL;
    guint count = item->cell->refs->len;
    g_autofree struct orch_fingerprint_ref *refs = g_new0(struct orch_fingerprint_ref, count + 1);
    if (!settle_refs(plan, item, refs, &problem)) {
        if (problem) {
            g_propagate_error(error, problem);
            return false;
        }
        item->fingerprint[0] = 0;
        machine_fits(plan, item);
        return !plan->options.reads_only || adopt_run(plan, item, error);
    }
    if (item->refused)
        return adopt_run(plan, item, error);
    orch_fingerprint(item->cell, item->inputs, item->inputs_id, refs, count, item->fingerprint);
    if (!look_up(plan, item, error))
        return false;
    /* what is done is done, wherever it ran; only what would run must fit */
    if (item->state == ORCH_PLAN_MISSING || item->state == ORCH_PLAN_STALE)
        machine_fits(plan, item);
    return true;
}

bool orch_plan_settle(struct orch_plan *plan, unsigned index, GError **error)
{
    plan->items[index].visited = false;
    return settle(plan, index, error);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static bool will_run(const struct orch_plan_item *item)
{
    return item->state == ORCH_PLAN_MISSING || item->state == ORCH_PLAN_STALE ||
           item->state == ORCH_PLAN_WAITING;
}

/* Is the artifact's content here? A run whose bytes are elsewhere must run again to be used. */
static bool artifact_is_here(struct orch_plan *plan, const struct orch_plan_item *item,
                             const char *name)
{
    struct orch_run *run = orch_store_run(plan->store, item->run_key, NULL);
    g_autoptr(GPtrArray) artifacts = run ? orch_store_artifacts(plan->store, run->id, NULL) : NULL;
    bool here = false;
    for (guint i = 0; artifacts && i < artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = artifacts->pdata[i];
        here = here || (strcmp(artifact->name, name) == 0 && artifact->here);
    }
    orch_run_free(run);
    return here;
}

static void make_again(struct orch_plan_item *item, const char *artifact)
{
    set_state(item, ORCH_PLAN_MISSING,
              g_strdup_printf("'%s' of run %s is not on this machine", artifact,
                              item->run_key + strlen(item->run_key) - 8));
    item->forced = true;
}

/* Does the reference mean the item's artifact? */
static bool means_artifact(const struct orch_ref *ref, unsigned index)
{
    for (guint i = 0; !ref->is_result && i < ref->cells->len; i++)
        if (g_array_index(ref->cells, unsigned, i) == index)
            return true;
    return false;
}

bool orch_plan_check_files(struct orch_plan *plan, unsigned index)
{
    struct orch_plan_item *item = &plan->items[index];
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *other = &plan->items[i];
        const GPtrArray *refs = other->cell->refs;
        for (guint j = 0; j < refs->len && (will_run(other) || other->state == ORCH_PLAN_HELD);
             j++) {
            const struct orch_ref *ref = refs->pdata[j];
            if (!means_artifact(ref, index) || artifact_is_here(plan, item, ref->artifact))
                continue;
            make_again(item, ref->artifact);
            return false;
        }
    }
    return true;
}

static void mark_needed(struct orch_plan *plan, unsigned index, bool *needed);

/* A reference of an item that will run: what it may choose from must be done, and what it has
 * chosen must be here with its bytes. */
static void mark_ref(struct orch_plan *plan, const struct orch_ref *ref, bool *needed)
{
    g_autofree char *why = NULL;
    unsigned chosen;
    if (orch_plan_choose(plan, ref, &chosen, &why, NULL)) {
        struct orch_plan_item *other = &plan->items[chosen];
        if (other->state == ORCH_PLAN_DONE && !ref->is_result &&
            !artifact_is_here(plan, other, ref->artifact)) {
            make_again(other, ref->artifact);
            needed[chosen] = false;
        }
    }
    for (guint i = 0; i < ref->cells->len; i++)
        mark_needed(plan, g_array_index(ref->cells, unsigned, i), needed);
}

static void mark_needed(struct orch_plan *plan, unsigned index, bool *needed)
{
    if (needed[index])
        return;
    needed[index] = true;
    const struct orch_plan_item *item = &plan->items[index];
    for (guint i = 0; will_run(item) && i < item->cell->refs->len; i++)
        mark_ref(plan, item->cell->refs->pdata[i], needed);
}

/* A trial cannot run when one that it refers to never will. */
static void spread_skips(struct orch_plan *plan)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < plan->count; i++) {
            struct orch_plan_item *item = &plan->items[i];
            for (guint j = 0; will_run(item) && j < item->cell->refs->len; j++) {
                const struct orch_ref *ref = item->cell->refs->pdata[j];
                const struct orch_plan_item *other =
                    &plan->items[g_array_index(ref->cells, unsigned, 0)];
                if (other->state != ORCH_PLAN_SKIPPED)
                    continue;
                set_state(
                    item, ORCH_PLAN_SKIPPED,
                    g_strdup_printf("needs %s, which is skipped: %s", ref->text, other->reason));
                changed = true;
            }
        }
    }
}

/* All questions of one plugin go out together. */
static void ask_ahead(struct orch_plan *plan)
{
    g_autoptr(GHashTable) by_manifest =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_experiment *experiment = plan->items[i].cell->experiment;
        gpointer manifest = (gpointer)(uintptr_t)experiment->manifest;
        GPtrArray *asked = g_hash_table_lookup(by_manifest, manifest);
        if (experiment->skipped || !experiment->manifest->has_check)
            continue;
        if (!asked) {
            asked = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
            g_hash_table_insert(by_manifest, manifest, asked);
        }
        g_ptr_array_add(asked, params_for_check(plan->items[i].cell));
    }
    GHashTableIter iter;
    gpointer manifest, asked;
    g_hash_table_iter_init(&iter, by_manifest);
    while (g_hash_table_iter_next(&iter, &manifest, &asked))
        orch_plugins_ask_ahead(plan->plugins, manifest,
                               (json_t *const *)(void *)((GPtrArray *)asked)->pdata,
                               ((GPtrArray *)asked)->len);
}

static bool check_items(struct orch_plan *plan, struct orch_diags *diags)
{
    ask_ahead(plan);
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        const struct orch_experiment *experiment = item->cell->experiment;
        GError *problem = NULL;
        if (!g_hash_table_contains(plan->inputs_ids, experiment)) {
            char *id = orch_inputs_id(plan->workspace, plan->expansion, experiment, &problem);
            if (id)
                g_hash_table_insert(plan->inputs_ids, (gpointer)(uintptr_t)experiment, id);
        }
        item->inputs_id = g_hash_table_lookup(plan->inputs_ids, experiment);
        g_autoptr(json_t) params = params_for_check(item->cell);
        if (!problem && !experiment->skipped)
            orch_plugins_check(plan->plugins, experiment->manifest, params, &item->inputs,
                               &problem);
        if (problem && plan->options.reads_only) {
            const char *end = strchr(problem->message, '\n');
            item->refused = end ? g_strndup(problem->message, (gsize)(end - problem->message))
                                : g_strdup(problem->message);
            g_clear_error(&problem);
        } else if (problem) {
            orch_diags_add(diags, false, plan->expansion->path, experiment->line,
                           experiment->column, NULL, "experiment '%s': %s", experiment->name,
                           problem->message);
            if (problem->code == ORCH_ERROR_PLUGIN)
                orch_diags_set_code(diags, ORCH_ERROR_PLUGIN);
            g_clear_error(&problem);
        }
    }
    return diags->error_count == 0;
}

static bool read_actives(struct orch_plan *plan, GError **error)
{
    plan->active = g_hash_table_new(g_str_hash, g_str_equal);
    if (!plan->store)
        return true;
    plan->actives = orch_store_actives(plan->store, error);
    for (guint i = 0; plan->actives && i < plan->actives->len; i++) {
        struct orch_active_row *row = plan->actives->pdata[i];
        g_hash_table_insert(plan->active, row->fingerprint, row);
    }
    return plan->actives != NULL;
}

static void make_item(struct orch_plan *plan, unsigned index)
{
    struct orch_plan_item *item = &plan->items[index];
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    item->cell = plan->expansion->cells->pdata[index];
    const struct orch_experiment *experiment = item->cell->experiment;
    unsigned gpus[64], gpu_count = MIN(orch_experiment_gpus(experiment), G_N_ELEMENTS(gpus));
    for (unsigned i = 0; i < gpu_count; i++)
        gpus[i] = i;
    gpu_count = MIN(gpu_count, machine->gpus->len);
    item->where_key =
        orch_machine_where(machine, gpus, gpu_count,
                           orch_experiment_threads(experiment, machine, plan->options.slots));
    item->forced = plan->options.force && item->cell->wanted;
}

struct orch_plan *orch_plan_new(struct orch_workspace *workspace, struct orch_plugins *plugins,
                                const struct orch_expansion *expansion,
                                const struct orch_plan_options *options, struct orch_diags *diags,
                                GError **error)
{
    struct orch_plan *plan = g_new0(struct orch_plan, 1);
    plan->workspace = workspace;
    plan->plugins = plugins;
    plan->expansion = expansion;
    plan->options = *options;
    plan->count = expansion->cells->len;
    plan->items = g_new0(struct orch_plan_item, plan->count + 1);
    plan->inputs_ids = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    plan->store = workspace->store;
    bool ok = read_actives(plan, error);
    for (unsigned i = 0; i < plan->count; i++)
        make_item(plan, i);
    ok = ok && check_items(plan, diags);
    for (unsigned i = 0; ok && i < plan->count; i++)
        ok = settle(plan, i, error);
    if (!ok) {
        orch_plan_free(plan);
        return NULL;
    }
    spread_skips(plan);
    g_autofree bool *needed = g_new0(bool, plan->count + 1);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->wanted)
            mark_needed(plan, i, needed);
    for (unsigned i = 0; i < plan->count; i++)
        if (!needed[i])
            plan->items[i].state = ORCH_PLAN_UNUSED;
    return plan;
}

void orch_plan_free(struct orch_plan *plan)
{
    if (!plan)
        return;
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        g_free(item->reason);
        g_free(item->where_key);
        g_free(item->run_key);
        g_free(item->refused);
        if (item->inputs)
            g_ptr_array_unref(item->inputs);
    }
    g_free(plan->items);
    g_hash_table_unref(plan->inputs_ids);
    if (plan->active)
        g_hash_table_unref(plan->active);
    if (plan->actives)
        g_ptr_array_unref(plan->actives);
    g_free(plan);
}
