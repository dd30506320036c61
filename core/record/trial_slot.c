/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/trial_slot.h"

#include "core/recipe/trial_environment.h"
#include "lib/base/json.h"
#include "lib/hw/topology.h"

#include <stdarg.h>

static bool is_shared(const struct orch_run_slot *slot)
{
    return slot->gpu_millionths > 0 && slot->gpu_millionths < ORCH_GPU_WHOLE;
}

json_t *orch_slot_facts(const struct orch_plan *plan, const struct orch_run_slot *slot)
{
    const GPtrArray *gpus = orch_workspace_machine(plan->workspace)->gpus;
    if (slot->submission || (!slot->gpu_count && !slot->cpu_count))
        return NULL;
    json_t *facts = json_object(), *names = json_array();
    for (unsigned i = 0; i < slot->gpu_count; i++) {
        g_autofree char *name = orch_gpu_device_id(gpus->pdata[slot->gpus[i]]);
        json_array_append_new(names, json_string(name));
    }
    json_object_set_new(facts, slot->only_sees_gpus ? "gpus_seen" : "gpus", names);
    if (is_shared(slot))
        json_object_set_new(facts, "gpu_share",
                            orch_json_finite(slot->gpu_millionths / (double)ORCH_GPU_WHOLE));
    if (!slot->cpu_count)
        return facts;
    g_autofree char *list = orch_cpu_list_format(slot->cpus, slot->cpu_count);
    json_object_set_new(facts, "pinned_to", json_string(list));
    json_object_set_new(facts, "topology", json_string(slot->topology));
    if (slot->node >= 0)
        json_object_set_new(facts, "numa_node", json_integer(slot->node));
    return facts;
}

static void add_environment(GPtrArray *env, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add_environment(GPtrArray *env, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(env, g_strdup_vprintf(format, args));
    va_end(args);
}

/* What numeric libraries read. A program of the user's that has the whole machine, or whose
 * variables the user has set, chooses its threads as by hand: their number can change its numbers.
 */
static void add_threads(GPtrArray *env, const struct orch_plan *plan, const struct orch_cell *cell,
                        const struct orch_run_slot *slot)
{
    static const char *const names[] = {"OMP_NUM_THREADS", "MKL_NUM_THREADS",
                                        "OPENBLAS_NUM_THREADS"};
    const struct orch_experiment *experiment = cell->experiment;
    bool is_users = experiment->manifest->kind == ORCH_PLUGIN_WRAPPED;
    bool is_part = slot->submission || experiment->cores ||
                   slot->threads < orch_workspace_machine(plan->workspace)->threads;
    add_environment(env, "ORCH_THREADS=%d", slot->threads);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (!is_users || (is_part && !g_getenv(names[i])))
            add_environment(env, "%s=%d", names[i], slot->threads);
    if (plan->expansion->smoke && !g_getenv("OMP_WAIT_POLICY"))
        add_environment(env, "OMP_WAIT_POLICY=passive"); /* nothing is timed: spin for nobody */
}

/* The GPUs of the slot. Those that a program of the user's only sees are named where `--gpus` hides
 * others. An executor sets them where the trial runs. */
static void add_gpus(GPtrArray *env, const struct orch_plan *plan, const struct orch_run_slot *slot)
{
    const GPtrArray *gpus = orch_workspace_machine(plan->workspace)->gpus;
    if (!gpus->len || slot->submission || (slot->only_sees_gpus && slot->gpu_count == gpus->len))
        return;
    GString *list = g_string_new("CUDA_VISIBLE_DEVICES=");
    for (unsigned i = 0; i < slot->gpu_count; i++)
        g_string_append_printf(
            list, "%s%s", i ? "," : "",
            ((const struct orch_gpu_device *)gpus->pdata[slot->gpus[i]])->visible);
    g_ptr_array_add(env, g_string_free(list, FALSE));
    add_environment(env, "CUDA_DEVICE_ORDER=PCI_BUS_ID"); /* the order of these indices */
    if (is_shared(slot))
        add_environment(env, "ORCH_GPU_SHARE=%u.%06u", slot->gpu_millionths / ORCH_GPU_WHOLE,
                        slot->gpu_millionths % ORCH_GPU_WHOLE);
}

/* The programs of the environment in which the trial runs come first. */
static void add_made(GPtrArray *env, const struct orch_trial_environment *made)
{
    if (!made || !made->folder)
        return;
    const char *path = g_getenv("PATH");
    add_environment(env, "PATH=%s/bin:%s", made->folder, path ? path : "/usr/bin:/bin");
    add_environment(env, "%s=%s",
                    made->kind == ORCH_ENVIRONMENT_CONDA ? "CONDA_PREFIX" : "VIRTUAL_ENV",
                    made->folder);
}

char **orch_slot_environment(struct orch_plan *plan, const struct orch_cell *cell,
                             const struct orch_run_slot *slot)
{
    GPtrArray *env = g_ptr_array_new();
    add_threads(env, plan, cell, slot);
    add_gpus(env, plan, slot);
    if (cell->experiment->manifest->kind == ORCH_PLUGIN_WRAPPED) {
        g_autofree char *helper = orch_plugins_python_path();
        const char *before = g_getenv("PYTHONPATH");
        if (helper)
            add_environment(env, "PYTHONPATH=%s%s%s", helper, before && *before ? ":" : "",
                            before ? before : "");
        add_environment(env, "PYTHONDONTWRITEBYTECODE=1");
    }
    add_made(env, cell->experiment->environment);
    add_environment(env, "ORCH_REPEAT=%d", cell->repeat);
    g_ptr_array_add(env, NULL);
    return (char **)g_ptr_array_free(env, FALSE);
}

double orch_slot_grace_s(const struct orch_run_slot *slot)
{
    static const double HOST_NEEDS_S = 5, SHORTEST_S = 1;
    double margin_s = 0;
    if (!slot->submission ||
        !orch_json_get_real(json_object_get(slot->submission, "margin_s"), &margin_s))
        return 0;
    return MAX((margin_s - HOST_NEEDS_S) / 2, SHORTEST_S);
}
