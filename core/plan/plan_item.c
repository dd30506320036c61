/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides what will happen to one trial, and why. Items are settled depth first along their
 * references, because a fingerprint includes the fingerprints of the trials referred to. A
 * reference to the best of several trials is open until all of them are done; the scheduler then
 * settles such an item again. */
#include "core/plan/executor.h"
#include "core/plan/plan_private.h"

#include "core/inputs/inputs.h"
#include "core/plan/cell_runs.h"
#include "core/plan/fingerprint.h"
#include "core/plan/reuse.h"
#include "core/plan/same_comments.h"
#include "core/plan/setting_limits.h"
#include "core/recipe/recipe_search.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/program_parts.h"
#include "lib/base/text.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/mpi_program.h"

#include <math.h>
#include <string.h>

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

/* The value that best() compares: the last point of the metric, else the result. NAN: none, or the
 * run breaks a limit of its search. */
static bool run_value(const struct orch_plan *plan, const struct orch_plan_item *item,
                      const char *metric, double *out, GError **error)
{
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    struct orch_run_numbers *numbers = run ? orch_run_numbers_read(plan->store, run, error) : NULL;
    const bool ok = numbers;
    if (ok)
        *out = item->cell->point &&
                       orch_limits_excess(item->cell->point->search, run, numbers, NULL) > 0
                   ? (double)NAN
                   : orch_run_numbers_get(numbers, metric, ORCH_AGGREGATE_LAST, NULL, NULL);
    orch_run_numbers_free(numbers);
    orch_run_free(run);
    return ok;
}

/* Whether a repeat of the same point of a search has no number, or breaks a limit: the point has no
 * value then. */
static bool has_spoilt_point(const struct orch_plan *plan, const struct orch_ref *ref,
                             const struct orch_plan_item *item)
{
    for (guint i = 0; item->cell->point && i < ref->cells->len; i++) {
        const struct orch_plan_item *other = &plan->items[g_array_index(ref->cells, unsigned, i)];
        double value = (double)NAN;
        if (other->cell->point == item->cell->point && other->state == ORCH_PLAN_DONE &&
            (!run_value(plan, other, ref->best_metric, &value, NULL) || !isfinite(value)))
            return true;
    }
    return false;
}

bool orch_plan_choose(struct orch_plan *plan, const struct orch_ref *ref, unsigned *out_index,
                      char **out_why, GError **error)
{
    if (!ref->best_metric) {
        *out_index = g_array_index(ref->cells, unsigned, 0);
        return true;
    }
    bool chosen = false, has_limits = false;
    double best = 0;
    for (guint i = 0; i < ref->cells->len; i++) {
        unsigned index = g_array_index(ref->cells, unsigned, i);
        const struct orch_plan_item *item = &plan->items[index];
        if (orch_plan_is_passed_over(item))
            continue;
        if (item->state != ORCH_PLAN_DONE) {
            *out_why =
                g_strdup_printf("waits for %u trials, to choose %s", ref->cells->len, ref->text);
            return false;
        }
        double value;
        if (!run_value(plan, item, ref->best_metric, &value, error))
            return false;
        has_limits |= item->cell->point && item->cell->point->search->bound_count;
        if (isfinite(value) && (!chosen || (ref->best_is_max ? value > best : value < best)) &&
            !has_spoilt_point(plan, ref, item)) {
            chosen = true;
            best = value;
            *out_index = index;
        }
    }
    if (!chosen)
        *out_why = g_strdup_printf("no run of %s has a finite '%s'%s", ref->text, ref->best_metric,
                                   has_limits ? " and keeps the limits of its search" : "");
    return chosen;
}

/* ---- one item ---------------------------------------------------------------------------------
 */

static bool has_mpi(void)
{
    bool is_srun;
    g_autofree char *program = orch_mpi_program(&is_srun);
    return program;
}

static bool skip(struct orch_plan_item *item, enum orch_plan_lack lack, char *reason)
{
    orch_plan_set_state(item, ORCH_PLAN_SKIPPED, reason);
    item->lack = lack;
    return false;
}

/* The same for a plugin that was built for one process. */
static bool one_process_is_enough(struct orch_plan *plan, struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    json_t *cost = orch_plugins_cost(plan->plugins, experiment->manifest, item->cell->params, NULL);
    unsigned ranks = orch_experiment_ranks(experiment, json_is_object(cost) ? cost : NULL);
    json_decref(cost);
    return !ranks || skip(item, ORCH_PLAN_LACKS_SOFTWARE,
                          g_strdup_printf(
                              "needs MPI for %u processes, and plugin '%s' was built without: %s",
                              ranks, experiment->manifest->name, orch_program_way(ORCH_PART_MPI)));
}

