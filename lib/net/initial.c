/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/initial.h"

#include "lib/base/random.h"

#include <math.h>

static double unit(uint64_t *state)
{
    return ((double)(orch_random_next(state) >> 11) + 0.5) * 0x1p-53;
}

/* The FNV-1a hash of its name gives each tensor its own stream. */
static uint64_t stream_of(uint64_t seed, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *p = name; *p; p++)
        hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    uint64_t state = seed ^ hash;
    return orch_random_next(&state);
}

void orch_net_initial_values(const struct orch_net_tensor *tensor, uint64_t seed, float *out)
{
    uint64_t state = stream_of(seed, tensor->name);
    for (int64_t i = 0; i < tensor->count; i++) {
        switch (tensor->init) {
        case ORCH_NET_INIT_ZERO:
            out[i] = 0;
            break;
        case ORCH_NET_INIT_ONE:
            out[i] = 1;
            break;
        case ORCH_NET_INIT_UNIFORM:
            out[i] = (float)((2 * unit(&state) - 1) * tensor->init_scale);
            break;
        case ORCH_NET_INIT_NORMAL: { /* Box-Muller */
            double radius = sqrt(-2 * log(unit(&state)));
            out[i] = (float)(radius * cos(6.283185307179586 * unit(&state)) * tensor->init_scale);
            break;
        }
        }
    }
}
