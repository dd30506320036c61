/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/slot_choice.h"

#include <string.h>

/* ---- who uses what ----------------------------------------------------------------------------
 */

void orch_slot_sort_out(struct orch_slot_question *a, const struct orch_slot_leases *leases)
{
    const int64_t turn_ns = a->run->turn_ns;
    const char *outer = g_getenv("ORCH_RUN");
    bool is_inside = false;
    for (guint i = 0; i < leases->rows->len; i++) {
        struct orch_lease *lease = leases->rows->pdata[i];
        bool is_mine = orch_lease_is_of(lease, &a->run->self);
        bool is_ahead = !a->waiting && (!turn_ns || lease->since_ns < turn_ns);
        if (*lease->key && g_strcmp0(lease->key, outer) == 0)
            is_inside = true;
        else if (is_mine && lease->is_waiting)
            a->waiting = lease;
        else if (!is_mine && !lease->is_waiting)
            g_ptr_array_add(a->others, lease);
        else if (!is_mine && is_ahead && !orch_process_is_stopped((pid_t)lease->runner.pid))
            g_ptr_array_add(a->ahead, lease);
    }
    if (is_inside)
        g_ptr_array_set_size(a->ahead, 0);
}

static unsigned own_cpus(const struct run *run)
{
    unsigned count = 0;
    for (guint i = 0; i < run->hosts->len; i++)
        count += ((const struct host *)run->hosts->pdata[i])->running.slot.leased_count;
    return count;
}

static bool is_busy(const void *ctx, unsigned cpu)
{
    const struct orch_slot_question *a = ctx;
    return g_hash_table_contains(a->busy, GUINT_TO_POINTER(cpu)) ||
           (a->avoids_yielding && g_hash_table_contains(a->yielding, GUINT_TO_POINTER(cpu)));
}

static void mark_own(struct orch_slot_question *a)
{
    for (guint i = 0; i < a->run->hosts->len; i++) {
        const struct host *host = a->run->hosts->pdata[i];
        for (unsigned j = 0; j < host->running.slot.leased_count; j++)
            g_hash_table_add(a->busy, GINT_TO_POINTER(host->running.slot.leased[j]));
    }
}

/* Marks the CPUs that others declared, or those that they have without. Returns how many more of
 * this run's CPUs are in use by that. `*out_by`: one who has some. */
static unsigned mark_others(struct orch_slot_question *a, bool yields,
                            const struct orch_lease **out_by)
{
    GHashTable *into = yields ? a->yielding : a->busy;
    unsigned count = 0;
    g_autoptr(GHashTable) mine = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < a->run->topology->cpus->len; i++) {
        unsigned cpu = g_array_index(a->run->topology->cpus, struct orch_cpu, i).number;
        g_hash_table_add(mine, GUINT_TO_POINTER(cpu));
    }
    for (guint i = 0; i < a->others->len; i++) {
        const struct orch_lease *lease = a->others->pdata[i];
        for (guint j = 0; lease->yields == yields && j < lease->cpus->len; j++) {
            gpointer cpu = GINT_TO_POINTER(g_array_index(lease->cpus, int, j));
            bool is_new = !g_hash_table_contains(a->busy, cpu) && g_hash_table_add(into, cpu);
            count += is_new && g_hash_table_contains(mine, cpu);
            *out_by = *out_by ? *out_by : lease;
        }
    }
    return count;
}

static unsigned share_in(const struct orch_lease *lease, const char *name)
{
    unsigned share = 0;
    for (guint i = 0; i < lease->gpus->len; i++) {
        const struct orch_lease_gpu *gpu = lease->gpus->pdata[i];
        share += strcmp(gpu->name, name) == 0 ? gpu->millionths : 0;
    }
    return share;
}

static unsigned own_share(const struct run *run, unsigned gpu)
{
    unsigned share = 0;
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_run_slot *slot =
            &((const struct host *)run->hosts->pdata[i])->running.slot;
        for (unsigned j = 0; j < slot->gpu_count; j++)
            share += slot->gpus[j] == gpu && !slot->only_sees_gpus ? slot->gpu_millionths : 0;
    }
    return share;
}

/* What other runs use of a GPU. All of it while a run that waited longer waits for it. */
static unsigned others_share(const struct orch_slot_question *a, const char *name,
                             const struct orch_lease **out_by)
{
    unsigned share = 0;
    for (guint i = 0; i < a->others->len; i++) {
        unsigned part = share_in(a->others->pdata[i], name);
        *out_by = part ? a->others->pdata[i] : *out_by;
        share += part;
    }
    for (guint i = 0; i < a->ahead->len; i++)
        if (share_in(a->ahead->pdata[i], name)) {
            *out_by = *out_by ? *out_by : a->ahead->pdata[i];
            return ORCH_GPU_WHOLE;
        }
    return share;
}

