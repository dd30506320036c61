/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: GoogLeNet and Inception v3, with torchvision's layer names. */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* Convolutions are followed by batch norm and ReLU, or (original GoogLeNet) by ReLU only. */
enum style { NORMED, BIASED };

struct branch_conv {
    int64_t out;
    int kernel_h, kernel_w, stride, pad_h, pad_w;
};

static int conv(struct orch_net_builder *b, enum style style, int in, struct branch_conv c,
                const char *prefix, const char *name)
{
    struct orch_conv conv = {c.out,           c.kernel_h,          c.stride, c.pad_h, 1,
                             style == BIASED, ORCH_CONV_NORMAL_0_1};
    int x = orch_net_conv_wide(b, in, conv, c.kernel_w, c.pad_w, "%s%s%s", prefix, name,
                               style == BIASED ? "" : ".conv");
    if (style == NORMED)
        x = orch_net_batchnorm(b, x, "%s%s.bn", prefix, name);
    return orch_net_relu(b, x);
}

/* A square convolution that preserves the size (stride 1) or shrinks it without padding. */
static int square(struct orch_net_builder *b, enum style style, int in, int64_t out, int kernel,
                  int stride, const char *prefix, const char *name)
{
    int pad = stride == 1 ? kernel / 2 : 0;
    return conv(b, style, in, (struct branch_conv){out, kernel, kernel, stride, pad, pad}, prefix,
                name);
}

/* ---- googlenet ------------------------------------------------------------------------------- */

struct module {
    const char *name;
    int sizes[6]; /* 1x1, reduce, 3x3, reduce, 5x5, projection */
    bool pool_behind;
};

/* Szegedy et al. 2015, table 1. */
static const struct module MODULES[] = {
    {"inception3a", {64, 96, 128, 16, 32, 32}, false},
    {"inception3b", {128, 128, 192, 32, 96, 64}, true},
    {"inception4a", {192, 96, 208, 16, 48, 64}, false},
    {"inception4b", {160, 112, 224, 24, 64, 64}, false},
    {"inception4c", {128, 128, 256, 24, 64, 64}, false},
    {"inception4d", {112, 144, 288, 32, 64, 64}, false},
    {"inception4e", {256, 160, 320, 32, 128, 128}, true},
    {"inception5a", {256, 160, 320, 32, 128, 128}, false},
    {"inception5b", {384, 192, 384, 48, 128, 128}, false},
};

/* torchvision's 5x5 branch is a 3x3 one: a mistake kept for compatibility with its weights. */
static int module(struct orch_net_builder *b, enum style style, int in, const char *name,
                  const int *sizes)
{
    char prefix[40];
    g_snprintf(prefix, sizeof prefix, "%s.", name);
    int parts[4];
    parts[0] = square(b, style, in, sizes[0], 1, 1, prefix, "branch1");
    parts[1] = square(b, style, square(b, style, in, sizes[1], 1, 1, prefix, "branch2.0"), sizes[2],
                      3, 1, prefix, "branch2.1");
    parts[2] = square(b, style, square(b, style, in, sizes[3], 1, 1, prefix, "branch3.0"), sizes[4],
                      style == NORMED ? 3 : 5, 1, prefix, "branch3.1");
    parts[3] = square(b, style, orch_net_maxpool_ceil(b, in, 3, 1, 1), sizes[5], 1, 1, prefix,
                      "branch4.1");
    return orch_net_concat(b, parts, 4);
}

static void googlenet_head(struct orch_net_builder *b, enum style style, int in, const char *name)
{
    b->is_auxiliary = true;
    char prefix[16];
    g_snprintf(prefix, sizeof prefix, "%s.", name);
    int x =
        style == NORMED ? orch_net_adaptive_avgpool(b, in, 4, 4) : orch_net_avgpool(b, in, 5, 3);
    x = orch_net_flatten(b, square(b, style, x, 128, 1, 1, prefix, "conv"));
    x = orch_net_dropout(b, orch_net_relu(b, orch_net_linear(b, x, 1024, 0, "%sfc1", prefix)), 0.7);
    orch_net_linear(b, x, b->net->classes, 0, "%sfc2", prefix);
    b->is_auxiliary = false;
}

/* `variant`: 1 for the two auxiliary heads, plus 2 for the original (5x5 branches, LRN, no batch
 * norm). */
