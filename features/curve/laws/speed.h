/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Training speed with p parameter servers and w workers, from measurements at a few (p, w): Peng et
 * al., "Optimus", EuroSys 2018, equations 3 and 4 in the form of its program.
 *
 *   async  f(p, w) = w / (t0 + t1 w/p + t2 w + t3 p)              steps per second, all workers
 *   sync   f(p, w) = 1 / (t0 M/w + t1 + t2 w/p + t3 w + t4 p)     steps per second, M the total
 * batch
 *
 * t >= 0, in seconds. w/f and 1/f are linear in t, so non-negative least squares of those
 * reciprocals finds t.
 */
#ifndef ORCH_FEATURES_CURVE_SPEED_H
#define ORCH_FEATURES_CURVE_SPEED_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum orch_speed_mode {
    ORCH_SPEED_ASYNC,
    ORCH_SPEED_SYNC,
};
#define ORCH_SPEED_MODE_COUNT (ORCH_SPEED_SYNC + 1)
#define ORCH_SPEED_TERMS_MAX 5

/** Number of terms of a mode: 4 or 5. */
int orch_speed_terms(enum orch_speed_mode mode);
/** The factor of the coefficient t`term`: "1", "w/p", "M/w", ... */
const char *orch_speed_term_name(enum orch_speed_mode mode, int term);

/** One measurement. */
struct orch_speed_point {
    int servers; /* p, at least 1 */
    int workers; /* w, at least 1 */
    double steps_per_s;
};

struct orch_speed_options {
    enum orch_speed_mode mode;
    double total_batch; /* M, above 0; for sync only */
    /* minimise relative instead of absolute errors of the reciprocal, for noise proportional to the
     * speed, which is typical. The published fits weight all points equally. */
    bool is_relative;
};

struct orch_speed;

/** Fits the points after averaging measurements at the same (p, w). Caller frees. Fails with
 * ORCH_ERROR_USAGE without points, for servers or workers below 1, a speed that is not finite and
 * above 0, sync without a batch, and fewer different (p, w) than terms. */
struct orch_speed *orch_speed_fit(const struct orch_speed_point *points, size_t count,
                                  const struct orch_speed_options *options, GError **error);
void orch_speed_free(struct orch_speed *speed);

/** The coefficients t, orch_speed_terms numbers. Borrowed. */
const double *orch_speed_theta(const struct orch_speed *speed);

/** Why t is not uniquely determined, as text for the user, or NULL if it is: w/p is constant (if
 * only p = w was measured, t1 and t2 of sync have the same factor), p or w is constant, or the
 * terms are otherwise dependent over the points. Predicted speeds near the measured points are
 * still valid (orch_speed_is_determined). Static. */
const char *orch_speed_warning(const struct orch_speed *speed);

/** True if the measurements determine the speed at (p, w), because its terms are a linear
 * combination of measured ones. False if equally good solutions t predict different speeds. */
bool orch_speed_is_determined(const struct orch_speed *speed, int servers, int workers);

/** Steps per second at (p, w), both at least 1, according to the model. HUGE_VAL if all terms there
 * are 0. */
double orch_speed_model(const struct orch_speed *speed, int servers, int workers);

#endif
