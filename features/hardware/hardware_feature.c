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

const struct orch_feature ORCH_FEATURE_HARDWARE = {.commands = COMMANDS, .parts = PARTS};
