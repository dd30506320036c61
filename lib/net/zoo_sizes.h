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
    int64_t head_width; /* of T5, whose heads together need not be as wide as the layer */
    int64_t kinds;      /* of tokens, as BERT tells them apart; -1: none */
    int64_t pads;       /* places before the first token */
    bool is_tied;       /* the scores use the embedding's weights */
    bool is_biased;     /* queries, keys and values have biases where the family has none */
    bool is_bare;       /* without a pooler */
};

/** Reads "24,1024,16" and up to two more numbers, whose meaning the family has (NULL: it has none
 * such), then words ("tied", "bias", "bare", "head=128", "kinds=1", "pads=2"). False with an error
 * in the builder, which says the form. */
bool orch_net_sizes_read(struct orch_net_builder *b, const char *argument, const char *form,
                         int64_t *fourth, int64_t *fifth, struct orch_net_sizes *s);

#endif
