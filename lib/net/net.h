/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Networks as graphs of typed operations. Shapes, parameters and multiply-adds are computed from
 * the same graph that is trained.
 *
 * Tensors are N x C x H x W; a graph specifies C, H and W (a vector is C x 1 x 1). Node 0 is the
 * input; every node comes after its inputs. The outputs are the nodes that the graph declares, in
 * that order, else the last node alone (of a classifier: class scores).
 */
#ifndef ORCH_NET_NET_H
#define ORCH_NET_NET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_net_op {
    ORCH_NET_INPUT,
    ORCH_NET_CONV2D,
    ORCH_NET_BATCHNORM2D,
    ORCH_NET_RELU,
    ORCH_NET_TANH,
    ORCH_NET_MAXPOOL2D,
    ORCH_NET_AVGPOOL2D,
    ORCH_NET_ADAPTIVE_AVGPOOL2D, /* to out_h x out_w */
    ORCH_NET_LINEAR,
    ORCH_NET_ADD,     /* element-wise, two inputs with equal shapes */
    ORCH_NET_CONCAT,  /* along C */
    ORCH_NET_FLATTEN, /* to C*H*W x 1 x 1 */
    ORCH_NET_DROPOUT,
    ORCH_NET_PAD_SHORTCUT, /* option A of He et al. 2015: every stride-th pixel, with zero channels
                              added (half before, half after) up to `out.c` */
    ORCH_NET_RELU6,
    ORCH_NET_SIGMOID,
    ORCH_NET_SILU,
    ORCH_NET_GELU,
    ORCH_NET_SOFTMAX,
    ORCH_NET_LRN,              /* over kernel_h channels */
    ORCH_NET_MUL,              /* by channel; the second input is C x 1 x 1 */
    ORCH_NET_STOCHASTIC_DEPTH, /* drops an image's whole value with probability p */
    ORCH_NET_EMBEDDING,        /* 1 x T x 1 tokens to C x T x 1 */
    ORCH_NET_LAYERNORM,        /* over C */
    ORCH_NET_TOKEN_LINEAR,     /* along C, the same at each of the H x W positions */
    ORCH_NET_ATTENTION,        /* concatenated queries, keys and values, 3C x T x 1, to C x T x 1 */
    ORCH_NET_FIRST_TOKEN,      /* C x T x 1 to C x 1 x 1 */
    ORCH_NET_CONV_TRANSPOSE2D, /* each input times a kernel, added up stride apart; counted only */
    ORCH_NET_GENERIC,          /* unknown operation with a name: counted as zero */
};
#define ORCH_NET_OP_COUNT (ORCH_NET_GENERIC + 1)

/** Which rows of its table an embedding gives to the tokens. */
enum orch_net_rows {
    ORCH_NET_ROWS_TOKENS = 0, /* each token's own */
    ORCH_NET_ROWS_POSITIONS,  /* the row of the token's position */
    ORCH_NET_ROWS_FIRST,      /* the first one: all tokens are of one kind */
};

struct orch_net_shape {
    int64_t c, h, w;
};

#define ORCH_NET_INPUTS_MAX 64

