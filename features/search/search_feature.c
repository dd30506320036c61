/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches: the values of trials are chosen from the results so far. */
#include "core/cli/manual.h"
#include "core/cli/parts.h"
#include "core/feature/feature.h"
#include "features/search/chooser.h"
#include "features/search/repeat_trials.h"

static const struct orch_command_part RUN = {.command = "run", .run = &ORCH_SEARCH_RUN_PART};
static const struct orch_command_part TRY = {.command = "try", .run = &ORCH_SEARCH_RUN_PART};
static const struct orch_command_part PLAN = {.command = "plan", .run = &ORCH_SEARCH_RUN_PART};

static const struct orch_command_part *const PARTS[] = {&RUN, &TRY, &PLAN, NULL};

extern const struct orch_command ORCH_COMMAND_ASK;
static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_ASK, NULL};

extern const struct orch_report_kind ORCH_REPORT_SEARCH;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_SEARCH, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"optimize", "'objective:' of a recipe, or 'orch try --search': see 'orch help search'"},
    {"tune", "'objective:' of a recipe, or 'orch try --search': see 'orch help search'"},
    {0}};

static const struct orch_help_topic TOPICS[] = {
    {"search", "search.md", NULL, "values chosen by the results so far, bad trials stopped"}, {0}};

const struct orch_feature ORCH_FEATURE_SEARCH = {
    .commands = COMMANDS,
    .parts = PARTS,
    .report_kinds = REPORT_KINDS,
    .leave_out = orch_repeat_trials_leave_out,
    .words = WORDS,
    .topics = TOPICS,
};
