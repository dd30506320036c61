/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store that is damaged, or was made elsewhere. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_DB_REPAIR, ORCH_COMMAND_DB_ADOPT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_DB_REPAIR,
                                                      &ORCH_COMMAND_DB_ADOPT, NULL};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {
    [ORCH_ADVICE_BROKEN_SHARD] = "open the store on that host, or run 'orch db repair'"};

const struct orch_feature ORCH_FEATURE_REPAIR = {.commands = COMMANDS, .advice = ADVICE};
