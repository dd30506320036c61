/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning curves: where a training will end, and laws fitted to them. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_CURVE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_CURVE, NULL};

extern const struct orch_report_kind ORCH_REPORT_SPEED_MODEL, ORCH_REPORT_CURVE,
    ORCH_REPORT_CURVE_LAW, ORCH_REPORT_TIME_TO;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_SPEED_MODEL, &ORCH_REPORT_CURVE, &ORCH_REPORT_CURVE_LAW, &ORCH_REPORT_TIME_TO,
    NULL};

static const struct orch_help_topic TOPICS[] = {
    {"curves", "curves.md", NULL, "laws of loss curves, and the time to a target"}, {0}};

const struct orch_feature ORCH_FEATURE_CURVE = {
    .commands = COMMANDS,
    .report_kinds = REPORT_KINDS,
    .topics = TOPICS,
};
