/* SPDX-License-Identifier: MIT */
/*
 * Thins out a long series without losing its peaks: neighbouring points share a bucket, and each
 * bucket keeps its minimum and maximum as measured. Nothing is averaged.
 *
 * The length need not be known in advance: if there are too many buckets, neighbours are merged.
 */
#ifndef ORCH_BASE_THIN_SERIES_H
#define ORCH_BASE_THIN_SERIES_H

#include <glib.h>
#include <stdint.h>

/** A measured point. */
struct orch_thin_point {
    int64_t step;
    double t_ms, value; /* value may be NaN */
};

struct orch_thin;

/** Creates a series with at most `buckets` buckets, 2 or more. Caller frees. */
struct orch_thin *orch_thin_new(unsigned buckets);
void orch_thin_free(struct orch_thin *thin);
/** Adds a point; fastest if steps ascend. */
void orch_thin_add(struct orch_thin *thin, const struct orch_thin_point *point);
/** Number of points added. */
int64_t orch_thin_count(const struct orch_thin *thin);
/** Number of steps per bucket; 1 while every point is still kept. */
int64_t orch_thin_width(const struct orch_thin *thin);
/** The remaining points by ascending step: the first and the last point, and for each bucket the
 * minimum, the maximum and, if there was one, a point with NaN. struct orch_thin_point; caller
 * unrefs. */
GArray *orch_thin_points(const struct orch_thin *thin);

#endif
