/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builder: T5 (Raffel et al. 2020), an encoder and a decoder over sequences of equal length;
 * counted only. Norms without a mean, no biases, places by a table of distances that each side's
 * first layer has, scores with the embedding's weights. */
#include "lib/net/zoo_sizes.h"

#define DISTANCES 32 /* rows of that table, a value for each head */

/* One layer's attention and the sum after it. `memory` >= 0: keys and values are of the encoder. */
static int attend(struct orch_net_builder *b, const struct orch_net_sizes *s, int x, int memory,
                  const char *name, bool has_table, bool is_causal)
{
    int64_t inner = s->heads * s->head_width;
    int y = orch_net_rmsnorm(b, x, "%s.layer_norm", name);
    if (memory < 0) {
        y = orch_net_token_linear_plain(b, y, 3 * inner, "%s.qkv", name);
        y = orch_net_in_parts(b, y, 3);
    } else {
        int parts[] = {orch_net_token_linear_plain(b, y, inner, "%s.q", name),
                       orch_net_in_parts(
                           b, orch_net_token_linear_plain(b, memory, 2 * inner, "%s.kv", name), 2)};
        y = orch_net_concat(b, parts, 2);
    }
    y = is_causal ? orch_net_causal_attention(b, y, (int)s->heads)
                  : orch_net_attention(b, y, (int)s->heads);
    if (has_table && y >= 0) {
        const int64_t table[] = {DISTANCES, s->heads};
        g_autofree char *weight = g_strdup_printf("%s.relative_attention_bias.weight", name);
        orch_net_layer_tensor(b, weight, ORCH_NET_WEIGHT, 2, table);
    }
    y = orch_net_token_linear_plain(b, y, s->width, "%s.o", name);
    return orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
}

static int feed_forward(struct orch_net_builder *b, const struct orch_net_sizes *s, int x,
                        const char *name)
{
    int y = orch_net_rmsnorm(b, x, "%s.layer_norm", name);
    y = orch_net_relu(b, orch_net_token_linear_plain(b, y, s->inner, "%s.wi", name));
    y = orch_net_token_linear_plain(b, orch_net_dropout(b, y, 0.1), s->width, "%s.wo", name);
    return orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
}

void orch_net_build_t5(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument,
                             "LAYERS,WIDTH,HEADS[,FEED_FORWARD[,HEAD_WIDTH]], as 12,768,12,3072,64",
                             &s.inner, &s.head_width, &s))
        return;
    int x = orch_net_embedding(b, 0, b->net->classes, s.width, "shared"), words = x;
    for (int i = 0; i < s.layers; i++) {
        g_autofree char *own = g_strdup_printf("encoder.block.%d.layer.0", i);
        g_autofree char *feed = g_strdup_printf("encoder.block.%d.layer.1", i);
        b->group = i + 1;
        x = feed_forward(b, &s, attend(b, &s, x, -1, own, i == 0, false), feed);
    }
    int memory = orch_net_rmsnorm(b, x, "encoder.final_layer_norm");
    x = words;
    for (int i = 0; i < s.layers; i++) {
        g_autofree char *own = g_strdup_printf("decoder.block.%d.layer.0", i);
        g_autofree char *cross = g_strdup_printf("decoder.block.%d.layer.1", i);
        g_autofree char *feed = g_strdup_printf("decoder.block.%d.layer.2", i);
        b->group = (int)s.layers + i + 1;
        x = attend(b, &s, x, -1, own, i == 0, true);
        x = feed_forward(b, &s, attend(b, &s, x, memory, cross, false, false), feed);
    }
    b->group = 2 * (int)s.layers + 1;
    x = orch_net_rmsnorm(b, x, "decoder.final_layer_norm");
    orch_net_token_linear(b, x, b->net->classes, NULL);
}
