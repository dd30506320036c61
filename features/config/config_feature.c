/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings of a recipe as they will be used, and the JSON Schemas of files and answers. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_CONFIG;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_CONFIG, NULL};

const struct orch_feature ORCH_FEATURE_CONFIG = {.commands = COMMANDS};