/* ---- what the trial gets ------------------------------------------------------------------------
 */

const struct orch_lease *orch_slot_alone(const struct orch_slot_question *a)
{
    for (guint i = 0; i < a->others->len; i++)
        if (((const struct orch_lease *)a->others->pdata[i])->is_alone)
            return a->others->pdata[i];
    return NULL;
}

const struct orch_lease *orch_slot_gpu_holder(const struct orch_slot_question *a)
{
    for (guint i = 0; a->slot->only_sees_gpus && i < a->others->len; i++) {
        const struct orch_lease *lease = a->others->pdata[i];
        for (unsigned j = 0; j < a->slot->gpu_count; j++) {
            g_autofree char *name = orch_gpu_device_id(a->machine->gpus->pdata[a->slot->gpus[j]]);
            if (share_in(lease, name))
                return lease;
        }
    }
    return NULL;
}

/* A trial that runs alone needs an empty machine, and trials that declare what they need wait while
 * one runs. */
static bool alone_allows(struct orch_slot_question *a)
{
    bool alone = orch_experiment_runs_alone(a->experiment);
    const GPtrArray *lists[] = {a->others, a->ahead};
    if (a->run->options->oversubscribes || !orch_experiment_waits(a->experiment))
        return true;
    for (unsigned j = 0; j < G_N_ELEMENTS(lists); j++)
        for (guint i = 0; i < lists[j]->len; i++) {
            const struct orch_lease *lease = lists[j]->pdata[i];
            if (!alone && !lease->is_alone)
                continue;
            a->by = lease;
            a->missing =
                g_strdup(alone ? "the whole machine, because its trial runs alone" : "the machine");
            a->wish->is_alone = alone;
            a->wish->lacks_cpus = true;
            return false;
        }
    return true;
}

/* Adds the GPUs on which the trial fits to the slot. A share goes first where others share, which
 * leaves whole GPUs free. Returns false when too few are free; `a->by` is NULL when this run's own
 * trials use them. */
static bool choose_gpus(struct orch_slot_question *a)
{
    const struct run *run = a->run;
    const unsigned wanted = orch_experiment_gpus(a->experiment);
    const unsigned share = orch_experiment_gpu_millionths(a->experiment);
    unsigned without_others = 0;
    const struct orch_lease *by = NULL;
    struct orch_run_slot *slot = a->slot;
    slot->gpu_millionths = wanted ? share : 0;
    for (unsigned pass = share < ORCH_GPU_WHOLE ? 0 : 1; pass < 2; pass++) {
        without_others = 0;
        for (unsigned i = 0; i < orch_schedule_gpu_choices(run) && slot->gpu_count < wanted; i++) {
            unsigned gpu = orch_schedule_gpu_choice(run, i), own = own_share(run, gpu);
            g_autofree char *name = orch_gpu_device_id(a->machine->gpus->pdata[gpu]);
            unsigned used = own + others_share(a, name, &by);
            if (!orch_schedule_gpu_is_usable(run, gpu, wanted) || own + share > ORCH_GPU_WHOLE)
                continue;
            without_others++;
            if (used + share <= ORCH_GPU_WHOLE && (pass || used))
                slot->gpus[slot->gpu_count++] = gpu;
        }
    }
    if (slot->gpu_count == wanted)
        return true;
    a->by = without_others + slot->gpu_count >= wanted ? by : NULL;
    return false;
}

/* Gives the trial all GPUs that this run may use, whoever holds them. */
static void show_gpus(struct orch_slot_question *a)
{
    const unsigned choices = orch_schedule_gpu_choices(a->run);
    a->slot->only_sees_gpus = choices > 0;
    for (unsigned i = 0; i < choices && a->slot->gpu_count < G_N_ELEMENTS(a->slot->gpus); i++)
        a->slot->gpus[a->slot->gpu_count++] = orch_schedule_gpu_choice(a->run, i);
}

