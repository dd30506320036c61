/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q-learning with a table, in one process. */
#ifndef ORCH_PLUGINS_REPLAY_TABLE_RUN_H
#define ORCH_PLUGINS_REPLAY_TABLE_RUN_H

#include "plugins/replay/replay_settings.h"

/** Trains and reports. Returns an enum orch_status, with an error where it failed. */
int orch_table_run(const struct replay_params *params, const struct orch_host *host,
                   GError **error);

#endif
