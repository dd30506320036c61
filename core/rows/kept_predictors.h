/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trained predictors that a store keeps. */
#ifndef ORCH_CORE_ROWS_KEPT_PREDICTORS_H
#define ORCH_CORE_ROWS_KEPT_PREDICTORS_H

#include "core/rows/training_rows.h"

/** The name of the predictor that forecasts a step's time of any network. */
#define ORCH_PREDICTOR_STEP "step_ms"

/** Reads a stored predictor. With `whole` all its parts are checked. NULL with an error that names
 * it. The caller frees. */
struct orch_trained *orch_kept_predictor_read(const struct orch_predictor_row *row, bool whole,
                                              GError **error);

#endif
