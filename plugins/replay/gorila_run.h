/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GORILA (Nair et al. 2015, arXiv 1507.04296): actors are processes that act, learners are
 * processes that compute gradients, and the trial's process is the parameter server that applies
 * them. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_RUN_H
#define ORCH_PLUGINS_REPLAY_GORILA_RUN_H

#include "plugins/replay/replay_settings.h"

/** Trains and reports. Returns an enum orch_status; with ORCH_FAILED, ORCH_DIVERGED and
 * ORCH_SKIPPED there is an error. */
int orch_gorila_run(const struct replay_params *params, const struct orch_host *host,
                    GError **error);

#endif
