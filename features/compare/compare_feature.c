/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing settings, runs, experiments and commits. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_BEST, ORCH_COMMAND_COMPARE, ORCH_COMMAND_DIFF;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_BEST, &ORCH_COMMAND_COMPARE,
                                                      &ORCH_COMMAND_DIFF, NULL};

extern const struct orch_report_kind ORCH_REPORT_BEST, ORCH_REPORT_COMPARE, ORCH_REPORT_CORRELATE;

static const struct orch_report_kind *const REPORT_KINDS[] = {
    &ORCH_REPORT_BEST, &ORCH_REPORT_COMPARE, &ORCH_REPORT_CORRELATE, NULL};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {[ORCH_ADVICE_BEST] = "orch best"};

static const struct orch_help_topic TOPICS[] = {
    {"comparisons", "compare.md", NULL, "when a difference is more than noise"}, {0}};

const struct orch_feature ORCH_FEATURE_COMPARE = {
    .commands = COMMANDS,
    .report_kinds = REPORT_KINDS,
    .advice = ADVICE,
    .topics = TOPICS,
};
