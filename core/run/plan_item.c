/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What will happen to one trial, and why. Items are settled depth first along their references,
 * because a fingerprint holds the fingerprints of what it refers to. A reference to the best of
 * several trials is open until all of them are done; the scheduler settles such an item again when
 * they are. */
#include "core/run/plan_private.h"

#include "core/run/fingerprint.h"
#include "core/run/spare.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

void orch_plan_set_state(struct orch_plan_item *item, enum orch_plan_state state, char *reason)
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

/* True when item fits this machine; else it is skipped, with the reason. */
static bool machine_fits(struct orch_plan *plan, struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    unsigned gpus = orch_experiment_gpus(experiment);
    if (experiment->skipped) {
        orch_plan_set_state(
            item, ORCH_PLAN_SKIPPED,
            g_strdup(experiment->skip_reason ? experiment->skip_reason : "by the profile"));
        return false;
    }
    if (gpus > machine->gpus->len) {
        orch_plan_set_state(item, ORCH_PLAN_SKIPPED,
                            g_strdup_printf("needs %u GPU%s, this machine has %u (%s)", gpus,
                                            gpus == 1 ? "" : "s", machine->gpus->len,
                                            machine->gpu_note ? machine->gpu_note : "NVML"));
        return false;
    }
    if (experiment->memory_bytes > machine->memory_bytes) {
        g_autofree char *wanted = orch_bytes_format(experiment->memory_bytes);
        g_autofree char *there = orch_bytes_format(machine->memory_bytes);
        orch_plan_set_state(
            item, ORCH_PLAN_SKIPPED,
            g_strdup_printf("needs %s of memory, this machine has %s", wanted, there));
        return false;
    }
    return true;
}

/* "data.csv changed": a file that both read, with other content now. NULL: there is none. */
static char *changed_input(struct orch_plan *plan, const struct orch_plan_item *item,
                           const struct orch_run *run)
{
    g_autoptr(GPtrArray) old = orch_store_inputs(plan->store, run->id, NULL);
    for (guint i = 0; old && item->inputs && i < old->len; i++) {
        const struct orch_stored_input *before = old->pdata[i];
        for (guint j = 0; j < item->inputs->len; j++) {
            const struct orch_checked_input *now = item->inputs->pdata[j];
            if (g_strcmp0(before->name, now->name) == 0 &&
                g_strcmp0(before->sha256, now->sha256) != 0)
                return g_strdup_printf("%s changed", now->name);
        }
    }
    return NULL;
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
    bool is_compiled = item->cell->experiment->manifest->kind == ORCH_PLUGIN_COMPILED;
    if (before && is_compiled && g_strcmp0(before, item->inputs_id) != 0) {
        why = g_strdup_printf("plugin '%s' was rebuilt (%.8s -> %.8s)",
                              item->cell->experiment->manifest->name, *before ? before : "unknown",
                              item->inputs_id);
    } else if (before && g_strcmp0(before, item->inputs_id) != 0) {
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
    if (!why)
        why = changed_input(plan, item, run);
    orch_run_free(run);
    if (!why && item->cell->experiment->program)
        return g_strdup("its command changed");
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
            orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("forced: makes a new run"));
        else if (cell->experiment->reuse == ORCH_RECIPE_REUSE_NEVER)
            orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("reuse: never"));
        else if (item->passed_over)
            orch_plan_set_state(item, ORCH_PLAN_STALE, g_strdup(item->passed_over));
        else
            orch_plan_set_state(
                item, ORCH_PLAN_MISSING,
                g_strdup_printf("done by %s on %s; timings count where they are made", who,
                                same->where_key));
    } else if (same) {
        orch_plan_set_state(item, ORCH_PLAN_MISSING,
                            g_strdup_printf("%s before%s%s", same->state, same->reason ? ": " : "",
                                            same->reason ? same->reason : ""));
    } else if (older) {
        g_autofree char *why = why_stale(plan, item, older);
        orch_plan_set_state(item, ORCH_PLAN_STALE, g_steal_pointer(&why));
    } else {
        orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
    }
    return true;
}

/* How the environment of a run differs from that of the item now; NULL: it does not. */
static char *environment_difference(struct orch_plan *plan, const struct orch_plan_item *item,
                                    const struct orch_run *run)
{
    g_autoptr(json_t) then = orch_environment_recorded(run->facts);
    return then ? orch_environments_difference(plan->environments, item->cell->experiment, then,
                                               orch_store_folder(plan->store))
                : NULL;
}

static bool find_done(struct orch_plan *plan, struct orch_plan_item *item, bool *out_done,
                      GError **error)
{
    *out_done = false;
    bool by_where = item->cell->experiment->reuse == ORCH_RECIPE_REUSE_WHERE;
    GError *problem = NULL;
    g_clear_pointer(&item->passed_over, g_free);
    struct orch_run *run = orch_spare_find(plan, item, &item->passed_over, &problem);
    item->passed_over_ns = item->passed_over ? orch_now_ns() : 0;
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
    g_autofree char *other = environment_difference(plan, item, run);
    orch_plan_set_state(item, ORCH_PLAN_DONE,
                        g_strdup_printf("%s %s by %s (%s)%s%s", run->state, when, who,
                                        by_where ? run->where_key : "any machine",
                                        other ? "; environment differs: " : "",
                                        other ? other : ""));
    orch_run_free(run);
    *out_done = true;
    return true;
}

static bool look_up(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    if (!plan->store) {
        orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
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
            orch_plan_set_state(
                item, ORCH_PLAN_HELD,
                g_strdup_printf("running now (process %lld)", (long long)active->runner.pid));
            return true;
        }
    }
    return set_to_run(plan, item, error);
}

/* Fingerprints of what the cell refers to; false without error when one is open yet. */
static bool settle_refs(struct orch_plan *plan, struct orch_plan_item *item,
                        struct orch_fingerprint_ref *out, GError **error)
{
    const GPtrArray *refs = item->cell->refs;
    for (guint i = 0; i < refs->len; i++) {
        const struct orch_ref *ref = refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++)
            if (!orch_plan_settle_once(plan, g_array_index(ref->cells, unsigned, j), error))
                return false;
        unsigned chosen;
        char *why = NULL;
        if (!orch_plan_choose(plan, ref, &chosen, &why, error)) {
            if (why)
                orch_plan_set_state(item, ORCH_PLAN_WAITING, why);
            return false;
        }
        const struct orch_plan_item *other = &plan->items[chosen];
        if (!other->fingerprint[0]) {
            orch_plan_set_state(item, ORCH_PLAN_WAITING,
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
        orch_plan_set_state(item, ORCH_PLAN_DONE, g_strdup_printf("done by %s", who));
    } else if (item->refused) {
        orch_plan_set_state(item, ORCH_PLAN_SKIPPED, g_strdup(item->refused));
    }
    orch_history_row_free(row);
    return true;
}

bool orch_plan_settle_once(struct orch_plan *plan, unsigned index, GError **error)
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
    orch_fingerprint(item->cell, item->inputs, item->inputs_id, plan->workspace->root, refs, count,
                     item->fingerprint);
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
    return orch_plan_settle_once(plan, index, error);
}
