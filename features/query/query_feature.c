/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQL on the store. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_QUERY;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_QUERY, NULL};

static const struct orch_typed_word WORDS[] = {{"sql", "'orch query SELECT' runs SQL on the store"},
                                               {0}};

const struct orch_feature ORCH_FEATURE_QUERY = {.commands = COMMANDS, .words = WORDS};
