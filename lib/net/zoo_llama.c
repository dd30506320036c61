/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders: Llama (Touvron et al. 2023, Grattafiori et al. 2024) and what came of it, counted only:
 * norms without a mean, rotary positions, a gate in the feed-forward layers, fewer heads of keys
 * and values, no biases. Instead of the feed-forward layers each token may have some of many
 * experts (Jiang et al. 2024, Mixtral; Qwen3), besides one for all (DeepSeek-V2, 2024; in Qwen2 a
 * gate scales it). */
#include "lib/net/zoo_sizes.h"

#include "lib/base/error.h"

#define LAYER "model.layers.%d."

static int attention(struct orch_net_builder *b, const struct orch_net_sizes *s, int y, int i)
{
    int64_t keys = s->head_width * s->key_heads, queries = s->head_width * s->heads;
    y = s->is_biased ? orch_net_token_linear(b, y, queries + 2 * keys, LAYER "self_attn", i)
                     : orch_net_token_linear_plain(b, y, queries + 2 * keys, LAYER "self_attn", i);
    y = orch_net_in_parts(b, y, 3);
    y = orch_net_elementwise(b, &y, 1, "rotary");
    if (s->has_head_norms && y >= 0) { /* two vectors of a head's width, in one pass */
        g_autofree char *name = g_strdup_printf(LAYER "self_attn.qk_norm", i);
        int64_t weights = 2 * s->head_width;
        y = orch_net_generic(b, &y, 1, orch_net_node(b->net, y)->out, name);
        orch_net_layer_tensor(b, name, ORCH_NET_WEIGHT, 1, &weights);
    }
    return orch_net_grouped_attention(b, y, (int)s->heads, (int)s->key_heads);
}

/* DeepSeek-V2, 2024: queries, and keys with values, come from narrow vectors; training writes them
 * out for each head. */
static int latent_attention(struct orch_net_builder *b, const struct orch_net_sizes *s, int x,
                            int i)
{
    int64_t key_width = s->head_width + s->rotary, tokens = b->net->input.h;
    int y = x;
    if (s->query_rank) {
        y = orch_net_token_linear_plain(b, y, s->query_rank, LAYER "self_attn.q_a_proj", i);
        y = orch_net_rmsnorm(b, y, LAYER "self_attn.q_a_layernorm", i);
    }
    int queries =
        orch_net_token_linear_plain(b, y, s->heads * key_width, LAYER "self_attn.q_b_proj", i);
    queries = orch_net_elementwise(b, &queries, 1, "rotary");
    y = orch_net_token_linear_plain(b, x, s->key_rank + s->rotary,
                                    LAYER "self_attn.kv_a_proj_with_mqa", i);
    y = orch_net_generic(b, &y, 1, (struct orch_net_shape){s->key_rank, tokens, 1}, "latent");
    y = orch_net_rmsnorm(b, y, LAYER "self_attn.kv_a_layernorm", i);
    y = orch_net_token_linear_plain(b, y, s->heads * (s->head_width + s->value_width),
                                    LAYER "self_attn.kv_b_proj", i);
    int64_t width = s->heads * (key_width + s->value_width);
    y = orch_net_generic(b, &y, 1, (struct orch_net_shape){width, tokens, 1}, "keys");
    int both[] = {queries, y};
    return orch_net_latent_attention(b, orch_net_concat(b, both, 2), (int)s->heads, key_width,
                                     s->value_width);
}

static int gated(struct orch_net_builder *b, int in, int64_t inner, int64_t width,
                 const char *prefix)
{
    int gate = orch_net_token_linear_plain(b, in, inner, "%s.gate_proj", prefix);
    int up = orch_net_token_linear_plain(b, in, inner, "%s.up_proj", prefix);
    int both[] = {orch_net_activation(b, gate, ORCH_NET_SILU), up};
    int y = orch_net_elementwise(b, both, 2, "gate");
    return orch_net_token_linear_plain(b, y, width, "%s.down_proj", prefix);
}

/* The router's scores choose experts; each token is copied to its own, and what they make of it is
 * added by the scores. */
