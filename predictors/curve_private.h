/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of the loss curves: the forms and one fit, in scaled units (losses divided by
 * their maximum, k by its span). */
#ifndef ORCH_PREDICTORS_CURVE_PRIVATE_H
#define ORCH_PREDICTORS_CURVE_PRIVATE_H

#include "predictors/curve.h"

double orch_curve_form_at(enum orch_curve_form form, const double *b, double k);
/** What a form tends to. */
double orch_curve_form_limit(enum orch_curve_form form, const double *b);
/** Parameters of the constant `level`. */
void orch_curve_form_flat(enum orch_curve_form form, double level, double *b);

struct orch_curve_points {
    enum orch_curve_form form;
    size_t count;
    double *k, *loss, *weight, *root; /* weight of squared errors; its root */
    double *rows, *right, *balance;   /* for nnls: count x 2, count, count */
    double *numbers;                  /* what all lie in */
};
/** Room for `count` points; k and loss are the caller's to fill. */
void orch_curve_points_init(struct orch_curve_points *f, enum orch_curve_form form, size_t count);
void orch_curve_points_release(struct orch_curve_points *f);
void orch_curve_points_weigh(struct orch_curve_points *f, enum orch_curve_weights weights);
double orch_curve_points_mean(const struct orch_curve_points *f);
/** Fits; true when the result falls, else `b` is the constant. */
bool orch_curve_solve(struct orch_curve_points *f, enum orch_curve_method method, double *b);

#endif
