/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What builders of networks say: one call a layer. A call after a failure does nothing, so a
 * builder reads straight down and the error is looked at once, at the end. */
#ifndef ORCH_NET_BUILD_H
#define ORCH_NET_BUILD_H

#include "lib/net/net.h"

struct orch_net_builder {
    struct orch_net *net;
    GError *error;     /* the first one */
    bool is_too_small; /* it says that a window does not fit */
    int group;         /* of the nodes to come */
};

void orch_net_builder_init(struct orch_net_builder *b, const char *name, const char *family,
                           struct orch_net_shape input, int64_t classes);
/** The network (owned by the caller), or NULL with the first error. */
struct orch_net *orch_net_builder_finish(struct orch_net_builder *b, GError **error);

/** How conv weights begin: torchvision's resnets use Kaiming's normal by fan-out, plain modules
 * PyTorch's own uniform; VGG by fan-out with zero biases. */
enum orch_conv_init { ORCH_CONV_KAIMING_FAN_OUT, ORCH_CONV_DEFAULT, ORCH_CONV_KAIMING_FAN_IN };

struct orch_conv {
    int64_t out;
    int kernel, stride, pad;
    int groups; /* 0 means 1 */
    bool bias;
    enum orch_conv_init init;
};

/* Each returns the new node's id, -1 after an error. `name` is printf-like and gives the module. */
int orch_net_conv(struct orch_net_builder *b, int in, struct orch_conv conv, const char *name, ...)
    G_GNUC_PRINTF(4, 5);
int orch_net_batchnorm(struct orch_net_builder *b, int in, const char *name, ...)
    G_GNUC_PRINTF(3, 4);
int orch_net_relu(struct orch_net_builder *b, int in);
int orch_net_tanh(struct orch_net_builder *b, int in);
int orch_net_maxpool(struct orch_net_builder *b, int in, int kernel, int stride, int pad);
int orch_net_avgpool(struct orch_net_builder *b, int in, int kernel, int stride);
int orch_net_adaptive_avgpool(struct orch_net_builder *b, int in, int h, int w);
/** `normal_sd` > 0: weights normal with that deviation and zero bias; 0: PyTorch's uniform. */
int orch_net_linear(struct orch_net_builder *b, int in, int64_t out, double normal_sd,
                    const char *name, ...) G_GNUC_PRINTF(5, 6);
int orch_net_add(struct orch_net_builder *b, int left, int right);
int orch_net_flatten(struct orch_net_builder *b, int in);
int orch_net_dropout(struct orch_net_builder *b, int in, double p);
int orch_net_pad_shortcut(struct orch_net_builder *b, int in, int64_t channels, int stride);

#endif
