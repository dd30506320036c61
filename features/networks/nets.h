/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens networks named on the command line. */
#ifndef ORCH_FEATURES_NETWORKS_NETS_H
#define ORCH_FEATURES_NETWORKS_NETS_H

#include "lib/net/open_net.h"

/** Calls orch_network_open, and warns on stderr about parts of a file that were counted as zero. */
struct orch_net *orch_cli_net(const struct orch_net_request *request, GError **error);
/** Prints such notes (char *) as warnings. */
void orch_cli_net_notes(const GPtrArray *notes);

#endif
