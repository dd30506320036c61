/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predicts the loss curve of a network from those of others: each parameter of the curve is a
 * linear function of the network's size, with a test whether it depends on the training device
 * (homework 4, problem 4.2: "a predictive model of a predictive model").
 *
 * In a family of networks the numbers of layers, parameters and operations rise together, and there
 * are few networks. So features are selected for each parameter: at most networks - 2, so that one
 * network can be left out, and those with the least squared error on networks left out in turn.
 */
#ifndef ORCH_FEATURES_CURVE_CURVE_LAW_H
#define ORCH_FEATURES_CURVE_CURVE_LAW_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define ORCH_LAW_FEATURES 3
/** At or above this condition number a law's individual coefficients are not determined. */
#define ORCH_LAW_CONDITION_MOST 1e4
#define ORCH_LAW_OUTPUTS_MAX 64
#define ORCH_LAW_NETWORKS_MAX 200
#define ORCH_LAW_DEVICES_MAX 64

struct orch_law_row {
    int network, device;  /* from 0 */
    const double *values; /* `outputs` numbers, finite */
};

struct orch_law_data {
    int networks, devices, outputs;
    const double *features; /* networks x ORCH_LAW_FEATURES */
    const struct orch_law_row *rows;
    size_t row_count;
};

/** F test whether the device affects a parameter. Networks are factors, so only results of the same
 * network on different devices are compared: F = (SS_device / df_device) / (SS_rest / df_rest). */
struct orch_law_test {
    /* NaN if nothing can be tested: fewer than two devices have the same network, or all devices
     * agree exactly, so that F is 0 / 0 */
    double f, p;
    int df_device, df_rest;
    double largest; /* largest difference between two devices, as a share of the parameter; NaN:
                       no network has runs on two devices */
    bool matters;   /* significant: p < 0.05 / outputs (Bonferroni) */
};

struct orch_law_line {
    bool is_log; /* the line predicts the natural logarithm of the parameter */
    bool uses[ORCH_LAW_FEATURES];
    double intercept, slopes[ORCH_LAW_FEATURES]; /* slope 0 if the feature is not used */
    /* Standard errors with networks as independent units, because the devices and repeats of one
     * network share the same residual. NaN if no degree of freedom is left. */
    double intercept_se, slope_se[ORCH_LAW_FEATURES];
    /* Condition number (largest by smallest singular value) of the design matrix: a column of ones
     * and the used features, one row per network, in the units of `features`. */
    double condition;
    double
        device[ORCH_LAW_DEVICES_MAX]; /* offset of a device; all 0 unless the test is significant */
    double r2;                        /* over the rows, of the logarithm if is_log */
    double left_out_error; /* mean of |predicted - fitted| / fitted on networks left out in
                              turn, each predicted by a line whose features were chosen without
                              it (nested cross-validation); NaN for fewer than 3 networks */
    struct orch_law_test test;
};

struct orch_curve_law {
    int networks, devices, outputs;
    struct orch_law_line *lines; /* `outputs` */
};

/** Fits. A parameter is fitted as its logarithm if all values are above 1/100 of the largest;
 * otherwise as it is, with predictions clamped to at least 0. A single network gives constants.
 * Caller frees. Fails with ORCH_ERROR_USAGE without rows, or for numbers that are not finite or out
 * of range. */
struct orch_curve_law *orch_law_fit(const struct orch_law_data *data, GError **error);
void orch_law_free(struct orch_curve_law *law);

/** Number of coefficients of a line: the constant and one for each feature that it uses. */
int orch_law_coefficients(const struct orch_law_line *line);
/** Returns whether R2 says something about a regression: it needs two observations or more for
 * each coefficient, because with fewer R2 is large for random data, too. */
bool orch_law_r2_counts(int observations, int coefficients);

/** Sets the standard errors and the condition number of a line with selected features. `y`: the
 * dependent variable, one number per row. */
void orch_law_line_errors(const struct orch_law_data *data, const double *y,
                          struct orch_law_line *line);

/** Predicts parameter `output` for a network with these features on a device (-1: average
 * device). */
double orch_law_predict(const struct orch_curve_law *law, int output, const double *features,
                        int device);

#endif
