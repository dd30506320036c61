/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building networks: one call per layer. After an error further calls do nothing, so that a builder
 * can check for errors once, at the end. */
#ifndef ORCH_NET_BUILD_H
#define ORCH_NET_BUILD_H

#include "lib/net/net.h"

struct orch_net_builder {
    struct orch_net *net;
    GError *error;     /* the first one */
    bool is_too_small; /* the error is that the input is too small for a window */
    int group;         /* of the following nodes */
    bool is_auxiliary; /* the following nodes belong to a head that is used in training only */
    double bn_eps;     /* of the following batch norms; 0: 1e-5 */
    double bn_momentum;
};

void orch_net_builder_init(struct orch_net_builder *b, const char *name, const char *family,
                           struct orch_net_shape input, int64_t classes);
/** Declares node `id` as the next output. Without a call the last node is the only output. */
void orch_net_declare_output(struct orch_net_builder *b, int id);
/** Returns the network (caller frees), or NULL with the first error. */
struct orch_net *orch_net_builder_finish(struct orch_net_builder *b, GError **error);

/** Initialisation of convolution weights. torchvision's resnets use Kaiming normal by fan-out,
 * plain modules PyTorch's default (uniform), VGG Kaiming by fan-out with zero biases. */
enum orch_conv_init {
    ORCH_CONV_KAIMING_FAN_OUT,
    ORCH_CONV_DEFAULT,
    ORCH_CONV_KAIMING_FAN_IN,
    ORCH_CONV_KAIMING_UNIFORM, /* by fan-in, zero biases */
    ORCH_CONV_NORMAL_0_1,      /* normal, standard deviation 0.1 */
    ORCH_CONV_NORMAL_0_01,     /* normal, standard deviation 0.01, zero biases */
};

struct orch_conv {
    int64_t out;
    int kernel, stride, pad;
    int groups; /* 0 means 1 */
    bool bias;
    enum orch_conv_init init;
};

/* Each returns the new node's id, or -1 after an error. `name` is a printf format for the module
 * name. */
int orch_net_conv(struct orch_net_builder *b, int in, struct orch_conv conv, const char *name, ...)
    G_GNUC_PRINTF(4, 5);
/** With a separate width: kernel x kernel_w, padded by pad x pad_w. */
int orch_net_conv_wide(struct orch_net_builder *b, int in, struct orch_conv conv, int kernel_w,
                       int pad_w, const char *name, ...) G_GNUC_PRINTF(6, 7);
int orch_net_batchnorm(struct orch_net_builder *b, int in, const char *name, ...)
    G_GNUC_PRINTF(3, 4);
int orch_net_relu(struct orch_net_builder *b, int in);
int orch_net_tanh(struct orch_net_builder *b, int in);
/** Element-wise: relu6, sigmoid, silu, gelu; or softmax (over C). */
int orch_net_activation(struct orch_net_builder *b, int in, enum orch_net_op op);
/** GELU by its approximation with tanh. */
int orch_net_gelu_tanh(struct orch_net_builder *b, int in);
int orch_net_maxpool(struct orch_net_builder *b, int in, int kernel, int stride, int pad);
/** The last window may extend beyond the edge. */
int orch_net_maxpool_ceil(struct orch_net_builder *b, int in, int kernel, int stride, int pad);
/** The mean includes the zeros of the padding. */
int orch_net_avgpool_pad(struct orch_net_builder *b, int in, int kernel, int stride, int pad);
int orch_net_avgpool(struct orch_net_builder *b, int in, int kernel, int stride);
int orch_net_adaptive_avgpool(struct orch_net_builder *b, int in, int h, int w);
/** `normal_sd` > 0: normal weights with that standard deviation and zero bias; 0: PyTorch's
 * default. */
int orch_net_linear(struct orch_net_builder *b, int in, int64_t out, double normal_sd,
                    const char *name, ...) G_GNUC_PRINTF(5, 6);
/** Changes the initialisation of a linear layer's weights to uniform on +-bound, with zero bias. */
void orch_net_linear_uniform(struct orch_net_builder *b, int id, double bound);
int orch_net_add(struct orch_net_builder *b, int left, int right);
/** Along C; heights and widths must be equal. */
int orch_net_concat(struct orch_net_builder *b, const int *inputs, int count);
/** Per channel: `factors` is C x 1 x 1. */
int orch_net_mul(struct orch_net_builder *b, int in, int factors);
int orch_net_lrn(struct orch_net_builder *b, int in, int window);
int orch_net_stochastic_depth(struct orch_net_builder *b, int in, double p);
int orch_net_flatten(struct orch_net_builder *b, int in);
int orch_net_dropout(struct orch_net_builder *b, int in, double p);
int orch_net_pad_shortcut(struct orch_net_builder *b, int in, int64_t channels, int stride);
/* Sequences: a value is C x T x 1. */
int orch_net_embedding(struct orch_net_builder *b, int in, int64_t rows, int64_t width,
                       const char *name, ...) G_GNUC_PRINTF(5, 6);
