/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All-reduce of gradient buckets while the backward pass makes them.
 *
 * A thread of its own takes buckets in the order in which they were submitted, which is the same in
 * all workers. Before each all-reduce it waits until all workers have come to this bucket, without
 * using the processor (a barrier that is polled between sleeps), because a blocking MPI_Allreduce
 * spins and would take the processor from the backward pass of this worker. So the time that is
 * counted as communication is the all-reduce itself. */
#ifndef ORCH_PLUGINS_COMMON_COMM_REDUCER_H
#define ORCH_PLUGINS_COMMON_COMM_REDUCER_H

#include "plugins/common/comm/collective.h"
#include "plugins/common/comm/half.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_reducer_options {
    bool overlaps;           /* false: nothing is sent before finish */
    enum orch_half compress; /* gradients are rounded to 16 bits before they are sent */
    bool measures_error;     /* what compression changes, see orch_reducer_error */
};

/** Times in seconds, sums since the last take. */
struct orch_reducer_clocks {
    double busy_s;         /* all-reduces, with their compression */
    double exposed_busy_s; /* the part of busy_s that ran while the caller waited */
    double finish_s;       /* spent in `finish` and `sum`: exposed_busy_s, and other workers */
    int64_t bytes;         /* that one worker gave to the all-reduces */
    int64_t buckets;
};

struct orch_reducer;

/** `comm` must outlive the reducer. While the reducer has buckets, no other thread may call MPI.
 * Free with orch_reducer_free. */
struct orch_reducer *orch_reducer_new(const struct orch_comm *comm,
                                      const struct orch_reducer_options *options);
/** Adds `count` values to the queue: they become the sums over all workers, and must not be touched
 * until finish has returned. */
void orch_reducer_submit(struct orch_reducer *reducer, float *data, size_t count);
/** Replaces `count` values by their sums over all workers, in fp32, and returns when that is done:
 * after the buckets that were submitted before if the reducer overlaps, else ahead of them. All
 * workers must call submit and sum in the same order. Fails like finish. */
bool orch_reducer_sum(struct orch_reducer *reducer, float *data, size_t count, GError **error);
/** Waits until all buckets are sums. Fails with the first error of MPI; all later buckets were left
 * as they are. */
bool orch_reducer_finish(struct orch_reducer *reducer, GError **error);
/** Returns the clocks and resets them; between finish and the next submit. */
struct orch_reducer_clocks orch_reducer_take(struct orch_reducer *reducer);
/** Relative error that compression made in all sums since the reducer was made: the root of
 * sum((compressed - exact)^2) / sum(exact^2). 0 without compression; NaN where it was not measured.
 * Each all-reduce that is measured is followed by one in fp32, which counts in the clocks. */
double orch_reducer_error(const struct orch_reducer *reducer);
/** Switches the measurement of the error on or off; between finish and the next submit. */
void orch_reducer_measure_error(struct orch_reducer *reducer, bool is_on);
/** Waits for the thread; NULL is allowed. Buckets that are still queued are left as they are. */
void orch_reducer_free(struct orch_reducer *reducer);

#endif
