/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page in a browser. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_SERVE, ORCH_COMMAND_VIEW;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_SERVE, &ORCH_COMMAND_VIEW,
                                                      NULL};

static const struct orch_help_topic TOPICS[] = {
    {"page", "serve.md", NULL, "the page in a browser"},
    {"page-json", "serve-api.md", NULL, "the page's JSON interface, for programs"},
    {0}};

const struct orch_feature ORCH_FEATURE_WEB = {
    .commands = COMMANDS,
    .topics = TOPICS,
};
