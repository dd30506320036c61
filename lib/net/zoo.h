/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builders in the table of zoo.c, grouped by file. `argument` is the text after the colon of the
 * requested name, or NULL; `variant` distinguishes families with the same builder. */
#ifndef ORCH_NET_ZOO_H
#define ORCH_NET_ZOO_H

#include "lib/net/build.h"

void orch_net_build_lenet5(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mlp(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_airbench(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_alexnet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_alexnet_v2(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_alexnet_grouped(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_squeezenet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_nature_dqn(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_minatar_dqn(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_vgg(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_resnet_cifar(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_resnet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_wide_resnet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_densenet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_googlenet(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_inception_module(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_inception_v3(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mobilenet_v1(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_ssd_mobilenet_v1(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mobilenet_v1_ssd(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_ssd_small(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mobilenet_v2(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_efficientnet_b0(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_convnext(struct orch_net_builder *b, const char *argument, int variant);
/* Published transformers: variants of the builders below. */
enum orch_transformer {
    ORCH_TRANSFORMER_BERT_BASE = 1,
    ORCH_TRANSFORMER_BERT_LARGE,
    ORCH_TRANSFORMER_DISTILBERT,
    ORCH_TRANSFORMER_ROBERTA_BASE,
    ORCH_TRANSFORMER_ROBERTA_LARGE,
    ORCH_TRANSFORMER_DISTILGPT2,
    ORCH_TRANSFORMER_GPT2,
    ORCH_TRANSFORMER_GPT2_MEDIUM,
    ORCH_TRANSFORMER_GPT2_LARGE,
    ORCH_TRANSFORMER_GPT2_XL,
    ORCH_TRANSFORMER_OPT_125M,
    ORCH_TRANSFORMER_OPT_1_3B,
    ORCH_TRANSFORMER_OPT_2_7B,
    ORCH_TRANSFORMER_OPT_6_7B,
    ORCH_TRANSFORMER_TINYLLAMA,
    ORCH_TRANSFORMER_LLAMA_2_7B,
    ORCH_TRANSFORMER_LLAMA_2_13B,
    ORCH_TRANSFORMER_LLAMA_2_70B,
    ORCH_TRANSFORMER_LLAMA_3_8B,
    ORCH_TRANSFORMER_LLAMA_3_70B,
    ORCH_TRANSFORMER_MPT_7B,
    ORCH_TRANSFORMER_MPT_30B,
    ORCH_TRANSFORMER_LLAMA_3_2_1B,
    ORCH_TRANSFORMER_LLAMA_3_2_3B,
    ORCH_TRANSFORMER_MISTRAL_7B,
    ORCH_TRANSFORMER_T5_SMALL,
    ORCH_TRANSFORMER_T5_BASE,
    ORCH_TRANSFORMER_T5_LARGE,
    ORCH_TRANSFORMER_VIT_TI_16,
    ORCH_TRANSFORMER_VIT_S_16,
    ORCH_TRANSFORMER_VIT_B_16,
    ORCH_TRANSFORMER_VIT_B_32,
    ORCH_TRANSFORMER_VIT_L_16,
    ORCH_TRANSFORMER_VIT_L_32,
    ORCH_TRANSFORMER_VIT_H_14,
};
void orch_net_build_bert(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_gpt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mpt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_opt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_t5(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_llama(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_vit(struct orch_net_builder *b, const char *argument, int variant);

#endif
