/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: small networks that are made to be trained fast. */
#include "lib/net/zoo.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#define GROUPS_MAX 5

/* ---- airbench -------------------------------------------------------------------------------- */

struct airbench {
    int64_t widths[GROUPS_MAX];
    int groups;
    bool is_relu; /* else GELU */
    int stride;   /* of the first convolution */
};

static int activation(struct orch_net_builder *b, const struct airbench *net, int x)
{
    return net->is_relu ? orch_net_relu(b, x) : orch_net_activation(b, x, ORCH_NET_GELU);
}

/* A 3x3 convolution, pooling if `pools`, batch norm, activation. */
static int conv_norm(struct orch_net_builder *b, const struct airbench *net, int x, int group,
                     int number, bool pools)
{
    const struct orch_conv conv = {net->widths[group], 3, 1, 1, 1, false, ORCH_CONV_DEFAULT};
    x = orch_net_conv(b, x, conv, "group%d.conv%d", group + 1, number);
    if (pools)
        x = orch_net_maxpool(b, x, 2, 2, 0);
    return activation(b, net, orch_net_batchnorm(b, x, "group%d.norm%d", group + 1, number));
}

static bool parse_widths(struct orch_net_builder *b, const char *argument, struct airbench *out)
{
    g_auto(GStrv) words = g_strsplit(argument, ",", -1);
    const guint count = g_strv_length(words);
    bool ok = count >= 1 && count <= GROUPS_MAX;
    out->groups = (int)count;
    for (int i = 0; ok && i < out->groups; i++)
        ok = orch_int_parse(words[i], &out->widths[i]) && out->widths[i] >= 1 &&
             out->widths[i] <= 65536;
    if (!ok)
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, "for example airbench:64,256,256",
                       "network '%s': '%s' is not a list of 1 to %d widths between 1 and 65536",
                       b->net->name, argument, GROUPS_MAX);
    return ok;
}

/* Jordan 2024 (arXiv 2404.00498), section 3.1: a convolution without padding that is made for
 * whitening, with as many filters as patches have directions and their negatives; three groups of
 * two convolutions, of which the first pools. Patches are 2x2, and 3x3 for images of one channel,
 * whose 2x2 patches have only four values. The last layer has a bias here, and its scores are not
 * divided by 9. `variant` 1: ReLU in place of GELU; 2: ReLU, two groups, and a
 * first convolution of stride 2, for images of one channel on a CPU. */
void orch_net_build_airbench(struct orch_net_builder *b, const char *argument, int variant)
{
    static const struct airbench VARIANTS[] = {
        {{64, 256, 256}, 3, false, 1}, {{64, 256, 256}, 3, true, 1}, {{32, 64}, 2, true, 2}};
    struct airbench net = VARIANTS[variant];
    if (argument && !parse_widths(b, argument, &net))
        return;
    const int64_t channels = b->net->input.c;
    const int kernel = channels == 1 ? 3 : 2;
    const struct orch_conv first = {
        2 * channels * kernel * kernel, kernel, net.stride, 0, 1, true, ORCH_CONV_DEFAULT};
    b->bn_momentum = 0.4;
    b->bn_eps = 1e-12;
    int x = activation(b, &net, orch_net_conv(b, 0, first, "whiten"));
    for (int group = 0; group < net.groups; group++) {
        b->group = group + 1;
        x = conv_norm(b, &net, x, group, 1, true);
        x = conv_norm(b, &net, x, group, 2, false);
    }
    x = orch_net_flatten(b, orch_net_maxpool(b, x, 3, 3, 0));
    b->group = net.groups + 1;
    orch_net_linear(b, x, b->net->classes, 0, "fc");
}
