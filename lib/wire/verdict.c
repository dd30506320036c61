/* SPDX-License-Identifier: MIT */
#include "lib/wire/verdict.h"

#include <stddef.h>
#include <string.h>

static const struct orch_verdict_facts FACTS[] = {
    [ORCH_VERDICT_OK] = {"ok", "completed successfully", true, false, false},
    [ORCH_VERDICT_FAILED] = {"failed", "reported a failure, or exited with an error", false, false,
                             true},
    [ORCH_VERDICT_SKIPPED] = {"skipped", "cannot run on this machine", false, false, false},
    [ORCH_VERDICT_CANCELLED] = {"cancelled", "stopped on request", false, false, false},
    [ORCH_VERDICT_DIVERGED] = {"diverged", "its loss became infinite or NaN", true, false, false},
    [ORCH_VERDICT_CRASHED] = {"crashed", "ended by a signal", false, false, true},
    [ORCH_VERDICT_TIMEOUT] = {"timeout", "exceeded its time limit", false, true, true},
    [ORCH_VERDICT_LOST] = {"lost",
                           "its host or a GPU was lost, or its inputs changed, before the end",
                           false, true, true},
    [ORCH_VERDICT_PREEMPTED] = {"preempted", "the machine was taken away", false, true, true},
    [ORCH_VERDICT_PROTOCOL] = {"protocol-error", "violated the wire protocol", false, false, true},
    [ORCH_VERDICT_PRUNED] = {"pruned", "stopped by its search's rule", false, false, false},
    [ORCH_VERDICT_UNKNOWN] = {"unknown", "a state from another version of orch", false, false,
                              true},
};

const struct orch_verdict_facts *orch_verdict_facts(enum orch_verdict verdict)
{
    unsigned i = (unsigned)verdict;
    return &FACTS[i <= ORCH_VERDICT_UNKNOWN ? i : ORCH_VERDICT_UNKNOWN];
}

const char *orch_verdict_name(enum orch_verdict verdict)
{
    return orch_verdict_facts(verdict)->name;
}

enum orch_verdict orch_verdict_parse(const char *name)
{
    for (unsigned i = 0; name && i < ORCH_VERDICT_UNKNOWN; i++)
        if (strcmp(FACTS[i].name, name) == 0)
            return (enum orch_verdict)i;
    return ORCH_VERDICT_UNKNOWN;
}

/* For an exit status other than 0: the program may have reported why, but cannot have succeeded. */
static enum orch_verdict judge_bad_exit(const struct orch_ending *ending)
{
    bool says_ok = ending->done == ORCH_VERDICT_OK || ending->done == ORCH_VERDICT_CANCELLED;
    return ending->has_done && !says_ok ? ending->done : ORCH_VERDICT_FAILED;
}

enum orch_verdict orch_verdict_judge(const struct orch_ending *ending)
{
    bool exited_well = ending->signal == 0 && ending->exit_code == 0;
    bool ended_before = ending->has_done && ending->done_first && exited_well &&
                        ending->stopped != ORCH_VERDICT_PROTOCOL;
    if (ending->stopped != ORCH_VERDICT_OK && !ended_before)
        return ending->stopped;
    if (ending->signal)
        return ORCH_VERDICT_CRASHED;
    if (ending->exit_code)
        return judge_bad_exit(ending);
    if (ending->has_done)
        return ending->done;
    if (ending->needs_done)
        return ORCH_VERDICT_PROTOCOL;
    return ending->has_error ? ORCH_VERDICT_FAILED : ORCH_VERDICT_OK;
}
