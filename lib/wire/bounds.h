/* SPDX-License-Identifier: MIT */
/* Minimum and maximum of each number of a run. Readers of runs from elsewhere (another store, a
 * run's text, a journal, another tracker's files) check numbers here before use, so that no other
 * code has to handle 1e300 s or the year 292277. The bounds are far beyond realistic values. Values
 * of metrics and results are not bounded, because a loss may be infinite. */
#ifndef ORCH_WIRE_BOUNDS_H
#define ORCH_WIRE_BOUNDS_H

#include "lib/wire/event.h"

#include <jansson.h>
#include <stdbool.h>

enum orch_bounded {
    ORCH_BOUNDED_STARTED_NS,
    ORCH_BOUNDED_ENDED_NS,
    ORCH_BOUNDED_MADE_NS,
    ORCH_BOUNDED_TIME_NS, /* of a metric point from another tracker */
    ORCH_BOUNDED_WALL_NS,
    ORCH_BOUNDED_WALL_MS,
    ORCH_BOUNDED_REPEAT,
    ORCH_BOUNDED_ATTEMPT,
    ORCH_BOUNDED_EXIT_CODE,
    ORCH_BOUNDED_SIGNAL,
    ORCH_BOUNDED_BYTES, /* of an artifact */
    ORCH_BOUNDED_STEP,
    ORCH_BOUNDED_T_MS,
    ORCH_BOUNDED_P5,
    ORCH_BOUNDED_P50,
    ORCH_BOUNDED_P95,
    ORCH_BOUNDED_COST,
    ORCH_BOUNDED_NAMES, /* first row of the names that occur in facts only */
};

/** The name as in the text of a run, in facts and in messages. A name '*SUFFIX' applies to all
 * names with that suffix that have no row of their own. */
struct orch_bound {
    const char *name;
    double lowest, highest;
    const char *unit; /* "" for a bare number */
};
/** All bounds: the rows of `enum orch_bounded`, more names, and a final row without a name. */
extern const struct orch_bound ORCH_BOUNDS[];

/** True if the value is within the bounds; false for NaN. */
static inline bool orch_bound_holds(enum orch_bounded which, double value)
{
    return value >= ORCH_BOUNDS[which].lowest && value <= ORCH_BOUNDS[which].highest;
}
/** Returns why a number is invalid ("wall_ms is 1e+300, beyond 0 to 3.2e+12 ms"), or NULL. Caller
 * frees. */
char *orch_bound_fault(enum orch_bounded which, double value);
/** The same by the number's name; also NULL if the name has no bounds. */
char *orch_bound_named_fault(const char *name, double value);
/** The same for a point's step and time (NaN: no time): "metric 'loss': its step is ...". */
char *orch_bound_point_fault(const struct orch_point *point);
/** The same for the first invalid number, at any depth, in the facts of a run or of its machine.
 * Numbers in "cost" have the bounds of that name. The user's parameters ("coords") and other
 * trackers' data ("imported") are not checked. NULL and values other than objects are valid. */
char *orch_bound_facts_fault(const json_t *facts);

#endif