struct orch_net_node {
    int id; /* index in nodes */
    enum orch_net_op op;
    char *name; /* "layer1.0.conv1": torchvision's module name if it has the network */
    int inputs[ORCH_NET_INPUTS_MAX];
    int input_count;
    struct orch_net_shape out;
    int group; /* layer group, from 0 (stem) to the head's: for freezing and per-group rates */
    /* attributes; 0 if the operation does not have them */
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w; /* convs, pools */
    int dilation, groups;                                     /* convs */
    int64_t in_channels, out_channels;                        /* convs; linear: features */
    bool has_bias;                                            /* convs, linear */
    bool ceil_mode;    /* pools: the last window may extend beyond the edge */
    bool is_auxiliary; /* in a head used in training only: counts for parameters, not operations */
    int heads;         /* attention */
    int parts;         /* token_linear: products of equal width that compute it; 0: one */
    int experts, chosen; /* token_linear: of so many weights each token goes through `chosen`, whose
                            inputs and outputs lie side by side; 0: it is no mixture */
    bool routes;         /* token_linear: its outputs choose experts */
    bool is_causal;      /* attention: no token attends to later ones */
    bool is_written_out; /* attention: of several operations in the file that it was read from */
    bool computes;       /* generic: known to compute, not only to move values */
    bool is_tanh_form;   /* gelu: its approximation by tanh, as GPT-2 has it */
    enum orch_net_rows rows;        /* embedding */
    int first_row;                  /* embedding of positions: the row of the first token */
    double eps, momentum;           /* batch norm */
    double p;                       /* dropout, stochastic depth */
    int64_t macs;                   /* multiply-adds per image, without bias: convs and linear */
    int first_tensor, tensor_count; /* in the network's tensors */
};

enum orch_net_role {
    ORCH_NET_WEIGHT,
    ORCH_NET_BIAS,
    ORCH_NET_RUNNING_MEAN, /* batch norm buffers, which are not trained */
    ORCH_NET_RUNNING_VAR,
};

/** Initialisation of a tensor, as in PyTorch's networks. */
enum orch_net_init {
    ORCH_NET_INIT_ZERO,
    ORCH_NET_INIT_ONE,
    ORCH_NET_INIT_UNIFORM, /* on [-init_scale, init_scale) */
    ORCH_NET_INIT_NORMAL,  /* mean 0, standard deviation init_scale */
};

struct orch_net_tensor {
    char *name; /* in the state dict: "layer1.0.conv1.weight", "bn1.running_mean" */
    int node;
    enum orch_net_role role;
    int rank;         /* 1, 2 (linear: out x in; embedding: rows x C) or 4 (conv: out x in/groups x
                         kh x kw; transposed: in x out/groups x kh x kw) */
    int64_t shape[4]; /* unused entries are 1 */
    int64_t count;    /* elements */
    enum orch_net_init init;
    double init_scale;
    bool is_frozen;  /* not trained: no gradient, no states of an optimizer */
    int stored_bits; /* of a frozen one held narrower than the activations (8, 4); 0: as these */
};

struct orch_net {
    char *name;   /* as requested: "resnet-cifar:20" */
    char *family; /* entry of the zoo: "resnet-cifar:N" */
    struct orch_net_shape input;
    int64_t classes;
    int64_t positions;  /* tokens that the model was made for; 0: not known, or as asked */
    int held_bits;      /* of a quantized model's weights, as its file says; 0: it is not one */
    GPtrArray *nodes;   /* struct orch_net_node * */
    GPtrArray *tensors; /* struct orch_net_tensor *, in node order */
    int group_count;
    GArray *outputs; /* int: nodes, in the order of their declaration; at least one */
};
void orch_net_free(struct orch_net *net);

/** The network to build. 0 stands for the family's default (its published input and classes). */
struct orch_net_options {
    const char *name; /* "resnet50", "resnet-cifar:20", "mlp:512,256" */
    int64_t channels, height, width;
    int64_t classes;
};
/** Returns the zoo's spelling of a name: "resnet50" for "ResNet-50", "mlp:512,256" for
 * "MLP:512,256". NULL if there is no such network. Caller frees. */
char *orch_net_canonical_name(const char *name);
/** Builds a network of the zoo. Fails with NULL and ORCH_ERROR_NOT_FOUND (unknown name, with the
 * nearest one) or ORCH_ERROR_RECIPE (invalid argument; input too small, naming layer and shape). */
struct orch_net *orch_net_make(const struct orch_net_options *options, GError **error);
/** Parses "3x224x224" (C x H x W), or "224x224" for the network's default channels, into the
 * options. Returns false, without changes, for anything else. */
