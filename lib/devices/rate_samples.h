/* SPDX-License-Identifier: MIT */
/* Repeats a measurement until its values settle. */
#ifndef ORCH_LIB_DEVICES_RATE_SAMPLES_H
#define ORCH_LIB_DEVICES_RATE_SAMPLES_H

/** A rate that was measured several times, in units per second. */
struct orch_measured {
    double best; /* the highest: other work on the machine only lowers a rate. 0: not measured */
    double median;
    double spread; /* of the middle half of the samples, as a share of the median */
    unsigned samples;
};

/** Calls `once`, which returns a rate (0: failed), for at least `seconds` and five times, and then
 * until the spread is at most 5 %, but no longer than four times `seconds`. All 0 when a call
 * failed. */
struct orch_measured orch_rate_samples_take(double (*once)(void *ctx), void *ctx, double seconds);

#endif
