/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a layer costs, for one image, and how it is worked out. Tables and arithmetic only.
 *
 * Operations: a multiply-add is one operation or two (Lu et al. 2017 count one, PALEO two): the
 * caller says which. Beside multiply-adds there are one addition an output for a bias; one an
 * element for ReLU and other activations, sums and factors; the window's size for each output of a
 * pool; five an element for local response normalisation; four (three to normalise, one to scale)
 * for batch and layer norm: Lu et al.'s reckoning, which gives their totals. */
#ifndef ORCH_NET_COST_H
#define ORCH_NET_COST_H

#include "lib/net/net.h"

struct orch_net_cost {
    int64_t params;      /* with biases */
    int64_t weights;     /* without */
    int64_t activations; /* values put out */
    int64_t macs;
    int64_t other;            /* operations that are no multiply-adds */
    int64_t read, written;    /* values, weights among the read */
    int64_t field_h, field_w; /* of the input that one output sees */
    bool is_in_place;         /* its output needs no memory of its own while training */
};

/** Costs of all nodes, in their order; an array of net->nodes->len. Auxiliary heads have their
 * parameters and nothing else. The caller frees. */
struct orch_net_cost *orch_net_costs(const struct orch_net *net);
/** Their sum; the field is the last node's. */
struct orch_net_cost orch_net_cost_sum(const struct orch_net *net,
                                       const struct orch_net_cost *costs);

/** macs * per_mac + other; per_mac is 1 or 2. */
int64_t orch_net_operations(const struct orch_net_cost *cost, int per_mac);

enum orch_net_kind { /* what people group layers by */
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

/** "(11*11*3)*96 = 34,848", without biases; "0" for a node without. The caller frees. */
char *orch_net_params_work(const struct orch_net *net, const struct orch_net_node *node);
/** "55*55*96 = 290,400". */
char *orch_net_activations_work(const struct orch_net_node *node);
/** "(11*11*3)*96*55*55 = 105,415,200". */
char *orch_net_macs_work(const struct orch_net *net, const struct orch_net_node *node);
/** 1234567 as "1,234,567". */
char *orch_net_count_format(int64_t count);

struct orch_net_memory { /* bytes, while training a batch */
    double weights, gradients, optimizer, activations, total;
};
/** `element_bytes` 4 (fp32) or 2: of activations; weights, gradients and the optimizer's
 * `states_per_weight` (0 SGD, 1 momentum, 2 Adam) stay in fp32. Activations: every output that the
 * backward pass needs, the input among them; what works in place (ReLU behind a convolution, norm
 * or sum) needs none. Without `training`: weights and the largest input and output of one layer. */
struct orch_net_memory orch_net_memory(const struct orch_net *net,
                                       const struct orch_net_cost *costs, int64_t batch,
                                       int element_bytes, int states_per_weight, bool training);

/** Field of a stack of windows (kernel k, stride s): r = 1 + sum (k_i - 1) * s_1 ... s_(i-1). */
int64_t orch_net_stack_field(const int *kernels, const int *strides, int count);

#endif
