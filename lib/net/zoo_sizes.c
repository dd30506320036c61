/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/zoo_sizes.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#define LAYERS_MAX 512
#define WIDTH_MAX 65536

/* A published network, by the variant of its row in zoo.c. */
static const struct orch_net_sizes PUBLISHED[] = {
    [ORCH_TRANSFORMER_BERT_BASE] = {12, 768, 12},
    [ORCH_TRANSFORMER_BERT_LARGE] = {24, 1024, 16},
    [ORCH_TRANSFORMER_DISTILBERT] = {6, 768, 12, .kinds = -1, .is_bare = true},
    [ORCH_TRANSFORMER_ROBERTA_BASE] = {12, 768, 12, .kinds = 1, .pads = 2},
    [ORCH_TRANSFORMER_ROBERTA_LARGE] = {24, 1024, 16, .kinds = 1, .pads = 2},
    [ORCH_TRANSFORMER_DISTILGPT2] = {6, 768, 12},
    [ORCH_TRANSFORMER_GPT2] = {12, 768, 12},
    [ORCH_TRANSFORMER_GPT2_MEDIUM] = {24, 1024, 16},
    [ORCH_TRANSFORMER_GPT2_LARGE] = {36, 1280, 20},
    [ORCH_TRANSFORMER_GPT2_XL] = {48, 1600, 25},
    [ORCH_TRANSFORMER_OPT_125M] = {12, 768, 12},
    [ORCH_TRANSFORMER_OPT_1_3B] = {24, 2048, 32},
    [ORCH_TRANSFORMER_OPT_2_7B] = {32, 2560, 32},
    [ORCH_TRANSFORMER_OPT_6_7B] = {32, 4096, 32},
    [ORCH_TRANSFORMER_TINYLLAMA] = {22, 2048, 32, 4, 5632},
    [ORCH_TRANSFORMER_LLAMA_2_7B] = {32, 4096, 32, 32, 11008},
    [ORCH_TRANSFORMER_LLAMA_2_13B] = {40, 5120, 40, 40, 13824},
    [ORCH_TRANSFORMER_LLAMA_2_70B] = {80, 8192, 64, 8, 28672},
    [ORCH_TRANSFORMER_LLAMA_3_8B] = {32, 4096, 32, 8, 14336},
    [ORCH_TRANSFORMER_LLAMA_3_70B] = {80, 8192, 64, 8, 28672},
    [ORCH_TRANSFORMER_MPT_7B] = {32, 4096, 32},
    [ORCH_TRANSFORMER_MPT_30B] = {48, 7168, 64},
    [ORCH_TRANSFORMER_LLAMA_3_2_1B] = {16, 2048, 32, 8, 8192, .is_tied = true},
    [ORCH_TRANSFORMER_LLAMA_3_2_3B] = {28, 3072, 24, 8, 8192, .is_tied = true},
    [ORCH_TRANSFORMER_MISTRAL_7B] = {32, 4096, 32, 8, 14336},
    [ORCH_TRANSFORMER_T5_SMALL] = {6, 512, 8},
    [ORCH_TRANSFORMER_T5_BASE] = {12, 768, 12},
    [ORCH_TRANSFORMER_T5_LARGE] = {24, 1024, 16},
    [ORCH_TRANSFORMER_VIT_TI_16] = {12, 192, 3, .patch = 16},
    [ORCH_TRANSFORMER_VIT_S_16] = {12, 384, 6, .patch = 16},
    [ORCH_TRANSFORMER_VIT_B_16] = {12, 768, 12, .patch = 16},
    [ORCH_TRANSFORMER_VIT_B_32] = {12, 768, 12, .patch = 32},
    [ORCH_TRANSFORMER_VIT_L_16] = {24, 1024, 16, .patch = 16},
    [ORCH_TRANSFORMER_VIT_L_32] = {24, 1024, 16, .patch = 32},
    [ORCH_TRANSFORMER_VIT_H_14] = {32, 1280, 16, .patch = 14},
};

static bool is_possible(const struct orch_net_sizes *s)
{
    return s->layers >= 1 && s->layers <= LAYERS_MAX && s->width >= 1 && s->width <= WIDTH_MAX &&
           s->heads >= 1 && s->width % s->heads == 0 && s->key_heads >= 1 &&
           s->heads % s->key_heads == 0 && s->inner >= 1 && s->inner <= 4 * WIDTH_MAX &&
           s->head_width >= 1 && s->head_width <= WIDTH_MAX;
}

bool orch_net_sizes_read(struct orch_net_builder *b, const char *argument, int variant,
                         const char *form, int64_t *fourth, int64_t *fifth,
                         struct orch_net_sizes *s)
{
    g_auto(GStrv) words = g_strsplit(argument ? argument : "", ",", 6);
    int64_t *values[] = {&s->layers, &s->width, &s->heads, fourth, fifth, NULL};
    bool ok = argument ? g_strv_length(words) >= 3 : variant > 0;
    if (!argument)
        *s = PUBLISHED[variant];
    for (int i = 0; ok && argument && words[i]; i++)
        ok = i < 5 && values[i] && orch_int_parse(words[i], values[i]);
    s->key_heads = s->key_heads ? s->key_heads : s->heads;
    s->inner = s->inner ? s->inner : 4 * s->width;
    s->patch = s->patch ? s->patch : 16;
    s->head_width = s->head_width ? s->head_width : s->heads > 0 ? s->width / s->heads : 1;
    if (ok && is_possible(s))
        return true;
    if (!argument)
        orch_error_set(&b->error, ORCH_ERROR_RECIPE, form, "network '%s' needs its sizes",
                       b->net->name);
    else
        orch_error_set(&b->error, ORCH_ERROR_RECIPE,
                       "the width is a multiple of the heads, and these of the heads of keys",
                       "network '%s': '%s' is not %s", b->net->name, argument ? argument : "",
                       form);
    return false;
}
