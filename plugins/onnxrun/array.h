/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An array of floats that goes into a network or comes out of it. */
#ifndef ORCH_PLUGINS_ONNXRUN_ARRAY_H
#define ORCH_PLUGINS_ONNXRUN_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

enum { ONNXRUN_RANK_MAX = 8, ONNXRUN_OUTPUTS_MAX = 64 };
/** Largest number of elements of an array. */
#define ONNXRUN_COUNT_MAX (INT64_C(1) << 31)

struct onnxrun_array {
    int rank;
    int64_t shape[ONNXRUN_RANK_MAX]; /* row-major: the last index varies fastest */
    int64_t count;                   /* number of elements */
    float *data;
};

#endif
