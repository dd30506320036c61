/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL has no studentized range, so its definition is integrated (Copenhaver, Holland 1988, J.
 * Statist. Comput. Simul. 30, 1):
 *
 *   P(Q <= q) = integral over s of f(s) W(q s),
 *   W(w)      = k integral over z of phi(z) (Phi(z) - Phi(z - w))^(k - 1),
 *
 * where k is the number of means, W the distribution of the range of k standard normal values, and
 * f the density of s = chi / sqrt(degrees). Both integrals are cut where less than 1e-12 is left.
 */
#include "features/compare/studentized_range.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdbool.h>

#define INTERVALS 200
#define ERROR_MOST 1e-7
#define DEVIATIONS 9.0 /* the cuts lie that many standard deviations from the centre */
#define NODES 128      /* of the inner integral at most: with 100 means it is right to 3e-10 */
#define FEW_NODES 64   /* with up to FEW_MEANS, whose integrand is smoother: right to 4e-9 */
#define FEW_MEANS 9
#define STEPS 60

struct range {
    double q, count, degrees, constant; /* constant: the logarithm of f's factor */
    unsigned others;                    /* count - 1 */
    size_t nodes;
    /* of z at each node of the inner integral: z, its weight k phi(z), and Phi(z) */
    double z[NODES], weight[NODES], below_z[NODES];
    gsl_integration_workspace *space;
};

/* Returns W(width). */
static double normal_range(const struct range *range, double width)
{
    double sum = 0;
    for (size_t i = 0; i < range->nodes; i++)
        sum += range->weight[i] *
               gsl_pow_uint(range->below_z[i] - gsl_cdf_ugaussian_P(range->z[i] - width),
                            range->others);
    return sum;
}

static double density(double s, void *data)
{
    const struct range *range = data;
    if (!(s > 0))
        return 0;
    double f = exp(range->constant + (range->degrees - 1) * log(s) - range->degrees * s * s / 2);
    return f < 1e-300 ? 0 : f * normal_range(range, range->q * s);
}

/* Returns the probability of a range of at most range->q. */
static double below(struct range *range)
{
    double spread = DEVIATIONS / sqrt(2 * range->degrees), result = NAN, error;
    gsl_function f = {density, range};
    gsl_integration_qag(&f, fmax(0, 1 - spread), 1 + spread, ERROR_MOST, ERROR_MOST, INTERVALS,
                        GSL_INTEG_GAUSS21, range->space, &result, &error);
    return result;
}

static bool begin(struct range *range, size_t count, double degrees)
{
    if (count < 2 || !(degrees > 0) || !isfinite(degrees))
        return false;
    double half = degrees / 2;
    *range = (struct range){.count = (double)count,
                            .others = (unsigned)count - 1,
                            .nodes = count <= FEW_MEANS ? FEW_NODES : NODES,
                            .degrees = degrees,
                            .constant = log(2) + half * log(half) - lgamma(half),
                            .space = gsl_integration_workspace_alloc(INTERVALS)};
    gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(range->nodes);
    for (size_t i = 0; i < range->nodes; i++) {
        gsl_integration_glfixed_point(-DEVIATIONS, DEVIATIONS, i, &range->z[i], &range->weight[i],
                                      table);
        range->weight[i] *= range->count * gsl_ran_ugaussian_pdf(range->z[i]);
        range->below_z[i] = gsl_cdf_ugaussian_P(range->z[i]);
    }
    gsl_integration_glfixed_table_free(table);
    return true;
}

double orch_studentized_range_tail(double q, size_t count, double degrees)
{
    struct range range;
    if (isnan(q) || !begin(&range, count, degrees))
        return NAN;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    range.q = q;
    double tail = isinf(q) ? q < 0 : q > 0 ? 1 - below(&range) : 1;
    gsl_set_error_handler(handler);
    gsl_integration_workspace_free(range.space);
    return fmin(1, fmax(0, tail));
}

/* The logarithm of the tail over the wanted one is nearly linear in the logarithm of q. */
static double excess(struct range *range, double q, double tail)
{
    range->q = q;
    return log(fmax(1e-12, 1 - below(range)) / tail);
}

/* Finds the root between low and high, where the excess is positive and negative, by the Illinois
 * variant of the false position. */
static double find_root(struct range *range, double low, double high, double tail)
{
    double x = log(low), y = log(high), f = excess(range, low, tail), g = excess(range, high, tail);
    for (int i = 0; i < STEPS && fabs(y - x) > 1e-8; i++) {
        double z = y - g * (y - x) / (g - f), h = excess(range, exp(z), tail);
        if ((h > 0) != (g > 0)) {
            x = y;
            f = g;
        } else {
            f /= 2;
        }
        y = z;
        g = h;
        if (fabs(h) < 1e-8)
            break;
    }
    return exp(y);
}

double orch_studentized_range_limit(double tail, size_t count, double degrees)
{
    struct range range;
    if (!(tail > 0 && tail < 1) || !begin(&range, count, degrees))
        return NAN;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    double low = 1e-3, high = 4;
    while (excess(&range, high, tail) > 0 && high < 1e9) {
        low = high;
        high *= 2;
    }
    double limit = find_root(&range, low, high, tail);
    gsl_set_error_handler(handler);
    gsl_integration_workspace_free(range.space);
    return limit;
}
