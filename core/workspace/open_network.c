/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/workspace/open_network.h"

#include "core/feature/feature.h"

/* The readers of all features, ended by NULL. The caller unrefs. */
static GPtrArray *readers_of_features(void)
{
    GPtrArray *readers = g_ptr_array_new();
    for (const struct orch_feature *const *f = orch_features(); *f; f++)
        for (const struct orch_net_reader *const *r = (*f)->net_readers; r && *r; r++)
            g_ptr_array_add(readers, (gpointer)(uintptr_t)*r);
    g_ptr_array_add(readers, NULL);
    return readers;
}

struct orch_net *orch_network_open(const struct orch_net_request *request, GPtrArray *notes,
                                   GError **error)
{
    g_autoptr(GPtrArray) readers = readers_of_features();
    return orch_net_open((const struct orch_net_reader *const *)readers->pdata, request, notes,
                         error);
}

const struct orch_net_reader *orch_network_reader(const char *name)
{
    g_autoptr(GPtrArray) readers = readers_of_features();
    return orch_net_reader_of((const struct orch_net_reader *const *)readers->pdata, name);
}
