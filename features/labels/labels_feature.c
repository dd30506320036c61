/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes, tags and names of runs. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_NOTE, ORCH_COMMAND_TAG, ORCH_COMMAND_NAME;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_NOTE, &ORCH_COMMAND_TAG,
                                                      &ORCH_COMMAND_NAME, NULL};

const struct orch_feature ORCH_FEATURE_LABELS = {.commands = COMMANDS};
