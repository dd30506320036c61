/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts of what trials recorded: the report item `plot` and the command `orch plot`. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PLOT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PLOT, NULL};

extern const struct orch_report_kind ORCH_REPORT_PLOT;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_PLOT, NULL};

const struct orch_feature ORCH_FEATURE_CHARTS = {.commands = COMMANDS,
                                                 .report_kinds = REPORT_KINDS};
