/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Architectures as in torchvision, from the papers: He et al. 2015 (ResNet-200: 3, 24, 36, 3
 * blocks), Xie et al. 2017, Zagoruyko and Komodakis 2016, Huang et al. 2017, Tan et al. 2019
 * (MnasNet), Ma et al. 2018 (ShuffleNet v2; splitting and shuffling channels costs nothing). */
#include "predictors/features/features_nets.h"

#include "lib/net/build.h"

#include <string.h>

static int64_t channels_of(const struct orch_net_builder *b, int id)
{
    return id < 0 ? 0 : orch_net_node(b->net, id)->out.c;
}

static int conv_bn(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                   int64_t groups)
{
    int id = orch_net_conv(
        b, in,
        (struct orch_conv){out, kernel, stride, kernel / 2, (int)groups, false, ORCH_CONV_DEFAULT},
        "conv%u", b->net->nodes->len);
    return orch_net_batchnorm(b, id, "bn%u", b->net->nodes->len);
}

static int conv_bn_relu(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                        int64_t groups)
{
    return orch_net_relu(b, conv_bn(b, in, out, kernel, stride, groups));
}

static void classify(struct orch_net_builder *b, int in)
{
    int x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, in, 1, 1));
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* ---- bottleneck resnets ------------------------------------------------------------------------
 */

struct plan {
    const char *key;
    void (*build)(struct orch_net_builder *b, const struct plan *p);
    int numbers[6];
};

/* numbers: blocks of the four stages, groups, channels per group in the first stage */
static void build_resnet(struct orch_net_builder *b, const struct plan *p)
{
    int x = orch_net_maxpool(b, conv_bn_relu(b, 0, 64, 7, 2, 1), 3, 2, 1);
    for (int stage = 0; stage < 4; stage++) {
        int64_t width = (int64_t)p->numbers[4] * p->numbers[5] << stage, out = 256 << stage;
        for (int i = 0; i < p->numbers[stage]; i++) {
            int stride = stage && !i ? 2 : 1;
            int y = conv_bn_relu(b, x, width, 1, 1, 1);
            y = conv_bn_relu(b, y, width, 3, stride, p->numbers[4]);
            y = conv_bn(b, y, out, 1, 1, 1);
            int shortcut = i ? x : conv_bn(b, x, out, 1, stride, 1);
            x = orch_net_relu(b, orch_net_add(b, y, shortcut));
        }
    }
    classify(b, x);
}

/* numbers: layers of the four blocks, growth rate, channels of the stem */
static void build_densenet(struct orch_net_builder *b, const struct plan *p)
{
    int64_t growth = p->numbers[4];
    int x = orch_net_maxpool(b, conv_bn_relu(b, 0, p->numbers[5], 7, 2, 1), 3, 2, 1);
    for (int block = 0; block < 4; block++) {
        for (int i = 0; i < p->numbers[block]; i++) {
            int y = orch_net_relu(b, orch_net_batchnorm(b, x, "norm%u", b->net->nodes->len));
            y = conv_bn_relu(b, y, 4 * growth, 1, 1, 1);
            y = orch_net_conv(b, y,
                              (struct orch_conv){growth, 3, 1, 1, 1, false, ORCH_CONV_DEFAULT},
                              "conv%u", b->net->nodes->len);
            int parts[2] = {x, y};
            x = orch_net_concat(b, parts, 2);
        }
        x = orch_net_relu(b, orch_net_batchnorm(b, x, "norm%u", b->net->nodes->len));
        if (block == 3)
            break;
        x = orch_net_conv(
            b, x, (struct orch_conv){channels_of(b, x) / 2, 1, 1, 0, 1, false, ORCH_CONV_DEFAULT},
            "conv%u", b->net->nodes->len);
        x = orch_net_avgpool(b, x, 2, 2);
    }
    classify(b, x);
}

/* ---- mnasnet -----------------------------------------------------------------------------------
 */

/* Rounds to a multiple of 8, to at least 90 % of the value. */
static int64_t by_eight(double channels)
{
    int64_t rounded = MAX(8, (int64_t)(channels + 4) / 8 * 8);
    return (double)rounded >= 0.9 * channels ? rounded : rounded + 8;
}

