/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/schedule/slot_living.h"

#include "core/record/trial_processes.h"
#include "core/schedule/slot_lease.h"

#include <string.h>
#include <unistd.h>

/** A process that entries name; looked up once. */
struct runner {
    bool is_alive;
    struct orch_process process;
    uid_t uid;
};

static const struct runner *find_runner(GHashTable *runners, int64_t pid)
{
    struct runner *runner = g_hash_table_lookup(runners, GINT_TO_POINTER((int)pid));
    if (runner)
        return runner;
    runner = g_new0(struct runner, 1);
    runner->is_alive = orch_process_get((pid_t)pid, &runner->process) &&
                       orch_process_is_alive(&runner->process) &&
                       orch_process_owner((pid_t)pid, &runner->uid);
    g_hash_table_insert(runners, GINT_TO_POINTER((int)pid), runner);
    return runner;
}

enum life { OVER, LIVES, ORPHANED };

static enum life life_of(const struct orch_lease *lease, GHashTable *runners, const char *boot_id)
{
    if (strcmp(lease->runner.boot_id, boot_id) != 0)
        return OVER;
    const struct runner *runner = find_runner(runners, lease->runner.pid);
    if (runner->is_alive && runner->process.start == lease->runner.start) {
        bool is_later = orch_process_start_ns(&runner->process) <= lease->since_ns;
        return runner->uid == lease->uid && is_later ? LIVES : OVER;
    }
    return !lease->is_waiting && orch_key_is_valid(lease->key) && lease->trial_dir ? ORPHANED
                                                                                   : OVER;
}

/* Keeps the entries of dead runners whose trials still have processes. */
static void keep_ending(GPtrArray *rows, GPtrArray *orphaned)
{
    g_autofree struct orch_wanted_trial *trials = g_new0(struct orch_wanted_trial, orphaned->len);
    g_autoptr(GPtrArray) wanted = g_ptr_array_new();
    for (guint i = 0; i < orphaned->len; i++) {
        const struct orch_lease *lease = orphaned->pdata[i];
        trials[i] = (struct orch_wanted_trial){lease->key, lease->trial_dir, lease->uid, false};
        g_ptr_array_add(wanted, &trials[i]);
    }
    orch_trials_look_for(wanted);
    for (guint i = 0; i < orphaned->len; i++) {
        struct orch_lease *lease = orphaned->pdata[i];
        lease->is_dead = true;
        if (trials[i].is_found)
            g_ptr_array_add(rows, lease);
        else
            orch_lease_free(lease);
    }
}

void orch_slots_keep_living(GPtrArray *rows)
{
    struct runner *self = g_new0(struct runner, 1);
    g_autoptr(GHashTable) runners = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    g_autoptr(GPtrArray) all = g_ptr_array_new(), orphaned = g_ptr_array_new();
    self->is_alive = orch_process_get(getpid(), &self->process);
    self->uid = geteuid();
    g_hash_table_insert(runners, GINT_TO_POINTER((int)getpid()), self);
    while (rows->len)
        g_ptr_array_add(all, g_ptr_array_steal_index(rows, rows->len - 1));
    for (guint i = 0; i < all->len; i++) {
        struct orch_lease *lease = all->pdata[i];
        enum life life = life_of(lease, runners, self->process.boot_id);
        if (life == OVER)
            orch_lease_free(lease);
        else
            g_ptr_array_add(life == LIVES ? rows : orphaned, lease);
    }
    keep_ending(rows, orphaned);
}
