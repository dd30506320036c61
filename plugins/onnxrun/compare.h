/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far the outputs of an engine are from those of a reference. */
#ifndef ORCH_PLUGINS_ONNXRUN_COMPARE_H
#define ORCH_PLUGINS_ONNXRUN_COMPARE_H

#include "plugins/onnxrun/onnxrun.h"

/** An absolute tolerance goes with a relative one: a hundredth of it, as PyTorch's exporter checks
 * its files (1e-3 and 1e-5). */
#define ONNXRUN_ABSOLUTE_SHARE 0.01

/** Differences of all values of one or several arrays. */
struct onnxrun_difference {
    int64_t values;
    double absolute;  /* largest |got - expected| */
    double relative;  /* largest |got - expected| / |expected|, where expected is not 0 */
    double tolerance; /* smallest r with |got - expected| <= r |expected| + 0.01 r for all values */
    int64_t rows, same_top; /* rows of classes, and those whose largest value is at the same place
                               (the first of several) */
};

/** Where the classes lie in an array: value k of row j is at
 * j / stride * classes * stride + k * stride + j % stride. */
struct onnxrun_rows {
    int64_t classes; /* 0: the array has none */
    int64_t stride;  /* 1: a row is contiguous; else rows x columns of a map */
};

/** Adds the differences of two arrays of finite numbers, which have `count` values, a multiple of
 * classes x stride. Counts rows and same_top where there are classes. */
void orch_onnxrun_difference_add(struct onnxrun_difference *sum, const float *got,
                                 const float *expected, int64_t count, struct onnxrun_rows rows);

/** Compares the outputs of each group with those expected and reports results, with the group's
 * name in front. Does nothing for a group without a reference. Fails for an expected array of
 * another size, or with a value that is not finite. */
bool orch_onnxrun_groups_compare(const struct onnxrun_trial *t, GError **error);

/** Number of values in the outputs of all groups that are NaN or infinite. `out_where` says where
 * the first is; the caller frees; NULL if there is none. */
int64_t orch_onnxrun_groups_not_finite(const struct onnxrun_trial *t, char **out_where);

#endif
