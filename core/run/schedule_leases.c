/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leases a trial's CPUs and GPUs from the list that all runs of this machine share (slot_leases.h).
 *
 * A run that finds too little free enters the list as waiting and asks again when the list changes,
 * at least once a second. Runs are served in the order in which they began to wait: what an earlier
 * one waits for is not given to a later one, so that a trial with many GPUs gets them at last, and
 * two long sweeps take turns. A run that was stopped (Ctrl-Z) keeps nobody waiting.
 *
 * More trials than CPUs are allowed within a run (-j): its further trials get no CPUs of their own.
 */
#include "core/run/schedule_private.h"

#include "core/run/slot_leases.h"

#include "store/store_dir.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define ASK_EVERY_NS 1000000000
#define TOUCH_EVERY_NS (INT64_C(3600) * 1000000000)

/* The list as this run sees it, and the trial that asks. */
struct asking {
    struct run *run;
    const struct orch_experiment *experiment;
    const struct orch_machine *machine;
    struct orch_run_slot *slot;
    GPtrArray *others;          /* const struct orch_lease *: of trials of other runs */
    GPtrArray *ahead;           /* const struct orch_lease *: runs that have waited longer */
    struct orch_lease *waiting; /* this run's waiting entry in the list, or NULL */
    GHashTable *busy;           /* CPU numbers in use */
    struct orch_lease *wish;    /* what the trial must wait for, when `by` is set */
    const struct orch_lease *by;
    char *missing; /* "GPU 0", "2 of the 4 CPUs" */
    char *news;    /* what to tell the user once the list is unlocked, or NULL */
};

/* ---- who uses what ----------------------------------------------------------------------------
 */

/* A run inside a trial (its program calls orch) has what the trial has. It waits for nobody who may
 * wait for that trial. */
static void sort_out(struct asking *a, const struct orch_slot_leases *leases)
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

static void mark_busy(struct asking *a, const int *cpus, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        g_hash_table_add(a->busy, GINT_TO_POINTER(cpus[i]));
}

static bool is_busy(const void *ctx, unsigned cpu)
{
    return g_hash_table_contains(((const struct asking *)ctx)->busy, GUINT_TO_POINTER(cpu));
}

/* Number of CPUs that this run may use and others have leased; marks them and its own as busy.
 * `*out_by`: one who has some. */
static unsigned find_busy(struct asking *a, const struct orch_lease **out_by)
{
    unsigned count = 0;
    const struct run *run = a->run;
    for (guint i = 0; i < a->others->len; i++) {
        const struct orch_lease *lease = a->others->pdata[i];
        mark_busy(a, (const int *)(const void *)lease->cpus->data, lease->cpus->len);
        *out_by = *out_by || !lease->cpus->len ? *out_by : lease;
    }
    for (guint i = 0; i < run->topology->cpus->len; i++)
        count += is_busy(a, g_array_index(run->topology->cpus, struct orch_cpu, i).number);
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct host *host = run->hosts->pdata[i];
        mark_busy(a, host->running.slot.leased, host->running.slot.leased_count);
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
            share += slot->gpus[j] == gpu ? slot->gpu_millionths : 0;
    }
    return share;
}

