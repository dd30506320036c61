/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/sampled_batch.h"

/* Whether the buffer's states are what a network takes. */
static bool is_same(const struct orch_env_kind *kind)
{
    return !kind->is_bytes && kind->shape[2] == 1;
}

void orch_sampled_batch_init(struct orch_sampled_batch *b, const struct orch_env_kind *kind,
                             int64_t frames, int64_t count)
{
    const size_t n = (size_t)count, values = n * (size_t)(frames * kind->observation_values);
    const size_t bytes = values * (kind->is_bytes ? 1 : sizeof(float));
    *b = (struct orch_sampled_batch){.count = count,
                                     .frames = frames,
                                     .kind = kind,
                                     .states = g_new(float, values),
                                     .next_states = g_new(float, values),
                                     .errors = g_new(float, n)};
    b->raw = (struct orch_replay_batch){
        .states = is_same(kind) ? (void *)b->states : g_malloc(bytes),
        .next_states = is_same(kind) ? (void *)b->next_states : g_malloc(bytes),
        .actions = g_new(int32_t, n),
        .returns = g_new(float, n),
        .discounts = g_new(float, n),
        .weights = g_new(float, n),
        .places = g_new(int64_t, n)};
}

void orch_sampled_batch_clear(struct orch_sampled_batch *b)
{
    if (b->raw.states != b->states)
        g_free(b->raw.states);
    if (b->raw.next_states != b->next_states)
        g_free(b->raw.next_states);
    void *arrays[] = {b->states,      b->next_states,   b->errors,      b->raw.actions,
                      b->raw.returns, b->raw.discounts, b->raw.weights, b->raw.places};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    *b = (struct orch_sampled_batch){0};
}

bool orch_sampled_batch_draw(struct orch_sampled_batch *b, struct orch_replay *buffer, double beta,
                             GError **error)
{
    if (!orch_replay_sample(buffer, b->count, beta, &b->raw, error))
        return false;
    if (!is_same(b->kind)) {
        orch_env_planes(b->kind, b->raw.states, b->count * b->frames, b->states);
        orch_env_planes(b->kind, b->raw.next_states, b->count * b->frames, b->next_states);
    }
    return true;
}

struct orch_q_batch orch_sampled_batch_view(const struct orch_sampled_batch *b)
{
    return (struct orch_q_batch){.count = b->count,
                                 .states = b->states,
                                 .next_states = b->next_states,
                                 .actions = b->raw.actions,
                                 .returns = b->raw.returns,
                                 .discounts = b->raw.discounts,
                                 .weights = b->raw.weights};
}
