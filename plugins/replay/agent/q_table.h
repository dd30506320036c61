/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q-learning with a table (Watkins 1989): a value for each state and action. After each step
 * Q(s, a) += rate (r + gamma max Q(s', .) - Q(s, a)), with 0 for the value of a terminal s'. */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_Q_TABLE_H
#define ORCH_PLUGINS_REPLAY_AGENT_Q_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct orch_q_table {
    int64_t states;
    int actions;
    float *values; /* states x actions */
};

/** All values are 0. */
void orch_q_table_init(struct orch_q_table *table, int64_t states, int actions);
void orch_q_table_clear(struct orch_q_table *table);
/** Random with probability epsilon, else the first action with the largest value. */
int32_t orch_q_table_act(const struct orch_q_table *table, int64_t state, double epsilon,
                         uint64_t *random);
/** Learns from a step. Returns the error before. */
float orch_q_table_learn(struct orch_q_table *table, int64_t state, int32_t action, float reward,
                         int64_t next, bool terminated, double rate, double gamma);

#endif
