/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: transformers, counted only. The input is 1 x T x 1: T tokens; the classes are the
 * vocabulary. */
#include "lib/net/zoo.h"

enum { WIDTH = 768, HEADS = 12, LAYERS = 12 };

static int gelu(struct orch_net_builder *b, int in)
{
    return orch_net_activation(b, in, ORCH_NET_GELU);
}

/* Devlin et al. 2019, base: layer norm after each sum, no tied weights, with the final pooler. */
void orch_net_build_bert_base(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int words = orch_net_embedding(b, 0, b->net->classes, WIDTH, "embeddings.word_embeddings");
    int places = orch_net_embedding(b, 0, 512, WIDTH, "embeddings.position_embeddings");
    int x = orch_net_add(b, words, orch_net_embedding_rows(b, places, ORCH_NET_ROWS_POSITIONS));
    int types = orch_net_embedding(b, 0, 2, WIDTH, "embeddings.token_type_embeddings");
    x = orch_net_add(b, x, orch_net_embedding_rows(b, types, ORCH_NET_ROWS_FIRST));
    x = orch_net_dropout(b, orch_net_layernorm(b, x, "embeddings.LayerNorm"), 0.1);
    for (int i = 0; i < LAYERS; i++) {
        b->group = i + 1;
        int y = orch_net_token_linear(b, x, 3 * WIDTH, "encoder.layer.%d.attention.self", i);
        y = orch_net_attention(b, y, HEADS);
        y = orch_net_token_linear(b, y, WIDTH, "encoder.layer.%d.attention.output.dense", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        x = orch_net_layernorm(b, x, "encoder.layer.%d.attention.output.LayerNorm", i);
        y = orch_net_token_linear(b, x, 4 * WIDTH, "encoder.layer.%d.intermediate.dense", i);
        y = orch_net_token_linear(b, gelu(b, y), WIDTH, "encoder.layer.%d.output.dense", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        x = orch_net_layernorm(b, x, "encoder.layer.%d.output.LayerNorm", i);
    }
    b->group = LAYERS + 1;
    x = orch_net_token_linear(b, orch_net_first_token(b, x), WIDTH, "pooler.dense");
    orch_net_tanh(b, x);
}

/* Radford et al. 2019, small: normalised before each part; the scores use the embedding's weights.
 */
void orch_net_build_gpt2(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)argument;
    (void)variant;
    int words = orch_net_embedding(b, 0, b->net->classes, WIDTH, "wte");
    int places = orch_net_embedding(b, 0, 1024, WIDTH, "wpe");
    int x = orch_net_add(b, words, orch_net_embedding_rows(b, places, ORCH_NET_ROWS_POSITIONS));
    x = orch_net_dropout(b, x, 0.1);
    for (int i = 0; i < LAYERS; i++) {
        b->group = i + 1;
        int y = orch_net_layernorm(b, x, "h.%d.ln_1", i);
        y = orch_net_causal_attention(
            b, orch_net_token_linear(b, y, 3 * WIDTH, "h.%d.attn.c_attn", i), HEADS);
        y = orch_net_token_linear(b, y, WIDTH, "h.%d.attn.c_proj", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        y = orch_net_layernorm(b, x, "h.%d.ln_2", i);
        y = gelu(b, orch_net_token_linear(b, y, 4 * WIDTH, "h.%d.mlp.c_fc", i));
        y = orch_net_token_linear(b, y, WIDTH, "h.%d.mlp.c_proj", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
    }
    b->group = LAYERS + 1;
    orch_net_token_linear(b, orch_net_layernorm(b, x, "ln_f"), b->net->classes, NULL);
}
