/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: single-shot detectors (Liu et al. 2016) with the layer names of pytorch-ssd, so that
 * its weights can be loaded by name. The outputs are, for each feature map from the finest on,
 * 'regression_headers.I' (4 coordinates for each of the 6 priors of a cell) and
 * 'classification_headers.I' (a score per class, background included, for each of them). */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

/** Priors of each cell. */
enum { PRIORS = 6 };

/* Convolution, batch norm and ReLU: modules PREFIX.FIRST and PREFIX.(FIRST + 1). */
static int conv_bn_relu(struct orch_net_builder *b, int in, struct orch_conv conv,
                        const char *prefix, int first)
{
    conv.init = ORCH_CONV_KAIMING_FAN_OUT;
    int x = orch_net_conv(b, in, conv, "%s.%d", prefix, first);
    return orch_net_relu(b, orch_net_batchnorm(b, x, "%s.%d", prefix, first + 1));
}

/* A 1x1 convolution to `narrow` channels, then a 3x3 one with stride 2 to `out`, without batch
 * norm: modules extras.INDEX.0 and .2. */
static int extra(struct orch_net_builder *b, int in, int64_t narrow, int64_t out, int index)
{
    struct orch_conv reduce = {narrow, 1, 1, 0, 1, true, ORCH_CONV_DEFAULT};
    struct orch_conv shrink = {out, 3, 2, 1, 1, true, ORCH_CONV_DEFAULT};
    int x = orch_net_relu(b, orch_net_conv(b, in, reduce, "extras.%d.0", index));
    return orch_net_relu(b, orch_net_conv(b, x, shrink, "extras.%d.2", index));
}

/* The predictors on all maps, in a layer group of their own. */
static void heads(struct orch_net_builder *b, const int *maps, int count)
{
    struct orch_conv box = {4 * PRIORS, 3, 1, 1, 1, true, ORCH_CONV_DEFAULT};
    struct orch_conv score = {b->net->classes * PRIORS, 3, 1, 1, 1, true, ORCH_CONV_DEFAULT};
    b->group++;
    for (int i = 0; i < count; i++) {
        orch_net_declare_output(b, orch_net_conv(b, maps[i], box, "regression_headers.%d", i));
        orch_net_declare_output(b,
                                orch_net_conv(b, maps[i], score, "classification_headers.%d", i));
    }
}

void orch_net_build_mobilenet_v1_ssd(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    static const struct {
        int in, out, stride;
    } LAYERS[] = {{32, 64, 1},   {64, 128, 2},   {128, 128, 1},  {128, 256, 2}, {256, 256, 1},
                  {256, 512, 2}, {512, 512, 1},  {512, 512, 1},  {512, 512, 1}, {512, 512, 1},
                  {512, 512, 1}, {512, 1024, 2}, {1024, 1024, 1}};
    static const int EXTRAS[4][2] = {{256, 512}, {128, 256}, {128, 256}, {128, 256}};
    int maps[6];
    int x = conv_bn_relu(b, 0, (struct orch_conv){.out = 32, .kernel = 3, .stride = 2, .pad = 1},
                         "base_net.0", 0);
    for (int i = 0; i < (int)G_N_ELEMENTS(LAYERS); i++) {
        char prefix[32];
        struct orch_conv depth = {LAYERS[i].in, 3, LAYERS[i].stride, 1, LAYERS[i].in, false, 0};
        g_snprintf(prefix, sizeof prefix, "base_net.%d", i + 1);
        b->group += LAYERS[i].stride == 2;
        x = conv_bn_relu(b, x, depth, prefix, 0);
        x = conv_bn_relu(b, x, (struct orch_conv){.out = LAYERS[i].out, .kernel = 1, .stride = 1},
                         prefix, 3);
        if (i == 10)
            maps[0] = x;
    }
    maps[1] = x;
    b->group++;
    for (int i = 0; i < 4; i++)
        maps[i + 2] = extra(b, maps[i + 1], EXTRAS[i][0], EXTRAS[i][1], i);
    heads(b, maps, 6);
}

/* Width of the first layer: 4 to 256. */
static bool parse_width(struct orch_net_builder *b, const char *argument, int64_t *out)
{
    *out = 16;
    if (!argument || (orch_int_parse(argument, out) && *out >= 4 && *out <= 256))
        return true;
    orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                   "give the channels of the first layer: ssd-small:16",
                   "network '%s': a width of 4 to 256 is expected after the colon", b->net->name);
    return false;
}

/* For images of 64 to 160 pixels: maps of 1/8, 1/16 and 1/32 of the image's side. */
void orch_net_build_ssd_small(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    static const struct {
        int widths, stride;
    } LAYERS[] = {{1, 2}, {2, 2}, {2, 1}, {4, 2}, {4, 1}, {8, 2}, {8, 1}};
    int64_t width;
    int maps[3], x = 0;
    if (!parse_width(b, argument, &width))
        return;
    for (int i = 0; i < (int)G_N_ELEMENTS(LAYERS); i++) {
        char prefix[32];
        struct orch_conv conv = {
            .out = LAYERS[i].widths * width, .kernel = 3, .stride = LAYERS[i].stride, .pad = 1};
        g_snprintf(prefix, sizeof prefix, "base_net.%d", i);
        b->group += i > 0 && LAYERS[i].stride == 2;
        x = conv_bn_relu(b, x, conv, prefix, 0);
        if (i == 4)
            maps[0] = x;
    }
    maps[1] = x;
    b->group++;
    maps[2] = extra(b, x, 4 * width, 8 * width, 0);
    heads(b, maps, 3);
}
