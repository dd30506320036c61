/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the runs of two sides, metric by metric, task by task, and checks limits on the change.
 */
#ifndef ORCH_FEATURES_COMPARE_COMPARISON_H
#define ORCH_FEATURES_COMPARE_COMPARISON_H

#include "features/compare/compare_sides.h"
#include "features/compare/contrast.h"
#include "features/compare/contrast_limit.h"
#include "features/compare/match.h"

/** How to compare. Borrowed. */
struct orch_comparison_request {
    const char *const *metrics; /* NULL-terminated; NULL: all that both sides have */
    enum orch_aggregate aggregate;
    double least;            /* the smallest change that matters, as a share: 0.05 */
    const GPtrArray *limits; /* struct orch_contrast_limit *; may be empty */
    bool across; /* put all tasks in one comparison, and compare timings of different machines */
    bool counts_disturbed; /* also times of disturbed runs */
};

/** A metric of both sides. */
struct orch_compare_row {
    char *name;
    char *task; /* the task of both sides when there are several; or NULL */
    struct orch_match *match;
    struct orch_contrast contrast;
    bool is_refused; /* not compared: a time or rate on different machines */
    char *broken;    /* the message of the limit that it exceeds, or NULL */
};

struct orch_comparison {
    struct orch_compare_side sides[2];
    double least;                             /* of the request */
    GPtrArray *rows;                          /* struct orch_compare_row * */
    GPtrArray *broken;                        /* char *: messages on exceeded limits */
    GPtrArray *unsure;                        /* char *: limits exceeded by what may be noise */
    size_t tests;                             /* number of metrics compared together */
    guint other_tasks[2];                     /* runs of tasks that the other side lacks */
    guint disturbed_left_out, disturbed_kept; /* counted by orch_disturbed_find */
};
void orch_comparison_init(struct orch_comparison *comparison);
void orch_comparison_clear(struct orch_comparison *comparison);

/** True when both sides, which the caller has filled, have the same runs, as commits with the same
 * code do: there is no difference to measure. */
bool orch_comparison_is_of_same(const struct orch_comparison *comparison);
/** Compares the sides, which the caller has filled. ORCH_ERROR_NOT_FOUND when a side has no run
 * with a requested metric, ORCH_ERROR_USAGE when the sides have no task in common or all that is
 * asked for are timings of different machines. */
bool orch_comparison_make(struct orch_store *store, const struct orch_comparison_request *request,
                          struct orch_comparison *inout, GError **error);

#endif
