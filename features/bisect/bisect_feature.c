/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the commit that made a metric worse. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_BISECT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_BISECT, NULL};

extern const struct orch_report_kind ORCH_REPORT_COMMITS;
static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_COMMITS, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"regression", "'orch bisect METRIC GOOD..BAD -- COMMAND' finds the commit that made a metric "
                   "worse"},
    {0}};

static const struct orch_help_topic TOPICS[] = {
    {"bisection", "bisect.md", NULL, "the commit that made a metric worse"}, {0}};

const struct orch_feature ORCH_FEATURE_BISECT = {
    .commands = COMMANDS,
    .report_kinds = REPORT_KINDS,
    .words = WORDS,
    .topics = TOPICS,
};
