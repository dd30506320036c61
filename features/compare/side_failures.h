/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the runs of either side failed, and whether that hides a difference. */
#ifndef ORCH_FEATURES_COMPARE_SIDE_FAILURES_H
#define ORCH_FEATURES_COMPARE_SIDE_FAILURES_H

#include <stdbool.h>

/** Repeats that were left out, by the side whose run failed or had no value. */
struct orch_side_failures {
    unsigned failed[2];    /* with those that timed out */
    unsigned timed_out[2]; /* stopped by their time limit */
};
/** Returns whether the repeats that are left may look alike because of those that are left out: one
 * side failed more often than the other (exact sign test at 5 %), or a time limit cut off its
 * slow runs. */
bool orch_side_failures_hide(const struct orch_side_failures *failures);
/** "B failed in 10 of 20 repeats, 3 by its time limit"; "" without failures. The caller frees. */
char *orch_side_failures_text(const struct orch_side_failures *failures, unsigned repeats);

#endif
