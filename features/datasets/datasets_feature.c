/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training sets: which are here, and getting them. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_DATASET_LS, ORCH_COMMAND_DATASET_GET;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_DATASET_LS,
                                                      &ORCH_COMMAND_DATASET_GET, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"data", "'orch dataset ls' lists training sets, 'orch measurements ls' imported tables"}, {0}};

const struct orch_feature ORCH_FEATURE_DATASETS = {.commands = COMMANDS, .words = WORDS};
