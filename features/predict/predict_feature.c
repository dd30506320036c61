/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of times, and how good they were. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"
#include "features/predict/trial_forecasts.h"

extern const struct orch_command ORCH_COMMAND_PREDICT, ORCH_COMMAND_PREDICTOR_SCORE;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_PREDICT,
                                                      &ORCH_COMMAND_PREDICTOR_SCORE, NULL};

extern const struct orch_command_part ORCH_PART_COVERAGE_GPU, ORCH_PART_RUN_INFORMATIVE,
    ORCH_PART_PLAN_INFORMATIVE, ORCH_PART_PLAN_GPU;

static const struct orch_command_part *const PARTS[] = {
    &ORCH_PART_COVERAGE_GPU, &ORCH_PART_RUN_INFORMATIVE, &ORCH_PART_PLAN_INFORMATIVE,
    &ORCH_PART_PLAN_GPU, NULL};

static const struct orch_help_topic TOPICS[] = {
    {"forecasts", "forecasts.md", NULL, "time, cost and memory of a training that has not run"},
    {"method", "method.md", NULL, "where a forecast comes from, and how wrong it is"},
    {"planning", "planning.md", NULL, "how long a plan takes; budgets and deadlines"},
    {0}};

const struct orch_feature ORCH_FEATURE_PREDICT = {
    .commands = COMMANDS,
    .parts = PARTS,
    .forecasting = &ORCH_FORECASTING_PREDICT,
    .topics = TOPICS,
};