/* The GPUs for which the run waits: all on which the trial could run. */
static void wish_for_gpus(struct orch_slot_question *a)
{
    const unsigned wanted = orch_experiment_gpus(a->experiment);
    GString *text = g_string_new(NULL);
    unsigned count = 0;
    for (unsigned i = 0; i < orch_schedule_gpu_choices(a->run); i++) {
        unsigned gpu = orch_schedule_gpu_choice(a->run, i);
        const struct orch_gpu_device *device = a->machine->gpus->pdata[gpu];
        g_autofree char *name = orch_gpu_device_id(device);
        if (!orch_schedule_gpu_is_usable(a->run, gpu, wanted))
            continue;
        orch_lease_add_gpu(a->wish, name, a->slot->gpu_millionths);
        g_string_append_printf(text, "%s%s", count++ ? "," : "", device->visible);
    }
    g_autofree char *list = g_string_free(text, FALSE);
    if (a->slot->gpu_millionths < ORCH_GPU_WHOLE)
        a->missing = g_strdup_printf("%g of GPU %s", a->slot->gpu_millionths / 1e6, list);
    else if (count > 1)
        a->missing = g_strdup_printf("%u of GPUs %s", wanted, list);
    else
        a->missing = g_strdup_printf("GPU %s", list);
}

static const struct orch_lease *first_without_cpus(const struct orch_slot_question *a)
{
    for (guint i = 0; i < a->ahead->len; i++)
        if (((const struct orch_lease *)a->ahead->pdata[i])->lacks_cpus)
            return a->ahead->pdata[i];
    return NULL;
}

static int node_of_gpu(const struct orch_slot_question *a)
{
    const struct orch_run_slot *slot = a->slot;
    return slot->gpu_count
               ? ((const struct orch_gpu_device *)a->machine->gpus->pdata[slot->gpus[0]])->numa_node
               : -1;
}

/* Leases `count` CPUs. Pins the trial to them if it has all its CPUs to itself. Under a quota of
 * CPU time (cgroup), which any CPUs can use up, pinning would only crowd the containers of a
 * machine onto its first CPUs. */
static void lease_cpus(struct orch_slot_question *a, unsigned count)
{
    const struct run *run = a->run;
    struct orch_run_slot *slot = a->slot;
    const unsigned allowed = run->topology->cpus->len;
    const struct orch_cpu_wish wish = {
        .count = MIN(count, G_N_ELEMENTS(slot->leased)),
        .shares = orch_experiment_shares(a->experiment, a->machine, run->options->slots),
        .node = node_of_gpu(a)};
    int node = orch_topology_choose(run->topology, &wish, is_busy, a, slot->leased);
    slot->leased_count = wish.count;
    bool has_quota = (unsigned)a->machine->threads < allowed;
    if (run->options->is_unpinned || has_quota || wish.count != (unsigned)slot->threads ||
        wish.count == allowed)
        return;
    memcpy(slot->cpus, slot->leased, wish.count * sizeof *slot->cpus);
    slot->cpu_count = wish.count;
    slot->node = node;
    slot->topology = run->topology->source;
}

/* How many CPUs a trial takes that did not declare them, or that does not wait for them. */
static unsigned count_at_hand(const struct orch_slot_question *a, unsigned wanted, unsigned is_free,
                              unsigned is_unused)
{
    if (orch_experiment_declares_cpus(a->experiment))
        return MIN(wanted, is_free);
    return wanted <= is_unused ? wanted : 0; /* beside others it uses all CPUs, as by hand */
}

static bool choose_cpus(struct orch_slot_question *a)
{
    const struct orch_lease *by = NULL, *unused_by = NULL;
    const unsigned all = (unsigned)a->machine->threads, own = own_cpus(a->run);
    mark_own(a);
    const unsigned left = all > own ? all - own : 0, held = mark_others(a, false, &by),
                   used = mark_others(a, true, &unused_by), is_free = left > held ? left - held : 0,
                   is_unused = is_free > used ? is_free - used : 0;
    unsigned count = MIN((unsigned)a->slot->threads, left);
    if (a->run->options->oversubscribes || !orch_experiment_declares_cpus(a->experiment))
        count = count_at_hand(a, count, is_free, is_unused);
    else if (count && first_without_cpus(a))
        a->by = first_without_cpus(a);
    else if (count > is_free)
        a->by = by;
    if (!a->by) {
        a->avoids_yielding = count <= is_unused;
        lease_cpus(a, count);
        return true;
    }
    a->wish->lacks_cpus = true;
    a->missing = g_strdup_printf("%u of the %u CPUs", count, all);
    return false;
}

bool orch_slot_choose(struct orch_slot_question *a)
{
    if (!alone_allows(a))
        return false;
    if (orch_experiment_sees_gpus(a->experiment)) {
        show_gpus(a);
        return choose_cpus(a);
    }
    if (choose_gpus(a))
        return choose_cpus(a);
    if (a->by)
        wish_for_gpus(a);
    return false;
}
