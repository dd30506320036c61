/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens networks by name: from the zoo, or from a file that a feature reads. */
#ifndef ORCH_CORE_WORKSPACE_OPEN_NETWORK_H
#define ORCH_CORE_WORKSPACE_OPEN_NETWORK_H

#include "lib/net/open_net.h"

/** Calls orch_net_open with the readers of all features. */
struct orch_net *orch_network_open(const struct orch_net_request *request, GPtrArray *notes,
                                   GError **error);

/** The reader of files of that name; NULL: it is not the name of a file that a feature reads. */
const struct orch_net_reader *orch_network_reader(const char *name);

#endif
