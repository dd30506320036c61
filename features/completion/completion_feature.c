/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that a shell completes. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_COMPLETION;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_COMPLETION, NULL};

const struct orch_feature ORCH_FEATURE_COMPLETION = {.commands = COMMANDS};
