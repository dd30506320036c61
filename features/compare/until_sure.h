/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs both sides of a comparison in turns until it is sure whether they differ. */
#ifndef ORCH_FEATURES_COMPARE_UNTIL_SURE_H
#define ORCH_FEATURES_COMPARE_UNTIL_SURE_H

#include "core/stats/anytime.h"
#include "core/stats/group.h"
#include "features/compare/compare_arm.h"
#include "features/compare/side_failures.h"

/** Default and largest number of repeats. */
#define ORCH_SURE_RUNS 60
#define ORCH_SURE_RUNS_MAX 1000
/** Probability with which the foreseen number of further runs decides. */
#define ORCH_SURE_POWER 0.8

struct orch_sure_request {
    struct orch_compare_run run; /* its `repeat` is the number of repeats at most */
    const char *metric;
    enum orch_aggregate aggregate;
    double least;       /* the smallest difference that matters, as a fraction of A */
    const char *budget; /* as typed, or NULL; of the runs that are made now */
    const char *price;  /* of a device hour, as typed, or NULL: that of the hardware tables */
};

/** Why no further runs were made. */
enum orch_sure_stop {
    ORCH_SURE_VERDICT,
    ORCH_SURE_RUNS_SPENT,
    ORCH_SURE_BUDGET_SPENT,
    ORCH_SURE_INTERRUPTED,
    ORCH_SURE_TERMINATED,
};

/** What is known so far. */
struct orch_sure {
    enum orch_sure_stop stop;
    enum orch_anytime_verdict verdict;
    struct orch_anytime so_far; /* of the logarithms of B / A, or of B - A */
    bool is_ratio;
    const char *unit, *better; /* valid until the process ends */
    GArray *a, *b;             /* double: the metric, a mean over the trials of each repeat */
    GArray *repeats;           /* int: of each value */
    unsigned reused;           /* repeats whose runs the store had */
    unsigned left_out;         /* repeats of which a run did not end well or had no value */
    struct orch_side_failures failures; /* of which */
    bool is_refused;                    /* no difference would be sure, but failures may hide one */
    unsigned runs;                      /* of the repeats that count */
    double device_s;                    /* their wall seconds x devices */
    double wall_s;
    double spent_device_s; /* of all runs that were made now */
    double usd_per_hour;   /* of a device; 0: not known */
    size_t more;           /* further repeats that decide with ORCH_SURE_POWER; 0: not known */
    char *what[2];         /* "commit 1a2b3c4d" */
};
void orch_sure_clear(struct orch_sure *sure);
/** Whether so many differences are all equal that the metric counts as one without noise. */
bool orch_sure_is_constant(const struct orch_sure *sure);

/** Called after each repeat that was run now. */
typedef void (*orch_sure_fn)(void *ctx, const struct orch_sure *so_far);

/** Takes the repeats in order, those that the store has first, until the verdict is sure, or the
 * repeats or the budget are spent. A repeat of which a run does not end well, now or earlier,
 * counts on neither side, and "no difference" is refused where such repeats may hide one. For a
 * time, earlier runs of a repeat count if they were made one right after the other. The caller
 * clears `out`. */
bool orch_compare_until_sure(struct orch_workspace *workspace, const char *const *plugin_paths,
                             const struct orch_sure_request *request, const char *const names[2],
                             const struct orch_compare_listener *listener, orch_sure_fn on_repeat,
                             void *ctx, struct orch_sure *out, GError **error);

#endif