void orch_net_build_googlenet(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    enum style style = variant & 2 ? BIASED : NORMED;
    b->bn_eps = 0.001;
    int x = conv(b, style, 0, (struct branch_conv){64, 7, 7, 2, 3, 3}, "", "conv1");
    x = orch_net_maxpool_ceil(b, x, 3, 2, 0);
    if (style == BIASED)
        x = orch_net_lrn(b, x, 5);
    x = square(b, style, square(b, style, x, 64, 1, 1, "", "conv2"), 192, 3, 1, "", "conv3");
    if (style == BIASED)
        x = orch_net_lrn(b, x, 5);
    x = orch_net_maxpool_ceil(b, x, 3, 2, 0);
    for (unsigned i = 0; i < G_N_ELEMENTS(MODULES); i++) {
        const struct module *m = &MODULES[i];
        b->group = 1 + m->name[9] - '3';
        x = module(b, style, x, m->name, m->sizes);
        if (variant & 1 && (m->name[10] == 'a' || m->name[10] == 'd') && m->name[9] == '4')
            googlenet_head(b, style, x, m->name[10] == 'a' ? "aux1" : "aux2");
        if (m->pool_behind)
            x = orch_net_maxpool_ceil(b, x, m->name[9] == '3' || style == BIASED ? 3 : 2, 2, 0);
    }
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    x = orch_net_dropout(b, x, style == NORMED ? 0.2 : 0.4);
    b->group = 4;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}

/* A single module, naive or with reductions. The argument lists the filters of 1x1, 3x3 reduction,
 * 3x3, 5x5 reduction, 5x5 and pool projection; by default those of GoogLeNet 3b. The naive module
 * uses only 1x1, 3x3 and 5x5, and its pool keeps all channels. */
void orch_net_build_inception_module(struct orch_net_builder *b, const char *argument, int variant)
{
    int sizes[6];
    memcpy(sizes, MODULES[1].sizes, sizeof sizes);
    g_auto(GStrv) words = g_strsplit(argument ? argument : "", ",", -1);
    for (unsigned i = 0; words[i]; i++) {
        int64_t size;
        if (i >= 6 || !orch_int_parse(words[i], &size) || size < 1 || size > 65536) {
            orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                           "for example inception-reduced:128,128,192,32,96,64 (1x1, 3x3 "
                           "reduction, 3x3, 5x5 reduction, 5x5, pool projection)",
                           "network '%s': '%s' is not a number of filters", b->net->name, words[i]);
            return;
        }
        sizes[i] = (int)size;
    }
    if (words[0] && g_strv_length(words) != 6) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                       "for example inception-reduced:128,128,192,32,96,64 (1x1, 3x3 reduction, "
                       "3x3, 5x5 reduction, 5x5, pool projection)",
                       "network '%s': found %u numbers of filters, expected 6", b->net->name,
                       g_strv_length(words));
        return;
    }
    if (variant) {
        module(b, BIASED, 0, "module", sizes);
        return;
    }
    int parts[4] = {square(b, BIASED, 0, sizes[0], 1, 1, "module.", "branch1"),
                    square(b, BIASED, 0, sizes[2], 3, 1, "module.", "branch2"),
                    square(b, BIASED, 0, sizes[4], 5, 1, "module.", "branch3"),
                    orch_net_maxpool(b, 0, 3, 1, 1)};
    orch_net_concat(b, parts, 4);
}

/* ---- inception v3 ---------------------------------------------------------------------------- */

/* 1x7 and 7x1, or 1x3 and 3x1. */
static int row(struct orch_net_builder *b, int in, int64_t out, int width, const char *prefix,
               const char *name)
{
    return conv(b, NORMED, in, (struct branch_conv){out, 1, width, 1, 0, width / 2}, prefix, name);
}

static int column(struct orch_net_builder *b, int in, int64_t out, int height, const char *prefix,
                  const char *name)
{
    return conv(b, NORMED, in, (struct branch_conv){out, height, 1, 1, height / 2, 0}, prefix,
                name);
}

static int sq(struct orch_net_builder *b, int in, int64_t out, int kernel, int stride,
              const char *prefix, const char *name)
{
    return square(b, NORMED, in, out, kernel, stride, prefix, name);
}

static int pooled(struct orch_net_builder *b, int in, int64_t out, const char *p)
{
    return sq(b, orch_net_avgpool_pad(b, in, 3, 1, 1), out, 1, 1, p, "branch_pool");
}

static int module_a(struct orch_net_builder *b, int in, int64_t pool, const char *p)
{
    int parts[4];
    parts[0] = sq(b, in, 64, 1, 1, p, "branch1x1");
    parts[1] = sq(b, sq(b, in, 48, 1, 1, p, "branch5x5_1"), 64, 5, 1, p, "branch5x5_2");
    int x = sq(b, sq(b, in, 64, 1, 1, p, "branch3x3dbl_1"), 96, 3, 1, p, "branch3x3dbl_2");
    parts[2] = sq(b, x, 96, 3, 1, p, "branch3x3dbl_3");
    parts[3] = pooled(b, in, pool, p);
    return orch_net_concat(b, parts, 4);
}

static int module_b(struct orch_net_builder *b, int in, const char *p)
{
    int parts[3];
    parts[0] = sq(b, in, 384, 3, 2, p, "branch3x3");
    int x = sq(b, sq(b, in, 64, 1, 1, p, "branch3x3dbl_1"), 96, 3, 1, p, "branch3x3dbl_2");
    parts[1] = sq(b, x, 96, 3, 2, p, "branch3x3dbl_3");
    parts[2] = orch_net_maxpool(b, in, 3, 2, 0);
    return orch_net_concat(b, parts, 3);
}

