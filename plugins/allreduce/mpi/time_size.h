/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of an all-reduce of one size. */
#ifndef ORCH_PLUGINS_ALLREDUCE_TIME_SIZE_H
#define ORCH_PLUGINS_ALLREDUCE_TIME_SIZE_H

#include "plugins/common/comm/collective.h"

#include <orch/plugin.h>

#include <glib.h>
#include <stdbool.h>

/** Where the workers' numbers lie, and how they are summed and timed. */
struct allreduce_engine {
    const struct orch_comm *comm;
    void *ctx;
    /* Copy `count` numbers to and from where they are summed. NULL: they are summed in place. */
    bool (*put)(void *ctx, const float *values, size_t count, GError **error);
    bool (*get)(void *ctx, float *values, size_t count, GError **error);
    /* One all-reduce of `count` numbers, of `values` in place or of those that were put.
     * Collective.
     * `*out_s` is this worker's time. */
    bool (*sum)(void *ctx, float *values, size_t count, double *out_s, GError **error);
};

/** The all-reduce of MPI, of `comm`'s algorithm, in the processors' memory. */
struct allreduce_engine orch_allreduce_on_cpus(const struct orch_comm *comm);

/** How one size is measured. */
struct allreduce_rule {
    int64_t warmup, repeats;
    uint64_t seed;      /* of the numbers that are summed */
    double seconds_max; /* after so long no further repeat begins, once there are REPEATS_MIN */
};
enum { ALLREDUCE_REPEATS_MIN = 3 };

/** Times of one size, in seconds: each repeat takes as long as its slowest worker. */
struct allreduce_times {
    double median_s, min_s;
    int64_t repeats;
};

/** Measures the all-reduce of `count` > 0 floats; collective. The first warm-up sums random whole
 * numbers and is compared with their sum, to the last bit. `room` has space for `count` floats.
 * Fails where a sum is wrong, with its place, and for errors of MPI. Sets `*out_is_cancelled` where
 * the host asks for the end; then `out` is not set. */
bool orch_allreduce_time(const struct allreduce_engine *engine, const struct orch_host *host,
                         float *room, size_t count, const struct allreduce_rule *rule,
                         struct allreduce_times *out, bool *out_is_cancelled, GError **error);

#endif
