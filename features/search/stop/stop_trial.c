/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/search/stop/stop_trial.h"

static char *(*const RULES[])(const struct orch_stop_question *) = {
    [ORCH_STOP_MEDIAN] = orch_stop_median,     [ORCH_STOP_VIZIER] = orch_stop_vizier,
    [ORCH_STOP_ASHA] = orch_stop_asha,         [ORCH_STOP_HYPERBAND] = orch_stop_hyperband,
    [ORCH_STOP_FORECAST] = orch_stop_forecast,
};

static char *(*const PROMOTIONS[])(const struct orch_stop_question *, size_t *) = {
    [ORCH_STOP_MEDIAN] = NULL,
    [ORCH_STOP_VIZIER] = NULL,
    [ORCH_STOP_ASHA] = orch_stop_promote_asha,
    [ORCH_STOP_HYPERBAND] = orch_stop_promote_hyperband,
    [ORCH_STOP_FORECAST] = NULL,
};

char *orch_stop_trial_ask(const struct orch_stop_question *question)
{
    if (!question->curves[question->asked].count || orch_stop_is_at_end(question))
        return NULL;
    return RULES[question->rule->kind](question);
}

char *orch_stop_trial_promote(const struct orch_stop_question *question, size_t *out_index)
{
    char *(*promote)(const struct orch_stop_question *, size_t *) =
        PROMOTIONS[question->rule->kind];
    return promote ? promote(question, out_index) : NULL;
}
