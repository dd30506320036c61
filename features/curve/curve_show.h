/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the predicted loss curve of a network that has not been run. */
#ifndef ORCH_FEATURES_CURVE_CURVE_SHOW_H
#define ORCH_FEATURES_CURVE_CURVE_SHOW_H

#include "core/cli/cli.h"
#include "features/curve/predicted_curve.h"

/** Returns the predicted loss at some k as a table. The caller prints or frees it. */
struct orch_table *orch_cli_predicted_curve_table(const struct orch_predicted_curve *p);
/** Prints the regression, its b parameters, the curve, and the measured accuracy of such
 * predictions. */
void orch_cli_predicted_curve_print(struct orch_cli *cli, const struct orch_predicted_curve *p);
json_t *orch_cli_predicted_curve_json(const struct orch_predicted_curve *p);

#endif
