/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What GPUs, links and hours of machines are known, and measuring this machine. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_GPU_LS, ORCH_COMMAND_GPU_SHOW, ORCH_COMMAND_GPU_LINKS,
    ORCH_COMMAND_GPU_PRICES;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_GPU_LS, &ORCH_COMMAND_GPU_SHOW,
                                                      &ORCH_COMMAND_GPU_LINKS,
                                                      &ORCH_COMMAND_GPU_PRICES, NULL};

extern const struct orch_command_part ORCH_PART_DOCTOR_BENCH;

static const struct orch_command_part *const PARTS[] = {&ORCH_PART_DOCTOR_BENCH, NULL};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {
    [ORCH_ADVICE_NO_PRICE] = "add --price USD (per hour of one device), or a price to your "
                             "hardware file ('orch gpu ls --help')"};

const struct orch_feature ORCH_FEATURE_HARDWARE = {
    .commands = COMMANDS, .parts = PARTS, .advice = ADVICE};
