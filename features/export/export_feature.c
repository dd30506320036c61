/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs as rows of a table for other programs. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_EXPORT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_EXPORT, NULL};

const struct orch_feature ORCH_FEATURE_EXPORT = {.commands = COMMANDS};
