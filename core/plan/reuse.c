/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plan/reuse.h"

#include "core/inputs/inputs.h"
#include "core/plan/cell_runs.h"
#include "lib/base/json.h"
#include "lib/hw/machine.h"
#include "lib/wire/verdict.h"

#include <string.h>

/* Maximum number of runs of one fingerprint that are examined. */
enum { CANDIDATES_MAX = 50 };

/* The reason when the run was made on this machine by another build of orch's own plugin, else
 * NULL. */
static char *other_build(const struct orch_plan *plan, const struct orch_manifest *manifest,
                         const struct orch_run *run)
{
    bool is_own = manifest->kind == ORCH_PLUGIN_COMPILED && !manifest->sha256;
    if (!is_own || !manifest->code_id || !run->build ||
        strcmp(run->build, manifest->code_id) == 0 ||
        g_strcmp0(run->machine_key, orch_workspace_machine_key(plan->workspace)) != 0)
        return NULL;
    return g_strdup_printf("plugin '%s' was rebuilt from other sources (%.8s -> %.8s)",
                           manifest->name, run->build, manifest->code_id);
}

/* True when the executor made the run in that place. */
static bool was_at(const struct orch_run *run, const struct orch_executor *executor,
                   const char *place)
{
    g_autoptr(json_t) facts = run->facts ? json_loads(run->facts, 0, NULL) : NULL;
    return strcmp(orch_json_text(json_object_get(facts, executor->name), "place", ""), place) == 0;
}

/* Why a run of the right fingerprint and device cannot be reused; NULL when it can. The caller
 * frees. */
static char *why_not(const struct orch_plan *plan, const struct orch_plan_item *item,
                     const struct orch_run *run, GPtrArray *changed)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    char *why = other_build(plan, experiment->manifest, run);
    why = why ? why : orch_inputs_since(plan->inputs, &item->inputs, run, changed);
    if (why || experiment->reuse != ORCH_RECIPE_REUSE_DEVICE)
        return why;
    const struct orch_executor *executor = plan->options.executor;
    if (executor && !was_at(run, executor, item->device_key))
        return g_strdup_printf("it was run on %s, not on %s", run->device_key, item->device_key);
    g_autoptr(json_t) then = orch_environment_recorded(run->facts);
    g_autofree char *difference =
        then ? orch_environments_difference(plan->environments, experiment, then, NULL) : NULL;
    return difference ? g_strdup_printf("environment differs: %s", difference) : NULL;
}

/* The newest run of the fingerprint and device that can be reused. */
static struct orch_run *find_at(const struct orch_plan *plan, const struct orch_plan_item *item,
                                const char *device_key, char **out_passed_over, GError **error)
{
    g_autoptr(GPtrArray) changed = g_ptr_array_new_with_free_func(g_free);
    for (unsigned nth = 0; nth < CANDIDATES_MAX; nth++) {
        struct orch_run *run =
            orch_store_find_reusable(plan->store, item->fingerprint, device_key, nth, error);
        char *why = run ? why_not(plan, item, run, changed) : NULL;
        if (!why)
            return run;
        if (out_passed_over && !*out_passed_over)
            *out_passed_over = why;
        else
            g_free(why);
        orch_run_free(run);
    }
    return NULL;
}

struct orch_run *orch_reuse_find(const struct orch_plan *plan, const struct orch_plan_item *item,
                                 char **out_passed_over, GError **error)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    const struct orch_machine *machine = orch_workspace_machine(plan->workspace);
    bool by_device = experiment->reuse == ORCH_RECIPE_REUSE_DEVICE && !plan->options.executor;
    GError *problem = NULL;
    struct orch_run *run =
        find_at(plan, item, by_device ? item->device_key : NULL, out_passed_over, &problem);
    bool is_free = plan->options.any_slots && by_device && !orch_experiment_gpus(experiment);
    for (int slots = 1, before = 0; is_free && !run && !problem && slots <= machine->threads;
         slots++) {
        int threads = orch_experiment_threads(experiment, machine, (unsigned)slots);
        if (threads == before)
            continue;
        before = threads;
        g_autofree char *device_key = orch_machine_device_key(machine, NULL, 0, 1, threads);
        run = find_at(plan, item, device_key, out_passed_over, &problem);
    }
    if (problem)
        g_propagate_error(error, problem);
    return run;
}

/* The known parameters that identify the trial. */
static json_t *params_to_find(const struct orch_cell *cell)
{
    json_t *params = json_object();
    const char *name;
    json_t *value;
    json_object_foreach(cell->params, name, value)
    {
        const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
        if (orch_cell_identifies(cell, spec) && !json_is_null(value))
            json_object_set(params, name, value);
    }
    return params;
}

bool orch_reuse_find_by_params(const struct orch_plan *plan, const struct orch_plan_item *item,
                               struct orch_history_row **out, GError **error)
{
    const struct orch_cell *cell = item->cell;
    *out = NULL;
    if (!plan->store)
        return true;
    g_autoptr(json_t) params = params_to_find(cell);
    g_autoptr(GPtrArray) rows = orch_cell_runs(plan, cell, cell->repeat, params, 20, error);
    for (guint i = 0; rows && i < rows->len && !*out; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        bool counts = cell->experiment->reuse != ORCH_RECIPE_REUSE_DEVICE ||
                      g_strcmp0(row->device_key, item->device_key) == 0;
        if (counts && orch_verdict_facts(orch_verdict_parse(row->state))->is_reused)
            *out = g_ptr_array_steal_index(rows, i);
    }
    return rows != NULL;
}
