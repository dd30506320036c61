/* SPDX-License-Identifier: MIT */
/* Which number of a metric's series represents a run. */
#ifndef ORCH_WIRE_AGGREGATE_H
#define ORCH_WIRE_AGGREGATE_H

#include <stdbool.h>

enum orch_aggregate {
    ORCH_AGGREGATE_LAST,
    ORCH_AGGREGATE_BEST, /* by the direction of the metric */
    ORCH_AGGREGATE_MIN,
    ORCH_AGGREGATE_MAX,
    ORCH_AGGREGATE_MEAN,
    ORCH_AGGREGATE_FIRST,
    ORCH_AGGREGATE_COUNT,
    ORCH_AGGREGATE_SUM,
};

/** Parses "last", "best", ...; false, without output, for any other word. */
bool orch_aggregate_parse(const char *word, enum orch_aggregate *out);

/** "last", "best", ... */
const char *orch_aggregate_name(enum orch_aggregate aggregate);

/** All names, in the enum's order, then NULL. */
const char *const *orch_aggregate_names(void);

/** True for an aggregate that has a metric's unit and lies between its points, so that a curve can
 * be judged by it; not for a count or a sum. */
bool orch_aggregate_is_of_curve(enum orch_aggregate aggregate);

#endif
