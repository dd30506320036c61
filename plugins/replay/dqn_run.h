/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Agents in one process: environments, buffer and learner take turns. */
#ifndef ORCH_PLUGINS_REPLAY_DQN_RUN_H
#define ORCH_PLUGINS_REPLAY_DQN_RUN_H

#include "plugins/replay/replay_settings.h"

struct orch_dqn;

/** Makes environments, buffer and networks. Free with orch_dqn_free. */
struct orch_dqn *orch_dqn_new(const struct replay_params *params, const struct orch_host *host,
                              GError **error);
void orch_dqn_free(struct orch_dqn *dqn);
/** Trains and reports. Returns an enum orch_status; with ORCH_FAILED and ORCH_DIVERGED there is an
 * error. */
int orch_dqn_run(struct orch_dqn *dqn, GError **error);

#endif
