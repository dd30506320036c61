/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to write instead of the name of an axis that no trial has. */
#ifndef ORCH_FEATURES_CHARTS_AXIS_HINT_H
#define ORCH_FEATURES_CHARTS_AXIS_HINT_H

#include "core/report/trials.h"

/** As orch_field_hint, for the runs of the trials. The caller frees. */
char *orch_axis_hint(const struct orch_trials *trials, const char *name);

#endif
