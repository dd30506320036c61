/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops an experiment whose first trials all fail in the same way within seconds, as with a missing
 * module: the others would fail, too. Repeats change slowest in a plan, so the first trials differ
 * in their settings.
 *
 * Rejected: stopping after failures in a row later on. Once a trial has ended otherwise, the
 * program works, and failures belong to settings, about which a sweep is to tell. */
#include "core/schedule/schedule_private.h"

#include <string.h>

/* A program that imports large modules from a network file system may need this long to fail. */
#define SOON_MS 30000

/* How an experiment's trials have failed so far. */
struct failing {
    char *how;       /* the first failure: its verdict, and its reason without numbers */
    char *reason;    /* of the failure after which the user is asked */
    unsigned count;  /* failures like it */
    bool is_settled; /* a trial ended in another way, or the user is asked */
    bool is_stopped; /* the remaining trials are not to run */
};

static void free_failing(void *pointer)
{
    struct failing *failing = pointer;
    g_free(failing->how);
    g_free(failing->reason);
    g_free(failing);
}

GHashTable *orch_schedule_failing_new(void)
{
    return g_hash_table_new_full(NULL, NULL, NULL, free_failing);
}

static bool is_word_char(char c)
{
    return g_ascii_isalnum(c) || (c && strchr("._+-", c));
}

/* Returns a reason with '#' for each word that holds a digit: line numbers, addresses, values of
 * settings, and the names of trials' folders. The caller frees. */
static char *without_numbers(const char *reason)
{
    GString *out = g_string_new(NULL);
    while (*reason) {
        size_t n = 0;
        bool has_digit = false;
        for (; is_word_char(reason[n]); n++)
            has_digit = has_digit || g_ascii_isdigit(reason[n]);
        if (has_digit)
            g_string_append_c(out, '#');
        else
            g_string_append_len(out, reason, (gssize)MAX(n, 1));
        reason += MAX(n, 1);
    }
    return g_string_free(out, FALSE);
}

/* Other verdicts than these come from outside of the program, or take their time. */
static bool is_own_failure(enum orch_verdict verdict)
{
    return verdict == ORCH_VERDICT_FAILED || verdict == ORCH_VERDICT_CRASHED ||
           verdict == ORCH_VERDICT_PROTOCOL;
}

static bool is_of(const struct run *run, const struct job *job,
                  const struct orch_experiment *experiment)
{
    return run->plan->items[job->index].cell->experiment == experiment;
}

static bool has_success(const struct run *run, const struct orch_experiment *experiment)
{
    for (unsigned i = 0; i < run->plan->count; i++)
        if (run->jobs[i].well && is_of(run, &run->jobs[i], experiment))
            return true;
    return false;
}

static unsigned count_left(const struct run *run, const struct orch_experiment *experiment)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        count += (job->status == JOB_TODO || job->status == JOB_HELD || job->status == JOB_AWAY) &&
                 is_of(run, job, experiment);
    }
    return count;
}

static struct failing *failing_of(struct run *run, const struct orch_experiment *experiment)
{
    gpointer key = (gpointer)(uintptr_t)experiment;
    struct failing *failing = g_hash_table_lookup(run->failing, key);
    if (!failing)
        g_hash_table_insert(run->failing, key, failing = g_new0(struct failing, 1));
    return failing;
}

/* Counts a trial that ended. Returns true when as many as ORCH_SAME_FAILURES have failed alike. */
static bool count_failure(struct run *run, const struct orch_experiment *experiment,
                          struct failing *failing, const struct orch_collected *collected)
{
    g_autofree char *reason = without_numbers(collected->reason ? collected->reason : "");
    g_autofree char *how = g_strdup_printf("%s: %s", orch_verdict_name(collected->verdict), reason);
    if (!failing->how)
        failing->how = g_steal_pointer(&how);
    failing->is_settled = !is_own_failure(collected->verdict) || collected->wall_ms > SOON_MS ||
                          (how && strcmp(how, failing->how) != 0) || has_success(run, experiment);
    return !failing->is_settled && ++failing->count >= ORCH_SAME_FAILURES;
}

bool orch_schedule_may_stop(const struct run *run, const struct job *job)
{
    const struct orch_experiment *experiment = run->plan->items[job->index].cell->experiment;
    const struct failing *failing = g_hash_table_lookup(run->failing, experiment);
    return run->options->stops_failing && !(failing && failing->is_settled);
}

void orch_schedule_note_end(struct run *run, const struct job *job,
                            const struct orch_collected *collected)
{
    const struct orch_experiment *experiment = run->plan->items[job->index].cell->experiment;
    struct failing *failing = failing_of(run, experiment);
    if (!run->options->stops_failing || failing->is_settled ||
        !count_failure(run, experiment, failing, collected))
        return;
    failing->is_settled = true;
    if (run->stop_level || !count_left(run, experiment))
        return;
    failing->reason = g_strdup(collected->reason ? collected->reason : "");
    g_ptr_array_add(run->asked, (gpointer)(uintptr_t)experiment);
}

void orch_schedule_ask(struct run *run)
{
    if (!run->asked->len)
        return;
    const struct orch_listener *listener = run->listener;
    if (run->stop_level || run->failed_fast) {
        if (listener->ask)
            listener->ask(listener->ctx, NULL);
        g_ptr_array_set_size(run->asked, 0);
        return;
    }
    const struct orch_experiment *experiment = run->asked->pdata[0];
    struct failing *failing = failing_of(run, experiment);
    const struct orch_failing asked = {experiment->name, failing->reason,
                                       count_left(run, experiment)};
    enum orch_decision answer =
        listener->ask ? listener->ask(listener->ctx, &asked) : ORCH_DECISION_STOP;
    if (answer == ORCH_DECISION_OPEN)
        return;
    failing->is_stopped = answer == ORCH_DECISION_STOP;
    g_ptr_array_remove_index(run->asked, 0);
}

bool orch_schedule_is_stopped(struct run *run, struct job *job)
{
    struct orch_plan_item *item = &run->plan->items[job->index];
    const struct failing *failing = g_hash_table_lookup(run->failing, item->cell->experiment);
    if (!failing || !failing->is_stopped)
        return false;
    g_free(item->reason);
    item->reason = g_strdup_printf("the first %d trials failed in the same way: %s",
                                   ORCH_SAME_FAILURES, failing->reason);
    orch_schedule_set_job(job, JOB_ENDED);
    orch_schedule_end_pruned(run, job);
    run->totals.not_run++;
    run->moved = true;
    return true;
}
