/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: networks with depthwise convolutions, with torchvision's layer names if it has the
 * network. */
#include "lib/net/zoo.h"

#include <math.h>

static int64_t channels_of(const struct orch_net_builder *b, int id)
{
    return id < 0 ? 0 : orch_net_node(b->net, id)->out.c;
}

/* Convolution and batch norm (PREFIX.0 and PREFIX.1), padded to preserve the size at stride 1. */
static int conv_bn(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                   int64_t groups, const char *prefix)
{
    int x = orch_net_conv(b, in,
                          (struct orch_conv){out, kernel, stride, kernel / 2, (int)groups, false,
                                             ORCH_CONV_KAIMING_FAN_OUT},
                          "%s.0", prefix);
    return orch_net_batchnorm(b, x, "%s.1", prefix);
}

/* ---- mobilenet v1 and its detector ------------------------------------------------------------
 */

/* Howard et al. 2017, table 1. Returns the last node; *out_eleventh is the one with 512 channels
 * that the detector reads. */
static int mobilenet_body(struct orch_net_builder *b, int *out_eleventh)
{
    static const struct {
        int out, stride;
    } LAYERS[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    int x = orch_net_relu(b, conv_bn(b, 0, 32, 3, 2, 1, "features.0"));
    for (int i = 0; i < (int)G_N_ELEMENTS(LAYERS); i++) {
        char prefix[32];
        b->group += LAYERS[i].stride == 2;
        g_snprintf(prefix, sizeof prefix, "features.%d.depthwise", i + 1);
        int64_t in = channels_of(b, x);
        x = orch_net_relu(b, conv_bn(b, x, in, 3, LAYERS[i].stride, in, prefix));
        g_snprintf(prefix, sizeof prefix, "features.%d.pointwise", i + 1);
        x = orch_net_relu(b, conv_bn(b, x, LAYERS[i].out, 1, 1, 1, prefix));
        if (i == 10)
            *out_eleventh = x;
    }
    return x;
}

void orch_net_build_mobilenet_v1(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int eleventh;
    int x = orch_net_adaptive_avgpool(b, mobilenet_body(b, &eleventh), 1, 1);
    b->group++;
    orch_net_linear(b, orch_net_flatten(b, x), b->net->classes, 0, "fc");
}

/* Liu et al. 2016 on MobileNet v1, 300x300, 1x1 predictors on six maps, as in TensorFlow's
 * detection models. The outputs are, for each map, 'boxes.I' (4 coordinates for each anchor) and
 * 'scores.I' (a score per class for each anchor). The last node concatenates them. */
void orch_net_build_ssd_mobilenet_v1(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    static const int EXTRAS[4][2] = {{256, 512}, {128, 256}, {128, 256}, {64, 128}};
    int maps[6], parts[12];
    maps[1] = mobilenet_body(b, &maps[0]);
    b->group++;
    for (int i = 0; i < 4; i++) {
        char prefix[32];
        g_snprintf(prefix, sizeof prefix, "extras.%d.reduce", i);
        int x = orch_net_relu(b, conv_bn(b, maps[i + 1], EXTRAS[i][0], 1, 1, 1, prefix));
        g_snprintf(prefix, sizeof prefix, "extras.%d.shrink", i);
        maps[i + 2] = orch_net_relu(b, conv_bn(b, x, EXTRAS[i][1], 3, 2, 1, prefix));
    }
    b->group++;
    for (int i = 0; i < 6; i++) {
        int64_t anchors = i ? 6 : 3;
        struct orch_conv box = {4 * anchors, 1, 1, 0, 1, true, ORCH_CONV_DEFAULT};
        struct orch_conv score = {b->net->classes * anchors, 1, 1, 0, 1, true, ORCH_CONV_DEFAULT};
        int boxes = orch_net_conv(b, maps[i], box, "boxes.%d", i);
        int scores = orch_net_conv(b, maps[i], score, "scores.%d", i);
        orch_net_declare_output(b, boxes);
        orch_net_declare_output(b, scores);
        parts[2 * i] = orch_net_flatten(b, boxes);
        parts[2 * i + 1] = orch_net_flatten(b, scores);
    }
    orch_net_concat(b, parts, 12);
}

/* ---- mobilenet v2 ---------------------------------------------------------------------------- */

static int relu6(struct orch_net_builder *b, int in)
{
    return orch_net_activation(b, in, ORCH_NET_RELU6);
}

/* Sandler et al. 2018, table 2. */
static int inverted_residual(struct orch_net_builder *b, int in, int64_t out, int stride,
                             int expand, int index)
{
    char prefix[48];
    int part = 0, x = in;
    int64_t hidden = channels_of(b, in) * expand;
    if (expand != 1) {
        g_snprintf(prefix, sizeof prefix, "features.%d.conv.%d", index, part++);
        x = relu6(b, conv_bn(b, x, hidden, 1, 1, 1, prefix));
    }
    g_snprintf(prefix, sizeof prefix, "features.%d.conv.%d", index, part++);
    x = relu6(b, conv_bn(b, x, hidden, 3, stride, hidden, prefix));
    x = orch_net_conv(b, x, (struct orch_conv){out, 1, 1, 0, 1, false, ORCH_CONV_KAIMING_FAN_OUT},
                      "features.%d.conv.%d", index, part);
    x = orch_net_batchnorm(b, x, "features.%d.conv.%d", index, part + 1);
    return stride == 1 && channels_of(b, in) == out ? orch_net_add(b, in, x) : x;
}

void orch_net_build_mobilenet_v2(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    static const struct {
        int expand, out, repeat, stride;
    } STAGES[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int x = relu6(b, conv_bn(b, 0, 32, 3, 2, 1, "features.0"));
    int index = 1;
    for (unsigned i = 0; i < G_N_ELEMENTS(STAGES); i++) {
        b->group += STAGES[i].stride == 2;
        for (int k = 0; k < STAGES[i].repeat; k++)
            x = inverted_residual(b, x, STAGES[i].out, k ? 1 : STAGES[i].stride, STAGES[i].expand,
                                  index++);
    }
    x = relu6(b, conv_bn(b, x, 1280, 1, 1, 1, "features.18"));
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group++;
    orch_net_linear(b, orch_net_dropout(b, x, 0.2), b->net->classes, 0.01, "classifier.1");
}

/* ---- efficientnet ---------------------------------------------------------------------------- */

struct mbconv {
    int expand, kernel, stride;
    int64_t out;
    double drop;
    int stage, index;
};

static int silu(struct orch_net_builder *b, int in)
{
    return orch_net_activation(b, in, ORCH_NET_SILU);
}

static int squeeze_excite(struct orch_net_builder *b, int in, int64_t squeezed, const char *prefix)
{
    int64_t channels = channels_of(b, in);
    struct orch_conv down = {squeezed, 1, 1, 0, 1, true, ORCH_CONV_KAIMING_FAN_OUT};
    struct orch_conv up = {channels, 1, 1, 0, 1, true, ORCH_CONV_KAIMING_FAN_OUT};
    int x = orch_net_adaptive_avgpool(b, in, 1, 1);
    x = silu(b, orch_net_conv(b, x, down, "%s.fc1", prefix));
    x = orch_net_conv(b, x, up, "%s.fc2", prefix);
    return orch_net_mul(b, in, orch_net_activation(b, x, ORCH_NET_SIGMOID));
}

static int mbconv(struct orch_net_builder *b, int in, const struct mbconv *m)
{
    char prefix[64];
    int part = 0, x = in;
    int64_t channels = channels_of(b, in), hidden = channels * m->expand;
#define PART()                                                                                     \
    (g_snprintf(prefix, sizeof prefix, "features.%d.%d.block.%d", m->stage, m->index, part++),     \
     prefix)
    if (m->expand != 1)
        x = silu(b, conv_bn(b, x, hidden, 1, 1, 1, PART()));
    x = silu(b, conv_bn(b, x, hidden, m->kernel, m->stride, hidden, PART()));
    x = squeeze_excite(b, x, MAX(1, channels / 4), PART());
    x = conv_bn(b, x, m->out, 1, 1, 1, PART());
#undef PART
    if (m->stride != 1 || channels != m->out)
        return x;
    return orch_net_add(b, orch_net_stochastic_depth(b, x, m->drop), in);
}

/* Tan and Le 2019, as in torchvision. */
void orch_net_build_efficientnet_b0(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    static const struct {
        int expand, kernel, stride, out, repeat;
    } STAGES[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                  {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
    int blocks = 0, done = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(STAGES); i++)
        blocks += STAGES[i].repeat;
    int x = silu(b, conv_bn(b, 0, 32, 3, 2, 1, "features.0"));
    for (int i = 0; i < (int)G_N_ELEMENTS(STAGES); i++) {
        b->group += STAGES[i].stride == 2;
        for (int k = 0; k < STAGES[i].repeat; k++)
            x = mbconv(b, x,
                       &(struct mbconv){STAGES[i].expand, STAGES[i].kernel,
                                        k ? 1 : STAGES[i].stride, STAGES[i].out,
                                        0.2 * done++ / blocks, i + 1, k});
    }
    x = silu(b, conv_bn(b, x, 1280, 1, 1, 1, "features.8"));
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    b->group++;
    x = orch_net_linear(b, orch_net_dropout(b, x, 0.2), b->net->classes, 0, "classifier.1");
    orch_net_linear_uniform(b, x, 1 / sqrt((double)b->net->classes));
}