/* numbers: width multiplier in percent */
static void build_mnasnet(struct orch_net_builder *b, const struct plan *p)
{
    static const struct {
        int kernel, stride, expansion, out, repeats;
    } STACKS[] = {{3, 2, 3, 24, 3}, {5, 2, 3, 40, 3},  {5, 2, 6, 80, 3},
                  {3, 1, 6, 96, 2}, {5, 2, 6, 192, 4}, {3, 1, 6, 320, 1}};
    double width = p->numbers[0] / 100.0;
    int64_t stem = by_eight(32 * width);
    int x = conv_bn_relu(b, 0, stem, 3, 2, 1);
    x = conv_bn_relu(b, x, stem, 3, 1, stem);
    x = conv_bn(b, x, by_eight(16 * width), 1, 1, 1);
    for (size_t s = 0; s < G_N_ELEMENTS(STACKS); s++) {
        for (int i = 0; i < STACKS[s].repeats; i++) {
            int64_t in = channels_of(b, x), middle = in * STACKS[s].expansion;
            int y = conv_bn_relu(b, x, middle, 1, 1, 1);
            y = conv_bn_relu(b, y, middle, STACKS[s].kernel, i ? 1 : STACKS[s].stride, middle);
            y = conv_bn(b, y, by_eight(STACKS[s].out * width), 1, 1, 1);
            x = i ? orch_net_add(b, y, x) : y;
        }
    }
    classify(b, conv_bn_relu(b, x, 1280, 1, 1, 1));
}

/* ---- shufflenet v2 -----------------------------------------------------------------------------
 */

static int renamed(struct orch_net_builder *b, int in, int64_t channels, const char *what)
{
    if (in < 0)
        return in;
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    shape.c = channels;
    return orch_net_generic(b, &in, 1, shape, what);
}

static int shuffle_unit(struct orch_net_builder *b, int x, int64_t out, int stride)
{
    int64_t half = out / 2;
    int left = renamed(b, x, half, "split"), right = stride == 1 ? renamed(b, x, half, "split") : x;
    if (stride == 2) {
        left = conv_bn(b, x, channels_of(b, x), 3, 2, channels_of(b, x));
        left = conv_bn_relu(b, left, half, 1, 1, 1);
    }
    right = conv_bn_relu(b, right, half, 1, 1, 1);
    right = conv_bn(b, right, half, 3, stride, half);
    right = conv_bn_relu(b, right, half, 1, 1, 1);
    int parts[2] = {left, right};
    return renamed(b, orch_net_concat(b, parts, 2), out, "shuffle");
}

/* numbers: channels of the stages and of the last layer */
static void build_shufflenet(struct orch_net_builder *b, const struct plan *p)
{
    static const int REPEATS[] = {4, 8, 4};
    int x = orch_net_maxpool(b, conv_bn_relu(b, 0, 24, 3, 2, 1), 3, 2, 1);
    for (int stage = 0; stage < 3; stage++)
        for (int i = 0; i < REPEATS[stage]; i++)
            x = shuffle_unit(b, x, p->numbers[stage], i ? 1 : 2);
    classify(b, conv_bn_relu(b, x, p->numbers[3], 1, 1, 1));
}

/* ---- all ---------------------------------------------------------------------------------------
 */

static const struct plan PLANS[] = {
    {"resnet200", build_resnet, {3, 24, 36, 3, 1, 64}},
    {"resnext10132x8d", build_resnet, {3, 4, 23, 3, 32, 8}},
    {"wideresnet1012", build_resnet, {3, 4, 23, 3, 1, 128}},
    {"densenet161", build_densenet, {6, 12, 36, 24, 48, 96}},
    {"densenet201", build_densenet, {6, 12, 48, 32, 32, 64}},
    {"mnasnet05", build_mnasnet, {50}},
    {"mnasnet075", build_mnasnet, {75}},
    {"mnasnet10", build_mnasnet, {100}},
    {"mnasnet13", build_mnasnet, {130}},
    {"shufflenetv2x05", build_shufflenet, {48, 96, 192, 1024}},
    {"shufflenetv2x10", build_shufflenet, {116, 232, 464, 1024}},
    {"shufflenetv2x15", build_shufflenet, {176, 352, 704, 1024}},
    {"shufflenetv2x20", build_shufflenet, {244, 488, 976, 2048}},
};

struct orch_net *orch_counted_net(const char *key, int64_t side)
{
    struct orch_net_shape input = {3, side > 0 ? side : 224, side > 0 ? side : 224};
    for (size_t i = 0; i < G_N_ELEMENTS(PLANS); i++) {
        struct orch_net_builder b;
        if (strcmp(PLANS[i].key, key) != 0)
            continue;
        orch_net_builder_init(&b, key, "counted", input, 1000);
        PLANS[i].build(&b, &PLANS[i]);
        return orch_net_builder_finish(&b, NULL);
    }
    return NULL;
}
