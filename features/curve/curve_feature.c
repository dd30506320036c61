/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning curves: where a training will end, and laws fitted to them. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_CURVE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_CURVE, NULL};

const struct orch_feature ORCH_FEATURE_CURVE = {.commands = COMMANDS};
