/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latency and bandwidth of measured all-reduces: the alpha-beta model of algorithms.h, fitted. */
#ifndef ORCH_PLUGINS_COMMON_COMM_ALPHA_BETA_H
#define ORCH_PLUGINS_COMMON_COMM_ALPHA_BETA_H

#include "plugins/common/comm/algorithms.h"

/** One measurement: its model is messages * alpha + volume * bytes * beta. */
struct orch_alpha_beta_point {
    struct orch_comm_cost cost;
    double bytes, seconds; /* > 0 */
};

struct orch_alpha_beta {
    double alpha_s, beta_s; /* of a message, of a byte; >= 0 */
    double error;           /* mean of abs(fitted - measured) / measured */
    double log_error; /* exp(mean of abs(log(fitted / measured))) - 1; infinite for a fit of 0 */
};

/** Fits alpha and beta >= 0 so that the sum of the squared relative errors is least: sizes from 1
 * KiB to 256 MiB count alike. Returns false if the points do not determine both, which takes two
 * sizes. */
bool orch_alpha_beta_fit(const struct orch_alpha_beta_point *points, size_t count,
                         struct orch_alpha_beta *out);
/** The largest mean error of a fit whose alpha is called a latency. With a larger one the measured
 * times do not follow the model, and alpha has no physical meaning. */
#define ORCH_ALPHA_BETA_ERROR_MOST 0.2
bool orch_alpha_beta_has_latency(const struct orch_alpha_beta *fit);

/** Seconds that the model gives for a point's cost and bytes. */
double orch_alpha_beta_seconds(const struct orch_alpha_beta *fit,
                               const struct orch_alpha_beta_point *point);

#endif
