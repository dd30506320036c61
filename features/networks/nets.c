/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/networks/nets.h"

#include <stdio.h>

void orch_cli_net_notes(const GPtrArray *notes)
{
    for (guint i = 0; i < notes->len; i++)
        fprintf(stderr, "orch: warning: %s\n", (const char *)notes->pdata[i]);
}

struct orch_net *orch_cli_net(const struct orch_net_request *request, GError **error)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct orch_net *net = orch_network_open(request, notes, error);
    orch_cli_net_notes(notes);
    return net;
}
