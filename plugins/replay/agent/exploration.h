/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often an actor takes a random action (epsilon-greedy). */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_EXPLORATION_H
#define ORCH_PLUGINS_REPLAY_AGENT_EXPLORATION_H

#include <stdint.h>

enum orch_exploration_kind {
    ORCH_EXPLORE_FIXED,     /* epsilon_end always */
    ORCH_EXPLORE_LINEAR,    /* from epsilon_start to epsilon_end over `steps`, as Mnih et al. */
    ORCH_EXPLORE_PER_ACTOR, /* base^(1 + i power / (N - 1)) for actor i of N, as Ape-X (Horgan et
                               al. 2018: base 0.4, power 7) */
};
/** Their names, in this order, ended by NULL. */
extern const char *const ORCH_EXPLORATIONS[];

struct orch_exploration {
    enum orch_exploration_kind kind;
    double start, end; /* in [0, 1] */
    int64_t steps;     /* > 0 */
    double base, power;
};

/** Epsilon of actor `actor` of `actors` after `step` steps of all actors. */
double orch_exploration_epsilon(const struct orch_exploration *e, int64_t step, int64_t actor,
                                int64_t actors);

#endif
