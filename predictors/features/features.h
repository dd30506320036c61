/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Features derived from the columns of a measured row.
 *
 * A column `gpu` adds the GPU's specification ("gpu bandwidth_gbs"). Columns that describe a layer,
 * a matrix product, an element-wise operation or a transformer, or that name a network or give its
 * counts, add the work ("work gflop", "net convs") and, with a GPU, the terms of an analytical
 * model ("white compute_ms"): each is a lower bound of a part of the time. Every name ends in its
 * unit, or is a count or a ratio. Unknown values are missing (NaN), and a feature that is missing
 * in all rows is left out.
 */
#ifndef ORCH_PREDICTORS_FEATURES_H
#define ORCH_PREDICTORS_FEATURES_H

#include "lib/base/csv.h"
#include "lib/devices/gpus.h"
#include "lib/steptime/tensor_kernels.h"
#include "predictors/features/matrix.h"
#include "predictors/features/row_device.h"

/** What the names of a family of networks begin with ("resnet"): a category beside the names. */
#define ORCH_FAMILY_COLUMN "net family"

/** Columns that features are derived from; features.c lists their names in files. */
enum orch_field {
    ORCH_FIELD_BATCH, /* per device */
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
    /* a matrix product; rows and columns of a tensor */
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
    /* a kernel of an inference server */
    ORCH_FIELD_ISL,
    ORCH_FIELD_KEY_HEADS,
    ORCH_FIELD_HEAD_DIM,
    ORCH_FIELD_WINDOW,
    ORCH_FIELD_TOKENS,
    ORCH_FIELD_TOPK,
    ORCH_FIELD_EXPERTS,
    ORCH_FIELD_MOE_TP,
    ORCH_FIELD_MOE_EP,
    ORCH_FIELD_MESSAGE,
    /* counts */
    ORCH_FIELD_GMACS,
    ORCH_FIELD_PARAMS_M,
    ORCH_FIELD_MACTS_M,
    ORCH_FIELD_COUNT
};

/** What the columns of a row say about how it ran. */
struct orch_row_facts {
    double field[ORCH_FIELD_COUNT];  /* NaN: unknown */
    const struct orch_gpu_spec *gpu; /* NULL: unknown */
    const char *net, *op, *opt;      /* "" if unknown */
    const char *distribution;        /* of tokens to experts */
    bool has_format;                 /* a kernel of an inference server, in `format` */
    enum orch_number_format format;
    int64_t channels, height, width; /* of a network's input, from a column 'input'; 0: unknown */
    bool training;
    bool is_compiled; /* by a compiler that fuses kernels */
    enum orch_precision precision;
};

/** Work of a row on one device, and the terms of the analytical model in ms; NaN: unknown. */
struct orch_row_work {
    double gflop, mbytes;     /* of the whole step: forward and, in training, backward */
    double params_m, macts_m; /* parameters; output values for one image */
    double update_mbytes;     /* traffic of the optimizer */
    double exchange_mbytes;   /* gradients exchanged between devices */
    double launches;          /* kernels */
    double gemm_m, gemm_n, gemm_k, gemm_b; /* the matrix product that computes a layer, forward */
    double elements;                       /* output values, forward */
    /* of a network: layers by type, and the share of multiply-adds in depth-wise convolutions */
    double convs, depthwise, linears, norms, activations, pools, sums, depthwise_share;
    double gmacs; /* per image, forward */
    double compute_ms, tensor_ms, memory_ms, roofline_ms;
    /* for networks: with the published shares of similar GPUs and the cost of launches
     * (predictors/steps/prior.h); at the given precision, and with TF32 tensor cores where
     * available, because some frameworks use them for fp32 and others do not */
    double prior_ms, prior_tf32_ms;
    double kernels_ms; /* kernel by kernel (predictors/features/features_kernels.h) */
};

/** Computes the work of a row. Returns false if it is unknown. */
bool orch_row_work(const struct orch_row_facts *facts, struct orch_row_work *out);

/** Time in ms from the GPU's specification alone, for an unknown amount of work: to compare GPUs if
 * the work is unknown. NaN without a GPU. */
double orch_row_specs_ms(const struct orch_row_facts *facts);

/** The device of a row at its precision, and the kind of its work (NULL: unknown work). */
struct orch_row_device orch_row_device_of(const struct orch_row_facts *facts,
                                          const struct orch_row_work *work);

/** Adds all features of a table to a matrix with as many rows. Without `with_gpu` the GPU's own
 * specification is left out, but not what is derived from it. Writes the roofline time of each row
 * in ms, including launches, to `out_white_ms` (NaN: unknown) and the images (or items) per step
 * over all devices to `out_items` (NaN: unknown), and the
 * rows' devices to `out_devices`. */
void orch_features_add(struct orch_matrix *matrix, const struct orch_csv *csv, bool with_gpu,
                       double *out_white_ms, double *out_items,
                       struct orch_row_device *out_devices);

/** Replaces a row's features of its GPU's specification by those of another GPU. */
void orch_features_set_gpu(struct orch_matrix *matrix, size_t row, const struct orch_gpu_spec *gpu);

#endif
