/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The winner's curse: the best of several settings was chosen by the same numbers that say how good
 * it is, so its value is too good on average, by the more the more settings and the more noise. */
#ifndef ORCH_CORE_STATS_BEST_OF_H
#define ORCH_CORE_STATS_BEST_OF_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** Returns the expected value of the best of `count` settings that are equally good, in standard
 * errors of one setting's mean: 0.56 of 2, 1.54 of 10. No other truth makes the best of them look
 * better than it is by more, on average. NAN: no setting. */
double orch_best_of_excess(size_t count);

/** Returns the probability that the best of `count` equally good settings leads the second by at
 * least `lead` standard errors of a setting's mean, where the standard error has `degrees` degrees
 * of freedom. NAN: fewer than 2 settings, no degree of freedom, or `lead` is NAN. */
double orch_best_of_lead_tail(double lead, size_t count, double degrees);

/** What the repeats of settings say about noise. */
struct orch_noise {
    double sd;      /* of one run; NAN: no setting has repeats */
    double degrees; /* of freedom */
};
/** Pools the scatter of settings (each a GArray of double) around their means. */
struct orch_noise orch_noise_of(const GArray *const *settings, size_t count);

/** The best of several settings. */
struct orch_best_of {
    const char *noun;    /* "points", "settings" */
    size_t count;        /* of them; at least 2 */
    double best, second; /* means of their runs */
    size_t best_runs, second_runs;
    bool larger_wins;
    struct orch_noise noise;
};
/** Returns whether the best leads the second by no more than the best of as many equal settings
 * does in 5 % of cases; true when the noise is not known. */
bool orch_best_of_may_be_luck(const struct orch_best_of *of);
/** Describes how far the best value can be trusted: by how much it is too good at most, on average,
 * what that leaves, and how often equal settings would show such a lead. The caller frees. */
char *orch_best_of_text(const struct orch_best_of *of);

#endif
