/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: exponentials of the confidences of one prior. A batch has two million of
 * them, so they are computed in loops that the compiler turns into vector instructions, which it
 * does not do for calls of expf. */
#ifndef ORCH_PLUGINS_COMMON_SOFTMAX_H
#define ORCH_PLUGINS_COMMON_SOFTMAX_H

/** The sum of exp(in[c] - most) over the classes, where `most` is the largest confidence. */
struct orch_softmax {
    float most, sum;
};

/** Writes exp(in[c] - most) of `classes` >= 1 confidences to `out`, which may be `in`. The relative
 * error is below 2e-7, and no value is below exp(-87). The sum is NaN if a confidence is NaN or
 * positive infinity. */
struct orch_softmax orch_softmax_row(const float *in, int classes, float *out);

#endif
