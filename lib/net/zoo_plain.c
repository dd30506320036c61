/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: sequential networks, with torchvision's layer names if it has the network. */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

/* ---- lenet, mlp ---------------------------------------------------------------------------- */

/* LeCun et al. 1998, as commonly taught: 5x5 convolutions, tanh, average pooling; padded by 2 for
 * 28x28. */
void orch_net_build_lenet5(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int pad = b->net->input.h < 32 ? 2 : 0;
    int x =
        orch_net_conv(b, 0, (struct orch_conv){6, 5, 1, pad, 1, true, ORCH_CONV_DEFAULT}, "conv1");
    x = orch_net_avgpool(b, orch_net_tanh(b, x), 2, 2);
    b->group = 1;
    x = orch_net_conv(b, x, (struct orch_conv){16, 5, 1, 0, 1, true, ORCH_CONV_DEFAULT}, "conv2");
    x = orch_net_flatten(b, orch_net_avgpool(b, orch_net_tanh(b, x), 2, 2));
    b->group = 2;
    x = orch_net_tanh(b, orch_net_linear(b, x, 120, 0, "fc1"));
    x = orch_net_tanh(b, orch_net_linear(b, x, 84, 0, "fc2"));
    b->group = 3;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* Fully connected layers with ReLU; the argument lists the hidden sizes. */
void orch_net_build_mlp(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    g_auto(GStrv) words = g_strsplit(argument ? argument : "512,256", ",", -1);
    int x = orch_net_flatten(b, 0);
    for (int i = 0; words[i]; i++) {
        int64_t size;
        if (!orch_int_parse(words[i], &size) || size < 1 || size > 65536 || i >= 16) {
            orch_error_set(
                &b->error, ORCH_ERROR_RECIPE, "for example mlp:512,256",
                "network '%s': '%s' is not a size between 1 and 65536 (at most 16 layers)",
                b->net->name, words[i]);
            return;
        }
        b->group = i;
        x = orch_net_relu(b, orch_net_linear(b, x, size, 0, "fc%d", i + 1));
    }
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* ---- alexnet ------------------------------------------------------------------------------- */

/* A convolution with bias and ReLU, with PyTorch's default initialisation. */
static int conv_relu(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
                     int pad, int groups, const char *name)
{
    return orch_net_relu(b, orch_net_conv(b, in,
                                          (struct orch_conv){out, kernel, stride, pad, groups, true,
                                                             ORCH_CONV_DEFAULT},
                                          "%s", name));
}

/* Krizhevsky 2014 ("one weird trick"), as in torchvision. */
void orch_net_build_alexnet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int x = orch_net_maxpool(b, conv_relu(b, 0, 64, 11, 4, 2, 1, "features.0"), 3, 2, 0);
    b->group++;
    x = orch_net_maxpool(b, conv_relu(b, x, 192, 5, 1, 2, 1, "features.3"), 3, 2, 0);
    b->group++;
    x = conv_relu(b, x, 384, 3, 1, 1, 1, "features.6");
    x = conv_relu(b, x, 256, 3, 1, 1, 1, "features.8");
    x = orch_net_maxpool(b, conv_relu(b, x, 256, 3, 1, 1, 1, "features.10"), 3, 2, 0);
    b->group++;
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 6, 6));
    x = orch_net_relu(b, orch_net_linear(b, orch_net_dropout(b, x, 0.5), 4096, 0, "classifier.1"));
    x = orch_net_relu(b, orch_net_linear(b, orch_net_dropout(b, x, 0.5), 4096, 0, "classifier.4"));
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0, "classifier.6");
}

/* Krizhevsky 2014 without padding of the first layer, its dense layers as convolutions: the AlexNet
 * of TF-Slim (alexnet_v2), which PALEO evaluates. `variant`: the channels of the fourth
 * convolution, TF-Slim's 384, or 256 as in the paper (PALEO's network for hybrid parallelism). */
void orch_net_build_alexnet_v2(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    int x = orch_net_maxpool(b, conv_relu(b, 0, 64, 11, 4, 0, 1, "conv1"), 3, 2, 0);
    b->group++;
    x = orch_net_maxpool(b, conv_relu(b, x, 192, 5, 1, 2, 1, "conv2"), 3, 2, 0);
    b->group++;
    x = conv_relu(b, x, 384, 3, 1, 1, 1, "conv3");
    x = conv_relu(b, x, variant, 3, 1, 1, 1, "conv4");
    x = orch_net_maxpool(b, conv_relu(b, x, 256, 3, 1, 1, 1, "conv5"), 3, 2, 0);
    b->group++;
    x = orch_net_dropout(b, conv_relu(b, x, 4096, 5, 1, 0, 1, "fc6"), 0.5);
    x = orch_net_dropout(b, conv_relu(b, x, 4096, 1, 1, 0, 1, "fc7"), 0.5);
    b->group++;
    const struct orch_conv last = {b->net->classes, 1, 1, 0, 1, true, ORCH_CONV_DEFAULT};
    orch_net_flatten(b, orch_net_conv(b, x, last, "fc8"));
}

/* Krizhevsky et al. 2012: two groups, local response normalisation before the pools, 227x227. */
void orch_net_build_alexnet_grouped(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int x = orch_net_lrn(b, conv_relu(b, 0, 96, 11, 4, 0, 1, "conv1"), 5);
    x = orch_net_maxpool(b, x, 3, 2, 0);
    b->group++;
    x = orch_net_lrn(b, conv_relu(b, x, 256, 5, 1, 2, 2, "conv2"), 5);
    x = orch_net_maxpool(b, x, 3, 2, 0);
    b->group++;
    x = conv_relu(b, x, 384, 3, 1, 1, 1, "conv3");
    x = conv_relu(b, x, 384, 3, 1, 1, 2, "conv4");
    x = orch_net_maxpool(b, conv_relu(b, x, 256, 3, 1, 1, 2, "conv5"), 3, 2, 0);
    b->group++;
    x = orch_net_flatten(b, x);
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0, "fc6")), 0.5);
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0, "fc7")), 0.5);
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0, "fc8");
}

