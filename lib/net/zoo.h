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
/* Transformers. `variant` of BERT: true for one that predicts masked tokens. */
void orch_net_build_bert(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_gpt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_mpt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_opt(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_t5(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_llama(struct orch_net_builder *b, const char *argument, int variant);
void orch_net_build_vit(struct orch_net_builder *b, const char *argument, int variant);

#endif
