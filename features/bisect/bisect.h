/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for the commit that made a metric worse: measures one commit after the other until one
 * of them is the culprit with the asked probability. Everything that was measured is in the store,
 * so an interrupted search goes on where it stopped. */
#ifndef ORCH_FEATURES_BISECT_BISECT_H
#define ORCH_FEATURES_BISECT_BISECT_H

#include "features/bisect/bisect_commits.h"
#include "features/bisect/bisect_trial.h"
#include "lib/devices/rate.h"

enum orch_bisect_stop {
    ORCH_BISECT_DECIDED, /* the turn's verdict says how */
    ORCH_BISECT_BUDGET,  /* the money, the time or the deadline would not suffice for another run */
    ORCH_BISECT_INTERRUPTED,
    ORCH_BISECT_TERMINATED,
};

struct orch_bisect_request {
    const char *range; /* GOOD..BAD */
    double sure;
    int repeat_most;
    const char *budget, *deadline, *price; /* as written, or NULL */
    bool retries; /* commits that failed in an earlier command are tried again */
};

struct orch_bisect {
    struct orch_bisect_request request;
    struct orch_bisect_metric metric;
    struct orch_bisect_job job;
    struct orch_bisect_commits commits;
    struct orch_limits limits;
    double budget_s; /* 0: none */
    struct orch_rate rate;
    unsigned made, failed; /* runs of this command, and those among them that failed */
    double spent_s;        /* device seconds of these */
    /* the state after the newest run */
    struct orch_bisect_data data;
    struct orch_change_posterior posterior;
    struct orch_change_turn turn;
    enum orch_bisect_stop stop;
    /** Called when the state has changed: `index` is the commit that is measured next, or none
     * (SIZE_MAX). */
    void (*on_turn)(void *ctx, const struct orch_bisect *bisect, size_t index);
    /** Called after a run of a commit; `run` is NULL when the command cannot be run in it. */
    void (*on_run)(void *ctx, const struct orch_bisect *bisect, size_t index,
                   const struct orch_run *run);
    void *ctx;
};

/** Reads the range and finds the runs that the store has. `request`, `metric`, `job` and the
 * callbacks are set by the caller. Adds to `notes` (char *). Clear it in any case. */
bool orch_bisect_begin(struct orch_bisect *bisect, GPtrArray *notes, GError **error);
/** Measures until the search stops. False when an end cannot be measured, or on another error. */
bool orch_bisect_search(struct orch_bisect *bisect, GError **error);
void orch_bisect_clear(struct orch_bisect *bisect);

/** The cost of device seconds in dollars; NaN when the price is not known. */
double orch_bisect_usd(const struct orch_bisect *bisect, double device_s);

#endif
