/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builder: ConvNeXt (Liu et al. 2022) as torchvision has it; counted only. */
#include "lib/net/zoo.h"

struct plan {
    int depths[4];
    int64_t widths[4];
};

static const struct plan PLANS[] = {
    {{3, 3, 9, 3}, {96, 192, 384, 768}},    /* tiny */
    {{3, 3, 27, 3}, {96, 192, 384, 768}},   /* small */
    {{3, 3, 27, 3}, {128, 256, 512, 1024}}, /* base */
    {{3, 3, 27, 3}, {192, 384, 768, 1536}}, /* large */
};

/* A 7x7 convolution of each channel by itself, then two layers over the channels. */
static int add_block(struct orch_net_builder *b, int x, int64_t width, const char *name)
{
    struct orch_conv conv = {.out = width,
                             .kernel = 7,
                             .stride = 1,
                             .pad = 3,
                             .groups = (int)width,
                             .bias = true,
                             .init = ORCH_CONV_DEFAULT};
    int y = orch_net_conv(b, x, conv, "%s.block.0", name);
    y = orch_net_layernorm(b, y, "%s.block.2", name);
    y = orch_net_token_linear(b, y, 4 * width, "%s.block.3", name);
    y = orch_net_activation(b, y, ORCH_NET_GELU);
    y = orch_net_token_linear(b, y, width, "%s.block.5", name);
    y = orch_net_elementwise(b, &y, 1, "layer_scale");
    if (y >= 0) {
        g_autofree char *scale = g_strdup_printf("%s.layer_scale", name);
        orch_net_layer_tensor(b, scale, ORCH_NET_WEIGHT, 1, &width);
    }
    return orch_net_add(b, x, y);
}

/* `variant`: tiny, small, base, large from 0. */
void orch_net_build_convnext(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    const struct plan *p = &PLANS[variant];
    struct orch_conv stem = {
        .out = p->widths[0], .kernel = 4, .stride = 4, .bias = true, .init = ORCH_CONV_DEFAULT};
    int x = orch_net_layernorm(b, orch_net_conv(b, 0, stem, "features.0.0"), "features.0.1");
    for (int stage = 0; stage < 4; stage++) {
        b->group = stage + 1;
        if (stage) {
            struct orch_conv halve = {.out = p->widths[stage],
                                      .kernel = 2,
                                      .stride = 2,
                                      .bias = true,
                                      .init = ORCH_CONV_DEFAULT};
            x = orch_net_layernorm(b, x, "features.%d.0", 2 * stage);
            x = orch_net_conv(b, x, halve, "features.%d.1", 2 * stage);
        }
        for (int i = 0; i < p->depths[stage]; i++) {
            g_autofree char *name = g_strdup_printf("features.%d.%d", 2 * stage + 1, i);
            x = add_block(b, x, p->widths[stage], name);
        }
    }
    b->group = 5;
    x = orch_net_layernorm(b, orch_net_adaptive_avgpool(b, x, 1, 1), "classifier.0");
    orch_net_linear(b, orch_net_flatten(b, x), b->net->classes, 0, "classifier.2");
}
