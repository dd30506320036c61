/* SPDX-License-Identifier: MIT */
/*
 * A long series made short without losing its peaks: neighbours share a bucket, and of each bucket
 * the least and the greatest value stay as they were measured. Nothing is averaged.
 *
 * The length need not be known before: when there are too many buckets, neighbours become one.
 */
#ifndef ORCH_BASE_THIN_H
#define ORCH_BASE_THIN_H

#include <glib.h>
#include <stdint.h>

/** A point that was measured. */
struct orch_thin_point {
    int64_t step;
    double t_ms, value; /* value NaN: measured as no number */
};

struct orch_thin;

/** Keeps at most `buckets` of them, 2 or more. */
struct orch_thin *orch_thin_new(unsigned buckets);
void orch_thin_free(struct orch_thin *thin);
/** Adds a point; quickest when steps rise. */
void orch_thin_add(struct orch_thin *thin, const struct orch_thin_point *point);
/** Points that were added. */
int64_t orch_thin_count(const struct orch_thin *thin);
/** Steps that share a bucket: 1 while every point is still there. */
int64_t orch_thin_width(const struct orch_thin *thin);
/** What is left, by rising step: the first and the last point, and of each bucket the least and the
 * greatest, and one that is no number where there was any. struct orch_thin_point; the caller
 * unrefs. */
GArray *orch_thin_points(const struct orch_thin *thin);

#endif
