/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The geometry of a network's layers, in the terms of PALEO (Qi, Sparks, Talwalkar, ICLR 2017):
 * what an analytical model needs to know of a network, and nothing else. Tables are read from CSV
 * (orch_layer_table_read) or made from a graph (predictors/from_net.h).
 *
 * Shapes are those of one image; the batch comes with each question. A layer stands behind those
 * that it reads.
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
    ORCH_LAYER_POOL2D, /* maximum and average alike */
    ORCH_LAYER_DROPOUT,
    ORCH_LAYER_INNERPRODUCT,
    ORCH_LAYER_CONCAT,
    ORCH_LAYER_ELEMENTWISE, /* of several inputs: sum, product */
    ORCH_LAYER_RESHAPE,     /* moves nothing */
    ORCH_LAYER_SOFTMAX,
    ORCH_LAYER_ACTIVATION, /* of one input, element by element */
    ORCH_LAYER_NORM,       /* batch, layer and local response normalisation */
    ORCH_LAYER_GENERIC,    /* anything else: PALEO gives it no time */
};
#define ORCH_LAYER_TYPE_COUNT (ORCH_LAYER_GENERIC + 1)

/** One image's tensor; a vector is 1 x 1 x C. */
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
    int *parents;    /* for each input the layer that it comes from, -1: not known */
    struct orch_layer_shape out;
    /* convolutions and pools; 0 elsewhere. Inner products: c_in and c_out alone. */
    int64_t kernel_h, kernel_w, c_in, c_out; /* c_in: of one group */
    int64_t stride_h, stride_w, dilation, groups;
    enum orch_layer_padding padding;
    int64_t pad_h, pad_w; /* SAME with a stride above the kernel: below 0, as PALEO rounds */
    int64_t params;       /* trained parameters, biases included */
    int64_t untimed_macs; /* multiply-adds of one image that PALEO has no formula for */
    bool no_data_grad;    /* reads the data: no gradient is wanted of its input */
};

struct orch_layer_table {
    char *name;
    GPtrArray *layers; /* struct orch_layer * */
    int64_t batch;     /* that the table was written for; 1 where it was made from a graph */
};

void orch_layer_free(struct orch_layer *layer);
void orch_layer_table_free(struct orch_layer_table *table);

/** An empty table; `orch_layer_table_add` appends a zeroed layer that the caller fills in. */
struct orch_layer_table *orch_layer_table_new(const char *name);
struct orch_layer *orch_layer_table_add(struct orch_layer_table *table, const char *name,
                                        enum orch_layer_type type, int input_count);

/** Does anything compute? ORCH_ERROR_RECIPE for a table with nothing but inputs. */
bool orch_layer_table_check(const struct orch_layer_table *table, GError **error);

/** Reads network `net` of a CSV file; `net` NULL: its only one. Columns: net, layer, type, in_shape
 * (NxHxWxC, NxC; several joined by '+'), out_shape, filter_hwio, stride_hw, pad_type (VALID, SAME,
 * EXPLICIT with pad_hw), and where they are there pad_hw, batch, params, parents (names joined by
 * '+') and first_conv_no_data_grad. Output shapes are held against the formula of the padding.
 * NULL with ORCH_ERROR_IO, ORCH_ERROR_RECIPE (file:line:column) or ORCH_ERROR_NOT_FOUND (no such
 * network; the nearest name). */
struct orch_layer_table *orch_layer_table_read(const char *path, const char *net, GError **error);
/** The same of text in memory. */
struct orch_layer_table *orch_layer_table_parse(const char *file_name, const char *text,
                                                size_t length, const char *net, GError **error);

const struct orch_layer *orch_layer_at(const struct orch_layer_table *table, int index);
int orch_layer_count(const struct orch_layer_table *table);
/** Index of a layer by its name, -1 when there is none. */
int orch_layer_find(const struct orch_layer_table *table, const char *name);
/** Trained parameters of the whole table. */
int64_t orch_layer_table_params(const struct orch_layer_table *table);

/** "conv2d", "pool2d", ... */
const char *orch_layer_type_name(enum orch_layer_type type);
/** h * w * c */
int64_t orch_layer_elements(struct orch_layer_shape shape);
/** Parameters that the geometry of a convolution or inner product gives, biases included; 0 for any
 * other type. */
int64_t orch_layer_params_formula(const struct orch_layer *layer);
/** One side of the output of a window of `kernel` (dilated already) over `in`, and for SAME the
 * padding, rounded down, into `*inout_pad`; EXPLICIT reads it, VALID sets it to 0. */
int64_t orch_layer_out_side(enum orch_layer_padding padding, int64_t in, int64_t kernel,
                            int64_t stride, int64_t *inout_pad);

#endif