/** Changes which rows an embedding gives to the tokens (as built: each token's own). Returns `id`.
 */
int orch_net_embedding_rows(struct orch_net_builder *b, int id, enum orch_net_rows rows);
/** Gives the tokens the rows of their positions, the first token row `first`. Returns `id`. */
int orch_net_embedding_positions(struct orch_net_builder *b, int id, int first);
int orch_net_layernorm(struct orch_net_builder *b, int in, const char *name, ...)
    G_GNUC_PRINTF(3, 4);
/** `name` NULL: the weights are shared with another layer (tied), so it has no parameters. */
int orch_net_token_linear(struct orch_net_builder *b, int in, int64_t out, const char *name, ...)
    G_GNUC_PRINTF(4, 5);
/** Says that a token_linear is computed as so many products side by side, as implementations do
 * that have layers of their own for queries, keys and values. Returns `id`. */
int orch_net_in_parts(struct orch_net_builder *b, int id, int parts);
/** `in` has queries, keys and values concatenated. */
int orch_net_attention(struct orch_net_builder *b, int in, int heads);
/** The same, in which no token attends to later ones. */
int orch_net_causal_attention(struct orch_net_builder *b, int in, int heads);
int orch_net_first_token(struct orch_net_builder *b, int in);
/** Normalisation without a mean and without a bias (Zhang and Sennrich 2019). */
int orch_net_rmsnorm(struct orch_net_builder *b, int in, const char *name, ...) G_GNUC_PRINTF(3, 4);
/** A token_linear without a bias. */
int orch_net_token_linear_plain(struct orch_net_builder *b, int in, int64_t out, const char *name,
                                ...) G_GNUC_PRINTF(4, 5);
/** A token_linear of a mixture: `in` has the values of the `chosen` experts side by side, each of
 * which makes `out` values of its own with one of `experts` weights, without biases. */
int orch_net_experts_linear(struct orch_net_builder *b, int in, int64_t out, int64_t experts,
                            int64_t chosen, const char *name, ...) G_GNUC_PRINTF(6, 7);
/** Causal attention whose keys and values have fewer heads (Ainslie et al. 2023): `in` has the
 * heads' queries, then `key_heads` of keys and as many of values. */
int orch_net_grouped_attention(struct orch_net_builder *b, int in, int heads, int key_heads);
/** The scores of so many experts, which choose among them; `name` of its weights. */
int orch_net_router(struct orch_net_builder *b, int in, int64_t experts, const char *name, ...)
    G_GNUC_PRINTF(4, 5);
/** Causal attention whose values are narrower than queries and keys: `in` has the heads' queries
 * and keys, each `key_width`, then values of `value_width`. */
int orch_net_latent_attention(struct orch_net_builder *b, int in, int heads, int64_t key_width,
                              int64_t value_width);
/** An element-wise operation known by name only, with the shape of its first input. */
int orch_net_elementwise(struct orch_net_builder *b, const int *inputs, int count,
                         const char *name);
/** C x H x W to a sequence of H*W tokens and one more for the class, plus their positions. */
int orch_net_patch_tokens(struct orch_net_builder *b, int in, const char *prefix);
/** An operation known by name only, with the given output shape (h, w >= 1). */
int orch_net_generic(struct orch_net_builder *b, const int *inputs, int count,
                     struct orch_net_shape out, const char *name);

/* For readers of files, which compute shapes and counts themselves. */
/** Adds a node with the operation, attributes, shape and multiply-adds of `like`. Takes ownership
 * of `name` (NULL: the operation's name). */
int orch_net_layer(struct orch_net_builder *b, const struct orch_net_node *like, const int *inputs,
                   int count, char *name);
/** Adds a tensor to the last node; `rank` is 1 to 4. */
void orch_net_layer_tensor(struct orch_net_builder *b, const char *name, enum orch_net_role role,
                           int rank, const int64_t *shape);

/* The name of a layer, formatted from the arguments behind `name`, in a variable `text`. Owned. */
#define ORCH_NET_NAME(name, text)                                                                  \
    va_list args;                                                                                  \
    va_start(args, name);                                                                          \
    char *text = g_strdup_vprintf(name, args);                                                     \
    va_end(args)

#endif
