/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers of newer transformers. */
#include "lib/net/build.h"

#include <stdarg.h>

static bool is_usable(const struct orch_net_builder *b, const int *inputs, int count)
{
    for (int i = 0; i < count; i++)
        if (inputs[i] < 0)
            return false;
    return !b->error;
}

/* A layer like its first input's, with the operation and shape of `like`, and one weight of
 * `rank` dimensions (0: none). Takes the name. */
static int add_layer(struct orch_net_builder *b, struct orch_net_node like, const int *inputs,
                     int count, char *name, int rank, const int64_t *shape)
{
    g_autofree char *weight = g_strdup_printf("%s.weight", name);
    int id = orch_net_layer(b, &like, inputs, count, name);
    if (rank)
        orch_net_layer_tensor(b, weight, ORCH_NET_WEIGHT, rank, shape);
    return id;
}

int orch_net_rmsnorm(struct orch_net_builder *b, int in, const char *name, ...)
{
    if (!is_usable(b, &in, 1))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    struct orch_net_node like = {.op = ORCH_NET_LAYERNORM,
                                 .out = shape,
                                 .in_channels = shape.c,
                                 .out_channels = shape.c,
                                 .eps = 1e-5};
    return add_layer(b, like, &in, 1, text, 1, &shape.c);
}

int orch_net_token_linear_plain(struct orch_net_builder *b, int in, int64_t out, const char *name,
                                ...)
{
    if (!is_usable(b, &in, 1))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    int64_t weight[] = {out, shape.c};
    struct orch_net_node like = {.op = ORCH_NET_TOKEN_LINEAR,
                                 .out = {out, shape.h, shape.w},
                                 .in_channels = shape.c,
                                 .out_channels = out,
                                 .macs = out * shape.c * shape.h * shape.w};
    return add_layer(b, like, &in, 1, text, 2, weight);
}

int orch_net_experts_linear(struct orch_net_builder *b, int in, int64_t out, int64_t experts,
                            int64_t chosen, const char *name, ...)
{
    if (!is_usable(b, &in, 1))
        return -1;
    ORCH_NET_NAME(name, text);
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    int64_t each = shape.c / chosen, weight[] = {experts * out, each};
    struct orch_net_node like = {.op = ORCH_NET_TOKEN_LINEAR,
                                 .out = {chosen * out, shape.h, shape.w},
                                 .in_channels = shape.c,
                                 .out_channels = chosen * out,
                                 .experts = (int)experts,
                                 .chosen = (int)chosen,
                                 .macs = chosen * out * each * shape.h * shape.w};
    return add_layer(b, like, &in, 1, text, 2, weight);
}

int orch_net_router(struct orch_net_builder *b, int in, int64_t experts, const char *name, ...)
{
    if (!is_usable(b, &in, 1))
        return -1;
    ORCH_NET_NAME(name, text);
    g_autofree char *owned = text;
    int id = orch_net_token_linear_plain(b, in, experts, "%s", owned);
    if (id >= 0)
        ((struct orch_net_node *)b->net->nodes->pdata[id])->routes = true;
    return id;
}

int orch_net_in_parts(struct orch_net_builder *b, int id, int parts)
{
    if (is_usable(b, &id, 1))
        ((struct orch_net_node *)b->net->nodes->pdata[id])->parts = parts;
    return id;
}

int orch_net_grouped_attention(struct orch_net_builder *b, int in, int heads, int key_heads)
{
    if (!is_usable(b, &in, 1))
        return -1;
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    int64_t width = shape.c / (heads + 2 * key_heads) * heads;
    struct orch_net_node like = {.op = ORCH_NET_ATTENTION,
                                 .out = {width, shape.h, 1},
                                 .in_channels = shape.c,
                                 .out_channels = width,
                                 .heads = heads,
                                 .is_causal = true,
                                 .macs = 2 * shape.h * shape.h * width};
    return orch_net_layer(b, &like, &in, 1, NULL);
}

int orch_net_latent_attention(struct orch_net_builder *b, int in, int heads, int64_t key_width,
                              int64_t value_width)
{
    if (!is_usable(b, &in, 1))
        return -1;
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    struct orch_net_node like = {.op = ORCH_NET_ATTENTION,
                                 .out = {heads * value_width, shape.h, 1},
                                 .in_channels = shape.c,
                                 .out_channels = heads * value_width,
                                 .heads = heads,
                                 .is_causal = true,
                                 .macs = shape.h * shape.h * heads * (key_width + value_width)};
    return orch_net_layer(b, &like, &in, 1, NULL);
}

int orch_net_elementwise(struct orch_net_builder *b, const int *inputs, int count, const char *name)
{
    if (!is_usable(b, inputs, count))
        return -1;
    struct orch_net_node like = {
        .op = ORCH_NET_GENERIC, .out = orch_net_node(b->net, inputs[0])->out, .computes = true};
    return orch_net_layer(b, &like, inputs, count,
                          g_strdup_printf("%s%u", name, b->net->nodes->len));
}

int orch_net_patch_tokens(struct orch_net_builder *b, int in, const char *prefix)
{
    if (!is_usable(b, &in, 1))
        return -1;
    struct orch_net_shape shape = orch_net_node(b->net, in)->out;
    int64_t tokens = shape.h * shape.w + 1, places[] = {tokens, shape.c};
    int id = orch_net_generic(b, &in, 1, (struct orch_net_shape){shape.c, tokens, 1}, "tokens");
    g_autofree char *embedding = g_strdup_printf("%s.pos_embedding", prefix);
    orch_net_layer_tensor(b, "class_token", ORCH_NET_WEIGHT, 1, &shape.c);
    orch_net_layer_tensor(b, embedding, ORCH_NET_WEIGHT, 2, places);
    return id;
}
