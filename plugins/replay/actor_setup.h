/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the actors' processes of a training are told, of either architecture. */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_SETUP_H
#define ORCH_PLUGINS_REPLAY_ACTOR_SETUP_H

#include "plugins/replay/actor/actor_share.h"
#include "plugins/replay/replay_settings.h"

/** Steps of each copy for which an actor's ring has room. */
enum { ORCH_REPLAY_RING_ROUNDS = 8 };

/** The environment's shape: a program is asked for it by starting it once. */
bool orch_replay_kind(const struct replay_params *p, const struct orch_host *host,
                      struct orch_env_kind *out, GError **error);
/** Fills `out`, with `envs` copies in each actor. Fails for a program or network whose text is too
 * long. */
bool orch_replay_actor_setup(const struct replay_params *p, const struct orch_host *host,
                             const struct orch_env_kind *kind, int64_t envs,
                             struct orch_actor_setup *out, GError **error);
/** Bytes of one observation. */
int64_t orch_replay_frame_bytes(const struct orch_env_kind *kind);
/** Epsilon of the first and of the last copy of all actors, and the mean over all copies, after
 * `step` steps. */
struct orch_epsilons {
    double first, last, mean;
};
struct orch_epsilons orch_replay_epsilons(const struct replay_params *p, int64_t copies,
                                          int64_t step);

#endif