/* True when this machine can run the item; otherwise marks it as skipped, with the reason. */
static bool machine_fits(struct orch_plan *plan, struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    unsigned gpus = orch_experiment_gpus(experiment);
    if (plan->options.executor)
        return true;
    if (gpus > machine->gpus->len)
        return skip(item, ORCH_PLAN_LACKS_GPU,
                    g_strdup_printf("needs %u GPU%s, this machine has %u (%s)", gpus,
                                    orch_plural(gpus), machine->gpus->len,
                                    machine->gpu_note ? machine->gpu_note : "NVML"));
    unsigned instances = 0;
    for (guint i = 0; i < machine->gpus->len; i++)
        instances += ((const struct orch_gpu_device *)machine->gpus->pdata[i])->is_mig;
    if (gpus > 1 && gpus > machine->gpus->len - instances)
        return skip(item, ORCH_PLAN_LACKS_GPU,
                    g_strdup_printf("needs %u GPUs; %u of this machine's %u are MIG instances, and "
                                    "a process can use only one of those",
                                    gpus, instances, machine->gpus->len));
    if (experiment->memory_bytes > machine->memory_bytes) {
        g_autofree char *wanted = orch_bytes_format(experiment->memory_bytes);
        g_autofree char *there = orch_bytes_format(machine->memory_bytes);
        return skip(item, ORCH_PLAN_LACKS_MEMORY,
                    g_strdup_printf("needs %s of memory, this machine has %s", wanted, there));
    }
    if (orch_experiment_has_no_mpi(experiment))
        return one_process_is_enough(plan, item);
    if (orch_experiment_ranks(experiment, NULL) > 0 && !has_mpi())
        return skip(item, ORCH_PLAN_LACKS_SOFTWARE, g_strdup(ORCH_MPI_NO_PROGRAM));
    return true;
}

/* The newest runs of the item's cell, whatever their fingerprint. */
static GPtrArray *cell_history(struct orch_plan *plan, const struct orch_cell *cell, GError **error)
{
    /* without a recipe, a command with other values is a different trial, not an earlier version */
    const json_t *values = plan->expansion->is_ad_hoc ? cell->params : cell->coords;
    return orch_cell_runs(plan, cell, cell->repeat, values, 20, error);
}

/* Describes how a run's environment differs from the item's current one; NULL when it does not. */
static char *environment_difference(struct orch_plan *plan, const struct orch_plan_item *item,
                                    const struct orch_run *run)
{
    g_autoptr(json_t) then = orch_environment_recorded(run->facts);
    return then ? orch_environments_difference(plan->environments, item->cell->experiment, then,
                                               orch_store_folder(plan->store))
                : NULL;
}

/* Returns whether the run, which could be reused, is made again because it was disturbed. */
static bool is_to_replace(const struct orch_plan *plan, const struct orch_plan_item *item,
                          const struct orch_run *run)
{
    return plan->options.disturbed && item->cell->wanted && orch_facts_are_disturbed(run->facts);
}

/* Finds the run that is reused. `*out_done` stays false when there is none, or when it is to be
 * made again: the item is then forced. */
static bool find_done(struct orch_plan *plan, struct orch_plan_item *item, bool *out_done,
                      GError **error)
{
    *out_done = false;
    bool by_device = item->cell->experiment->reuse == ORCH_RECIPE_REUSE_DEVICE;
    GError *problem = NULL;
    g_clear_pointer(&item->passed_over, g_free);
    struct orch_run *run = orch_reuse_find(plan, item, &item->passed_over, &problem);
    item->passed_over_ns = item->passed_over ? orch_now_ns() : 0;
    if (problem) {
        g_propagate_error(error, problem);
        return false;
    }
    if (!run)
        return true;
    if (is_to_replace(plan, item, run)) {
        item->forced = item->is_disturbed = true;
        orch_run_free(run);
        return true;
    }
    g_autofree char *when = ago(run->ended_ns);
    g_autofree char *who = orch_who_name(run->who);
    g_free(item->run_key);
    item->run_key = g_strdup(run->key);
    g_autofree char *other = environment_difference(plan, item, run);
    g_autofree char *not_compared = orch_read_not_compared(run);
    item->has_other_comments |= orch_read_other_comments(plan->inputs, run);
    orch_plan_set_state(item, ORCH_PLAN_DONE,
                        g_strdup_printf("%s %s by %s (%s)%s%s%s%s", run->state, when, who,
                                        by_device ? run->device_key : "any machine",
                                        other ? "; environment differs: " : "", other ? other : "",
                                        not_compared ? "; " : "",
                                        not_compared ? not_compared : ""));
    orch_run_free(run);
    *out_done = true;
    return true;
}

static void set_to_held(struct orch_plan_item *item, const struct orch_process *runner)
{
    char *reason = orch_executor_held(runner);
    if (!reason)
        reason = g_strdup_printf("running now (process %lld)", (long long)runner->pid);
    orch_plan_set_state(item, ORCH_PLAN_HELD, reason);
}

static bool is_held(const struct orch_plan *plan, struct orch_plan_item *item)
{
    const struct orch_active_row *active = g_hash_table_lookup(plan->active, item->fingerprint);
    if (!active || !orch_active_is_alive(active))
        return false;
    set_to_held(item, &active->runner);
    return true;
}

