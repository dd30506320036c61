/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing plugins: skeletons, and the check of what a plugin has to do. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PLUGIN_CHECK, ORCH_COMMAND_PLUGIN_NEW;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PLUGIN_CHECK,
                                                      &ORCH_COMMAND_PLUGIN_NEW, NULL};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {
    [ORCH_ADVICE_NO_PLUGIN] = "see 'orch plugin ls', or make one: 'orch plugin new NAME'"};

const struct orch_feature ORCH_FEATURE_PLUGINS = {.commands = COMMANDS, .advice = ADVICE};
