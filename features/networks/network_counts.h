/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The counts of a network, layer by layer: parameters, multiply-adds, operations, bytes, memory. */
#ifndef ORCH_FEATURES_NETWORKS_NETWORK_COUNTS_H
#define ORCH_FEATURES_NETWORKS_NETWORK_COUNTS_H

#include "lib/net/cost.h"
#include "lib/net/net.h"

struct orch_count_options {
    int64_t batch;        /* images of a batch */
    int per_mac;          /* operations of a multiply-add: 1 or 2 */
    int element_bytes;    /* of an activation or moved value: 4 or 2 */
    int optimizer_states; /* values that the optimizer keeps for a weight: 0, 1 or 2 */
    bool forward_only;    /* memory of inference, not of training */
    bool brief;           /* only convolutions, pools, linear and attention layers */
};

struct orch_layer_counts {
    const char *name;        /* borrowed from the network */
    char *type;              /* "conv2d 3x3/2" */
    int64_t c, h, w;         /* of its output */
    int64_t params, weights; /* with biases, without */
    /* of a batch: */
    int64_t activations, activation_bytes, macs, operations, read_bytes, written_bytes;
    int64_t image_operations; /* of one image */
    int64_t field_h, field_w; /* receptive field of one output */
    /* how counts of one image are computed: "(227-11+2*0)/4+1 = 55" */
    char *side_work, *activations_work, *params_work, *macs_work;
};

/** Operations of one kind of layer, of one image. */
struct orch_kind_operations {
    const char *name; /* "convolution", ...; static */
    int64_t operations;
    double share; /* of the operations of all kinds */
};

struct orch_network_counts {
    GPtrArray *layers; /* struct orch_layer_counts *: those that the options show */
    GArray *kinds;     /* struct orch_kind_operations, those above 0 */
    /* of one image, all layers: */
    int64_t params, weights, activations, macs, operations, conv_macs;
    int64_t shown_activations, shown_operations; /* of `layers` */
    int64_t output_values;
    struct orch_net_shape output;
    struct orch_net_memory memory; /* of the batch */
    bool has_norms;
};
/** Counts a network, which must outlive the result. The caller frees. */
struct orch_network_counts *orch_network_counts_new(const struct orch_net *net,
                                                    const struct orch_count_options *options);
void orch_network_counts_free(struct orch_network_counts *counts);

/** A row of the zoo. Texts are static. */
struct orch_known_network {
    const char *name; /* "resnet50"; "mlp:..." for a family that requires an argument */
    const char *about;
    int64_t c, h, w, classes;
    bool trains;     /* it is a classifier, which plugins can train */
    bool has_counts; /* false for a family */
    int64_t depth, params, macs;
};
/** All networks of the zoo in order: struct orch_known_network by value; the caller unrefs. */
GArray *orch_known_networks(void);

#endif
