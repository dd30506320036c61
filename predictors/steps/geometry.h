/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The geometry of a network's layers as PALEO describes it (Qi, Sparks, Talwalkar, ICLR 2017):
 * exactly what an analytical model needs. Tables are read from CSV (orch_layer_table_read) or made
 * from a graph (predictors/steps/from_net.h).
 *
 * Shapes are those of one image; functions take the batch as an argument. Each layer comes after
 * the layers it reads.
 */
#ifndef ORCH_PREDICTORS_GEOMETRY_H
#define ORCH_PREDICTORS_GEOMETRY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_layer_type {
    ORCH_LAYER_INPUT,
    ORCH_LAYER_CONV2D,
    ORCH_LAYER_DECONV2D,
    ORCH_LAYER_POOL2D, /* maximum or average */
    ORCH_LAYER_DROPOUT,
    ORCH_LAYER_INNERPRODUCT,
    ORCH_LAYER_CONCAT,
    ORCH_LAYER_ELEMENTWISE, /* sum or product of several inputs */
    ORCH_LAYER_RESHAPE,     /* no data is moved */
    ORCH_LAYER_SOFTMAX,
    ORCH_LAYER_ACTIVATION, /* element-wise with one input */
    ORCH_LAYER_NORM,       /* batch, layer and local response normalisation */
    ORCH_LAYER_GENERIC,    /* anything else; takes no time in PALEO */
};
#define ORCH_LAYER_TYPE_COUNT (ORCH_LAYER_GENERIC + 1)

/** Shape of one image's tensor; a vector is 1 x 1 x C. */
struct orch_layer_shape {
    int64_t h, w, c;
};

enum orch_layer_padding {
    ORCH_PADDING_VALID,    /* none: ceil((h-k+1)/s) */
    ORCH_PADDING_SAME,     /* ceil(h/s) */
    ORCH_PADDING_EXPLICIT, /* pad_h rows above and below: floor((h+2p-k)/s)+1 */
};

struct orch_layer {
    char *name;
    enum orch_layer_type type;
    struct orch_layer_shape *inputs;
    int input_count; /* 0 for an input layer */
    int *parents;    /* for each input the index of its layer, -1: unknown */
    struct orch_layer_shape out;
    /* for convolutions and pools, 0 elsewhere; inner products have c_in and c_out only */
    int64_t kernel_h, kernel_w, c_in, c_out; /* c_in: of one group */
    int64_t stride_h, stride_w, dilation, groups;
    enum orch_layer_padding padding;
    int64_t pad_h, pad_w; /* negative for SAME with a stride above the kernel, as PALEO rounds */
    int64_t params;       /* trained parameters, including biases */
    int64_t untimed_macs; /* multiply-adds per image that PALEO has no formula for */
    bool no_data_grad;    /* the layer reads the data, so its input needs no gradient */
};

struct orch_layer_table {
    char *name;
    GPtrArray *layers; /* struct orch_layer * */
    int64_t batch;     /* of the shapes in the source table; 1 if made from a graph */
};

void orch_layer_free(struct orch_layer *layer);
void orch_layer_table_free(struct orch_layer_table *table);

/** Makes an empty table. `orch_layer_table_add` appends a zeroed layer for the caller to fill. */
struct orch_layer_table *orch_layer_table_new(const char *name);
struct orch_layer *orch_layer_table_add(struct orch_layer_table *table, const char *name,
                                        enum orch_layer_type type, int input_count);

/** Fails with ORCH_ERROR_RECIPE if the table has only input layers. */
bool orch_layer_table_check(const struct orch_layer_table *table, GError **error);

/** Reads network `net` of a CSV file; with `net` NULL the file must have a single one. Columns:
 * net, layer, type, in_shape (NxHxWxC or NxC; several joined by '+'), out_shape, filter_hwio,
 * stride_hw, pad_type (VALID, SAME, or EXPLICIT with pad_hw). Optional columns: pad_hw, batch,
 * params, parents (names joined by '+'), first_conv_no_data_grad. Output shapes are checked against
 * the formula of the padding. Fails with ORCH_ERROR_IO, ORCH_ERROR_RECIPE (file:line:column) or
 * ORCH_ERROR_NOT_FOUND (no such network, with the nearest name). */
struct orch_layer_table *orch_layer_table_read(const char *path, const char *net, GError **error);
/** Like orch_layer_table_read, for text in memory. */
struct orch_layer_table *orch_layer_table_parse(const char *file_name, const char *text,
                                                size_t length, const char *net, GError **error);

const struct orch_layer *orch_layer_at(const struct orch_layer_table *table, int index);
int orch_layer_count(const struct orch_layer_table *table);
/** Index of a layer by its name, -1 if there is none. */
int orch_layer_find(const struct orch_layer_table *table, const char *name);
/** Number of trained parameters of all layers. */
int64_t orch_layer_table_params(const struct orch_layer_table *table);

/** "conv2d", "pool2d", ... */
const char *orch_layer_type_name(enum orch_layer_type type);
/** h * w * c */
int64_t orch_layer_elements(struct orch_layer_shape shape);
/** Parameters implied by the geometry of a convolution or inner product, including biases; 0 for
 * other types. */
int64_t orch_layer_params_formula(const struct orch_layer *layer);
/** Output size along one side for a window of `kernel` (after dilation) over `in`. SAME writes the
 * padding, rounded down, to `*inout_pad`; EXPLICIT reads it; VALID sets it to 0. */
int64_t orch_layer_out_side(enum orch_layer_padding padding, int64_t in, int64_t kernel,
                            int64_t stride, int64_t *inout_pad);

#endif
