/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that an environment program writes (env_program.h has the protocol). Their text is not
 * trusted: every bound is checked here. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_REPLY_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_REPLY_H

#include "plugins/replay/env/env.h"

enum {
    ORCH_ENV_SHAPE_MOST = 4096,      /* of one dimension */
    ORCH_ENV_VALUES_MOST = 1 << 20,  /* of an observation */
    ORCH_ENV_ACTIONS_MOST = 1 << 16, /* kinds of actions */
    ORCH_ENV_LINE_MOST = 32 << 20,   /* bytes of a line, its newline included */
};

/** What a program says about itself. */
struct orch_env_description {
    char name[64];
    int shape[3], observation_values, actions, step_limit;
    bool is_bytes;
};

struct orch_env_reply {
    float reward; /* 0 in the reply to a reset */
    uint8_t end;  /* enum orch_env_end */
};

/** Fails with ORCH_ERROR_PROTOCOL; the message says what is wrong with the line. */
bool orch_env_description_parse(const char *line, size_t length, struct orch_env_description *out,
                                GError **error);
/** Writes the observation (observation_values of uint8_t or float). `is_step` asks for a reward and
 * an end. Fails with ORCH_ERROR_PROTOCOL; the observation may then be half written. */
bool orch_env_reply_parse(const char *line, size_t length, const struct orch_env_description *about,
                          bool is_step, void *observation, struct orch_env_reply *out,
                          GError **error);

#endif
