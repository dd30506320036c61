/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs of results that others verify, and hand-ins. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_SUBMIT, ORCH_COMMAND_PACK, ORCH_COMMAND_VERIFY;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_SUBMIT, &ORCH_COMMAND_PACK,
                                                      &ORCH_COMMAND_VERIFY, NULL};

const struct orch_feature ORCH_FEATURE_PACK = {.commands = COMMANDS};
