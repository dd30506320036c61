/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO and the roofline: analytical models of training times. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PALEO;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PALEO, NULL};

extern const struct orch_report_kind ORCH_REPORT_ROOFLINE, ORCH_REPORT_PALEO,
    ORCH_REPORT_PALEO_PASSES, ORCH_REPORT_PALEO_HYBRID, ORCH_REPORT_PALEO_SCALING;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_ROOFLINE,     &ORCH_REPORT_PALEO,         &ORCH_REPORT_PALEO_PASSES,
    &ORCH_REPORT_PALEO_HYBRID, &ORCH_REPORT_PALEO_SCALING, NULL};

const struct orch_feature ORCH_FEATURE_PALEO = {.commands = COMMANDS, .report_kinds = REPORT_KINDS};
