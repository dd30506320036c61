/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PALEO and the roofline: analytical models of training times. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PALEO;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PALEO, NULL};

const struct orch_feature ORCH_FEATURE_PALEO = {.commands = COMMANDS};
