/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run had installed, and environments in which trials run. */
#include "core/cli/parts.h"
#include "core/feature/feature.h"

extern const struct orch_command_part ORCH_PART_CHECKOUT_ENVIRONMENT, ORCH_PART_RUN_ENVIRONMENT,
    ORCH_PART_SHOW_ENVIRONMENT;

static const struct orch_command_part *const PARTS[] = {
    &ORCH_PART_CHECKOUT_ENVIRONMENT, &ORCH_PART_RUN_ENVIRONMENT, &ORCH_PART_SHOW_ENVIRONMENT, NULL};

const struct orch_feature ORCH_FEATURE_ENVIRONMENT = {.parts = PARTS};
