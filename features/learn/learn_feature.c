/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictors that are trained on recorded runs. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_PREDICTOR_EVAL, ORCH_COMMAND_PREDICTOR_ROWS,
    ORCH_COMMAND_PREDICTOR_TRAIN, ORCH_COMMAND_PREDICTOR_LS, ORCH_COMMAND_PREDICTOR_SHOW,
    ORCH_COMMAND_PREDICTOR_EXPORT, ORCH_COMMAND_PREDICTOR_RM;

static const struct orch_command *const COMMANDS[] = {
    &ORCH_COMMAND_PREDICTOR_EVAL,  &ORCH_COMMAND_PREDICTOR_ROWS,
    &ORCH_COMMAND_PREDICTOR_TRAIN, &ORCH_COMMAND_PREDICTOR_LS,
    &ORCH_COMMAND_PREDICTOR_SHOW,  &ORCH_COMMAND_PREDICTOR_EXPORT,
    &ORCH_COMMAND_PREDICTOR_RM,    NULL};

extern const struct orch_report_kind ORCH_REPORT_LEARN, ORCH_REPORT_LAYERWISE;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_LEARN,
                                                              &ORCH_REPORT_LAYERWISE, NULL};

static const struct orch_help_topic TOPICS[] = {
    {"predictors", "predictors.md", NULL, "models trained on your runs and on tables"}, {0}};

const struct orch_feature ORCH_FEATURE_LEARN = {
    .commands = COMMANDS,
    .report_kinds = REPORT_KINDS,
    .topics = TOPICS,
};
