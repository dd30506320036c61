/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing runs in a group: by git, by bundle, with signatures. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PULL, ORCH_COMMAND_PUSH, ORCH_COMMAND_STATUS,
    ORCH_COMMAND_COVERAGE, ORCH_COMMAND_CHECKOUT, ORCH_COMMAND_DB_MERGE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PULL,
                                                      &ORCH_COMMAND_PUSH,
                                                      &ORCH_COMMAND_STATUS,
                                                      &ORCH_COMMAND_COVERAGE,
                                                      &ORCH_COMMAND_CHECKOUT,
                                                      &ORCH_COMMAND_DB_MERGE,
                                                      NULL};

extern const struct orch_report_kind ORCH_REPORT_COVERAGE, ORCH_REPORT_COLLABORATORS;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_COVERAGE,
                                                              &ORCH_REPORT_COLLABORATORS, NULL};

extern const struct orch_command_part ORCH_PART_RUN_SHARING, ORCH_PART_PLAN_SHARING,
    ORCH_PART_TRY_SIGN, ORCH_PART_EXPORT_BUNDLE, ORCH_PART_SHOW_SIGNATURES,
    ORCH_PART_CHECK_SIGNATURES;

static const struct orch_command_part *const PARTS[] = {&ORCH_PART_RUN_SHARING,
                                                        &ORCH_PART_PLAN_SHARING,
                                                        &ORCH_PART_TRY_SIGN,
                                                        &ORCH_PART_EXPORT_BUNDLE,
                                                        &ORCH_PART_SHOW_SIGNATURES,
                                                        &ORCH_PART_CHECK_SIGNATURES,
                                                        NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"merge", "'orch db merge FILE' joins a store or bundle, 'orch pull' what the group pushed"},
    {"sync", "'orch pull' gets the group's runs, 'orch push' sends yours"},
    {"share", "'orch push' sends your runs; 'orch run RECIPE --share' runs what nobody has"},
    {"clone", "'git clone' the repository, then 'orch pull'"},
    {"remote", "'git remote add origin URL' names a remote"},
    {"bundle", "'orch export --bundle FILE' writes one, 'orch db merge FILE' joins one"},
    {"claim", "'orch run RECIPE --share' claims trials, 'orch coverage RECIPE' shows claims"},
    {"claims", "'orch run RECIPE --share' claims trials, 'orch coverage RECIPE' shows claims"},
    {"sign", "'orch push --sign' signs your runs, 'orch db check --signatures' judges them"},
    {0}};

static const char *const ADVICE[ORCH_ADVICE_TOPICS] = {
    [ORCH_ADVICE_STORE_HERE] = "orch status\tshow what runs, and what is not pushed or pulled",
    [ORCH_ADVICE_NO_STORE] =
        "run a recipe first ('orch run RECIPE'), or get the group's runs ('orch pull')",
    [ORCH_ADVICE_OTHERS_STORE] = "'orch db merge' takes its runs into a store of your own; if you "
                                 "made this store, add --yes",
    [ORCH_ADVICE_SOURCE] = "orch checkout",
    [ORCH_ADVICE_NO_FORECAST] =
        "After the first runs there is a forecast; 'orch pull' gets runs of others",
};

static const struct orch_help_topic TOPICS[] = {
    {"sharing", "sharing.md", NULL, "a group shares its results"}, {0}};

const struct orch_feature ORCH_FEATURE_SHARE = {
    .commands = COMMANDS,
    .parts = PARTS,
    .report_kinds = REPORT_KINDS,
    .words = WORDS,
    .advice = ADVICE,
    .topics = TOPICS,
};
