/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packs of results that others verify, and hand-ins. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_SUBMIT, ORCH_COMMAND_PACK, ORCH_COMMAND_VERIFY;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_SUBMIT, &ORCH_COMMAND_PACK,
                                                      &ORCH_COMMAND_VERIFY, NULL};

extern const struct orch_command_part ORCH_PART_REPORT_POINTS, ORCH_PART_REPORT_CHECK;

static const struct orch_command_part *const PARTS[] = {&ORCH_PART_REPORT_POINTS,
                                                        &ORCH_PART_REPORT_CHECK, NULL};

static const struct orch_help_topic TOPICS[] = {
    {"handing-in", "handin.md", NULL, "notebooks and packs for a course"},
    {"verification", "verify.md", NULL, "how others check a pack or a hand-in"},
    {0}};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {[ORCH_ADVICE_HAND_IN] =
                                                           "orch submit --netid ID"};

const struct orch_feature ORCH_FEATURE_PACK = {
    .commands = COMMANDS,
    .parts = PARTS,
    .advice = ADVICE,
    .topics = TOPICS,
};
