/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts and tables of what trials recorded, of any runs: the report item `plot`, the commands
 * `orch plot` and `orch table`. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PLOT, ORCH_COMMAND_TABLE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PLOT, &ORCH_COMMAND_TABLE,
                                                      NULL};

extern const struct orch_report_kind ORCH_REPORT_PLOT;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_PLOT, NULL};

const struct orch_feature ORCH_FEATURE_CHARTS = {.commands = COMMANDS,
                                                 .report_kinds = REPORT_KINDS};
