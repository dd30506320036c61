/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several settings to repeat next, so that the one that looks best is the best. */
#ifndef ORCH_FEATURES_SEARCH_BEST_ARM_H
#define ORCH_FEATURES_SEARCH_BEST_ARM_H

#include <stdbool.h>
#include <stddef.h>

/** A setting with its values so far. */
struct orch_arm {
    size_t count;   /* values; at least one */
    size_t pending; /* trials that run now */
    double mean;    /* of the values; more is better */
    double sd;      /* NaN for one value */
    bool may_go_on; /* another repeat of it is possible */
};

/** Returns the arm whose next repeat lowers the chance of a wrong winner most, among those that may
 * go on; `count` when there is none. */
size_t orch_best_arm_next(const struct orch_arm *arms, size_t count);
/** Returns the arm with the largest mean; 0 for no arms. */
size_t orch_best_arm_leader(const struct orch_arm *arms, size_t count);
/** Whether an arm is surely worse than the leader, by orch_anytime_log_e_of_gap() at 5 %, divided
 * by the number of the other arms. It may be asked after each value: in simulations of equal arms
 * at most 5 % ever call a given one worse (bench/arm_rules.c). False for the leader, and while no
 * arm scatters. */
bool orch_best_arm_is_beaten(const struct orch_arm *arms, size_t count, size_t which);

#endif
