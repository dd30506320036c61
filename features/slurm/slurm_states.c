/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/slurm/slurm_states.h"

#include <glib.h>
#include <string.h>

#define ACTIVE(name)                                                                               \
    {                                                                                              \
        name, false, ORCH_VERDICT_UNKNOWN, ORCH_VERDICT_UNKNOWN, ORCH_SLURM_OVERRULES_NOTHING,     \
            NULL                                                                                   \
    }

/* JOB STATE CODES of squeue(1) and sacct(1). */
static const struct orch_slurm_state STATES[] = {
    ACTIVE("PENDING"),
    ACTIVE("CONFIGURING"),
    ACTIVE("RUNNING"),
    ACTIVE("SUSPENDED"),
    ACTIVE("STOPPED"),
    ACTIVE("SIGNALING"),
    ACTIVE("STAGE_OUT"),
    ACTIVE("RESIZING"),
    ACTIVE("COMPLETING"), /* its last processes are ended; the terminal state follows */
    ACTIVE("REQUEUED"),
    ACTIVE("REQUEUE_HOLD"),
    ACTIVE("REQUEUE_FED"),
    ACTIVE("RESV_DEL_HOLD"),
    ACTIVE("SPECIAL_EXIT"),
    {"COMPLETED", true, ORCH_VERDICT_LOST, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_NOTHING,
     "ended with status 0, but its journal has no end"},
    {"CANCELLED", true, ORCH_VERDICT_CANCELLED, ORCH_VERDICT_CANCELLED,
     ORCH_SLURM_OVERRULES_NOTHING, "was cancelled"},
    {"FAILED", true, ORCH_VERDICT_FAILED, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_SUCCESS,
     "failed"},
    {"TIMEOUT", true, ORCH_VERDICT_TIMEOUT, ORCH_VERDICT_TIMEOUT, ORCH_SLURM_OVERRULES_NOTHING,
     "was killed at its time limit"},
    {"DEADLINE", true, ORCH_VERDICT_TIMEOUT, ORCH_VERDICT_TIMEOUT, ORCH_SLURM_OVERRULES_NOTHING,
     "was ended at its deadline"},
    {"NODE_FAIL", true, ORCH_VERDICT_LOST, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_NOTHING,
     "lost its node"},
    {"BOOT_FAIL", true, ORCH_VERDICT_LOST, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_NOTHING,
     "got a node that did not boot"},
    {"LAUNCH_FAILED", true, ORCH_VERDICT_LOST, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_NOTHING,
     "could not be started on its node"},
    {"PREEMPTED", true, ORCH_VERDICT_PREEMPTED, ORCH_VERDICT_PREEMPTED,
     ORCH_SLURM_OVERRULES_NOTHING, "was preempted"},
    {"OUT_OF_MEMORY", true, ORCH_VERDICT_FAILED, ORCH_VERDICT_FAILED, ORCH_SLURM_OVERRULES_ANY,
     "ran out of memory"},
    {"REVOKED", true, ORCH_VERDICT_LOST, ORCH_VERDICT_PREEMPTED, ORCH_SLURM_OVERRULES_NOTHING,
     "was taken over by another cluster"},
};

const struct orch_slurm_state *orch_slurm_state_at(unsigned n)
{
    return n < G_N_ELEMENTS(STATES) ? &STATES[n] : NULL;
}

const struct orch_slurm_state *orch_slurm_state_find(const char *name)
{
    size_t length = name ? strcspn(name, " +") : 0; /* "CANCELLED by 1000"; sacct cuts with '+' */
    for (unsigned i = 0; length && i < G_N_ELEMENTS(STATES); i++)
        if (strncmp(STATES[i].name, name, length) == 0 && !STATES[i].name[length])
            return &STATES[i];
    return NULL;
}

bool orch_slurm_state_is_restarted(const struct orch_slurm_state *state)
{
    static const char *const NAMES[] = {"PREEMPTED", "NODE_FAIL", "BOOT_FAIL", NULL};
    return g_strv_contains(NAMES, state->name);
}

const struct orch_slurm_state *orch_slurm_state_in_output(const char *output)
{
    static const struct {
        const char *text, *state;
    } rows[] = {
        {"CANCELLED AT ", "CANCELLED"}, /* begins also the lines of the next three */
        {"DUE TO TIME LIMIT", "TIMEOUT"},     {"DUE TO PREEMPTION", "PREEMPTED"},
        {"DUE TO NODE FAILURE", "NODE_FAIL"}, {"oom-kill event", "OUT_OF_MEMORY"},
        {"oom_kill event", "OUT_OF_MEMORY"},
    };
    const char *found = NULL, *last = NULL;
    for (unsigned i = 0; output && i < G_N_ELEMENTS(rows); i++) {
        const char *at = g_strrstr(output, rows[i].text);
        if (at && at > last) {
            last = at;
            found = rows[i].state;
        }
    }
    return orch_slurm_state_find(found);
}

