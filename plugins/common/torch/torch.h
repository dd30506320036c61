/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training networks of lib/net on LibTorch, in C.
 *
 * LibTorch is C++, large, and takes half a second to load. So it sits behind a table of function
 * pointers in a module of its own, orch-torch.so, which orch_torch_load() maps when a trial opens
 * (never in check or cost). What needs no tensor arithmetic (initial weights, named weights,
 * checkpoints) is C in this folder, written on top of the table.
 *
 *     const struct orch_torch *torch = orch_torch_load(&error);
 *     struct orch_torch_model *model = torch->model_new(net, &setup, &error);
 *     orch_torch_init(torch, model, net, seed, &error);
 *     torch->optimizer_set(model, &optimizer, &error);
 *     for each batch: torch->rate_set(model, rate); torch->train(model, &batch, &error);
 *     torch->totals_take(model, &totals, &error);
 *
 * One thread uses a model at a time. Every function that takes `error` returns false or NULL on
 * failure with a text (ORCH_ERROR_TRIAL; out of memory says so); no exception leaves the module. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_H
#define ORCH_PLUGINS_COMMON_TORCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orch_net;
struct orch_weights;
struct orch_torch_model;

enum orch_torch_precision {
    ORCH_TORCH_FP32 = 0,
    ORCH_TORCH_BF16, /* autocast: convolutions and matrix products in bf16, weights stay fp32 */
};

/** How a model is placed and run. */
struct orch_torch_setup {
    const char *device; /* "cpu", "cuda" (the first), "cuda:1" */
    enum orch_torch_precision precision;
    bool channels_last; /* the layout that convolutions prefer on CPUs and tensor cores */
};

enum orch_torch_method { ORCH_TORCH_SGD = 0, ORCH_TORCH_ADAM };

/** An optimizer with the update rules of PyTorch (weight decay added to the gradient). */
struct orch_torch_optimizer {
    enum orch_torch_method method;
    double momentum;     /* SGD; dampening is 0 */
    bool nesterov;       /* SGD, with momentum > 0 */
    double weight_decay; /* L2, on every trained parameter */
    double beta1, beta2; /* Adam: 0.9, 0.999 */
    double epsilon;      /* Adam: 1e-8 */
    /* The learning rate of layer group g is the rate times group_rates[g]; groups beyond have 1. */
    const double *group_rates;
    size_t group_rate_count;
    /* Layer groups below this one keep their weights; their batch norms normalise by, and do not
     * change, the running statistics. 0: all layers learn. */
    int frozen_groups;
};

enum orch_torch_input {
    ORCH_TORCH_FLOAT = 0, /* const float *, N x C x H x W, already normalised */
    ORCH_TORCH_BYTES,     /* const uint8_t *, N x C x H x W; becomes (x / 255 - mean) / std */
    ORCH_TORCH_FEATURES,  /* const float *, N x features: enters at the head (see features) */
};

/** Images and labels in the caller's memory; read before the call returns. */
struct orch_torch_batch {
    enum orch_torch_input input;
    const void *images;
    const int64_t *labels; /* N, each in [0, classes); NULL in logits and features */
    int64_t count;         /* N > 0 */
    const float *mean;     /* ORCH_TORCH_BYTES: one a channel, on the scale 0 to 1 */
    const float *std;
};

/** Sums over the batches since the last time they were taken. */
struct orch_torch_totals {
    int64_t images;
    int64_t correct; /* the largest output is the label's */
    double loss;     /* cross-entropy, summed over images; not finite when training diverged */
};

/** A parameter or buffer of a model: a row of the graph's tensor table. */
struct orch_torch_tensor {
    const char *name; /* as in the graph, which is torchvision's where it has the network */
    int64_t shape[4];
    int rank;
    int64_t count;     /* elements */
    int group;         /* layer group */
    bool is_parameter; /* false: running statistics */
};

enum orch_torch_activation {
    ORCH_TORCH_LINEAR = 0,
    ORCH_TORCH_RELU,
    ORCH_TORCH_TANH,
    ORCH_TORCH_SIGMOID,
};

