/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The space of what was tried: ranges, choices and conditions as the values of runs show them,
 * whoever chose the values. The same runs give the same space in whatever order they come. */
#ifndef ORCH_SPACE_OBSERVED_SPACE_H
#define ORCH_SPACE_OBSERVED_SPACE_H

#include "lib/space/param_space.h"

/** Values by run and parameter. */
struct orch_observed {
    const char *const *names; /* of the columns */
    unsigned columns;
    const char *const *const *rows; /* texts by run and column; "": the run does not have it */
    size_t count;                   /* of rows */
};

/** Returns the column by whose values it is decided whether another one exists: of those that do,
 * the one with the fewest values. `exists`: by row. -1: there is none. */
int orch_observed_decider(const struct orch_observed *observed, unsigned column,
                          const bool *exists);

/** Returns the range of a column as a search would write it, such as "loguniform(1e-4, 1)"; numbers
 * that span more than a factor of 50 are taken by their logarithm. "words": its values are no
 * numbers; NULL: it has one value, or too many words. The caller frees. */
char *orch_observed_range(const struct orch_observed *observed, unsigned column);

/** The space, and the runs as points of it. */
struct orch_observed_space {
    struct orch_space *space;
    unsigned columns[ORCH_SPACE_PARAMS_MAX]; /* by parameter of the space: its column */
    double *units; /* row-major, of as many columns as the space has parameters; NAN: does not exist
                    */
};
/** Makes the space of the columns that have a range; a column that some runs lack exists under a
 * condition, where another one decides it. The caller frees. */
struct orch_observed_space *orch_observed_space_new(const struct orch_observed *observed);
void orch_observed_space_free(struct orch_observed_space *space);

#endif