static struct orch_slurm_judgement wait_for_more(void)
{
    return (struct orch_slurm_judgement){.action = ORCH_SLURM_WAIT};
}

static struct orch_slurm_judgement decide(const struct orch_slurm_state *state,
                                          enum orch_verdict verdict, bool overrules,
                                          const char *why)
{
    return (struct orch_slurm_judgement){ORCH_SLURM_COLLECT, true, verdict, overrules, state, why};
}

static struct orch_slurm_judgement believe_journal(const struct orch_slurm_state *state)
{
    return (struct orch_slurm_judgement){.action = ORCH_SLURM_COLLECT, .decided = state};
}

/* For a terminal state and a journal with an end. */
static struct orch_slurm_judgement judge_end(const struct orch_slurm_evidence *e,
                                             const struct orch_slurm_state *state)
{
    bool is_well = orch_verdict_facts(e->end)->is_reused;
    if (state->overrules == ORCH_SLURM_OVERRULES_ANY)
        return decide(state, state->cut, true, state->text);
    if (is_well && state->overrules == ORCH_SLURM_OVERRULES_SUCCESS)
        return decide(state, ORCH_VERDICT_FAILED, true,
                      "failed, although its journal says that the trial went well");
    if (e->end != ORCH_VERDICT_PREEMPTED && !e->is_killed)
        return believe_journal(state);
    if (e->is_near_limit && state->stopped == ORCH_VERDICT_PREEMPTED)
        return decide(state, ORCH_VERDICT_TIMEOUT, true,
                      "was stopped shortly before its time limit, so that the trial could save");
    if (state->stopped != ORCH_VERDICT_PREEMPTED)
        return decide(state, state->stopped, true, state->text);
    bool is_job_taken =
        state->cut == ORCH_VERDICT_PREEMPTED || strcmp(state->name, "NODE_FAIL") == 0;
    return e->is_killed && is_job_taken ? decide(state, state->cut, true, state->text)
                                        : believe_journal(state);
}

static struct orch_slurm_judgement judge_state(const struct orch_slurm_evidence *e,
                                               const struct orch_slurm_state *state)
{
    bool is_well = e->has_end && orch_verdict_facts(e->end)->is_reused;
    bool is_earlier = is_well && e->has_accounting && orch_slurm_state_is_restarted(state);
    bool is_late = (e->is_unaccounted || is_earlier) && e->absent_s < ORCH_SLURM_UNACCOUNTED_S;
    if (!state->is_ended || is_late)
        return wait_for_more();
    if (!e->has_journal && state->cut == ORCH_VERDICT_CANCELLED)
        return (struct orch_slurm_judgement){.action = ORCH_SLURM_FORGET, .decided = state};
    if (e->has_end)
        return judge_end(e, state);
    if (!e->has_journal && state->cut == ORCH_VERDICT_LOST && !strcmp(state->name, "COMPLETED"))
        return decide(state, state->cut, false, "ended with status 0, but left no journal");
    return decide(state, state->cut, false, state->text);
}

/* For a job that Slurm does not know any more. */
static struct orch_slurm_judgement judge_absence(const struct orch_slurm_evidence *e)
{
    bool is_well = e->has_end && orch_verdict_facts(e->end)->is_reused;
    bool can_be_late = e->has_accounting || !e->has_end;
    double patience_s =
        e->has_accounting ? ORCH_SLURM_ABSENT_WITH_ACCOUNTING_S : ORCH_SLURM_ABSENT_WITHOUT_S;
    if (can_be_late && e->absent_s < patience_s)
        return wait_for_more();
    /* the output of an earlier start may tell how that one ended */
    if (e->output && (!is_well || e->output->overrules == ORCH_SLURM_OVERRULES_ANY))
        return judge_state(e, e->output);
    if (e->has_end)
        return believe_journal(NULL);
    return decide(NULL, ORCH_VERDICT_LOST, false,
                  "is not known to Slurm any more, and its journal has no end");
}

struct orch_slurm_judgement orch_slurm_judge(const struct orch_slurm_evidence *evidence)
{
    if (evidence->state)
        return judge_state(evidence, evidence->state);
    return evidence->is_absent ? judge_absence(evidence) : wait_for_more();
}
