/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lasting changes of speed among runs of the same settings: a new driver, another version of a
 * library, a clock that stays low. Forecasts bring the runs from before such a change to the
 * present speed.
 *
 * A change at some run is a factor on all times from there on. It is tested within the settings
 * (analysis of variance with the settings as factors), so that a sweep over larger and larger
 * problems is none. Only settings that ran on both sides show a change. */
#ifndef ORCH_FEATURES_PREDICT_SPEED_CHANGE_H
#define ORCH_FEATURES_PREDICT_SPEED_CHANGE_H

#include <stddef.h>

struct orch_speed_change {
    size_t since;  /* index of the first run after the latest change; 0: there is none */
    double factor; /* time after the latest change over time before */
    double sd;     /* standard error of log(factor) */
};

/** Finds the lasting changes among `n` runs in the order of time; `cell[i]` is the setting of the
 * i-th, an index below n, `seconds[i]` its time (above 0), and `when_s[i]` when it ended, on any
 * clock. `to_now[i]` becomes the factor that converts its time to the present speed; 1 after the
 * latest change. */
struct orch_speed_change orch_speed_change_find(const double *seconds, const double *when_s,
                                                const size_t *cell, size_t n, double *to_now);

#endif
