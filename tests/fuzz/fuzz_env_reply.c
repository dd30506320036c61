/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of an environment program: as a description of itself and, under one that fits no more than
 * 8 values, as an answer. */
#include "plugins/replay/env/env_reply.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct orch_env_description about = {.observation_values = 2, .actions = 2};
    struct orch_env_reply reply = {0};
    const char *line = (const char *)data;
    float values[8];
    if (orch_env_description_parse(line, size, &about, NULL) &&
        (about.observation_values != about.shape[0] * about.shape[1] * about.shape[2] ||
         about.actions < 1 || !about.name[0]))
        abort();
    if (about.observation_values > 8)
        about.observation_values = 8;
    for (int is_step = 0; is_step < 2; is_step++)
        if (orch_env_reply_parse(line, size, &about, is_step, values, &reply, NULL) &&
            reply.end > ORCH_ENV_TRUNCATED)
            abort();
    return 0;
}