bool orch_net_input_parse(const char *text, struct orch_net_options *out);
/** "3x224x224". The caller frees. */
char *orch_net_shape_format(struct orch_net_shape shape);

/** Tokens of a question that names no length, where the model has as many: longer contexts are
 * rarely trained. */
#define ORCH_NET_TOKENS_USUAL 8192

struct orch_net_builder;

/** A family of the zoo. */
struct orch_net_family {
    const char *pattern; /* "resnet50", "resnet-cifar:N" */
    const char *about;   /* one line, with its source */
    struct orch_net_shape input;
    int64_t classes;
    bool is_classifier; /* of images */
    int64_t positions;  /* of tokens that it was made for; 0: it is none of tokens */
    /* builds the layers (lib/net/build.h). `argument` is the text after the colon of the requested
     * name, or `sizes`; `variant` distinguishes families with the same builder */
    void (*build)(struct orch_net_builder *b, const char *argument, int variant);
    const char *sizes; /* of a published transformer, as its family's argument; else NULL */
    int variant;
};
/** All families, ended by a NULL pattern. */
const struct orch_net_family *orch_net_families(void);

const struct orch_net_node *orch_net_node(const struct orch_net *net, int id);
const struct orch_net_tensor *orch_net_tensor(const struct orch_net *net, int index);
/** Number of outputs, at least 1. */
int orch_net_output_count(const struct orch_net *net);
/** The node that computes output `index`, in the range 0 to orch_net_output_count() - 1. The output
 * has the node's name and shape. */
const struct orch_net_node *orch_net_output(const struct orch_net *net, int index);
/** The final classifier, whose outputs become the class scores: the last linear layer, else the
 * last convolution, else NULL. */
const struct orch_net_node *orch_net_head(const struct orch_net *net);
/** True if the node's weights depend on the number of classes or belong to a prediction made beside
 * the scores: it is the head, or, of a network with several outputs, one of them. Weights of
 * another number of classes are loaded without these. */
bool orch_net_is_of_head(const struct orch_net *net, const struct orch_net_node *node);
/** True if a pool without padding covers its whole input at the size that the network was built for
 * (one window). On images of another size it is evaluated over its whole input, too. */
bool orch_net_pools_all(const struct orch_net *net, const struct orch_net_node *node);

/** Number of trained parameters, including biases, without running statistics. */
int64_t orch_net_params(const struct orch_net *net);
/** The same for one node. */
int64_t orch_net_node_params(const struct orch_net *net, const struct orch_net_node *node);
/** Of a mixture of experts: the parameters that a token goes through. Else all. */
int64_t orch_net_active_params(const struct orch_net *net);
/** True if a parameter is not trained. */
bool orch_net_has_frozen(const struct orch_net *net);
/** Multiply-adds of a forward pass of one image (convolutions, linear layers, attention), without
 * auxiliary heads. */
int64_t orch_net_macs(const struct orch_net *net);
/** Checks that the counts of `batch` samples (multiply-adds, operations, values, bytes) are below
 * 2^63. Fails with ORCH_ERROR_RECIPE. */
bool orch_net_counts_check(const struct orch_net *net, int64_t batch, GError **error);
/** True if it is a family of the zoo that can be trained on images and labels. Transformers are
 * only counted; a detector is trained by a loss of the caller's. */
bool orch_net_is_classifier(const struct orch_net *net);
/** True when its input is a sequence of tokens, not an image. */
bool orch_net_is_sequence(const struct orch_net *net);
/** True if attention and the linear layers around it have most of its multiply-adds. */
bool orch_net_is_attention(const struct orch_net *net);
/** True if it was read from a file in which attention is written out in plain operations. */
bool orch_net_is_written_out(const struct orch_net *net);
/** Number of layers with weights on the longest path, as in the names of networks: 50 for
 * resnet50. */
int orch_net_depth(const struct orch_net *net);

/** "conv2d", "linear", ... */
const char *orch_net_op_name(enum orch_net_op op);

#endif
