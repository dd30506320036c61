/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials of a plan whose measurement reduces the uncertainty of the rest the most. */
#ifndef ORCH_FEATURES_PREDICT_INFORMATIVE_H
#define ORCH_FEATURES_PREDICT_INFORMATIVE_H

#include "core/plan/plan.h"
#include "predictors/design.h"

struct orch_informative_trial {
    unsigned item; /* of the plan */
    double left; /* share (0 to 1) of the plan's uncertainty that remains after measuring this trial
                    and those before it */
};

/** The maximum number of trials to choose from. */
#define ORCH_INFORMATIVE_MAX ORCH_DESIGN_ROWS_MAX

/** Chooses `count` (1 to ORCH_INFORMATIVE_MAX) trials that will run, at most one per setting,
 * because repeats add little. Settings already measured on this device count as known. Returns
 * struct orch_informative_trial in the order of choice, or NULL with ORCH_ERROR_USAGE when there
 * are too many trials. The caller unrefs. */
GArray *orch_informative_choose(struct orch_plan *plan, int count, GError **error);
/** Restricts the plan to these trials and the trials they refer to. */
void orch_informative_keep(struct orch_plan *plan, const GArray *choices);
#endif
