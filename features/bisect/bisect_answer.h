/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a bisection found, in numbers: the values on both sides of the culprit. */
#ifndef ORCH_FEATURES_BISECT_BISECT_ANSWER_H
#define ORCH_FEATURES_BISECT_BISECT_ANSWER_H

#include "core/stats/spread.h"
#include "features/bisect/bisect.h"

struct orch_bisect_answer {
    struct orch_change_range range;   /* of commits that may be the culprit */
    struct orch_spread before, after; /* of the runs of commits before and after the range */
    size_t runs_before, runs_after;
    /* after - before, or after / before - 1, with its 95 % interval; NaN without two runs each.
     * Positive: larger. */
    double change, low, high;
    double misfit_p; /* that commits on one side do not differ among themselves; NaN: unknown */
    /* the newest measured commit before the range, and the first one from its end on, so that
     * 'orch compare' can show the difference */
    size_t shown_before, shown_after;
    size_t commits_measured, skipped, runs, reused;
};
/** Sums up the state of a search. The range is the culprit's when one was found; all commits when
 * the ends were measured alone; else the shortest range with the asked probability. */
struct orch_bisect_answer orch_bisect_answer_of(const struct orch_bisect *bisect);
/** Returns the word that --json prints for the outcome. Static. */
const char *orch_bisect_outcome(const struct orch_bisect *bisect);

#endif