static bool look_up(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    if (!plan->store) {
        orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
        return true;
    }
    bool done = false;
    bool may_reuse = !item->forced && item->cell->experiment->reuse != ORCH_RECIPE_REUSE_NEVER;
    item->has_other_comments = false;
    if (may_reuse && (!find_done(plan, item, &done, error) || done))
        return done;
    g_autoptr(GPtrArray) history = cell_history(plan, item->cell, error);
    if (!history)
        return false;
    if (may_reuse && orch_adopt_same_code(plan, item, history)) {
        item->has_other_comments = true;
        if (!find_done(plan, item, &done, error) || done)
            return done;
    }
    g_autoptr(GPtrArray) same = orch_item_runs(plan, item, 20, error);
    if (same && (!may_reuse || !is_held(plan, item)))
        orch_plan_set_to_run(plan, item, history, same);
    return same;
}

/* Gets the fingerprints of the trials that the cell refers to; false without error when one is
 * still open. */
static bool settle_refs(struct orch_plan *plan, struct orch_plan_item *item,
                        struct orch_fingerprint_ref *out, GError **error)
{
    const GPtrArray *refs = item->cell->refs;
    if (orch_cell_is_open(item->cell)) {
        orch_plan_set_state(item, ORCH_PLAN_WAITING,
                            g_strdup("its values are chosen when it starts"));
        return false;
    }
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

/* For commands that only read: an item without its own fingerprint uses the newest run with its
 * parameters, or is skipped. */
static bool adopt_run(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    struct orch_history_row *row = NULL;
    if (orch_cell_is_open(item->cell)) /* it has no values of its own */
        return true;
    if (!orch_reuse_find_by_params(plan, item, &row, error))
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

static void set_fingerprints(struct orch_plan *plan, struct orch_plan_item *item,
                             const struct orch_fingerprint_ref *refs, size_t count)
{
    orch_fingerprint(item->cell, item->seed, item->inputs.list, item->no_effect, item->inputs.id,
                     plan->workspace->root, refs, count, item->fingerprint);
    orch_code_fingerprint(plan, item, refs, count, item->code_fingerprint);
    memcpy(item->own_fingerprint, item->fingerprint, sizeof item->own_fingerprint);
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
    set_fingerprints(plan, item, refs, count);
    if (!look_up(plan, item, error))
        return false;
    g_autofree char *not_checked = orch_cell_inputs_not_checked(plan->inputs, item->inputs.list);
    if (item->state == ORCH_PLAN_DONE && (item->has_other_comments || not_checked))
        orch_plan_set_state(
            item, ORCH_PLAN_DONE,
            g_strdup_printf("%s%s%s%s", item->reason,
                            item->has_other_comments ? "; only comments changed since" : "",
                            not_checked ? "; " : "", not_checked ? not_checked : ""));
    /* a finished trial counts wherever it ran; only trials that would run must fit this machine */
    if (item->state == ORCH_PLAN_MISSING || item->state == ORCH_PLAN_STALE)
        machine_fits(plan, item);
    return true;
}

bool orch_plan_settle(struct orch_plan *plan, unsigned index, GError **error)
{
    plan->items[index].visited = false;
    return orch_plan_settle_once(plan, index, error);
}

/* The tree without files; NULL when it has none of them. The caller frees. */
static char *tree_without(struct orch_vcs *vcs, const char *tree, GHashTable *names)
{
    g_autoptr(GPtrArray) paths = vcs && tree && *tree ? orch_vcs_list(vcs, tree, "", NULL) : NULL;
    guint before = paths ? paths->len : 0;
    for (guint i = before; i-- > 0;)
        if (g_hash_table_contains(names, paths->pdata[i]))
            g_ptr_array_remove_index(paths, i);
    if (!paths || paths->len == before)
        return NULL;
    if (!paths->len)
        return g_strdup("");
    g_ptr_array_add(paths, NULL);
    return orch_vcs_subtree(vcs, tree, (const char *const *)paths->pdata, NULL);
}

bool orch_plan_drop_inputs(struct orch_plan *plan, unsigned index, GHashTable *names)
{
    struct orch_plan_item *item = &plan->items[index];
    guint count = item->cell->refs->len, dropped = 0;
    g_autofree struct orch_fingerprint_ref *refs = g_new0(struct orch_fingerprint_ref, count + 1);
    GPtrArray *list = item->inputs.list;
    for (guint i = list ? list->len : 0; i-- > 0;) {
        const struct orch_checked_input *input = list->pdata[i];
        if (!g_hash_table_contains(names, input->name))
            continue;
        g_ptr_array_remove_index(list, i);
        dropped++;
    }
    char *id = tree_without(plan->workspace->vcs, item->inputs.id, names);
    if (id)
        item->inputs.id = orch_inputs_keep_id(plan->inputs, id);
    if ((!dropped && !id) || !settle_refs(plan, item, refs, NULL))
        return false;
    set_fingerprints(plan, item, refs, count);
    return true;
}
