/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression that homework 4, problem 4.2 asks for: each parameter of the loss curves as a
 * linear function of the number of layers and the GPU (categorical), by ordinary least squares with
 * standard errors. For the law with the best predictions of left-out networks see
 * features/curve/laws/curve_law.h. */
#ifndef ORCH_FEATURES_CURVE_CURVE_OLS_H
#define ORCH_FEATURES_CURVE_CURVE_OLS_H

#include "features/curve/laws/curve_law.h"

/** A coefficient and its standard error (NaN if no degree of freedom is left). */
struct orch_curve_ols_term {
    double value, error;
};

/** parameter = constant + per_layer * layers + device[g]. */
struct orch_curve_ols_line {
    struct orch_curve_ols_term constant;
    struct orch_curve_ols_term per_layer; /* 0 if has_layers is false */
    struct orch_curve_ols_term
        device[ORCH_LAW_DEVICES_MAX]; /* relative to the base device, which has 0 */
    double r2;                        /* of the parameter itself */
};

struct orch_curve_ols {
    int outputs, devices;
    int base;        /* reference device: the first that has a row */
    bool has_layers; /* at least two different numbers of layers */
    bool has_device[ORCH_LAW_DEVICES_MAX];
    int rows, terms;                   /* of the regression */
    struct orch_curve_ols_line *lines; /* `outputs` */
};

/** Fits. The first feature of each network is its number of layers. Returns NULL if there are fewer
 * rows than terms, or for data that orch_law_fit refuses. Caller frees. */
struct orch_curve_ols *orch_curve_ols_fit(const struct orch_law_data *data);
void orch_curve_ols_free(struct orch_curve_ols *plain);

/** Predicts parameter `output` for a number of layers on a device; a device without rows counts as
 * the base device. At least 0, as the parameters are not negative. */
double orch_curve_ols_predict(const struct orch_curve_ols *plain, int output, double layers,
                              int device);

#endif
