/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of programs that orch does not start. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_RECORD;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_RECORD, NULL};

const struct orch_feature ORCH_FEATURE_RECORD = {.commands = COMMANDS};
