/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this plugin. */
#ifndef ORCH_PLUGINS_NETSTAT_H
#define ORCH_PLUGINS_NETSTAT_H

#include <orch/plugin.h>

#include "lib/net/cost.h"
#include "plugins/netstat/published.h"

/** Writes the artifacts `layers` and `table`; false with an error reported to the host. */
bool orch_netstat_tables(const struct orch_net *net, const struct orch_net_cost *costs,
                         const struct orch_host *host);

#endif
