/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this machine has and lacks for orch and its features. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_DOCTOR;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_DOCTOR, NULL};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {[ORCH_ADVICE_MACHINE] = "orch doctor"};

const struct orch_feature ORCH_FEATURE_DOCTOR = {.commands = COMMANDS, .advice = ADVICE};
