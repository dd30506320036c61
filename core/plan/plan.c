/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the whole plan: every trial is checked by its plugin (plan_check.c), settled (plan_item.c),
 * and marked when a trial that will run needs it. */
#include "core/plan/plan_private.h"

#include "core/plan/fingerprint.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <stdlib.h>
#include <string.h>

unsigned orch_plan_count(const struct orch_plan *plan, enum orch_plan_state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->count; i++)
        count += plan->items[i].state == state;
    return count;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* True when the artifact's content is in the store. Otherwise the trial must run again before
 * others can use it. */
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
    orch_plan_set_state(item, ORCH_PLAN_MISSING,
                        g_strdup_printf("'%s' of run %s is not on this machine", artifact,
                                        orch_run_short_key(item->run_key)));
    item->forced = true;
    memcpy(item->fingerprint, item->own_fingerprint, sizeof item->fingerprint);
}

/* True when the reference is to an artifact of the item. */
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
        for (guint j = 0;
             j < refs->len && (orch_plan_will_run(other) || other->state == ORCH_PLAN_HELD); j++) {
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

/* Handles a reference of an item that will run: all its candidates must be done, and the chosen
 * one's artifact must be available here. */
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
    for (guint i = 0; orch_plan_will_run(item) && i < item->cell->refs->len; i++)
        mark_ref(plan, item->cell->refs->pdata[i], needed);
}

/* Skips trials that refer to a trial which will never run. */
static void spread_skips(struct orch_plan *plan)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < plan->count; i++) {
            struct orch_plan_item *item = &plan->items[i];
            for (guint j = 0; orch_plan_will_run(item) && j < item->cell->refs->len; j++) {
                const struct orch_ref *ref = item->cell->refs->pdata[j];
                const struct orch_plan_item *other =
                    &plan->items[g_array_index(ref->cells, unsigned, 0)];
                if (other->state != ORCH_PLAN_SKIPPED)
                    continue;
                orch_plan_set_state(
                    item, ORCH_PLAN_SKIPPED,
                    g_strdup_printf("needs %s, which is skipped: %s", ref->text, other->reason));
                item->lack = other->lack;
                changed = true;
            }
        }
    }
}

bool orch_plan_recapture(struct orch_plan *plan, GError **error)
{
    struct orch_workspace *workspace = plan->workspace;
    struct orch_source *then = g_steal_pointer(&workspace->source);
    if (!orch_workspace_source(workspace, error)) {
        workspace->source = then;
        return false;
    }
    orch_source_free(then);
    orch_workspace_hold_source(workspace);
    orch_inputs_renew(plan->inputs);
    return true;
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
    item->cell = item->inputs.cell = plan->expansion->cells->pdata[index];
    const struct orch_experiment *experiment = item->cell->experiment;
    bool sees_all = orch_experiment_sees_gpus(experiment) && !plan->options.executor;
    unsigned gpus[64], gpu_count = sees_all ? machine->gpus->len : orch_experiment_gpus(experiment);
    item->gpus = gpu_count;
    gpu_count = MIN(MIN(gpu_count, machine->gpus->len), G_N_ELEMENTS(gpus));
    for (unsigned i = 0; i < gpu_count; i++)
        gpus[i] = i;
    item->device_key =
        plan->options.executor
            ? plan->options.executor->place(plan->expansion, experiment)
            : orch_machine_device_key(
                  machine, gpus, gpu_count, orch_experiment_gpu_millionths(experiment) / 1e6,
                  orch_experiment_threads(experiment, machine, plan->options.slots));
    item->seed = experiment->seed_by_device
                     ? orch_recipe_device_seed(item->cell->seed, item->device_key)
                     : item->cell->seed;
    item->forced = plan->options.force && item->cell->wanted;
}

/* Orders by repeat, so that an interrupted run has each setting once instead of some settings
 * several times, and the arms of a comparison are interleaved in time. */
static int compare_order(const void *a, const void *b, void *ctx)
{
    const struct orch_plan *plan = ctx;
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    int p = plan->items[x].cell->repeat, q = plan->items[y].cell->repeat;
    return p != q ? p - q : (x > y) - (x < y);
}

static void make_order(struct orch_plan *plan)
{
    plan->order = g_new0(unsigned, plan->count + 1);
    for (unsigned i = 0; i < plan->count; i++)
        plan->order[i] = i;
    qsort_r(plan->order, plan->count, sizeof *plan->order, compare_order, plan);
}

static void add_warning(void *diags, const char *text)
{
    orch_diags_add(diags, true, NULL, 0, 0, NULL, "%s", text);
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
    plan->inputs = orch_inputs_new(workspace, expansion, options->no_watch);
    plan->equal_searches =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_unref);
    plan->said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    plan->rejected = g_ptr_array_new_with_free_func(g_free);
    plan->environments = orch_environments_new(workspace, expansion);
    plan->store = workspace->store;
    bool ok = read_actives(plan, error);
    for (unsigned i = 0; i < plan->count; i++)
        make_item(plan, i);
    make_order(plan);
    ok = ok && orch_plan_check_items(plan, diags) && orch_plan_fill_searches(plan, error);
    orch_plan_say_rejected(plan, add_warning, diags);
    for (unsigned i = 0; ok && i < plan->count; i++)
        ok = orch_plan_settle_once(plan, i, error);
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

unsigned orch_plan_default_slots(struct orch_workspace *workspace,
                                 const struct orch_expansion *expansion, unsigned allowed_gpus)
{
    unsigned gpus = allowed_gpus ? allowed_gpus : orch_workspace_machine(workspace)->gpus->len;
    double most = 0;
    for (guint i = 0; i < expansion->experiments->len; i++) {
        const struct orch_experiment *experiment = expansion->experiments->pdata[i];
        if (!experiment->skipped)
            most = MAX(most, orch_experiment_gpu_sum(experiment));
    }
    if (most > 0) /* 3 of 0.333333 fit on one */
        return (unsigned)CLAMP(gpus / most + 1e-5, 1.0, 1024.0);
    return CLAMP(expansion->jobs, 1u, (unsigned)orch_workspace_machine(workspace)->threads);
}

void orch_plan_free(struct orch_plan *plan)
{
    if (!plan)
        return;
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        g_free(item->reason);
        g_free(item->device_key);
        g_free(item->run_key);
        g_free(item->goes_on_from);
        g_free(item->other_settings);
        g_free(item->passed_over);
        g_free(item->refused);
        if (item->inputs.list)
            g_ptr_array_unref(item->inputs.list);
        if (item->no_effect)
            g_ptr_array_unref(item->no_effect);
        if (item->warnings)
            g_ptr_array_unref(item->warnings);
    }
    g_free(plan->items);
    g_free(plan->order);
    g_hash_table_unref(plan->equal_searches);
    g_ptr_array_unref(plan->rejected);
    g_hash_table_unref(plan->said);
    orch_inputs_free(plan->inputs);
    orch_environments_free(plan->environments);
    if (plan->active)
        g_hash_table_unref(plan->active);
    if (plan->actives)
        g_ptr_array_unref(plan->actives);
    g_free(plan);
}

bool orch_plan_store_recipe(const struct orch_plan *plan, GError **error)
{
    const struct orch_expansion *expansion = plan->expansion;
    return orch_store_put_recipe(plan->store, expansion->key, expansion->name, expansion->canonical,
                                 expansion->verbatim, error);
}
