/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the curves of several runs have a common mean. The mean and its interval end at the last
 * step that every run has reached: beyond it they would be those of the runs that went on, and
 * these are a selection (a diverged or stopped run is often the worse one). The runs that go on are
 * drawn as single lines. This is what printed learning curves do ("up to the shortest run").
 *
 * Rejected: holding the last value of a run that ended. That is right for the best value so far,
 * which cannot change any more, but invents values of a loss that was still falling. */
#ifndef ORCH_CORE_STATS_CURVE_END_H
#define ORCH_CORE_STATS_CURVE_END_H

#include <stddef.h>

struct orch_curve_end {
    double end;             /* the last step that all runs have reached; NaN: there is no run */
    double longest;         /* the last step that any run has reached */
    unsigned runs;          /* with values */
    unsigned ended_earlier; /* than the longest */
};

/** Finds the common end from each run's last step with a value; NaN for a run without values. */
struct orch_curve_end orch_curve_end_of(const double *last, size_t count);
/** "8 runs, to step 400: 3 ended before step 1000"; NULL when all runs end together. `unit`: what x
 * counts, "step" or "epoch". The caller frees. */
char *orch_curve_end_text(const struct orch_curve_end *end, const char *unit);

#endif
