/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which of several settings to repeat next, so that the one that looks best is the best. */
#ifndef ORCH_CORE_STATS_BEST_ARM_H
#define ORCH_CORE_STATS_BEST_ARM_H

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
/** Whether an arm is so far behind the leader that no more repeats are worth while: one-sided t at
 * 5 %, divided by the number of the other arms. It is a rule for stopping, and not a probability
 * below 5 %, since it is asked after each value and of the arm that leads by now. False for the
 * leader, and while no arm scatters. */
bool orch_best_arm_is_beaten(const struct orch_arm *arms, size_t count, size_t which);

#endif
