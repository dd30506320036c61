/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The networks of PALEO's repository: share/networks/paleo.csv, which is built in. The zoo has
 * networks of the same names that differ (batch normalisation, padding), so that PALEO's published
 * figures need these. */
#include "predictors/paleo/paleo.h"

#include "predictors/steps/from_net.h"

#include <string.h>

#define PREFIX "paleo:"

extern const char ORCH_PALEO_NETS_CSV[]; /* CMakeLists.txt of this folder */

bool orch_paleo_net_is_own(const char *name)
{
    return g_str_has_prefix(name, PREFIX);
}

struct orch_layer_table *orch_paleo_net_table(const char *name, GError **error)
{
    return orch_layer_table_parse("share/networks/paleo.csv", ORCH_PALEO_NETS_CSV,
                                  strlen(ORCH_PALEO_NETS_CSV), name + strlen(PREFIX), error);
}

struct orch_layer_table *orch_paleo_layers(const char *name, struct orch_net **out_net,
                                           GError **error)
{
    if (out_net)
        *out_net = NULL;
    if (orch_paleo_net_is_own(name))
        return orch_paleo_net_table(name, error);
    struct orch_net *net = orch_net_make(&(struct orch_net_options){.name = name}, error);
    struct orch_layer_table *layers = net ? orch_layer_table_from_net(net) : NULL;
    if (out_net && layers)
        *out_net = net;
    else
        orch_net_free(net);
    return layers;
}
