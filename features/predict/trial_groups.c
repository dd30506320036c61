/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of one plugin on one device are forecast together: their runs are read once. */
#include "features/predict/trial_forecasts_private.h"

#include "core/workspace/environment.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"
#include "lib/wire/library_fact.h"

#include <math.h>
#include <string.h>

/* Maximum number of runs, the newest first, read of an experiment and of its plugin's other
 * experiments, each. */
#define RUNS_MAX 300

void orch_trial_group_free(gpointer data)
{
    struct orch_trial_group *group = data;
    g_free(group->library);
    orch_timed_cells_clear(&group->cells);
    g_array_unref(group->items);
    g_free(group);
}

/* A run of another plugin version, or with another version of LibTorch or PyTorch, counts as a
 * different program. */
static bool is_like(const struct orch_trial_group *group, const struct orch_timing *timing)
{
    return isfinite(timing->wall_s) && timing->wall_s > 0 &&
           g_strcmp0(timing->plugin_version, group->manifest->version) == 0 &&
           !orch_libraries_differ(timing->library, group->library);
}

/* True for a run beside other trials when the plan runs its trials one at a time. */
static bool is_shared(const struct orch_forecasts *f, const struct orch_timing *timing)
{
    return timing->co_runners > 0 && f->plan->options.slots <= 1;
}

/* True when there is an undisturbed run. Without one runs are not treated as disturbed by other
 * programs (the machine is always loaded), nor those on GPUs of their own by other trials. */
static bool any_quiet(const struct orch_forecasts *f, const struct orch_trial_group *group,
                      const GPtrArray *timings)
{
    for (guint i = 0; i < timings->len; i++) {
        const struct orch_timing *timing = timings->pdata[i];
        if (!timing->is_disturbed && !is_shared(f, timing) && is_like(group, timing))
            return true;
    }
    return false;
}

/* The words for what disturbed a run; NULL: nothing did. */
static const char *disturbance_of(const struct orch_forecasts *f,
                                  const struct orch_trial_group *group,
                                  const struct orch_timing *timing, bool some_quiet)
{
    if (is_shared(f, timing) && (some_quiet || !orch_device_key_has_own_gpus(group->device_key)))
        return "beside other trials";
    return timing->is_disturbed && some_quiet ? "while other programs kept the CPUs busy" : NULL;
}

static int threads_of(const char *device_key)
{
    struct orch_device_parts parts = orch_device_key_parse(device_key);
    g_free(parts.device);
    return MAX(1, parts.threads);
}

/* As in struct orch_timed_run. */
static double threads_ratio(const struct orch_trial_group *group, const struct orch_timing *timing)
{
    double ratio = (double)threads_of(timing->device_key) / threads_of(group->device_key);
    return MAX(ratio, 1 / ratio);
}

/* Adds the runs that a query finds. `others`: the words for what is different about all of them, or
 * NULL. */
static void read_runs(struct orch_forecasts *f, struct orch_trial_group *group,
                      const char *experiment, const char *others)
{
    struct orch_timing_query query = {
        .plugin = group->manifest->name,
        .device_key = group->device_key,
        .executor = f->plan->options.executor ? f->plan->options.executor->name : NULL,
        .any_threads = others != NULL,
        .experiment = experiment,
        .limit = RUNS_MAX};
    g_autoptr(GPtrArray) timings =
        f->plan->store ? orch_store_timings(f->plan->store, &query, NULL) : NULL;
    bool some_quiet = timings && any_quiet(f, group, timings);
    for (int pass = 0; timings && pass < 2; pass++)
        for (guint i = 0; i < timings->len; i++) {
            const struct orch_timing *timing = timings->pdata[i];
            bool is_own = orch_who_is_same(timing->who, orch_user_name());
            const char *disturbance =
                others ? others : disturbance_of(f, group, timing, some_quiet);
            if (is_own == (pass == 0) && is_like(group, timing))
                orch_timed_cells_add(
                    &group->cells, orch_trial_timing_params(group->manifest, timing), timing->cost,
                    (struct orch_timed_run){timing->wall_s, timing->ended_ns, is_own, disturbance,
                                            others ? threads_ratio(group, timing) : 0});
        }
}

static struct orch_trial_group *make_group(struct orch_forecasts *f,
                                           const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_trial_group *group = g_new0(struct orch_trial_group, 1);
    group->manifest = experiment->manifest;
    group->device_key = item->device_key;
    group->library =
        orch_environment_library(orch_environments_facts(f->plan->environments, experiment));
    orch_timed_cells_init(&group->cells);
    group->items = g_array_new(FALSE, FALSE, sizeof(unsigned));
    group->runs_answered = SIZE_MAX;
    g_ptr_array_add(f->groups, group);
    read_runs(f, group, experiment->name, NULL);
    if (!group->cells.all->len && !f->plan->options.executor)
        read_runs(f, group, experiment->name, "on another number of threads");
    return group;
}

static void join_group(struct orch_forecasts *f, struct orch_trial_group *group,
                       const struct orch_experiment *experiment, const GArray *items)
{
    g_hash_table_insert(f->experiments, (gpointer)(uintptr_t)experiment, group);
    for (guint i = 0; i < items->len; i++) {
        unsigned index = g_array_index(items, unsigned, i);
        if (f->plan->items[index].state != ORCH_PLAN_UNUSED)
            g_array_append_val(group->items, index);
    }
}

/* The group of all experiments of a plugin on the same device. Its runs are read once, those of the
 * first experiment before those of the others. All its experiments join it at once, so that it is
 * answered once and not again for each of a thousand experiments. */
struct orch_trial_group *orch_trial_group_of(struct orch_forecasts *f,
                                             const struct orch_plan_item *item)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    struct orch_trial_group *group = g_hash_table_lookup(f->experiments, experiment);
    if (group)
        return group;
    group = make_group(f, item);
    join_group(f, group, experiment, g_hash_table_lookup(f->items_of, experiment));
    for (guint i = 0; !experiment->program && i < f->order->len; i++) {
        const struct orch_experiment *other = f->order->pdata[i];
        const GArray *items = g_hash_table_lookup(f->items_of, other);
        const struct orch_plan_item *first = &f->plan->items[g_array_index(items, unsigned, 0)];
        if (other->manifest == group->manifest && !other->program &&
            g_strcmp0(first->device_key, group->device_key) == 0 &&
            !g_hash_table_contains(f->experiments, other))
            join_group(f, group, other, items);
    }
    return group;
}

bool orch_forecasts_has_run(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    return !f->plan->expansion->smoke && orch_timed_cells_find(&orch_trial_group_of(f, item)->cells,
                                                               orch_trial_signature(f, item));
}
