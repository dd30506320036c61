/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ape-X (Horgan et al. 2018, arXiv 1803.00933): actors are processes that act and compute
 * priorities; one learner has the buffer and learns. */
#ifndef ORCH_PLUGINS_REPLAY_APEX_RUN_H
#define ORCH_PLUGINS_REPLAY_APEX_RUN_H

#include "plugins/replay/replay_settings.h"

/** Trains and reports. Returns an enum orch_status; with ORCH_FAILED, ORCH_DIVERGED and
 * ORCH_SKIPPED there is an error. */
int orch_apex_run(const struct replay_params *params, const struct orch_host *host, GError **error);

#endif
