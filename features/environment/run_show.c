/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environments of a recipe's experiments are made before the first trial of `orch run`. */
#include "core/cli/run_part.h"

#include "core/cli/parts.h"
#include "features/environment/made.h"

static void say(void *cli, const char *text)
{
    orch_cli_info(cli, "%s", text);
}

static bool begin(struct orch_cli *cli, const void *options, const struct orch_expansion *expansion,
                  bool only_plans, void **out_state, GError **error)
{
    (void)options, (void)expansion, (void)error;
    *out_state = only_plans ? NULL : cli;
    return true;
}

static bool limit(void *cli, const struct orch_run_outlook *outlook, GError **error)
{
    return !outlook->limits || orch_environments_make(outlook->plan, say, cli, error);
}

static void close_part(void *cli)
{
    (void)cli;
}

static const struct orch_run_part RUN_PART = {.begin = begin, .limit = limit, .close = close_part};

const struct orch_command_part ORCH_PART_RUN_ENVIRONMENT = {.command = "run", .run = &RUN_PART};
