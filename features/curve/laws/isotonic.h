/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Isotonic regression: the monotone function nearest to a set of points, by pooling adjacent
 * violators (Ayer et al. 1955; Barlow et al. 1972). Used for accuracy as a non-increasing function
 * of loss, and for the loss at which accuracy crosses a target. */
#ifndef ORCH_FEATURES_CURVE_ISOTONIC_H
#define ORCH_FEATURES_CURVE_ISOTONIC_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A fitted function: linear between its points and constant outside. */
struct orch_isotonic {
    size_t count; /* distinct x */
    double *x;    /* ascending */
    double *y;    /* non-decreasing if is_rising, else non-increasing */
    bool is_rising;
};

/** Fits `count` points in any order with equal weights, after averaging points with the same x.
 * Fails with ORCH_ERROR_USAGE without points or for numbers that are not finite. Caller frees. */
struct orch_isotonic *orch_isotonic_fit(const double *x, const double *y, size_t count,
                                        bool is_rising, GError **error);
void orch_isotonic_free(struct orch_isotonic *fit);

/** The fitted y at x: linear between the points, and that of the nearest point outside of them. */
double orch_isotonic_at(const struct orch_isotonic *fit, double x);

/** Finds the x where y crosses `target`, coming from the side of low y: for accuracy as a function
 * of loss, the largest loss with an accuracy of at least `target`. If all points reach the target
 * this is the outermost x, as there is no extrapolation. Fails with ORCH_ERROR_NOT_FOUND if no
 * point reaches the target, ORCH_ERROR_USAGE if it is not finite. */
bool orch_isotonic_cross(const struct orch_isotonic *fit, double target, double *out_x,
                         GError **error);

#endif