/* What other runs use of a GPU. All of it while a run that waited longer waits for it. */
static unsigned others_share(const struct asking *a, const char *name,
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

/* ---- asking -----------------------------------------------------------------------------------
 */

/* A trial that runs alone needs an empty machine, and others wait while one runs. */
static bool alone_allows(struct asking *a)
{
    bool alone = orch_experiment_runs_alone(a->experiment);
    const GPtrArray *lists[] = {a->others, a->ahead};
    if (a->run->options->oversubscribes)
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
static bool choose_gpus(struct asking *a)
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

/* The GPUs for which the run waits: all on which the trial could run. */
static void wish_for_gpus(struct asking *a)
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

static const struct orch_lease *first_without_cpus(const struct asking *a)
{
    for (guint i = 0; i < a->ahead->len; i++)
        if (((const struct orch_lease *)a->ahead->pdata[i])->lacks_cpus)
            return a->ahead->pdata[i];
    return NULL;
}

static int node_of_gpu(const struct asking *a)
{
    const struct orch_run_slot *slot = a->slot;
    return slot->gpu_count
               ? ((const struct orch_gpu_device *)a->machine->gpus->pdata[slot->gpus[0]])->numa_node
               : -1;
}

/* Leases `count` CPUs. Pins the trial to them if it has all its CPUs to itself. Under a quota of
 * CPU time (cgroup), which any CPUs can use up, pinning would only crowd the containers of a
 * machine onto its first CPUs. */
static void lease_cpus(struct asking *a, unsigned count)
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

static bool choose_cpus(struct asking *a)
{
    const struct orch_lease *by = NULL;
    const unsigned all = (unsigned)a->machine->threads, own = own_cpus(a->run);
    const unsigned left = all > own ? all - own : 0, others = find_busy(a, &by);
    const unsigned is_free = left > others ? left - others : 0;
    unsigned count = MIN((unsigned)a->slot->threads, left);
    if (a->run->options->oversubscribes)
        count = MIN(count, is_free);
    else if (count && first_without_cpus(a))
        a->by = first_without_cpus(a);
    else if (count > is_free)
        a->by = by;
    if (!a->by) {
        lease_cpus(a, count);
        return true;
    }
    a->wish->lacks_cpus = true;
    a->missing = g_strdup_printf("%u of the %u CPUs", count, all);
    return false;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

/* True when the trial has what it needs; otherwise the slot is not to be used. */
static bool choose(struct asking *a)
{
    if (!alone_allows(a))
        return false;
    if (choose_gpus(a))
        return choose_cpus(a);
    if (a->by)
        wish_for_gpus(a);
    return false;
}

/* Says once for whom the run waits, and again when it waits for something or somebody else. */
static void tell(struct asking *a)
{
    struct run *run = a->run;
    g_autofree char *key = g_strdup_printf("%s %d", a->missing, (int)a->by->runner.pid);
    g_autofree char *holder = orch_lease_text(a->by);
    if (g_strcmp0(key, run->told) == 0)
        return;
    a->news = g_strdup_printf(
        "waiting for %s: %s %s%s", a->missing, a->by->is_waiting ? "first served is" : "held by",
        holder, a->wish->lacks_cpus ? " ('--oversubscribe' does not wait for CPUs)" : "");
    g_free(run->told);
    run->told = g_steal_pointer(&key);
}

static void start_watching(struct run *run)
{
    g_autofree char *folder = orch_slot_leases_folder();
    if (run->slots_fd >= 0)
        return;
    run->slots_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (run->slots_fd >= 0 && folder)
        inotify_add_watch(run->slots_fd, folder, IN_MOVED_TO);
}

static bool is_same_wish(const struct orch_lease *old, const struct orch_lease *new)
{
    bool is_same = old->lacks_cpus == new->lacks_cpus && old->is_alone == new->is_alone &&
                   old->gpus->len == new->gpus->len;
    for (guint i = 0; is_same && i < old->gpus->len; i++) {
        const struct orch_lease_gpu *x = old->gpus->pdata[i], *y = new->gpus->pdata[i];
        is_same = strcmp(x->name, y->name) == 0 && x->millionths == y->millionths;
    }
    return is_same;
}

/* Takes `a->wish` over into the list, as this run's waiting entry, which keeps its place. Returns
 * true when the list must be written. */
static bool enter_queue(struct asking *a, struct orch_slot_leases *leases)
{
    struct run *run = a->run;
    struct orch_lease *wish = a->wish;
    run->is_queued = true;
    run->next_ask_ns = orch_mono_ns() + ASK_EVERY_NS;
    start_watching(run);
    if (a->waiting && is_same_wish(a->waiting, wish))
        return false;
    wish->is_waiting = true;
    wish->since_ns = a->waiting     ? a->waiting->since_ns
                     : run->turn_ns ? run->turn_ns
                                    : orch_now_ns();
    if (a->waiting)
        g_ptr_array_remove(leases->rows, a->waiting);
    a->waiting = NULL;
    g_ptr_array_add(leases->rows, g_steal_pointer(&a->wish));
    return true;
}

static void stop_watching(struct run *run)
{
    run->is_queued = false;
    run->next_ask_ns = 0;
    if (run->slots_fd >= 0)
        close(run->slots_fd);
    run->slots_fd = -1;
}

/* Adds the trial to the list, in place of a waiting entry. */
static void enter_trial(struct asking *a, struct orch_slot_leases *leases)
{
    struct orch_run_slot *slot = a->slot;
    struct orch_lease *lease = a->wish;
    lease->is_alone = orch_experiment_runs_alone(a->experiment);
    lease->since_ns = orch_now_ns();
    lease->trial_dir = orch_store_dir_path(a->run->plan->store, ORCH_STORE_DIR_TRIAL, slot->key);
    g_strlcpy(lease->key, slot->key, sizeof lease->key);
    g_array_append_vals(lease->cpus, slot->leased, slot->leased_count);
    for (unsigned i = 0; i < slot->gpu_count; i++) {
        g_autofree char *name = orch_gpu_device_id(a->machine->gpus->pdata[slot->gpus[i]]);
        orch_lease_add_gpu(lease, name, slot->gpu_millionths);
    }
    slot->co_runners += a->others->len;
    if (a->waiting) {
        a->run->turn_ns = a->waiting->since_ns;
        g_ptr_array_remove(leases->rows, a->waiting);
    }
    a->waiting = NULL;
    g_ptr_array_add(leases->rows, g_steal_pointer(&a->wish));
    stop_watching(a->run);
}

static struct asking *asking_new(struct run *run, const struct orch_experiment *experiment,
                                 struct orch_run_slot *slot)
{
    struct asking *a = g_new0(struct asking, 1);
    if (!run->topology)
        run->topology = orch_topology_new();
    *a = (struct asking){.run = run, .experiment = experiment, .slot = slot};
    a->machine = orch_workspace_machine(run->plan->workspace);
    a->others = g_ptr_array_new();
    a->ahead = g_ptr_array_new();
    a->busy = g_hash_table_new(NULL, NULL);
    a->wish = orch_lease_new();
    a->wish->runner = run->self;
    a->wish->what = g_strdup_printf("%s %s", run->plan->expansion->name, experiment->name);
    return a;
}

static void asking_free(struct asking *a)
{
    g_ptr_array_unref(a->others);
    g_ptr_array_unref(a->ahead);
    g_hash_table_unref(a->busy);
    orch_lease_free(a->wish);
    g_free(a->missing);
    g_free(a->news);
    g_free(a);
}

/* Removes this run's entries of trials that are over. True when there were any. */
static bool remove_released(struct run *run, struct orch_slot_leases *leases)
{
    guint before = leases->rows->len;
    for (guint i = leases->rows->len; run->released->len && i-- > 0;) {
        const struct orch_lease *lease = leases->rows->pdata[i];
        if (orch_lease_is_of(lease, &run->self) &&
            g_ptr_array_find_with_equal_func(run->released, lease->key, g_str_equal, NULL))
            g_ptr_array_remove_index(leases->rows, i);
    }
    g_ptr_array_set_size(run->released, 0);
    return leases->rows->len < before;
}

static enum orch_slot_answer ask(struct asking *a, GError **error)
{
    struct orch_slot_leases leases;
    enum orch_slot_answer answer = ORCH_SLOT_TAKEN;
    if (!a->run->shares_slots)
        return choose(a) ? ORCH_SLOT_TAKEN : ORCH_SLOT_BUSY;
    if (!orch_slot_leases_begin(&leases, error))
        return ORCH_SLOT_FAILED;
    bool writes = remove_released(a->run, &leases);
    sort_out(a, &leases);
    if (choose(a)) {
        enter_trial(a, &leases);
        writes = true;
    } else if (a->by) {
        answer = ORCH_SLOT_HELD;
        tell(a);
        writes = enter_queue(a, &leases) || writes;
    } else {
        answer = ORCH_SLOT_BUSY;
    }
    return orch_slot_leases_end(&leases, writes, error) ? answer : ORCH_SLOT_FAILED;
}

enum orch_slot_answer orch_schedule_lease(struct run *run, const struct orch_experiment *experiment,
                                          struct orch_run_slot *slot, GError **error)
{
    orch_key_make(slot->key);
    struct asking *a = asking_new(run, experiment, slot);
    enum orch_slot_answer answer = ask(a, error);
    if (a->news)
        orch_schedule_emit(run, "%s", a->news);
    slot->is_leased = answer == ORCH_SLOT_TAKEN && run->shares_slots;
    asking_free(a);
    return answer;
}

/* ---- the run ----------------------------------------------------------------------------------
 */

void orch_schedule_leases_open(struct run *run)
{
    struct orch_slot_leases leases;
    g_autofree char *folder = orch_slot_leases_folder();
    g_autoptr(GError) problem = NULL;
    run->slots_fd = -1;
    run->released = g_ptr_array_new_with_free_func(g_free);
    if (!folder)
        return;
    run->shares_slots =
        orch_slot_leases_begin(&leases, &problem) && orch_slot_leases_end(&leases, false, &problem);
    if (!run->shares_slots)
        orch_schedule_emit(run, "CPUs and GPUs are not shared with other runs of this machine: %s",
                           problem->message);
    run->last_touch_ns = orch_mono_ns();
}

void orch_schedule_leases_close(struct run *run)
{
    g_autoptr(GError) problem = NULL;
    if (run->shares_slots && !orch_slot_leases_release(NULL, &problem))
        orch_schedule_emit(run, "the list of slots was not updated: %s", problem->message);
    stop_watching(run);
    g_ptr_array_unref(run->released);
    g_clear_pointer(&run->told, g_free);
    g_clear_pointer(&run->topology, orch_topology_free);
}

void orch_schedule_unlease(struct run *run, struct orch_run_slot *slot)
{
    if (slot->is_leased)
        g_ptr_array_add(run->released, g_strdup(slot->key));
    slot->is_leased = false;
    run->next_ask_ns = 0;
}

bool orch_schedule_leases_flush(struct run *run, GError **error)
{
    struct orch_slot_leases leases;
    if (!run->released->len)
        return true;
    if (!orch_slot_leases_begin(&leases, error))
        return false;
    return orch_slot_leases_end(&leases, remove_released(run, &leases), error);
}

bool orch_schedule_leave_queue(struct run *run, GError **error)
{
    if (!run->is_queued)
        return true;
    stop_watching(run);
    return orch_slot_leases_release("", error);
}

bool orch_schedule_may_ask(struct run *run)
{
    char events[4096];
    int64_t now = orch_mono_ns();
    if (run->shares_slots && now - run->last_touch_ns > TOUCH_EVERY_NS) {
        run->last_touch_ns = now;
        orch_slot_leases_touch();
    }
    while (run->slots_fd >= 0 && read(run->slots_fd, events, sizeof events) > 0)
        run->next_ask_ns = 0;
    return now >= run->next_ask_ns;
}
