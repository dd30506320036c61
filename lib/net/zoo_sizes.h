/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of transformers, as the text after a colon says them or as they were published. */
#ifndef ORCH_NET_ZOO_SIZES_H
#define ORCH_NET_ZOO_SIZES_H

#include "lib/net/zoo.h"

/** 0: the usual value. */
struct orch_net_sizes {
    int64_t layers, width, heads;
    int64_t key_heads; /* of the keys and values */
    int64_t inner;     /* of the feed-forward layers */
    int64_t patch;
    int64_t head_width;  /* of T5, whose heads together need not be as wide as the layer */
    int64_t kinds;       /* of tokens, as BERT tells them apart; -1: none */
    int64_t pads;        /* places before the first token */
    int64_t positions;   /* learned, without these places; 0: the family's, and all of the input */
    bool is_tied;        /* the scores use the embedding's weights */
    bool is_biased;      /* queries, keys and values have biases where the family has none */
    bool is_bare;        /* without a pooler */
    bool has_head_norms; /* of queries and keys, a head at a time (Qwen3) */
    /* mixtures of experts: of `experts` in all each token has `chosen`; widths of one, and of those
     * that every token has; the first layers that are dense; a bias of the router (DeepSeek-V3) */
    int64_t experts, chosen, expert_inner, shared_inner, dense;
    bool has_router_bias, has_shared_gate; /* a gate of the common one: Qwen2 */
    /* latent attention (DeepSeek-V2): ranks of queries (0: whole) and of keys and values, widths of
     * a head's rotary part and of its values; `head_width` is the part without positions */
    int64_t query_rank, key_rank, rotary, value_width;
};

/** Reads "24,1024,16" and up to two more numbers, whose meaning the family has (NULL: it has none
 * such), then words ("tied", "bias", "bare", "head=128", "kinds=1", "experts=8", ...). False with
 * an error in the builder, which says the form. */
bool orch_net_sizes_read(struct orch_net_builder *b, const char *argument, const char *form,
                         int64_t *fourth, int64_t *fifth, struct orch_net_sizes *s);

#endif
