/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder: many copies of an environment program, for the driver in env_batch.c. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_COPIES_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_COPIES_H

#include "plugins/replay/env/env_program.h"

struct orch_env_copies;

/** Starts `count` processes, which must describe the same environment. Free with
 * orch_env_copies_free. */
struct orch_env_copies *orch_env_copies_new(const char *command, int64_t count, double timeout_s,
                                            GError **error);
void orch_env_copies_free(struct orch_env_copies *copies);

/** The environment as a kind without functions. Borrowed. */
const struct orch_env_kind *orch_env_copies_kind(const struct orch_env_copies *copies);

/** Resets copy `i` with a seed below 2^53 and writes its observation. */
bool orch_env_copies_reset(struct orch_env_copies *copies, int64_t i, uint64_t seed,
                           void *observation, GError **error);
/** Steps all copies at the same time. */
bool orch_env_copies_step(struct orch_env_copies *copies, const int32_t *actions,
                          const struct orch_envs_result *result, GError **error);

#endif
