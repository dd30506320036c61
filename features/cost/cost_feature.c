/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs cost, and allowances. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_COST;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_COST, NULL};

const struct orch_feature ORCH_FEATURE_COST = {.commands = COMMANDS};
