/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is an answer at the size that the assignment asks for? The rule: the profile `course`, where a
 * recipe has one, is that size. An item that is complete under other options, but of which `course`
 * asks for more trials, or for other settings (a larger network, another data set, more epochs), is
 * complete at small scale. */
#ifndef ORCH_CORE_ANSWER_SCALE_H
#define ORCH_CORE_ANSWER_SCALE_H

#include "core/run/plan.h"

/** The profile that a part counts as complete under. */
#define ORCH_SCALE_FULL_PROFILE "course"

struct orch_scale;

/** Expands the recipe of a plan under its full profile, without the settings of the command line.
 * NULL: the recipe has no such profile, so that every answer is at full size. The plan must outlive
 * the result; the caller frees. */
struct orch_scale *orch_scale_new(const struct orch_plan *plan);
void orch_scale_free(struct orch_scale *scale);

/** What the full profile asks for beyond what the plan asks for in this item: "profile course asks
 * for 15 trials (here 8), net resnet18-cifar, resnet20 (here resnet-cifar:8)". NULL: nothing. The
 * caller frees. */
char *orch_scale_why_small(const struct orch_scale *scale, const struct orch_report_item *item);

#endif
