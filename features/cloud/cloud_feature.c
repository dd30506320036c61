/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs for cloud services and clusters, made from a recipe. */
#include "core/cli/cli.h"
#include "core/cli/manual.h"
#include "core/feature/feature.h"

extern const struct orch_command ORCH_COMMAND_EXPORT_JOB;

static const struct orch_command *const COMMANDS[] = {&ORCH_COMMAND_EXPORT_JOB, NULL};

extern const struct orch_report_kind ORCH_REPORT_JOB;

static const struct orch_report_kind *const REPORT_KINDS[] = {&ORCH_REPORT_JOB, NULL};

static const struct orch_help_topic TOPICS[] = {
    {"cloud", "cloud.md", NULL, "a trial as a job of a cloud platform"}, {0}};

const struct orch_feature ORCH_FEATURE_CLOUD = {
    .commands = COMMANDS,
    .report_kinds = REPORT_KINDS,
    .topics = TOPICS,
};
