/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the curves of some networks to that of another: each parameter of the curve as a linear
 * function of the network's size, and a test whether the device it was trained on changes it
 * (homework 4, problem 4.2: "a predictive model of a predictive model").
 *
 * Networks of one family have layers, parameters and operations that rise together, and there are
 * few of them. So for each parameter the features are chosen: those (at most networks - 2, so that
 * one can be left out) with the least squared error on networks that were left out in turn.
 */
#ifndef ORCH_PREDICTORS_CURVE_LAW_H
#define ORCH_PREDICTORS_CURVE_LAW_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define ORCH_LAW_FEATURES 3
/** From this condition number on the coefficients of a law are not determined one by one. */
#define ORCH_LAW_CONDITION_MOST 1e4
#define ORCH_LAW_OUTPUTS_MAX 64
#define ORCH_LAW_NETWORKS_MAX 1000
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

/** Does the device change a parameter? Networks as factors, so that only the same network on other
 * devices is compared: F = (SS_device / df_device) / (SS_rest / df_rest). */
struct orch_law_test {
    double f, p; /* NaN when there is nothing to test; p = 1 when all devices agree exactly */
    int df_device, df_rest;
    double largest; /* largest difference of two devices, as a share of the parameter */
    bool matters;   /* p < 0.05 / outputs (Bonferroni) */
};

struct orch_law_line {
    bool is_log; /* of the natural logarithm of the parameter */
    bool uses[ORCH_LAW_FEATURES];
    double intercept, slopes[ORCH_LAW_FEATURES]; /* slope 0 where it is not used */
    /* Standard errors with networks as the independent units: devices and repeats of one network
     * share what the sizes do not explain. NaN when no degree of freedom is left. */
    double intercept_se, slope_se[ORCH_LAW_FEATURES];
    /* Condition number of the design matrix (a column of ones and the features used, a row for each
     * network, in the units of `features`): largest by smallest singular value. */
    double condition;
    double device[ORCH_LAW_DEVICES_MAX]; /* added on a device: all 0 unless the test says so */
    double r2;                           /* on the rows, of what was regressed: of the logarithm
                                            where is_log */
    double left_out_error; /* mean of |predicted - fitted| / fitted on networks left out in
                              turn; NaN for fewer than 3 networks */
    struct orch_law_test test;
};

struct orch_law {
    int networks, devices, outputs;
    struct orch_law_line *lines; /* `outputs` */
};

/** Fits. Parameters that are all above 1/100 of the largest are taken as logarithms; others as
 * they are, and predictions below 0 are 0. The caller frees. ORCH_ERROR_USAGE for no row, numbers
 * that are not finite or out of range. One network gives constants. */
struct orch_law *orch_law_fit(const struct orch_law_data *data, GError **error);
void orch_law_free(struct orch_law *law);

/** Sets the standard errors and the condition number of a line whose features are chosen. `y`: what
 * was regressed, a number for each row. */
void orch_law_line_errors(const struct orch_law_data *data, const double *y,
                          struct orch_law_line *line);

/** Parameter `output` of a network with these features, on a device (-1: on average). */
double orch_law_predict(const struct orch_law *law, int output, const double *features, int device);

#endif
