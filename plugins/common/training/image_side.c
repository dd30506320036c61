/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/image_side.h"

#include "lib/base/error.h"

struct size {
    int64_t h, w;
};

/* Positions of a window along one axis: PyTorch's formula. 0: the window does not fit. */
static int64_t positions(int64_t in, int kernel, int dilation, int stride, int pad, bool ceil_mode)
{
    const int64_t room = in + 2 * pad - (int64_t)(dilation ? dilation : 1) * (kernel - 1) - 1;
    if (room < 0)
        return 0;
    int64_t count = (room + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    if (ceil_mode && (count - 1) * stride >= in + pad)
        count--;
    return count;
}

static struct size windows(const struct orch_net_node *node, struct size in)
{
    return (struct size){positions(in.h, node->kernel_h, node->dilation, node->stride_h,
                                   node->pad_h, node->ceil_mode),
                         positions(in.w, node->kernel_w, node->dilation, node->stride_w,
                                   node->pad_w, node->ceil_mode)};
}

/* The size of a node's value; 0 x 0: it cannot be computed. */
static struct size size_of(const struct orch_net *net, const struct orch_net_node *node,
                           const struct size *sizes)
{
    const struct size in = sizes[node->inputs[0]], none = {0, 0};
    switch (node->op) {
    case ORCH_NET_CONV2D:
        return windows(node, in);
    case ORCH_NET_MAXPOOL2D:
    case ORCH_NET_AVGPOOL2D:
        return orch_net_pools_all(net, node) ? (struct size){1, 1} : windows(node, in);
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return (struct size){node->out.h, node->out.w};
    case ORCH_NET_PAD_SHORTCUT:
        return (struct size){(in.h - 1) / node->stride_h + 1, (in.w - 1) / node->stride_w + 1};
    case ORCH_NET_FLATTEN:
    case ORCH_NET_LINEAR: {
        const struct orch_net_shape *built = &orch_net_node(net, node->inputs[0])->out;
        return in.h == built->h && in.w == built->w ? (struct size){1, 1} : none;
    }
    case ORCH_NET_ADD:
    case ORCH_NET_CONCAT:
        for (int i = 1; i < node->input_count; i++)
            if (sizes[node->inputs[i]].h != in.h || sizes[node->inputs[i]].w != in.w)
                return none;
        return in;
    case ORCH_NET_EMBEDDING:
    case ORCH_NET_TOKEN_LINEAR:
    case ORCH_NET_ATTENTION:
    case ORCH_NET_FIRST_TOKEN:
    case ORCH_NET_CONV_TRANSPOSE2D:
    case ORCH_NET_GENERIC:
        return none;
    default: /* by element or channel */
        return in;
    }
}

bool orch_net_takes_side(const struct orch_net *net, int64_t side, GError **error)
{
    g_autofree struct size *sizes = g_new0(struct size, net->nodes->len);
    sizes[0] = (struct size){side, side};
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        sizes[i] = size_of(net, node, sizes);
        if (sizes[i].h > 0 && sizes[i].w > 0)
            continue;
        orch_error_set(error, ORCH_ERROR_RECIPE, "use larger images, or another network",
                       "network '%s' cannot take images of %dx%d: layer '%s' gets %dx%d values, "
                       "but is made for %dx%d",
                       net->name, (int)side, (int)side, node->name, (int)sizes[node->inputs[0]].h,
                       (int)sizes[node->inputs[0]].w,
                       (int)orch_net_node(net, node->inputs[0])->out.h,
                       (int)orch_net_node(net, node->inputs[0])->out.w);
        return false;
    }
    return true;
}
