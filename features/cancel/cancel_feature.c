/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials ended by another command than the one that runs them. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_CANCEL;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_CANCEL, NULL};

static const struct orch_typed_word WORDS[] = {
    {"stop", "'orch cancel RUN' cancels a trial; Ctrl-C in 'orch run' stops all of them"},
    {"kill", "'orch cancel RUN' cancels a trial"},
    {0}};

const struct orch_feature ORCH_FEATURE_CANCEL = {.commands = COMMANDS, .words = WORDS};