/* ---- squeezenet ---------------------------------------------------------------------------- */

static int squeeze_conv(struct orch_net_builder *b, int in, int64_t out, int kernel, int pad,
                        const char *prefix, const char *name)
{
    return orch_net_relu(b, orch_net_conv(b, in,
                                          (struct orch_conv){out, kernel, 1, pad, 1, true,
                                                             ORCH_CONV_KAIMING_UNIFORM},
                                          "%s.%s", prefix, name));
}

static int fire(struct orch_net_builder *b, int in, int module, int64_t squeeze, int64_t expand)
{
    char prefix[32];
    g_snprintf(prefix, sizeof prefix, "features.%d", module);
    int x = squeeze_conv(b, in, squeeze, 1, 0, prefix, "squeeze");
    int parts[2] = {squeeze_conv(b, x, expand, 1, 0, prefix, "expand1x1"),
                    squeeze_conv(b, x, expand, 3, 1, prefix, "expand3x3")};
    return orch_net_concat(b, parts, 2);
}

/* Iandola et al. 2016; `variant` 0: 1.0, 1: 1.1, which pools earlier. */
void orch_net_build_squeezenet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    static const struct {
        int squeeze, expand;
    } FIRES[] = {{16, 64},  {16, 64},  {32, 128}, {32, 128},
                 {48, 192}, {48, 192}, {64, 256}, {64, 256}};
    /* whether a pool precedes each fire module */
    static const bool POOLS[2][8] = {{true, false, false, true, false, false, false, true},
                                     {true, false, true, false, true, false, false, false}};
    struct orch_conv first = {variant ? 64 : 96,        variant ? 3 : 7, 2, 0, 1, true,
                              ORCH_CONV_KAIMING_UNIFORM};
    int x = orch_net_relu(b, orch_net_conv(b, 0, first, "features.0"));
    int module = 2;
    for (int i = 0; i < 8; i++) {
        if (POOLS[variant][i]) {
            x = orch_net_maxpool_ceil(b, x, 3, 2, 0);
            module++;
            b->group++;
        }
        x = fire(b, x, module++, FIRES[i].squeeze, FIRES[i].expand);
    }
    x = orch_net_dropout(b, x, 0.5);
    b->group++;
    struct orch_conv last = {b->net->classes, 1, 1, 0, 1, true, ORCH_CONV_NORMAL_0_01};
    x = orch_net_relu(b, orch_net_conv(b, x, last, "classifier.1"));
    orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
}

/* ---- nature-dqn ---------------------------------------------------------------------------- */

/* Mnih et al. 2015: four frames of 84x84; the classes are the actions. */
void orch_net_build_nature_dqn(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int x = conv_relu(b, 0, 32, 8, 4, 0, 1, "conv1");
    x = conv_relu(b, x, 64, 4, 2, 0, 1, "conv2");
    x = conv_relu(b, x, 64, 3, 1, 0, 1, "conv3");
    b->group = 1;
    x = orch_net_relu(b, orch_net_linear(b, orch_net_flatten(b, x), 512, 0, "fc1"));
    b->group = 2;
    orch_net_linear(b, x, b->net->classes, 0, "fc2");
}

/* Young and Tian 2019 (MinAtar): planes of 10x10; the classes are the actions. */
void orch_net_build_minatar_dqn(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int x = conv_relu(b, 0, 16, 3, 1, 0, 1, "conv");
    b->group = 1;
    x = orch_net_relu(b, orch_net_linear(b, orch_net_flatten(b, x), 128, 0, "fc_hidden"));
    b->group = 2;
    orch_net_linear(b, x, b->net->classes, 0, "output");
}

/* ---- vgg ----------------------------------------------------------------------------------- */

/* Simonyan and Zisserman 2014, table 1; 0 is a max pool. `variant`: depth, plus 100 with batch
 * norm. */
static const struct vgg_plan {
    int depth, channels[22];
} VGGS[] = {
    {11, {64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1}},
    {13, {64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1}},
    {16, {64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0, -1}},
    {19, {64,  64,  0,   128, 128, 0,   256, 256, 256, 256, 0,
          512, 512, 512, 512, 0,   512, 512, 512, 512, 0,   -1}},
};

void orch_net_build_vgg(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    bool norm = variant > 100;
    const struct vgg_plan *plan = VGGS;
    while (plan->depth != variant % 100)
        plan++;
    int x = 0, module = 0;
    for (const int *c = plan->channels; *c >= 0; c++) {
        if (*c == 0) {
            x = orch_net_maxpool(b, x, 2, 2, 0);
            b->group++;
            module++;
            continue;
        }
        x = orch_net_conv(b, x, (struct orch_conv){*c, 3, 1, 1, 1, true, ORCH_CONV_KAIMING_FAN_OUT},
                          "features.%d", module++);
        if (norm)
            x = orch_net_batchnorm(b, x, "features.%d", module++);
        x = orch_net_relu(b, x);
        module++;
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 7, 7));
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0.01, "classifier.0")),
                         0.5);
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 4096, 0.01, "classifier.3")),
                         0.5);
    b->group++;
    orch_net_linear(b, x, b->net->classes, 0.01, "classifier.6");
}
