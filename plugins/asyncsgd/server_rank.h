/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_PLUGINS_ASYNCSGD_SERVER_RANK_H
#define ORCH_PLUGINS_ASYNCSGD_SERVER_RANK_H

#include "plugins/asyncsgd/asyncsgd_settings.h"
#include "plugins/asyncsgd/flat_model.h"

/** Parameter server `server` (from 0) applies the learners' gradients to its shard of the weights
 * until all learners have ended. Server 0 counts them, validates and reports. Returns an enum
 * orch_status; -1 with `error` set. */
int orch_asyncsgd_serve(const struct asyncsgd_params *params, const struct orch_flat_model *flat,
                        int server, GError **error);

#endif
