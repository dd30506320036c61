/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metric of a bisection: which value is worse, and the scale on which its noise is even. */
#ifndef ORCH_FEATURES_BISECT_BISECT_METRIC_H
#define ORCH_FEATURES_BISECT_BISECT_METRIC_H

#include "core/stats/group.h"
#include "core/stats/numbers.h"

struct orch_bisect_metric {
    const char *name;
    enum orch_aggregate aggregate;
    const char *unit; /* as its runs declare it; NULL: not known yet */
    struct orch_direction direction;
    bool is_declared; /* the direction is as asked for, or as a run declares it */
};

/** Decides which direction is better: as asked for, else by the metric's name; it may be unknown
 * then. False with ORCH_ERROR_USAGE when both are asked for. */
bool orch_bisect_metric_direct(struct orch_bisect_metric *metric, bool min, bool max,
                               GError **error);
/** Takes over what a run says of the metric: "min", "max" or "none", and its unit. */
void orch_bisect_metric_learn(struct orch_bisect_metric *metric, const char *better,
                              const char *unit);
/** Returns whether the higher value is the better one. */
bool orch_bisect_metric_is_max(const struct orch_bisect_metric *metric);
/** Returns whether the metric is a time or a rate, so that it counts only where it was measured. */
bool orch_bisect_metric_is_timing(const struct orch_bisect_metric *metric);
/** Returns whether changes are ratios, because all of these values are above 0 and the metric is a
 * time, a rate or a loss. */
bool orch_bisect_metric_is_ratio(const struct orch_bisect_metric *metric, const double *values,
                                 size_t count);
/** Maps a value to a scale on which noise is even and larger is worse. */
double orch_bisect_metric_badness(const struct orch_bisect_metric *metric, bool is_ratio,
                                  double value);

#endif
