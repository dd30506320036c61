/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isotonic regression: the function that never falls (or never rises) nearest to points, by pooling
 * adjacent violators (Ayer et al. 1955; Barlow et al. 1972). Here: accuracy as a function of loss,
 * which never rises with it, and the loss at which accuracy crosses a target. */
#ifndef ORCH_PREDICTORS_ISOTONIC_H
#define ORCH_PREDICTORS_ISOTONIC_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A fitted function: its value at each x of the points, straight lines between, level outside. */
struct orch_isotonic {
    size_t count; /* different x */
    double *x;    /* rising */
    double *y;    /* never falling when is_rising, else never rising */
    bool is_rising;
};

/** Fits `count` points in any order, all weighted alike; points of the same x are averaged first.
 * The caller frees. NULL with ORCH_ERROR_USAGE for no point or numbers that are not finite. */
struct orch_isotonic *orch_isotonic_fit(const double *x, const double *y, size_t count,
                                        bool is_rising, GError **error);
void orch_isotonic_free(struct orch_isotonic *fit);

/** Value at x; beyond the points that of the last. */
double orch_isotonic_at(const struct orch_isotonic *fit, double x);

/** The x at which y crosses `target` from below, as one comes from the side of low y: for accuracy
 * on loss, the largest loss whose accuracy is `target` or more. Where all points are at or above
 * the target this is the outermost x of the points: nothing is said beyond them.
 * ORCH_ERROR_NOT_FOUND when no point reaches the target, ORCH_ERROR_USAGE when it is not finite. */
bool orch_isotonic_cross(const struct orch_isotonic *fit, double target, double *out_x,
                         GError **error);

#endif
