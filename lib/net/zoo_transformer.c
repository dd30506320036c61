/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: transformers, counted only. The input is 1 x T x 1, T tokens, and the classes are the
 * vocabulary; that of a vision transformer is an image. */
#include "lib/net/zoo_sizes.h"

static int gelu(struct orch_net_builder *b, int in)
{
    return orch_net_activation(b, in, ORCH_NET_GELU);
}

/* Rows of a learned table of positions: as many as the tokens where no number is given. */
static int64_t rows_of_positions(const struct orch_net_builder *b, const struct orch_net_sizes *s,
                                 int64_t usual)
{
    return MAX(s->positions ? s->positions : usual, b->net->input.h);
}

/* Devlin et al. 2019: layer norm after each sum. Masked: the head that predicts masked tokens, with
 * the embedding's weights, instead of the pooler. */
void orch_net_build_bert(struct orch_net_builder *b, const char *argument, int is_masked)
{
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument, "LAYERS,WIDTH,HEADS[,FEED_FORWARD], as 24,1024,16",
                             &s.inner, NULL, &s))
        return;
    int words = orch_net_embedding(b, 0, b->net->classes, s.width, "embeddings.word_embeddings");
    int places = orch_net_embedding(b, 0, rows_of_positions(b, &s, 512) + s.pads, s.width,
                                    "embeddings.position_embeddings");
    int x = orch_net_add(b, words, orch_net_embedding_positions(b, places, (int)s.pads));
    if (s.kinds >= 0) {
        int types = orch_net_embedding(b, 0, s.kinds ? s.kinds : 2, s.width,
                                       "embeddings.token_type_embeddings");
        x = orch_net_add(b, x, orch_net_embedding_rows(b, types, ORCH_NET_ROWS_FIRST));
    }
    x = orch_net_dropout(b, orch_net_layernorm(b, x, "embeddings.LayerNorm"), 0.1);
    for (int i = 0; i < s.layers; i++) {
        b->group = i + 1;
        int y = orch_net_token_linear(b, x, 3 * s.width, "encoder.layer.%d.attention.self", i);
        y = orch_net_attention(b, orch_net_in_parts(b, y, 3), (int)s.heads);
        y = orch_net_token_linear(b, y, s.width, "encoder.layer.%d.attention.output.dense", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        x = orch_net_layernorm(b, x, "encoder.layer.%d.attention.output.LayerNorm", i);
        y = orch_net_token_linear(b, x, s.inner, "encoder.layer.%d.intermediate.dense", i);
        y = orch_net_token_linear(b, gelu(b, y), s.width, "encoder.layer.%d.output.dense", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        x = orch_net_layernorm(b, x, "encoder.layer.%d.output.LayerNorm", i);
    }
    b->group = (int)s.layers + 1;
    if (is_masked) {
        x = gelu(b, orch_net_token_linear(b, x, s.width, "cls.predictions.transform.dense"));
        x = orch_net_layernorm(b, x, "cls.predictions.transform.LayerNorm");
        x = orch_net_token_linear(b, x, b->net->classes, NULL);
        if (x >= 0)
            orch_net_layer_tensor(b, "cls.predictions.bias", ORCH_NET_BIAS, 1, &b->net->classes);
        return;
    }
    if (s.is_bare)
        return;
    x = orch_net_token_linear(b, orch_net_first_token(b, x), s.width, "pooler.dense");
    orch_net_tanh(b, x);
}

/* Radford et al. 2019: normalised before each part; the scores use the embedding's weights. */
void orch_net_build_gpt(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument, "LAYERS,WIDTH,HEADS[,FEED_FORWARD], as 24,1024,16",
                             &s.inner, NULL, &s))
        return;
    int words = orch_net_embedding(b, 0, b->net->classes, s.width, "wte");
    int places = orch_net_embedding(b, 0, rows_of_positions(b, &s, 1024), s.width, "wpe");
    int x = orch_net_add(b, words, orch_net_embedding_positions(b, places, 0));
    x = orch_net_dropout(b, x, 0.1);
    for (int i = 0; i < s.layers; i++) {
        b->group = i + 1;
        int y = orch_net_layernorm(b, x, "h.%d.ln_1", i);
        y = orch_net_causal_attention(
            b, orch_net_token_linear(b, y, 3 * s.width, "h.%d.attn.c_attn", i), (int)s.heads);
        y = orch_net_token_linear(b, y, s.width, "h.%d.attn.c_proj", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        y = orch_net_layernorm(b, x, "h.%d.ln_2", i);
        y = orch_net_gelu_tanh(b, orch_net_token_linear(b, y, s.inner, "h.%d.mlp.c_fc", i));
        y = orch_net_token_linear(b, y, s.width, "h.%d.mlp.c_proj", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
    }
    b->group = (int)s.layers + 1;
    orch_net_token_linear(b, orch_net_layernorm(b, x, "ln_f"), b->net->classes, NULL);
}

/* MosaicML 2023: as GPT-2 without biases, dropout and the embedding of positions, which are
 * distances that attention adds to its scores. */
void orch_net_build_mpt(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument, "LAYERS,WIDTH,HEADS[,FEED_FORWARD], as 32,4096,32",
                             &s.inner, NULL, &s))
        return;
    int x = orch_net_embedding(b, 0, b->net->classes, s.width, "wte");
    for (int i = 0; i < s.layers; i++) {
        b->group = i + 1;
        int y = orch_net_rmsnorm(b, x, "blocks.%d.norm_1", i); /* counts as a norm without bias */
        y = orch_net_token_linear_plain(b, y, 3 * s.width, "blocks.%d.attn.Wqkv", i);
        y = orch_net_causal_attention(b, y, (int)s.heads);
        y = orch_net_token_linear_plain(b, y, s.width, "blocks.%d.attn.out_proj", i);
        x = orch_net_add(b, x, y);
        y = orch_net_rmsnorm(b, x, "blocks.%d.norm_2", i);
        y = gelu(b, orch_net_token_linear_plain(b, y, s.inner, "blocks.%d.ffn.up_proj", i));
        y = orch_net_token_linear_plain(b, y, s.width, "blocks.%d.ffn.down_proj", i);
        x = orch_net_add(b, x, y);
    }
    b->group = (int)s.layers + 1;
    orch_net_token_linear(b, orch_net_rmsnorm(b, x, "norm_f"), b->net->classes, NULL);
}

