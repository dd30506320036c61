/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The zoo of networks, and their layers. */
#include "core/cli/cli.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_NET_LS, ORCH_COMMAND_NET_SHOW,
    ORCH_COMMAND_NET_COMPARE, ORCH_COMMAND_NET_FIELD;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_NET_LS, &ORCH_COMMAND_NET_SHOW,
                                                      &ORCH_COMMAND_NET_COMPARE,
                                                      &ORCH_COMMAND_NET_FIELD, NULL};

const struct orch_feature ORCH_FEATURE_NETWORKS = {.commands = COMMANDS};
