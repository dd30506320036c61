/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values come from a hash of their index (Wang and Ellis' lowbias32), so that the check can compute
 * them anew: a kernel that overwrites its inputs is found out, too. */
#include "plugins/vecadd/summands.h"

#include <glib.h>
#include <string.h>

enum { LINE_FLOATS = 16, POISON = 0xff }; /* bytes of 0xff are a NaN */

struct filling {
    uint32_t seed;
    float *a, *b, *out;
    size_t count;
};

struct checking {
    uint32_t seed;
    const float *out;
    size_t count;
    size_t *wrong, *first; /* of each thread */
};

static inline float value_of(uint32_t seed, int array, size_t index)
{
    uint32_t x = (uint32_t)index * 0x9e3779b1u + (uint32_t)(index >> 32) * 0x85ebca77u + seed +
                 (uint32_t)array * 0xc2b2ae3du;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x ^= x >> 16;
    return (float)(int32_t)(x >> 8) * (1.0f / 8388608) - 1.0f; /* 24 bits: exact */
}

float orch_vecadd_value(uint32_t seed, int array, size_t index)
{
    return value_of(seed, array, index);
}

void orch_vecadd_part(size_t count, int index, int threads, size_t *out_begin, size_t *out_end)
{
    const size_t lines = (count + LINE_FLOATS - 1) / LINE_FLOATS, parts = (size_t)threads;
    const size_t begin = lines * (size_t)index / parts * LINE_FLOATS,
                 end = lines * ((size_t)index + 1) / parts * LINE_FLOATS;
    *out_begin = MIN(begin, count);
    *out_end = MIN(end, count);
}

static void fill_part(void *argument, int index, int threads)
{
    const struct filling *f = argument;
    size_t begin, end;
    orch_vecadd_part(f->count, index, threads, &begin, &end);
    for (size_t i = begin; f->a && i < end; i++) {
        f->a[i] = value_of(f->seed, 0, i);
        f->b[i] = value_of(f->seed, 1, i);
    }
    if (end > begin)
        memset(f->out + begin, POISON, (end - begin) * sizeof(float));
}

void orch_vecadd_fill(struct orch_team *team, uint32_t seed, float *a, float *b, float *out,
                      size_t count)
{
    struct filling filling = {seed, a, b, out, count};
    orch_team_run(team, fill_part, &filling);
}

void orch_vecadd_poison(struct orch_team *team, float *out, size_t count)
{
    struct filling filling = {.out = out, .count = count};
    orch_team_run(team, fill_part, &filling);
}

static void check_part(void *argument, int index, int threads)
{
    const struct checking *c = argument;
    size_t begin, end, wrong = 0, first = SIZE_MAX;
    orch_vecadd_part(c->count, index, threads, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        if (c->out[i] == value_of(c->seed, 0, i) + value_of(c->seed, 1, i))
            continue;
        first = MIN(first, i);
        wrong++;
    }
    c->wrong[index] = wrong;
    c->first[index] = first;
}

size_t orch_vecadd_wrong(struct orch_team *team, uint32_t seed, const float *out, size_t count,
                         size_t *out_first)
{
    const int threads = orch_team_size(team);
    g_autofree size_t *wrong = g_new0(size_t, threads), *first = g_new0(size_t, threads);
    struct checking checking = {seed, out, count, wrong, first};
    orch_team_run(team, check_part, &checking);
    size_t sum = 0;
    *out_first = SIZE_MAX;
    for (int i = 0; i < threads; i++) {
        sum += wrong[i];
        *out_first = MIN(*out_first, first[i]);
    }
    return sum;
}