/** What one iteration of a layer that stands alone does. */
enum orch_torch_pass {
    ORCH_TORCH_FORWARD = 0, /* forward only, without autograd */
    ORCH_TORCH_STEP_SGD,    /* forward, backward (to weights and input) and an update */
    ORCH_TORCH_STEP_MOMENTUM,
    ORCH_TORCH_STEP_ADAM,
};

/** One layer with its activation, to be timed alone. */
struct orch_torch_layer {
    bool is_conv;
    int64_t batch;
    int64_t in_hw, kernel, cin, cout, stride; /* conv: square, NCHW */
    bool pad_same;                            /* conv: (kernel - 1) / 2 on each side, else none */
    int64_t din, dout;                        /* dense */
    bool bias;
    enum orch_torch_activation activation;
    enum orch_torch_pass pass;
};

/** The table that orch-torch.so exports. */
struct orch_torch {
    uint32_t struct_bytes;
    uint32_t abi; /* ORCH_TORCH_ABI */
    /** "1.13.1" */
    const char *version;

    /** CUDA devices that this LibTorch can use; 0 without CUDA. */
    int (*cuda_count)(void);
    /** Threads inside an operation, > 0; for the whole process. */
    void (*threads_set)(int threads);
    /** Only algorithms that give equal results in every run; slower on CUDA. */
    void (*deterministic_set)(bool on);
    /** Seeds dropout, on every device. */
    void (*seed)(uint64_t seed);

    /** Builds the graph on a device. Parameters are zero until orch_torch_init. `net` must live as
     * long as the model. An unknown device, or one that is not there, is an error. */
    struct orch_torch_model *(*model_new)(const struct orch_net *net,
                                          const struct orch_torch_setup *setup, GError **error);
    void (*model_free)(struct orch_torch_model *model);

    size_t (*tensor_count)(const struct orch_torch_model *model);
    /** Describes tensor `index`; texts live as long as the model. */
    void (*tensor_describe)(const struct orch_torch_model *model, size_t index,
                            struct orch_torch_tensor *out);
    /** Copies `count` floats, row-major in the described shape, out of a tensor or into it. */
    bool (*tensor_get)(const struct orch_torch_model *model, size_t index, float *out,
                       GError **error);
    bool (*tensor_set)(struct orch_torch_model *model, size_t index, const float *values,
                       GError **error);

    /** Chooses the optimizer and forgets the state of an earlier one. */
    bool (*optimizer_set)(struct orch_torch_model *model,
                          const struct orch_torch_optimizer *optimizer, GError **error);
    /** The learning rate of the steps that follow. */
    void (*rate_set)(struct orch_torch_model *model, double rate);
    /** State arrays that the optimizer keeps for a parameter: SGD with momentum 1, Adam 2, else 0.
     */
    int (*slot_count)(const struct orch_torch_model *model);
    /** Copies state array `slot` of tensor `index` out. `*out_is_set` false: this parameter has
     * none yet, or does not learn. */
    bool (*slot_get)(const struct orch_torch_model *model, size_t index, int slot, float *out,
                     bool *out_is_set, GError **error);
    bool (*slot_set)(struct orch_torch_model *model, size_t index, int slot, const float *values,
                     GError **error);
    /** Steps taken by the optimizer (Adam's bias correction needs it). */
    int64_t (*steps_get)(const struct orch_torch_model *model);
    void (*steps_set)(struct orch_torch_model *model, int64_t steps);

