/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plan --learn N` and `orch run --learn N`. */
#ifndef ORCH_CORE_CLI_LEARN_SHOW_H
#define ORCH_CORE_CLI_LEARN_SHOW_H

#include "core/cli/cli.h"
#include "core/forecast/learn_choice.h"

/** Calls orch_learn_choose with the value of --learn. ORCH_ERROR_USAGE for a bad value. */
GArray *plan_learn(struct orch_plan *plan, struct orch_forecasts *forecasts, const char *text,
                   GError **error);
/** Prints the chosen trials with their forecasts, and a command that runs only these. */
void plan_learn_print(struct orch_cli *cli, const struct orch_plan *plan, const GArray *choices,
                      const struct orch_forecaster *forecaster);

#endif
