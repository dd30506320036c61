/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/agent/q_table.h"

#include "lib/base/random.h"

#include <glib.h>

void orch_q_table_init(struct orch_q_table *table, int64_t states, int actions)
{
    *table = (struct orch_q_table){
        .states = states, .actions = actions, .values = g_new0(float, states *actions)};
}

void orch_q_table_clear(struct orch_q_table *table)
{
    g_free(table->values);
    table->values = NULL;
}

static int32_t best(const struct orch_q_table *table, int64_t state)
{
    const float *values = table->values + state * table->actions;
    int32_t best = 0;
    for (int32_t a = 1; a < table->actions; a++)
        if (values[a] > values[best])
            best = a;
    return best;
}

int32_t orch_q_table_act(const struct orch_q_table *table, int64_t state, double epsilon,
                         uint64_t *random)
{
    if (orch_random_unit(random) < epsilon)
        return (int32_t)orch_random_below(random, (size_t)table->actions);
    return best(table, state);
}

float orch_q_table_learn(struct orch_q_table *table, int64_t state, int32_t action, float reward,
                         int64_t next, bool terminated, double rate, double gamma)
{
    float *value = table->values + state * table->actions + action;
    const float *following = table->values + next * table->actions + best(table, next);
    const float target = reward + (terminated ? 0 : (float)gamma * *following);
    const float error = target - *value;
    *value += (float)rate * error;
    return error;
}
