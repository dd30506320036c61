/* SPDX-License-Identifier: MIT */
#include "core/host/ranks_ending.h"

#include "core/host/crash/signal_text.h"

#include <sys/wait.h>

/* What the launcher did wrong although no rank failed; NULL: nothing. The caller frees. */
static char *launcher_problem(const struct ranks_ending *s, enum orch_verdict *out)
{
    unsigned joined = orch_rank_links_joined(s->links), count = s->count;
    int status = *s->wait_status;
    *out = WIFSIGNALED(status) ? ORCH_VERDICT_CRASHED : ORCH_VERDICT_FAILED;
    if (WIFSIGNALED(status)) {
        g_autofree char *signal = orch_signal_text(WTERMSIG(status));
        return g_strdup_printf("its launcher (mpirun or srun) was killed by %s", signal);
    }
    if (status && joined < count)
        return g_strdup_printf("its launcher ended with exit status %d when %u of %u ranks had "
                               "started; its message is at the end of the trial's log",
                               WEXITSTATUS(status), joined, count);
    if (status)
        return g_strdup_printf("its launcher ended with exit status %d although every rank ended "
                               "well: does each rank call MPI_Finalize?",
                               WEXITSTATUS(status));
    *out = ORCH_VERDICT_PROTOCOL;
    return joined < count ? g_strdup_printf("its launcher started %u of %u ranks", joined, count)
                          : NULL;
}

/* Rank 0 has said why it did not end well. That is the trial's reason, unless another rank died
 * first: what it said is then a consequence, as is the end of the ranks that SIGTERM ended. */
static bool has_own_reason(const struct ranks_ending *s, const struct rank_failure *failure)
{
    int status = failure->wait_status;
    bool is_consequence = status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    return is_consequence && s->intake->has_done && s->intake->done != ORCH_VERDICT_OK &&
           s->intake->error_text;
}

void orch_ranks_judge(const struct ranks_ending *s)
{
    const struct rank_failure *failure = orch_rank_links_failure(s->links);
    bool may = failure && (s->stopping->why == ORCH_VERDICT_OK ||
                           g_strcmp0(s->stopping->reason, failure->text) == 0);
    if (may && has_own_reason(s, failure)) {
        *s->wait_status = 0;
    } else if (may) {
        orch_stopping_set_reason(s->stopping, failure->verdict, failure->text);
        *s->wait_status = failure->wait_status;
        *s->done_first = false;
    } else if (s->stopping->why == ORCH_VERDICT_OK &&
               (!s->intake->has_done || s->intake->done == ORCH_VERDICT_OK)) {
        enum orch_verdict verdict;
        g_autofree char *problem = launcher_problem(s, &verdict);
        if (problem)
            orch_stopping_set_reason(s->stopping, verdict, problem);
        *s->done_first = *s->done_first && !problem;
    }
}
