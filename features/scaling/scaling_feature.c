/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What more workers, more training or a costlier setting brings: items of reports. */
#include "core/feature/feature.h"

#include <stddef.h>

extern const struct orch_report_kind ORCH_REPORT_SPEEDUP, ORCH_REPORT_TIME_TO_ACCURACY,
    ORCH_REPORT_CONVERGED, ORCH_REPORT_GAIN;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_SPEEDUP, &ORCH_REPORT_TIME_TO_ACCURACY, &ORCH_REPORT_CONVERGED, &ORCH_REPORT_GAIN,
    NULL};

const struct orch_feature ORCH_FEATURE_SCALING = {.report_kinds = REPORT_KINDS};