static int experts(struct orch_net_builder *b, const struct orch_net_sizes *s, int in, int i)
{
    int64_t tokens = b->net->input.h;
    int scores = orch_net_router(b, in, s->experts, LAYER "mlp.gate", i);
    if (s->has_router_bias && scores >= 0) {
        g_autofree char *name = g_strdup_printf(LAYER "mlp.gate.e_score_correction_bias", i);
        orch_net_layer_tensor(b, name, ORCH_NET_BIAS, 1, &s->experts);
    }
    struct orch_net_shape copies = {s->chosen * s->width, tokens, 1};
    int x = orch_net_generic(b, &in, 1, copies, "dispatch");
    int gate = orch_net_experts_linear(b, x, s->expert_inner, s->experts, s->chosen,
                                       LAYER "mlp.experts.gate_proj", i);
    int up = orch_net_experts_linear(b, x, s->expert_inner, s->experts, s->chosen,
                                     LAYER "mlp.experts.up_proj", i);
    int both[] = {orch_net_activation(b, gate, ORCH_NET_SILU), up};
    int y = orch_net_elementwise(b, both, 2, "gate");
    y = orch_net_experts_linear(b, y, s->width, s->experts, s->chosen,
                                LAYER "mlp.experts.down_proj", i);
    int parts[] = {y, scores};
    y = orch_net_generic(b, parts, 2, (struct orch_net_shape){s->width, tokens, 1}, "combine");
    if (!s->shared_inner)
        return y;
    g_autofree char *shared = g_strdup_printf(LAYER "mlp.shared_experts", i);
    int common[] = {gated(b, in, s->shared_inner, s->width, shared), 0};
    if (s->has_shared_gate) {
        common[1] = orch_net_token_linear_plain(b, in, 1, LAYER "mlp.shared_expert_gate", i);
        struct orch_net_shape out = {s->width, tokens, 1};
        common[0] = orch_net_generic(b, common, 2, out, "gate");
    }
    return orch_net_add(b, y, common[0]);
}

static const char *form_of(bool is_mixture)
{
    return is_mixture ? "LAYERS,WIDTH,HEADS[,KEY_HEADS[,FEED_FORWARD]],experts=N,chosen=N, as "
                        "32,4096,32,8,14336,experts=8,chosen=2"
                      : "LAYERS,WIDTH,HEADS[,KEY_HEADS[,FEED_FORWARD]], as 32,4096,32,8,14336";
}

void orch_net_build_llama(struct orch_net_builder *b, const char *argument, int is_mixture)
{
    struct orch_net_sizes s = {0};
    if (!orch_net_sizes_read(b, argument, form_of(is_mixture), &s.key_heads, &s.inner, &s))
        return;
    if (is_mixture && !s.experts) {
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, form_of(is_mixture),
                       "network '%s' needs experts=N and chosen=N", b->net->name);
        return;
    }
    int x = orch_net_embedding(b, 0, b->net->classes, s.width, "model.embed_tokens");
    for (int i = 0; i < s.layers; i++) {
        b->group = i + 1;
        int y = orch_net_rmsnorm(b, x, LAYER "input_layernorm", i);
        y = s.key_rank ? latent_attention(b, &s, y, i) : attention(b, &s, y, i);
        y = orch_net_token_linear_plain(b, y, s.width, LAYER "self_attn.o_proj", i);
        x = orch_net_add(b, x, y);
        y = orch_net_rmsnorm(b, x, LAYER "post_attention_layernorm", i);
        g_autofree char *mlp = g_strdup_printf(LAYER "mlp", i);
        y = s.experts && i >= s.dense ? experts(b, &s, y, i) : gated(b, y, s.inner, s.width, mlp);
        x = orch_net_add(b, x, y);
    }
    b->group = (int)s.layers + 1;
    x = orch_net_rmsnorm(b, x, "model.norm");
    if (s.is_tied)
        orch_net_token_linear(b, x, b->net->classes, NULL);
    else
        orch_net_token_linear_plain(b, x, b->net->classes, "lm_head");
}
