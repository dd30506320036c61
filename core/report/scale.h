/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides whether an answer has the size that the assignment asks for. That size is the profile
 * `course`, when a recipe has it. An item that is complete under other options is only complete at
 * small scale when `course` asks for more trials in it, or for other settings (a larger network,
 * another data set, more epochs). */
#ifndef ORCH_CORE_REPORT_SCALE_H
#define ORCH_CORE_REPORT_SCALE_H

#include "core/plan/plan.h"

/** The profile that defines full size. */
#define ORCH_SCALE_FULL_PROFILE "course"
/** How the text of orch_scale_why_small begins. */
#define ORCH_SCALE_ASKS "full size (profile " ORCH_SCALE_FULL_PROFILE ") has"

struct orch_scale;

/** Expands a plan's recipe under its full profile, without the settings of the command line. When
 * the plan has only a part of the trials (--part), so has the result. NULL when the recipe has no
 * such profile; then every answer is at full size. The plan must outlive the result; the caller
 * frees. */
struct orch_scale *orch_scale_new(const struct orch_plan *plan);
void orch_scale_free(struct orch_scale *scale);

/** Returns what the full profile asks for in this item beyond the plan: "full size (profile course)
 * has 15 trials (here 8), net resnet18-cifar, resnet20 (here resnet-cifar:8)". NULL: nothing. The
 * caller frees. */
char *orch_scale_why_small(const struct orch_scale *scale, const struct orch_report_item *item);

#endif
