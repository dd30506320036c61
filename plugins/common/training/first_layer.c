/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/first_layer.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

const struct orch_net_node *orch_first_layer(const struct orch_net *net)
{
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_LINEAR)
            return node->op == ORCH_NET_CONV2D && node->inputs[0] == 0 ? node : NULL;
    }
    return NULL;
}

bool orch_first_layer_check(const struct orch_training *t, const struct orch_net *net,
                            GError **error)
{
    if (!t->whiten)
        return true;
    static const char HINT[] = "set whiten: false, or use a network such as airbench";
    const struct orch_net_node *first = orch_first_layer(net);
    if (t->weights)
        orch_error_set(error, ORCH_ERROR_RECIPE, "leave out either 'whiten' or 'weights'",
                       "whiten: the first layer's filters come from 'weights', not from images");
    else if (!first || first->groups > 1 || first->dilation > 1)
        orch_error_set(
            error, ORCH_ERROR_RECIPE, HINT,
            "whiten: the first layer of network '%s' is not a plain convolution of the images",
            t->net);
    else if (first->out_channels > 2 * first->in_channels * first->kernel_h * first->kernel_w)
        orch_error_set(error, ORCH_ERROR_RECIPE, HINT,
                       "whiten: '%s' of network '%s' has %d filters, but patches of %dx%dx%d "
                       "values give at most %d filters",
                       first->name, t->net, (int)first->out_channels, (int)first->in_channels,
                       first->kernel_h, first->kernel_w,
                       2 * (int)first->in_channels * first->kernel_h * first->kernel_w);
    else
        return true;
    return false;
}