    /** One step: forward in training mode, mean cross-entropy, backward, update. */
    bool (*train)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                  GError **error);
    /** Forward in evaluation mode, added to the totals. */
    bool (*evaluate)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                     GError **error);
    /** Hands over the sums and starts new ones. Waits for the device. */
    bool (*totals_take)(struct orch_torch_model *model, struct orch_torch_totals *out,
                        GError **error);
    /** Outputs in evaluation mode: `out` has room for count x classes floats. */
    bool (*logits)(struct orch_torch_model *model, const struct orch_torch_batch *batch, float *out,
                   GError **error);
    /** What enters the head, in evaluation mode: count x feature_count floats. Computed once, they
     * train a head alone (ORCH_TORCH_FEATURES) to the same result as a frozen body would, as long
     * as images are not augmented. */
    bool (*features)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                     float *out, GError **error);
    int64_t (*feature_count)(const struct orch_torch_model *model);
    int64_t (*class_count)(const struct orch_torch_model *model);

    /** State of the random numbers on the model's device. `*out` is freed with g_bytes_unref. */
    bool (*random_get)(const struct orch_torch_model *model, GBytes **out, GError **error);
    bool (*random_set)(struct orch_torch_model *model, GBytes *state, GError **error);

    /** Times a layer on random values: `warmup` iterations are left out, then `repeats` numbers go
     * into `out_ms`, each the mean time of an iteration over as many iterations as take 2 ms (at
     * most 50), the device waited for. */
    bool (*layer_time)(const struct orch_torch_layer *layer, const char *device, int warmup,
                       int repeats, double *out_ms, GError **error);
};

#define ORCH_TORCH_ABI 1
/** The one symbol of orch-torch.so. */
#define ORCH_TORCH_SYMBOL "orch_torch_v1"
const struct orch_torch *orch_torch_v1(void);

/** Maps the adapter: $ORCH_TORCH (a file), else common/orch-torch.so in the program's plugin
 * folder. Takes about half a second the first time. Never unmapped. NULL with ORCH_ERROR_PLUGIN:
 * where it was looked for and the cure. */
const struct orch_torch *orch_torch_load(GError **error);

/** Fills every tensor by its recipe in the graph. Each has a stream of its own, derived from `seed`
 * and its name: the values are the same on every device, for every number of threads, and do not
 * change when another layer does. */
bool orch_torch_init(const struct orch_torch *torch, struct orch_torch_model *model,
                     const struct orch_net *net, uint64_t seed, GError **error);

/** What loading weights found. */
struct orch_torch_load_report {
    size_t loaded;
    GPtrArray *missing;    /* char *: tensors of the model that the weights do not have */
    GPtrArray *extra;      /* char *: tensors of the weights that the model does not have */
    GPtrArray *mismatched; /* char *: "fc.weight: [1000, 512] for [5, 512]" */
};
void orch_torch_load_report_clear(struct orch_torch_load_report *report);

/** The model's tensors under their names. The caller frees. */
struct orch_weights *orch_torch_state_copy(const struct orch_torch *torch,
                                           const struct orch_torch_model *model, GError **error);

/** Sets the model's tensors by name. All must be there in their shapes, extra ones are ignored;
 * with `head_replaced`, those of the head that are missing or mismatched keep their values. The
 * report is filled in either case (may be NULL). ORCH_ERROR_CHECK names the first few that do not
 * fit; then no tensor was changed. */
bool orch_torch_state_load(const struct orch_torch *torch, struct orch_torch_model *model,
                           const struct orch_net *net, const struct orch_weights *weights,
                           bool head_replaced, struct orch_torch_load_report *out_report,
                           GError **error);

/** Where a training stands. */
struct orch_torch_progress {
    int64_t epoch; /* epochs that are complete */
    double best;   /* best validation accuracy so far */
    int64_t best_epoch;
};

/** Writes model, optimizer, random state and progress to a file as a whole (safetensors). */
bool orch_torch_checkpoint_save(const struct orch_torch *torch,
                                const struct orch_torch_model *model,
                                const struct orch_torch_progress *progress, const char *path,
                                GError **error);
/** Reads them back into a model of the same graph with the same optimizer set: the training goes on
 * as if it had never stopped (bit by bit on one thread). ORCH_ERROR_NOT_FOUND: no such file. On any
 * other error the model is to be made anew. */
bool orch_torch_checkpoint_load(const struct orch_torch *torch, struct orch_torch_model *model,
                                const char *path, struct orch_torch_progress *out_progress,
                                GError **error);

#ifdef __cplusplus
}
#endif

#endif
