/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of a measured row beside its own columns.
 *
 * A column `gpu` brings the GPU's specification ("gpu bandwidth_gbs"). Columns that describe a
 * layer, a product of matrices, an element-wise operation, a transformer, or that name a network or
 * bring its counts, bring the work ("work gflop", "net convs"), and with a GPU the times of a white
 * box
 * ("white compute_ms"): each a lower bound of a part of the time. Every name ends in its unit, or
 * is a count or a ratio. What cannot be known of a row is missing (NaN), and a feature that is
 * missing in all rows is left out.
 */
#ifndef ORCH_PREDICTORS_FEATURES_H
#define ORCH_PREDICTORS_FEATURES_H

#include "lib/hw/gpus.h"
#include "predictors/csv.h"
#include "predictors/matrix.h"

/** Columns that features are made from; the names that files give them stand in features.c. */
enum orch_field {
    ORCH_FIELD_BATCH, /* of one device */
    ORCH_FIELD_BATCH_TOTAL,
    ORCH_FIELD_GPUS,
    ORCH_FIELD_IMG,
    /* a convolution, a dense layer */
    ORCH_FIELD_IN_HW,
    ORCH_FIELD_KERNEL,
    ORCH_FIELD_CIN,
    ORCH_FIELD_COUT,
    ORCH_FIELD_STRIDE,
    ORCH_FIELD_PAD,
    ORCH_FIELD_PAD_SAME,
    ORCH_FIELD_DIN,
    ORCH_FIELD_DOUT,
    /* a product of matrices; rows and columns of a tensor */
    ORCH_FIELD_B,
    ORCH_FIELD_M,
    ORCH_FIELD_K,
    ORCH_FIELD_N,
    ORCH_FIELD_ROWS,
    ORCH_FIELD_COLS,
    /* a transformer */
    ORCH_FIELD_SEQ,
    ORCH_FIELD_LAYERS,
    ORCH_FIELD_HIDDEN,
    ORCH_FIELD_HEADS,
    ORCH_FIELD_FF,
    ORCH_FIELD_VOCAB,
    /* counts */
    ORCH_FIELD_GMACS,
    ORCH_FIELD_PARAMS_M,
    ORCH_FIELD_MACTS_M,
    ORCH_FIELD_COUNT
};

/** What a row says of how it ran. */
struct orch_row_facts {
    double field[ORCH_FIELD_COUNT];  /* NaN: not said */
    const struct orch_gpu_spec *gpu; /* NULL: not known */
    const char *net, *op, *opt;      /* "" where not said */
    bool training;
    enum orch_precision precision;
};

/** Work of a row on one device, and the white box's times of it in ms; NaN: not known. */
struct orch_row_work {
    double gflop, mbytes;     /* of the whole step: forward, and where it trains backward */
    double params_m, macts_m; /* of the network or layer; values put out for one image */
    double update_mbytes;     /* moved by the optimizer */
    double exchange_mbytes;   /* of gradients with several devices */
    double launches;          /* kernels */
    double gemm_m, gemm_n, gemm_k, gemm_b; /* the product that a layer is computed as, forward */
    double elements;                       /* put out, forward */
    /* of a network: layers by type, and the share of multiply-adds in depth-wise convolutions */
    double convs, depthwise, linears, norms, activations, pools, sums, depthwise_share;
    double gmacs; /* of one image, forward */
    double compute_ms, tensor_ms, memory_ms, roofline_ms;
    /* of networks: by the shares that were published of GPUs like this one, and what launching
     * costs (predictors/prior.h); as the precision says, and with products on tensor cores where
     * those have TF32, as some frameworks do with fp32 and others do not */
    double prior_ms, prior_tf32_ms;
};

/** Reads the facts of a row, and works out its work: false when there is none to be known. */
bool orch_row_work(const struct orch_row_facts *facts, struct orch_row_work *out);

/** Time of a row by its specification alone, in ms for an unknown amount of work: for comparing
 * GPUs where nothing is known of the work. NaN without a GPU. */
double orch_row_specs_ms(const struct orch_row_facts *facts);

/** Adds all features of a table to a matrix of as many rows. `with_gpu` false leaves the GPU's own
 * facts out, but not what is worked out by them. Writes the white box's time of each row in ms,
 * with its launches, to `out_white_ms` (NaN: none), and to `out_items` how many images (or the
 * like) a step has over all devices (NaN: not said). */
void orch_features_add(struct orch_matrix *matrix, const struct orch_csv *csv, bool with_gpu,
                       double *out_white_ms, double *out_items);

#endif
