/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: networks whose layers read more than the preceding one, with torchvision's layer names
 * if it has the network. */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>

/* ---- resnets ------------------------------------------------------------------------------- */

static int conv_bn_groups(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                          int groups, const char *conv, const char *bn)
{
    int x = orch_net_conv(b, in,
                          (struct orch_conv){out, kernel, stride, kernel / 2, groups, false,
                                             ORCH_CONV_KAIMING_FAN_OUT},
                          "%s", conv);
    return orch_net_batchnorm(b, x, "%s", bn);
}

static int conv_bn(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                   const char *conv, const char *bn)
{
    return conv_bn_groups(b, in, out, kernel, stride, 1, conv, bn);
}

static int64_t channels_of(const struct orch_net_builder *b, int id)
{
    return id < 0 ? 0 : orch_net_node(b->net, id)->out.c;
}

/* He et al. 2015, 4.2: 6n+2 layers, 16-32-64 channels, shortcuts of option A (no parameters). */
void orch_net_build_resnet_cifar(struct orch_net_builder *b, const char *argument, int variant)
{
    int64_t depth = variant;
    if (!depth && (!argument || !orch_int_parse(argument, &depth))) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, "for example resnet-cifar:20",
                       "network '%s': the depth is missing", b->net->name);
        return;
    }
    if (depth < 8 || depth > 2000 || (depth - 2) % 6) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                       "use 20, 32, 44, 56, 110 or another 6n+2 up to 2000",
                       "network '%s': depth %" G_GINT64_FORMAT " is not of the form 6n+2",
                       b->net->name, depth);
        return;
    }
    int x = orch_net_relu(b, conv_bn(b, 0, 16, 3, 1, "conv1", "bn1"));
    for (int stage = 0; stage < 3; stage++) {
        b->group = stage + 1;
        for (int i = 0; i < (depth - 2) / 6; i++) {
            int64_t out = 16 << stage;
            int stride = stage && !i ? 2 : 1;
            char names[4][64];
            for (int k = 0; k < 4; k++)
                g_snprintf(names[k], sizeof names[k], "layer%d.%d.%s%d", stage + 1, i,
                           k % 2 ? "bn" : "conv", k / 2 + 1);
            int y = orch_net_relu(b, conv_bn(b, x, out, 3, stride, names[0], names[1]));
            y = conv_bn(b, y, out, 3, 1, names[2], names[3]);
            int shortcut = stride == 1 && channels_of(b, x) == out
                               ? x
                               : orch_net_pad_shortcut(b, x, out, stride);
            x = orch_net_relu(b, orch_net_add(b, y, shortcut));
        }
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group = 4;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

enum resnet_kind { PLAIN, CIFAR_STEM, STRIDE_IN_1X1, RESNEXT_32X4D, WIDE_2 };

static const struct resnet_plan {
    int depth, blocks[4];
    bool bottleneck;
} RESNETS[] = {{18, {2, 2, 2, 2}, false},
               {34, {3, 4, 6, 3}, false},
               {50, {3, 4, 6, 3}, true},
               {101, {3, 4, 23, 3}, true},
               {152, {3, 8, 36, 3}, true}};

struct block {
    const char *prefix;
    int64_t planes; /* 64, 128, 256, 512 */
    int stride;
    bool bottleneck;
    enum resnet_kind kind;
};

/* A residual block. In a bottleneck the stride is in the 3x3 convolution, as in torchvision, or in
 * the first one, as in the paper. */
static int residual_block(struct orch_net_builder *b, int x, const struct block *block)
{
    char conv[64], bn[64];
    int convs = block->bottleneck ? 3 : 2;
    int64_t out = block->bottleneck ? 4 * block->planes : block->planes;
    int64_t width =
        block->kind == RESNEXT_32X4D || block->kind == WIDE_2 ? 2 * block->planes : block->planes;
    int strided = block->bottleneck && block->kind != STRIDE_IN_1X1 ? 2 : 1;
    int y = x;
    for (int i = 1; i <= convs; i++) {
        int kernel = block->bottleneck && i != 2 ? 1 : 3;
        int groups = block->kind == RESNEXT_32X4D && i == 2 ? 32 : 1;
        g_snprintf(conv, sizeof conv, "%s.conv%d", block->prefix, i);
        g_snprintf(bn, sizeof bn, "%s.bn%d", block->prefix, i);
        y = conv_bn_groups(b, y, i == convs ? out : width, kernel, i == strided ? block->stride : 1,
                           groups, conv, bn);
        if (i < convs)
            y = orch_net_relu(b, y);
    }
    int shortcut = x;
    if (block->stride != 1 || channels_of(b, x) != out) {
        g_snprintf(conv, sizeof conv, "%s.downsample.0", block->prefix);
        g_snprintf(bn, sizeof bn, "%s.downsample.1", block->prefix);
        shortcut = conv_bn(b, x, out, 1, block->stride, conv, bn);
    }
    return orch_net_relu(b, orch_net_add(b, y, shortcut));
}

/* `variant`: depth + 1000 * resnet_kind. He et al. 2015; Xie et al. 2017; Zagoruyko and Komodakis
 * 2016. The CIFAR stem is 3x3 of stride 1 with no pooling. */
void orch_net_build_resnet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    enum resnet_kind kind = (enum resnet_kind)(variant / 1000);
    const struct resnet_plan *plan = RESNETS;
    while (plan->depth != variant % 1000)
        plan++;
    int x;
    if (kind == CIFAR_STEM) {
        x = orch_net_relu(b, conv_bn(b, 0, 64, 3, 1, "conv1", "bn1"));
    } else {
        x = orch_net_relu(b, conv_bn(b, 0, 64, 7, 2, "conv1", "bn1"));
        x = orch_net_maxpool(b, x, 3, 2, 1);
    }
    for (int stage = 0; stage < 4; stage++) {
        b->group = stage + 1;
        for (int i = 0; i < plan->blocks[stage]; i++) {
            char prefix[32];
            g_snprintf(prefix, sizeof prefix, "layer%d.%d", stage + 1, i);
            x = residual_block(b, x,
                               &(struct block){prefix, (int64_t)64 << stage, stage && !i ? 2 : 1,
                                               plan->bottleneck, kind});
        }
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group = 5;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* ---- wide resnet of 6n+4 layers -------------------------------------------------------------- */

static int pre_activated(struct orch_net_builder *b, int x, const char *name)
{
    return orch_net_relu(b, orch_net_batchnorm(b, x, "%s", name));
}

static int wide_conv(struct orch_net_builder *b, int x, int64_t out, int kernel, int stride,
                     const char *name)
{
    return orch_net_conv(
        b, x,
        (struct orch_conv){out, kernel, stride, kernel / 2, 1, false, ORCH_CONV_KAIMING_FAN_IN},
        "%s", name);
}

/* Zagoruyko and Komodakis 2016: pre-activation, shortcuts by 1x1 convolutions. `variant`: depth *
 * 100 + widening. */
void orch_net_build_wide_resnet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    int blocks = (variant / 100 - 4) / 6, widening = variant % 100;
    int x = wide_conv(b, 0, 16, 3, 1, "conv1");
    for (int stage = 0; stage < 3; stage++) {
        b->group = stage + 1;
        for (int i = 0; i < blocks; i++) {
            char name[5][64];
            static const char *const PARTS[] = {"bn1", "conv1", "bn2", "conv2", "shortcut"};
            for (int k = 0; k < 5; k++)
                g_snprintf(name[k], sizeof name[k], "block%d.%d.%s", stage + 1, i, PARTS[k]);
            int64_t out = ((int64_t)16 << stage) * widening;
            int stride = stage && !i ? 2 : 1;
            int active = pre_activated(b, x, name[0]);
            int y = wide_conv(b, active, out, 3, stride, name[1]);
            y = wide_conv(b, pre_activated(b, y, name[2]), out, 3, 1, name[3]);
            bool changes = stride != 1 || channels_of(b, x) != out;
            x = orch_net_add(b, y, changes ? wide_conv(b, active, out, 1, stride, name[4]) : x);
        }
    }
    x = orch_net_adaptive_avgpool(b, pre_activated(b, x, "bn1"), 1, 1);
    b->group = 4;
    orch_net_linear(b, orch_net_flatten(b, x), b->net->classes, 0, "fc");
}

/* ---- densenet -------------------------------------------------------------------------------- */

static int dense_conv(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                      int pad, const char *prefix, const char *name)
{
    return orch_net_conv(
        b, in, (struct orch_conv){out, kernel, stride, pad, 1, false, ORCH_CONV_KAIMING_FAN_IN},
        "%s%s", prefix, name);
}

static int dense_norm(struct orch_net_builder *b, int in, const char *prefix, const char *name)
{
    return orch_net_relu(b, orch_net_batchnorm(b, in, "%s%s", prefix, name));
}

/* Huang et al. 2017, growth 32, as in torchvision. */
void orch_net_build_densenet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    static const int LAYERS[2][4] = {{6, 12, 24, 16}, {6, 12, 32, 32}};
    const int *layers = LAYERS[variant == 169];
    int x =
        dense_norm(b, dense_conv(b, 0, 64, 7, 2, 3, "features.", "conv0"), "features.", "norm0");
    x = orch_net_maxpool(b, x, 3, 2, 1);
    for (int block = 1; block <= 4; block++) {
        char prefix[64];
        b->group = block;
        for (int i = 1; i <= layers[block - 1]; i++) {
            g_snprintf(prefix, sizeof prefix, "features.denseblock%d.denselayer%d.", block, i);
            int y = dense_conv(b, dense_norm(b, x, prefix, "norm1"), 128, 1, 1, 0, prefix, "conv1");
            y = dense_conv(b, dense_norm(b, y, prefix, "norm2"), 32, 3, 1, 1, prefix, "conv2");
            int parts[2] = {x, y};
            x = orch_net_concat(b, parts, 2);
        }
        if (block < 4) {
            g_snprintf(prefix, sizeof prefix, "features.transition%d.", block);
            x = dense_norm(b, x, prefix, "norm");
            x = dense_conv(b, x, channels_of(b, x) / 2, 1, 1, 0, prefix, "conv");
            x = orch_net_avgpool(b, x, 2, 2);
        }
    }
    x = orch_net_adaptive_avgpool(b, dense_norm(b, x, "features.", "norm5"), 1, 1);
    b->group = 5;
    int64_t features = channels_of(b, x);
    x = orch_net_linear(b, orch_net_flatten(b, x), b->net->classes, 0, "classifier");
    orch_net_linear_uniform(b, x, 1 / sqrt((double)features));
}
