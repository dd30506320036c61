/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials as jobs of Slurm. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/cli/parts.h"
#include "core/feature/feature.h"
#include "core/results/findings.h"
#include "features/slurm/slurm_settings.h"
#include "features/slurm/take_in.h"

extern const struct orch_command ORCH_COMMAND_COLLECT;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_COLLECT, NULL};

extern const struct orch_executor ORCH_EXECUTOR_SLURM;

static const struct orch_recipe_key *const RECIPE_KEYS[] = {&ORCH_RECIPE_KEY_SLURM, NULL};

extern const struct orch_command_part ORCH_PART_RUN_SLURM, ORCH_PART_SCORE_SLURM;

static const struct orch_command_part CANCEL = {
    .command = "cancel",
    .about = "\n"
             "\n"
             "'orch collect' records the cancelled trials of Slurm jobs. A trial that had not "
             "begun has no run, and Slurm also cancels the trials that depend on it."};

static const struct orch_command_part *const PARTS[] = {&ORCH_PART_RUN_SLURM,
                                                        &ORCH_PART_SCORE_SLURM, &CANCEL, NULL};

/* Words of other programs for what is here. */
static const struct orch_typed_word WORDS[] = {
    {"wait", "'orch collect' stores the results of Slurm jobs that have ended"}, {0}};

static void doctor(struct orch_workspace *workspace, struct orch_findings *findings)
{
    (void)workspace;
    orch_findings_add_program(findings, "sbatch");
}

static const struct orch_help_topic TOPICS[] = {
    {"slurm", "slurm.md", NULL, "trials as jobs of a cluster"}, {0}};

const struct orch_feature ORCH_FEATURE_SLURM = {
    .commands = COMMANDS,
    .parts = PARTS,
    .recipe_keys = RECIPE_KEYS,
    .executor = &ORCH_EXECUTOR_SLURM,
    .take_in = orch_slurm_take_in,
    .doctor = doctor,
    .words = WORDS,
    .topics = TOPICS,
};
