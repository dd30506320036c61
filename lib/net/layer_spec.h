/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single layers as text, such as "conv 64x32x32 -> 128 k3 s2 p1". A layer of a network and a layer
 * that somebody lists have the same text if they compute the same, so measurements of one are found
 * for the other.
 *
 *     KIND INPUT [-> OUTPUT] [kN] [sN] [pN] [gN] [hN] [bias] [bN]
 *
 *     conv CxHxW -> C kN      convolution; stride s1, padding p0, groups g1, with bias: bias
 *     dense C -> C            dense layer with bias
 *     maxpool, avgpool CxHxW kN      stride as the window, padding p0
 *     adaptivepool CxHxW -> HxW      mean pooling to that size
 *     batchnorm CxHxW, batchnorm+relu, batchnorm+add+relu      with what may be fused
 *     relu, relu6, tanh, sigmoid, silu, gelu, add CxHxW        element by element
 *     attention CxT hN        C values of each of T tokens, N heads
 *
 * bN is the number of images. */
#ifndef ORCH_NET_LAYER_SPEC_H
#define ORCH_NET_LAYER_SPEC_H

#include "lib/net/net.h"

/** A layer to be built. Members that a kind does not have are 0. */
struct orch_net_layer_spec {
    const char *kind; /* static: one of those that can be parsed */
    int64_t channels, height, width;
    int64_t out;       /* conv, dense: channels; adaptivepool: height */
    int64_t out_width; /* adaptivepool */
    int kernel, stride, pad, groups, heads;
    bool bias;
    int64_t batch; /* 0: not said */
};

/** Parses a layer and checks its geometry by building it. Fails with ORCH_ERROR_RECIPE, quoting the
 * text, with the cause and a hint; `out` is then unchanged. */
bool orch_net_layer_parse(const char *text, struct orch_net_layer_spec *out, GError **error);

/** Builds a graph with the layer. Its nodes are `*out_first` to the last one; earlier ones only
 * provide inputs. Fails with ORCH_ERROR_RECIPE for an impossible geometry. Caller frees. */
struct orch_net *orch_net_layer_make(const struct orch_net_layer_spec *spec, int *out_first,
                                     GError **error);

/** Text of a node, without its batch. For the last node of a fusion pass the normalisation with
 * which it is computed (`fusion`), else NULL. Operations that cannot be parsed have the name of the
 * operation and the shapes. Caller frees. */
struct orch_net_fusion;
char *orch_net_layer_format(const struct orch_net *net, const struct orch_net_node *node,
                            const struct orch_net_fusion *fusion);
/** The first word of that text: "conv", "batchnorm+relu". Static. */
const char *orch_net_layer_kind(const struct orch_net_node *node,
                                const struct orch_net_fusion *fusion);

/** A batch normalisation that may be computed together with what follows it, when the last of them
 * is reached. */
struct orch_net_fusion {
    int norm;     /* node of the normalisation; -1: nothing ends here */
    int shortcut; /* node that is added; -1: none */
    bool relu;
    int end; /* where the fusion that this node is part of ends; the node itself if it is in none */
};

/** Finds each normalisation with the ReLU, or the addition and the ReLU, that alone read it: an
 * array of net->nodes->len. Caller frees. */
struct orch_net_fusion *orch_net_fusions(const struct orch_net *net);

#endif
