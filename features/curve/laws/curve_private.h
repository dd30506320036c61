/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the loss curves: the forms, and a single fit in scaled units (losses divided by
 * their maximum, k by its span). */
#ifndef ORCH_FEATURES_CURVE_CURVE_PRIVATE_H
#define ORCH_FEATURES_CURVE_CURVE_PRIVATE_H

#include "features/curve/laws/curve.h"

double orch_curve_form_at(enum orch_curve_form form, const double *b, double k);
/** Limit of a form for large k. */
double orch_curve_form_limit(enum orch_curve_form form, const double *b);
/** Sets the parameters that give the constant `level`. */
void orch_curve_form_flat(enum orch_curve_form form, double level, double *b);

struct orch_curve_points {
    enum orch_curve_form form;
    size_t count;
    double *k, *loss, *weight, *root; /* weight of squared errors, and its square root */
    double *rows;                     /* scratch for NNLS: count x 2 */
    double *numbers;                  /* the allocation that holds all of the above */
};
/** Allocates room for `count` points; the caller sets k and loss. */
void orch_curve_points_init(struct orch_curve_points *f, enum orch_curve_form form, size_t count);
void orch_curve_points_release(struct orch_curve_points *f);
void orch_curve_points_weigh(struct orch_curve_points *f, enum orch_curve_weights weights);
double orch_curve_points_mean(const struct orch_curve_points *f);
/** The least sum of squared errors of a curve with this limit, searched from the fitted parameters
 * `b`. */
double orch_curve_solve_limit(const struct orch_curve_points *f, const double *b, double limit);
/** Fits. Returns true if the fitted curve falls; otherwise `b` is the constant. */
bool orch_curve_solve(struct orch_curve_points *f, double *b);

#endif
