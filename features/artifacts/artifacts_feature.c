/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs leave as files and notes, in reports: images, tables, workings. */
#include "core/feature/feature.h"

#include <stddef.h>

extern const struct orch_report_kind ORCH_REPORT_IMAGES, ORCH_REPORT_LISTING, ORCH_REPORT_WORK;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_IMAGES, &ORCH_REPORT_LISTING, &ORCH_REPORT_WORK, NULL};

const struct orch_feature ORCH_FEATURE_ARTIFACTS = {.report_kinds = REPORT_KINDS};
