/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plan --most-informative N` and `orch run --most-informative N`. */
#ifndef ORCH_FEATURES_PREDICT_INFORMATIVE_SHOW_H
#define ORCH_FEATURES_PREDICT_INFORMATIVE_SHOW_H

#include "core/cli/cli.h"
#include "features/predict/informative.h"

/** Calls orch_informative_choose with the value of --most-informative. ORCH_ERROR_USAGE for a bad
 * value. */
GArray *orch_cli_plan_informative(struct orch_plan *plan, const char *text, GError **error);
/** Prints the chosen trials with their forecasts, and a command that runs only these. */
void orch_cli_plan_informative_print(struct orch_cli *cli, const struct orch_plan *plan,
                                     const GArray *choices,
                                     const struct orch_forecaster *forecaster);

#endif
