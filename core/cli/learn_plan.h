/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plan --learn N` and `orch run --learn N`: the N trials whose measurement makes the rest of
 * the plan best known. */
#ifndef ORCH_CORE_CLI_LEARN_PLAN_H
#define ORCH_CORE_CLI_LEARN_PLAN_H

#include "core/cli/forecast.h"

struct learn_choice {
    unsigned item; /* of the plan */
    double left;   /* of the plan's uncertainty, after it and those before it: 0 to 1 */
};

/** Chooses `text` (a whole number of at least 1) trials that will run, one a cell: repeats say
 * little new. Trials that have run at this place count as known. struct learn_choice in their
 * order; NULL with ORCH_ERROR_USAGE for a bad number or too many trials. The caller unrefs. */
GArray *plan_learn(struct orch_plan *plan, struct orch_forecasts *forecasts, const char *text,
                   GError **error);
/** Leaves only these, and what they refer to, to be run. */
void plan_learn_keep(struct orch_plan *plan, const GArray *choices);
/** Prints them, the rest's forecasts aside, with commands that run just those. */
void plan_learn_print(struct orch_cli *cli, const struct orch_plan *plan, const GArray *choices,
                      const struct orch_forecaster *forecaster);

#endif
