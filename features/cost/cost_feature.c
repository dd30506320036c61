/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs cost, and allowances. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"
#include "features/cost/allowance.h"

extern const struct orch_command ORCH_COMMAND_COST;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_COST, NULL};

static const struct orch_recipe_key *const RECIPE_KEYS[] = {&ORCH_RECIPE_KEY_ALLOWANCE, NULL};

extern const struct orch_command_part ORCH_PART_RUN_ALLOWANCE, ORCH_PART_PLAN_ALLOWANCE;

static const struct orch_command_part *const PARTS[] = {&ORCH_PART_RUN_ALLOWANCE,
                                                        &ORCH_PART_PLAN_ALLOWANCE, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"ledger", "'orch cost' sums what it cost the group"}, {0}};

const struct orch_feature ORCH_FEATURE_COST = {
    .commands = COMMANDS, .parts = PARTS, .recipe_keys = RECIPE_KEYS, .words = WORDS};
