/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trials of a recipe are done, running or missing, and by whom. */
#ifndef ORCH_FEATURES_SHARE_COVERAGE_H
#define ORCH_FEATURES_SHARE_COVERAGE_H

#include "core/report/sections.h"

/** Computes a coverage document: one section for each experiment with trials in the plan, in the
 * form of the item `coverage`. NULL with an error. The caller frees. */
struct orch_document *orch_report_coverages(struct orch_plan *plan,
                                            const struct orch_report_options *options,
                                            GError **error);

#endif
