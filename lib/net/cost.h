/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Costs of layers for one image, and how they are calculated. Tables and arithmetic only.
 *
 * A multiply-add is one operation or two (Lu et al. 2017 count one, PALEO two), as the caller
 * chooses. Other operations: one per output for a bias; one per element for ReLU and other
 * activations, sums and products; the window's size per output of a pool; five per element for
 * local response normalisation; four (three to normalise, one to scale) for batch and layer norm.
 * This is the method of Lu et al., which reproduces their totals. */
#ifndef ORCH_NET_COST_H
#define ORCH_NET_COST_H

#include "lib/net/net.h"

struct orch_net_cost {
    int64_t params;      /* including biases */
    int64_t weights;     /* without biases */
    int64_t activations; /* output values */
    int64_t macs;
    int64_t other;            /* operations other than multiply-adds */
    int64_t read, written;    /* values; weights count as read */
    int64_t field_h, field_w; /* receptive field of one output */
    bool is_in_place;         /* its output needs no memory of its own in training */
    int64_t trained;          /* parameters that are not frozen */
    bool learns;              /* its value has a gradient: it is trained, or something before it */
    bool flows_on;            /* the gradient goes on to its inputs */
    bool learns_weights;      /* multiply-adds for a gradient of its weights */
    int64_t idle; /* values that its backward pass reserves beside those that are kept, as the free
                     blocks are narrower (lib/net/idle_memory.h) */
};

/** Costs of all nodes in order: an array of net->nodes->len. For auxiliary heads only parameters
 * are counted. Caller frees. */
struct orch_net_cost *orch_net_costs(const struct orch_net *net);
/** Sum of the costs; the receptive field is the last node's. */
struct orch_net_cost orch_net_cost_sum(const struct orch_net *net,
                                       const struct orch_net_cost *costs);

/** macs * per_mac + other; per_mac is 1 or 2. */
int64_t orch_net_operations(const struct orch_net_cost *cost, int per_mac);

enum orch_net_kind { /* groups of layers for summaries */
                     ORCH_NET_KIND_CONV,
                     ORCH_NET_KIND_LINEAR,
                     ORCH_NET_KIND_POOL,
                     ORCH_NET_KIND_NORM,
                     ORCH_NET_KIND_ACTIVATION,
                     ORCH_NET_KIND_ATTENTION,
                     ORCH_NET_KIND_OTHER,
                     ORCH_NET_KIND_COUNT
};
enum orch_net_kind orch_net_kind_of(enum orch_net_op op);
const char *orch_net_kind_name(enum orch_net_kind kind);

/** "(11*11*3)*96 = 34,848", without biases; "0" for a node without weights. Caller frees. */
char *orch_net_params_work(const struct orch_net *net, const struct orch_net_node *node);
/** "55*55*96 = 290,400". */
char *orch_net_activations_work(const struct orch_net_node *node);
/** "(11*11*3)*96*55*55 = 105,415,200". */
char *orch_net_macs_work(const struct orch_net *net, const struct orch_net_node *node);
/** Formats 1234567 as "1,234,567". Caller frees. */
char *orch_net_count_format(int64_t count);

struct orch_net_memory { /* bytes, while training a batch */
    double weights, gradients, optimizer, activations;
    double total; /* as orch_net_most_held has it */
};
/** Bytes held at the most: the backward pass frees activations while it makes gradients, so the
 * larger of the two counts, besides `held`. */
double orch_net_most_held(double held, double gradients, double activations);
/** Of a network with frozen parameters: these are held in `element_bytes` and have no gradients and
 * states; activations are those that some gradient needs. `element_bytes` of activations is 4
 * (fp32) or 2; weights, gradients and the optimizer's `states_per_weight` (0 SGD, 1 momentum, 2
 * Adam) are fp32. Activations are what orch_net_kept_bytes has, and what a loss makes of the
 * outputs, which is much for a vocabulary at each token. Without `training`: the weights, and the
 * largest input plus output of a layer. */
struct orch_net_memory orch_net_memory(const struct orch_net *net,
                                       const struct orch_net_cost *costs, int64_t batch,
                                       int element_bytes, int states_per_weight, bool training);

/** Bytes a sample that each node keeps for the backward pass (net->nodes->len; caller frees):
 * outputs that some gradient needs, except in-place ones (ReLU after a convolution, norm or sum; a
 * norm, or a layer times a factor, that is only added to, as its memory takes the sum), the places
 * of a pool's greatest values in 64 bits, and masks of dropout. `autocasts`: of 16 bits, in
 * PyTorch's mixed precision, whose norms are in fp32. */
double *orch_net_kept_bytes(const struct orch_net *net, const struct orch_net_cost *costs,
                            int element_bytes, bool autocasts);
/** Bytes of a weight that is held so, with its scales: of 4 bits a scale of 8 bits for 64 weights,
 * which has one of 32 bits for 256 (Dettmers et al. 2023, QLoRA). */
double orch_net_stored_bytes(const struct orch_net_tensor *tensor, int element_bytes);
/** Output values of a sample that a loss compares: of a language model at each token. */
double orch_net_score_count(const struct orch_net *net);
/** Bytes that PyTorch's cross entropy makes of each of them. */
double orch_net_loss_bytes(int element_bytes);

/** Bytes a sample that attention keeps for its backward pass where it is written out in plain
 * operations: the shares, in fp32, what dropout leaves of them, and its mask. 0 without attention.
 */
double orch_net_score_bytes(const struct orch_net *net, int element_bytes);
/** The same for one node. */
double orch_net_node_score_bytes(const struct orch_net_node *node, int element_bytes);

/** Receptive field of a stack of windows (kernel k, stride s): r = 1 + sum (k_i - 1) s_1 ...
 * s_(i-1). */
int64_t orch_net_stack_field(const int *kernels, const int *strides, int count);

#endif