/* Zhang et al. 2022: as GPT-2, with ReLU, layers of their own for queries, keys and values, and two
 * places before the first. */
void orch_net_build_opt(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument, "LAYERS,WIDTH,HEADS[,FEED_FORWARD], as 24,2048,32",
                             &s.inner, NULL, &s))
        return;
    int words = orch_net_embedding(b, 0, b->net->classes, s.width, "decoder.embed_tokens");
    int places = orch_net_embedding(b, 0, rows_of_positions(b, &s, 2048) + 2, s.width,
                                    "decoder.embed_positions");
    int x = orch_net_add(b, words, orch_net_embedding_positions(b, places, 2));
    for (int i = 0; i < s.layers; i++) {
        b->group = i + 1;
        int y = orch_net_layernorm(b, x, "decoder.layers.%d.self_attn_layer_norm", i);
        y = orch_net_token_linear(b, y, 3 * s.width, "decoder.layers.%d.self_attn", i);
        y = orch_net_causal_attention(b, orch_net_in_parts(b, y, 3), (int)s.heads);
        y = orch_net_token_linear(b, y, s.width, "decoder.layers.%d.self_attn.out_proj", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
        y = orch_net_layernorm(b, x, "decoder.layers.%d.final_layer_norm", i);
        y = orch_net_relu(b, orch_net_token_linear(b, y, s.inner, "decoder.layers.%d.fc1", i));
        y = orch_net_token_linear(b, y, s.width, "decoder.layers.%d.fc2", i);
        x = orch_net_add(b, x, orch_net_dropout(b, y, 0.1));
    }
    b->group = (int)s.layers + 1;
    x = orch_net_layernorm(b, x, "decoder.final_layer_norm");
    orch_net_token_linear(b, x, b->net->classes, NULL);
}

/* Dosovitskiy et al. 2021, as torchvision has it: patches as tokens, and one more for the class. */
void orch_net_build_vit(struct orch_net_builder *b, const char *argument, int variant)
{
    (void)variant;
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument,
                             "LAYERS,WIDTH,HEADS[,PATCH[,FEED_FORWARD]], as 12,768,12,16", &s.patch,
                             &s.inner, &s))
        return;
    int patch = (int)CLAMP(s.patch, 1, 4096);
    struct orch_conv conv = {.out = s.width, .kernel = patch, .stride = patch, .bias = true};
    int x = orch_net_conv(b, 0, conv, "conv_proj");
    x = orch_net_patch_tokens(b, x, "encoder");
    x = orch_net_dropout(b, x, 0);
    for (int i = 0; i < s.layers; i++) {
        g_autofree char *layer = g_strdup_printf("encoder.layers.encoder_layer_%d", i);
        b->group = i + 1;
        int y = orch_net_layernorm(b, x, "%s.ln_1", layer);
        y = orch_net_token_linear(b, y, 3 * s.width, "%s.self_attention.in_proj", layer);
        y = orch_net_attention(b, y, (int)s.heads);
        y = orch_net_token_linear(b, y, s.width, "%s.self_attention.out_proj", layer);
        x = orch_net_add(b, x, y);
        y = orch_net_layernorm(b, x, "%s.ln_2", layer);
        y = gelu(b, orch_net_token_linear(b, y, s.inner, "%s.mlp.0", layer));
        x = orch_net_add(b, x, orch_net_token_linear(b, y, s.width, "%s.mlp.3", layer));
    }
    b->group = (int)s.layers + 1;
    x = orch_net_first_token(b, orch_net_layernorm(b, x, "encoder.ln"));
    orch_net_token_linear(b, x, b->net->classes, "heads.head");
}
