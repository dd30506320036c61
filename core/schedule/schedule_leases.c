/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leases a trial's CPUs and GPUs from the list that all runs of this machine share (slot_leases.h).
 *
 * A run that finds too little free enters the list as waiting and asks again when the list changes,
 * at least once a second. Runs are served in the order in which they began to wait: what an earlier
 * one waits for is not given to a later one, so that a trial with many GPUs gets them at last, and
 * two long sweeps take turns. A run that was stopped (Ctrl-Z) keeps nobody waiting. Trials that
 * declare nothing wait for nobody; they are in the list, so that others see whom they run beside.
 *
 * Whatever is wrong with the list, the run goes on without it.
 *
 * More trials than CPUs are allowed within a run (-j): its further trials get no CPUs of their own.
 */
#include "core/schedule/slot_choice.h"

#include "store/handle/store_dir.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define ASK_EVERY_NS 1000000000
#define TOUCH_EVERY_NS (INT64_C(3600) * 1000000000)

/* Says once for whom the run waits, and again when it waits for something or somebody else. */
static void tell(struct orch_slot_question *a)
{
    struct run *run = a->run;
    g_autofree char *key = g_strdup_printf("%s %d", a->missing, (int)a->by->runner.pid);
    g_autofree char *holder = orch_lease_text(a->by);
    if (g_strcmp0(key, run->notice) == 0)
        return;
    a->news = g_strdup_printf(
        "waiting for %s: %s %s%s", a->missing, a->by->is_waiting ? "first served is" : "held by",
        holder, a->wish->lacks_cpus ? " ('--oversubscribe' does not wait for CPUs)" : "");
    g_free(run->notice);
    run->notice = g_steal_pointer(&key);
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
static bool enter_queue(struct orch_slot_question *a, struct orch_slot_leases *leases)
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
                                    : orch_boot_ns();
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
static void enter_trial(struct orch_slot_question *a, struct orch_slot_leases *leases)
{
    struct orch_run_slot *slot = a->slot;
    struct orch_lease *lease = a->wish;
    lease->is_alone = orch_experiment_runs_alone(a->experiment);
    lease->since_ns = orch_boot_ns();
    lease->trial_dir = orch_store_dir_path(a->run->plan->store, ORCH_STORE_DIR_TRIAL, slot->key);
    g_strlcpy(lease->key, slot->key, sizeof lease->key);
    lease->yields = !orch_experiment_declares_cpus(a->experiment);
    g_array_append_vals(lease->cpus, slot->leased, slot->leased_count);
    for (unsigned i = 0; i < slot->gpu_count && !slot->only_sees_gpus; i++) {
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

static struct orch_slot_question *
asking_new(struct run *run, const struct orch_experiment *experiment, struct orch_run_slot *slot)
{
    struct orch_slot_question *a = g_new0(struct orch_slot_question, 1);
    if (!run->topology)
        run->topology = orch_topology_new();
    *a = (struct orch_slot_question){.run = run, .experiment = experiment, .slot = slot};
    a->machine = orch_workspace_machine(run->plan->workspace);
    a->others = g_ptr_array_new();
    a->ahead = g_ptr_array_new();
    a->busy = g_hash_table_new(NULL, NULL);
    a->yielding = g_hash_table_new(NULL, NULL);
    a->wish = orch_lease_new();
    a->wish->runner = run->self;
    a->wish->what = g_strdup_printf("%s %s", run->plan->expansion->name, experiment->name);
    return a;
}

static void asking_free(struct orch_slot_question *a)
{
    g_ptr_array_unref(a->others);
    g_ptr_array_unref(a->ahead);
    g_hash_table_unref(a->busy);
    g_hash_table_unref(a->yielding);
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

/* From now on the run uses the machine as if it were alone. */
static void go_unshared(struct run *run, const GError *problem)
{
    if (run->shares_slots)
        orch_schedule_emit(run, "other runs on this machine may use the same CPUs and GPUs: %s",
                           problem->message);
    run->shares_slots = false;
    stop_watching(run);
    g_ptr_array_set_size(run->released, 0);
}

static bool begin(struct run *run, struct orch_slot_leases *out)
{
    g_autoptr(GError) problem = NULL;
    if (!orch_slot_leases_begin(out, &problem)) {
        go_unshared(run, problem);
        return false;
    }
    if (out->left_out && !run->has_named_left_out) {
        run->has_named_left_out = true;
        orch_schedule_emit(run, "some users' runs may use the same CPUs and GPUs: %s",
                           out->left_out->message);
    }
    return true;
}

static void end(struct run *run, struct orch_slot_leases *leases, bool writes)
{
    g_autoptr(GError) problem = NULL;
    if (!orch_slot_leases_end(leases, writes, &problem))
        go_unshared(run, problem);
}

/* Says once that a trial which waits for nobody disturbs one that runs alone, or one that holds a
 * GPU which it sees. */
static void tell_beside(struct orch_slot_question *a)
{
    struct run *run = a->run;
    const struct orch_lease *alone = orch_slot_alone(a), *holds = orch_slot_gpu_holder(a);
    const struct orch_lease *other = alone ? alone : holds;
    if (!other || orch_experiment_waits(a->experiment))
        return;
    g_autofree char *key = g_strdup_printf("beside %d", (int)other->runner.pid);
    g_autofree char *holder = orch_lease_text(other);
    if (g_strcmp0(key, run->notice) == 0)
        return;
    a->news = g_strdup_printf(
        alone ? "runs at the same time as an exclusive trial: %s (with 'resources: { cores: N }' "
                "it would wait)"
              : "sees all GPUs, also those that another trial uses, because it declares none: %s ("
                "'resources: { gpus: 1 }' waits for a free one)",
        holder);
    g_free(run->notice);
    run->notice = g_steal_pointer(&key);
}

static enum orch_slot_answer ask(struct orch_slot_question *a)
{
    struct orch_slot_leases leases;
    enum orch_slot_answer answer = ORCH_SLOT_TAKEN;
    if (!a->run->shares_slots || !begin(a->run, &leases))
        return orch_slot_choose(a) ? ORCH_SLOT_TAKEN : ORCH_SLOT_BUSY;
    bool writes = remove_released(a->run, &leases);
    orch_slot_sort_out(a, &leases);
    if (orch_slot_choose(a)) {
        tell_beside(a);
        enter_trial(a, &leases);
        writes = true;
    } else if (a->by) {
        answer = ORCH_SLOT_HELD;
        tell(a);
        writes = enter_queue(a, &leases) || writes;
    } else {
        answer = ORCH_SLOT_BUSY;
    }
    end(a->run, &leases, writes);
    return answer;
}

enum orch_slot_answer orch_schedule_lease(struct run *run, const struct orch_experiment *experiment,
                                          struct orch_run_slot *slot)
{
    orch_key_make(slot->key);
    struct orch_slot_question *a = asking_new(run, experiment, slot);
    enum orch_slot_answer answer = ask(a);
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
    run->slots_fd = -1;
    run->released = g_ptr_array_new_with_free_func(g_free);
    run->shares_slots = folder != NULL;
    if (folder && begin(run, &leases))
        end(run, &leases, false);
    run->last_touch_ns = orch_mono_ns();
}

/* Removes this run's entries: that of the trial `key`, or all when it is NULL. */
static void release(struct run *run, const char *key)
{
    g_autoptr(GError) problem = NULL;
    if (run->shares_slots && !orch_slot_leases_release(key, &problem))
        go_unshared(run, problem);
}

void orch_schedule_leases_close(struct run *run)
{
    release(run, NULL);
    stop_watching(run);
    g_ptr_array_unref(run->released);
    g_clear_pointer(&run->notice, g_free);
    g_clear_pointer(&run->topology, orch_topology_free);
}

void orch_schedule_unlease(struct run *run, struct orch_run_slot *slot)
{
    if (slot->is_leased)
        g_ptr_array_add(run->released, g_strdup(slot->key));
    slot->is_leased = false;
    run->next_ask_ns = 0;
}

void orch_schedule_leases_flush(struct run *run)
{
    struct orch_slot_leases leases;
    if (run->released->len && run->shares_slots && begin(run, &leases))
        end(run, &leases, remove_released(run, &leases));
}

void orch_schedule_leave_queue(struct run *run)
{
    if (!run->is_queued)
        return;
    stop_watching(run);
    release(run, "");
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