static int module_c(struct orch_net_builder *b, int in, int64_t c7, const char *p)
{
    int parts[4];
    parts[0] = sq(b, in, 192, 1, 1, p, "branch1x1");
    int x = row(b, sq(b, in, c7, 1, 1, p, "branch7x7_1"), c7, 7, p, "branch7x7_2");
    parts[1] = column(b, x, 192, 7, p, "branch7x7_3");
    x = column(b, sq(b, in, c7, 1, 1, p, "branch7x7dbl_1"), c7, 7, p, "branch7x7dbl_2");
    x = row(b, x, c7, 7, p, "branch7x7dbl_3");
    x = column(b, x, c7, 7, p, "branch7x7dbl_4");
    parts[2] = row(b, x, 192, 7, p, "branch7x7dbl_5");
    parts[3] = pooled(b, in, 192, p);
    return orch_net_concat(b, parts, 4);
}

static int module_d(struct orch_net_builder *b, int in, const char *p)
{
    int parts[3];
    parts[0] = sq(b, sq(b, in, 192, 1, 1, p, "branch3x3_1"), 320, 3, 2, p, "branch3x3_2");
    int x = row(b, sq(b, in, 192, 1, 1, p, "branch7x7x3_1"), 192, 7, p, "branch7x7x3_2");
    x = column(b, x, 192, 7, p, "branch7x7x3_3");
    parts[1] = sq(b, x, 192, 3, 2, p, "branch7x7x3_4");
    parts[2] = orch_net_maxpool(b, in, 3, 2, 0);
    return orch_net_concat(b, parts, 3);
}

static int module_e(struct orch_net_builder *b, int in, const char *p)
{
    int parts[6];
    parts[0] = sq(b, in, 320, 1, 1, p, "branch1x1");
    int x = sq(b, in, 384, 1, 1, p, "branch3x3_1");
    parts[1] = row(b, x, 384, 3, p, "branch3x3_2a");
    parts[2] = column(b, x, 384, 3, p, "branch3x3_2b");
    x = sq(b, sq(b, in, 448, 1, 1, p, "branch3x3dbl_1"), 384, 3, 1, p, "branch3x3dbl_2");
    parts[3] = row(b, x, 384, 3, p, "branch3x3dbl_3a");
    parts[4] = column(b, x, 384, 3, p, "branch3x3dbl_3b");
    parts[5] = pooled(b, in, 192, p);
    return orch_net_concat(b, parts, 6);
}

static void inception_head(struct orch_net_builder *b, int in)
{
    b->is_auxiliary = true;
    int x = sq(b, orch_net_avgpool(b, in, 5, 3), 128, 1, 1, "AuxLogits.", "conv0");
    x = conv(b, NORMED, x, (struct branch_conv){768, 5, 5, 1, 0, 0}, "AuxLogits.", "conv1");
    x = orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1));
    orch_net_linear(b, x, b->net->classes, 0, "AuxLogits.fc");
    b->is_auxiliary = false;
}

/* Szegedy et al. 2016; `variant` 1: with the auxiliary head. */
void orch_net_build_inception_v3(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    b->bn_eps = 0.001;
    int x = sq(b, 0, 32, 3, 2, "", "Conv2d_1a_3x3");
    x = conv(b, NORMED, x, (struct branch_conv){32, 3, 3, 1, 0, 0}, "", "Conv2d_2a_3x3");
    x = orch_net_maxpool(b, sq(b, x, 64, 3, 1, "", "Conv2d_2b_3x3"), 3, 2, 0);
    x = sq(b, x, 80, 1, 1, "", "Conv2d_3b_1x1");
    x = conv(b, NORMED, x, (struct branch_conv){192, 3, 3, 1, 0, 0}, "", "Conv2d_4a_3x3");
    x = orch_net_maxpool(b, x, 3, 2, 0);
    b->group = 1;
    x = module_a(b, x, 32, "Mixed_5b.");
    x = module_a(b, x, 64, "Mixed_5c.");
    x = module_a(b, x, 64, "Mixed_5d.");
    b->group = 2;
    x = module_b(b, x, "Mixed_6a.");
    x = module_c(b, x, 128, "Mixed_6b.");
    x = module_c(b, x, 160, "Mixed_6c.");
    x = module_c(b, x, 160, "Mixed_6d.");
    x = module_c(b, x, 192, "Mixed_6e.");
    if (variant)
        inception_head(b, x);
    b->group = 3;
    x = module_d(b, x, "Mixed_7a.");
    x = module_e(b, x, "Mixed_7b.");
    x = module_e(b, x, "Mixed_7c.");
    x = orch_net_dropout(b, orch_net_flatten(b, orch_net_adaptive_avgpool(b, x, 1, 1)), 0.5);
    b->group = 4;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}
