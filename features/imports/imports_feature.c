/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs' logs as runs, and tables of measurements. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_IMPORT, ORCH_COMMAND_MEASUREMENTS_LS,
    ORCH_COMMAND_MEASUREMENTS_SHOW, ORCH_COMMAND_MEASUREMENTS_EXPORT, ORCH_COMMAND_MEASUREMENTS_RM,
    ORCH_COMMAND_MEASUREMENTS_SHARE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_IMPORT,
                                                      &ORCH_COMMAND_MEASUREMENTS_LS,
                                                      &ORCH_COMMAND_MEASUREMENTS_SHOW,
                                                      &ORCH_COMMAND_MEASUREMENTS_EXPORT,
                                                      &ORCH_COMMAND_MEASUREMENTS_RM,
                                                      &ORCH_COMMAND_MEASUREMENTS_SHARE,
                                                      NULL};

static const struct orch_help_topic TOPICS[] = {
    {"importing", "import.md", NULL, "tables of measurements, runs of other trackers"}, {0}};

const struct orch_feature ORCH_FEATURE_IMPORTS = {
    .commands = COMMANDS,
    .topics = TOPICS,
};
