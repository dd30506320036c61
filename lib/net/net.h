/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Networks as graphs of typed operations. One description, many uses: shapes, parameters and
 * multiply-adds are counted from it, and the very graph that was counted is the one that is
 * trained.
 *
 * Tensors are N x C x H x W; a graph says C, H and W (a vector is C x 1 x 1). Node 0 is the input;
 * every node stands behind its inputs; the last node is the output (class scores).
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
    ORCH_NET_ADD,     /* elementwise, two inputs of equal shape */
    ORCH_NET_CONCAT,  /* along C */
    ORCH_NET_FLATTEN, /* to C*H*W x 1 x 1 */
    ORCH_NET_DROPOUT,
    ORCH_NET_PAD_SHORTCUT, /* option A of He et al. 2015: every stride-th pixel, zero channels added
                              (half before, half behind) up to `out.c` */
    ORCH_NET_RELU6,
    ORCH_NET_SIGMOID,
    ORCH_NET_SILU,
    ORCH_NET_GELU,
    ORCH_NET_SOFTMAX,
    ORCH_NET_LRN,              /* over kernel_h channels */
    ORCH_NET_MUL,              /* the second input is C x 1 x 1: one factor a channel */
    ORCH_NET_STOCHASTIC_DEPTH, /* drops the whole value of an image with probability p */
    ORCH_NET_EMBEDDING,        /* of 1 x T x 1 tokens: C x T x 1 */
    ORCH_NET_LAYERNORM,        /* over C */
    ORCH_NET_TOKEN_LINEAR,     /* along C, the same at each of the H x W places */
    ORCH_NET_ATTENTION,   /* of queries, keys and values side by side: 3C x T x 1 to C x T x 1 */
    ORCH_NET_FIRST_TOKEN, /* C x T x 1 to C x 1 x 1 */
    ORCH_NET_GENERIC,     /* named, but not known: counted as nothing */
};
#define ORCH_NET_OP_COUNT (ORCH_NET_GENERIC + 1)

struct orch_net_shape {
    int64_t c, h, w;
};

#define ORCH_NET_INPUTS_MAX 64

struct orch_net_node {
    int id; /* its index */
    enum orch_net_op op;
    char *name; /* "layer1.0.conv1": torchvision's module names where it has the network */
    int inputs[ORCH_NET_INPUTS_MAX];
    int input_count;
    struct orch_net_shape out;
    int group; /* layer group, from 0 (stem) up to the head's: for freezing and rates by layer */
    /* attributes; what an operation does not have is 0 */
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w; /* conv, pools */
    int dilation, groups;                                     /* conv */
    int64_t in_channels, out_channels;                        /* conv; linear: features */
    bool has_bias;                                            /* conv, linear */
    bool ceil_mode;       /* pools: a last window may hang over the edge */
    bool is_auxiliary;    /* of a head that only trains: counted in parameters, not in operations */
    int heads;            /* attention */
    double eps, momentum; /* batch norm */
    double p;             /* dropout, stochastic depth */
    int64_t macs;         /* multiply-adds for one image: conv and linear, without bias */
    int first_tensor, tensor_count; /* of the network's tensors */
};

enum orch_net_role {
    ORCH_NET_WEIGHT,
    ORCH_NET_BIAS,
    ORCH_NET_RUNNING_MEAN, /* buffers of batch norm: not trained */
    ORCH_NET_RUNNING_VAR,
};

/** How a tensor begins, as PyTorch's networks do. */
enum orch_net_init {
    ORCH_NET_INIT_ZERO,
    ORCH_NET_INIT_ONE,
    ORCH_NET_INIT_UNIFORM, /* on [-init_scale, init_scale) */
    ORCH_NET_INIT_NORMAL,  /* mean 0, standard deviation init_scale */
};

struct orch_net_tensor {
    char *name; /* of the state dict: "layer1.0.conv1.weight", "bn1.running_mean" */
    int node;
    enum orch_net_role role;
    int rank;         /* 1, 2 (linear: out x in; embedding: rows x C) or 4 (conv: out x in/groups x
                         kh x kw) */
    int64_t shape[4]; /* unused ones are 1 */
    int64_t count;    /* elements */
    enum orch_net_init init;
    double init_scale;
};

struct orch_net {
    char *name;   /* as asked for: "resnet-cifar:20" */
    char *family; /* row of the zoo: "resnet-cifar:N" */
    struct orch_net_shape input;
    int64_t classes;
    GPtrArray *nodes;   /* struct orch_net_node * */
    GPtrArray *tensors; /* struct orch_net_tensor *, in the order of nodes */
    int group_count;
};
void orch_net_free(struct orch_net *net);

/** What to make. Zeroes: the family's own (its published input and classes). */
struct orch_net_options {
    const char *name; /* "resnet50", "resnet-cifar:20", "mlp:512,256" */
    int64_t channels, height, width;
    int64_t classes;
};
/** The zoo's own spelling of a name as people write it: "ResNet-50" is "resnet50", "MLP:512,256"
 * "mlp:512,256". NULL when there is no such network. The caller frees. */
char *orch_net_canonical_name(const char *name);
/** Builds a network of the zoo. NULL with ORCH_ERROR_NOT_FOUND (unknown name, nearest known) or
 * ORCH_ERROR_RECIPE (bad argument; an input that is too small, naming layer and shape). */
struct orch_net *orch_net_make(const struct orch_net_options *options, GError **error);
/** "3x224x224" (C x H x W), or "224x224" for the network's own channels, into the options. False
 * when it is neither; they are left as they were then. */
bool orch_net_input_parse(const char *text, struct orch_net_options *out);

struct orch_net_builder;

/** A family of the zoo. */
struct orch_net_family {
    const char *pattern; /* "resnet50", "resnet-cifar:N" */
    const char *about;   /* one line, with its source */
    struct orch_net_shape input;
    int64_t classes;
    bool is_classifier; /* of images */
    /* says its layers (lib/net/build.h): `argument` stands behind the colon of the name asked for,
     * NULL without one; `variant` tells families with one builder apart */
    void (*build)(struct orch_net_builder *b, const char *argument, int variant);
    int variant;
};
/** All families, ended by a NULL pattern. */
const struct orch_net_family *orch_net_families(void);

const struct orch_net_node *orch_net_node(const struct orch_net *net, int id);
const struct orch_net_tensor *orch_net_tensor(const struct orch_net *net, int index);
/** Index of a tensor by its name, -1 when there is none. */
int orch_net_tensor_find(const struct orch_net *net, const char *name);
/** The final classifier: the node whose outputs become the class scores: the last linear layer, or
 * the last convolution where there is none. NULL for a graph without either. */
const struct orch_net_node *orch_net_head(const struct orch_net *net);

/** Trained parameters (no running statistics), with biases. */
int64_t orch_net_params(const struct orch_net *net);
/** The same of one node. */
int64_t orch_net_node_params(const struct orch_net *net, const struct orch_net_node *node);
/** Multiply-adds of one forward pass of one image (convolutions, linear layers, attention), without
 * auxiliary heads. */
int64_t orch_net_macs(const struct orch_net *net);
/** Can it be trained on images and labels? Transformers and detectors are counted only. */
bool orch_net_is_classifier(const struct orch_net *net);
/** Layers with weights on the longest path, as networks are named: 50 for resnet50. */
int orch_net_depth(const struct orch_net *net);

/** "conv2d", "linear", ... */
const char *orch_net_op_name(enum orch_net_op op);

#endif
