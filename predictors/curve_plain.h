/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression that homework 4, problem 4.2 asks for: each parameter of the loss curves as a
 * linear function of the number of layers and of the GPU (as categories), by ordinary least
 * squares, with standard errors. predictors/curve_law.h has the law that predicts networks left out
 * best. */
#ifndef ORCH_PREDICTORS_CURVE_PLAIN_H
#define ORCH_PREDICTORS_CURVE_PLAIN_H

#include "predictors/curve_law.h"

/** A coefficient and its standard error (NaN: no degree of freedom is left). */
struct orch_plain_term {
    double value, error;
};

/** parameter = constant + per_layer * layers + device[g]. */
struct orch_plain_line {
    struct orch_plain_term constant;
    struct orch_plain_term per_layer;                    /* 0 with has_layers false */
    struct orch_plain_term device[ORCH_LAW_DEVICES_MAX]; /* against the base device, which has 0 */
    double r2;                                           /* of the parameter itself */
};

struct orch_plain {
    int outputs, devices;
    int base;        /* the device that the others are set against: the first that has a row */
    bool has_layers; /* at least two numbers of layers */
    bool has_device[ORCH_LAW_DEVICES_MAX];
    int rows, terms;               /* of the regression */
    struct orch_plain_line *lines; /* `outputs` */
};

/** Fits; the first feature of each network is its number of layers. NULL: fewer rows than terms, or
 * data that orch_law_fit refuses. The caller frees. */
struct orch_plain *orch_plain_fit(const struct orch_law_data *data);
void orch_plain_free(struct orch_plain *plain);

/** Parameter `output` of a network with so many layers on a device; that of the base device where
 * the device has no row. Not below 0: the parameters are not. */
double orch_plain_predict(const struct orch_plain *plain, int output, double layers, int device);

#endif
