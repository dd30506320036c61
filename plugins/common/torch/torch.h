/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training networks of lib/net on LibTorch, in C.
 *
 * LibTorch is C++, large, and takes half a second to load. It is therefore in a separate module,
 * orch-torch.so, behind a table of function pointers; orch_torch_load() loads it when a trial opens
 * (never in check or cost). Everything without tensor arithmetic (initial weights, named weights,
 * checkpoints) is C in this folder, on top of the table.
 *
 *     const struct orch_torch *torch = orch_torch_load(&error);
 *     struct orch_torch_model *model = torch->model_new(net, &setup, &error);
 *     orch_torch_init(torch, model, net, seed, &error);
 *     torch->optimizer_set(model, &optimizer, &error);
 *     for each batch: torch->rate_set(model, rate); torch->train(model, &batch, &error);
 *     torch->totals_take(model, &totals, &error);
 *
 * A model must be used by one thread at a time. Functions with an `error` return false or NULL on
 * failure (ORCH_ERROR_TRIAL; the message says if memory was exhausted). No exception leaves the
 * module. */
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
    ORCH_TORCH_BF16, /* autocast: convolutions and matrix products in bf16, weights in fp32 */
};

/** Placement and execution of a model. */
struct orch_torch_setup {
    const char *device; /* "cpu", "cuda" (the first), "cuda:1" */
    enum orch_torch_precision precision;
    bool channels_last; /* memory layout, faster for convolutions on CPUs and tensor cores */
};

enum orch_torch_method { ORCH_TORCH_SGD = 0, ORCH_TORCH_ADAM };

/** An optimizer with PyTorch's update rules (weight decay is added to the gradient). */
struct orch_torch_optimizer {
    enum orch_torch_method method;
    double momentum;     /* SGD; dampening is 0 */
    bool nesterov;       /* SGD, with momentum > 0 */
    double weight_decay; /* L2, for every trained parameter */
    double beta1, beta2; /* Adam: 0.9, 0.999 */
    double epsilon;      /* Adam: 1e-8 */
    /* The learning rate of layer group g is multiplied by group_rates[g], by 1 for further
     * groups. */
    const double *group_rates;
    size_t group_rate_count;
    /* Layer groups below this keep their weights; their batch norms use the running statistics
     * without changing them. 0: all layers are trained. */
    int frozen_groups;
};

enum orch_torch_input {
    ORCH_TORCH_FLOAT = 0, /* const float *, N x C x H x W, already normalised */
    ORCH_TORCH_BYTES,     /* const uint8_t *, N x C x H x W; becomes (x / 255 - mean) / std */
    ORCH_TORCH_FEATURES,  /* const float *, N x features: input of the head (see features) */
};

/** Images and labels in the caller's memory, which is not used after the call. */
struct orch_torch_batch {
    enum orch_torch_input input;
    const void *images;
    const int64_t *labels; /* N, each in [0, classes); NULL in logits and features */
    int64_t count;         /* N > 0 */
    const float *mean;     /* ORCH_TORCH_BYTES: per channel, in the range 0 to 1 */
    const float *std;
};

/** Sums over the batches since the last totals_take. */
struct orch_torch_totals {
    int64_t images;
    int64_t correct; /* images whose largest output is the label's */
    double loss;     /* cross-entropy summed over images; not finite if training diverged */
};

/** A parameter or buffer of a model, corresponding to a tensor of the graph. */
struct orch_torch_tensor {
    const char *name; /* as in the graph: torchvision's name if it has the network */
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

/** One iteration of a single layer. */
enum orch_torch_pass {
    ORCH_TORCH_FORWARD = 0, /* forward only, without autograd */
    ORCH_TORCH_STEP_SGD,    /* forward, backward (to weights and input) and update */
    ORCH_TORCH_STEP_MOMENTUM,
    ORCH_TORCH_STEP_ADAM,
};

/** One layer with its activation, for timing. */
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

/** The function table that orch-torch.so exports. */
struct orch_torch {
    uint32_t struct_bytes;
    uint32_t abi; /* ORCH_TORCH_ABI */
    /** "1.13.1" */
    const char *version;

    /** Number of CUDA devices available to LibTorch; 0 without CUDA. */
    int (*cuda_count)(void);
    /** Sets the number of threads per operation, > 0, for the whole process. */
    void (*threads_set)(int threads);
    /** Allows only deterministic algorithms, which are slower on CUDA. */
    void (*deterministic_set)(bool on);
    /** Seeds dropout on every device. */
    void (*seed)(uint64_t seed);

    /** Builds the graph on a device. Parameters are zero until orch_torch_init. `net` must outlive
     * the model. Fails for an unknown or missing device. */
    struct orch_torch_model *(*model_new)(const struct orch_net *net,
                                          const struct orch_torch_setup *setup, GError **error);
    void (*model_free)(struct orch_torch_model *model);

    size_t (*tensor_count)(const struct orch_torch_model *model);
    /** Describes tensor `index`; strings live as long as the model. */
    void (*tensor_describe)(const struct orch_torch_model *model, size_t index,
                            struct orch_torch_tensor *out);
    /** Copy `count` floats from or to a tensor, row-major in the described shape. */
    bool (*tensor_get)(const struct orch_torch_model *model, size_t index, float *out,
                       GError **error);
    bool (*tensor_set)(struct orch_torch_model *model, size_t index, const float *values,
                       GError **error);

    /** Sets the optimizer and discards the state of the previous one. */
    bool (*optimizer_set)(struct orch_torch_model *model,
                          const struct orch_torch_optimizer *optimizer, GError **error);
    /** Sets the learning rate of the following steps. */
    void (*rate_set)(struct orch_torch_model *model, double rate);
    /** Number of state arrays per parameter: SGD with momentum 1, Adam 2, else 0. */
    int (*slot_count)(const struct orch_torch_model *model);
    /** Copies state array `slot` of tensor `index`. `*out_is_set` is false if the parameter has
     * none yet or is not trained. */
    bool (*slot_get)(const struct orch_torch_model *model, size_t index, int slot, float *out,
                     bool *out_is_set, GError **error);
    bool (*slot_set)(struct orch_torch_model *model, size_t index, int slot, const float *values,
                     GError **error);
    /** Number of steps taken by the optimizer (for Adam's bias correction). */
    int64_t (*steps_get)(const struct orch_torch_model *model);
    void (*steps_set)(struct orch_torch_model *model, int64_t steps);

    /** One step: forward in training mode, mean cross-entropy, backward, update. */
    bool (*train)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                  GError **error);
    /** Forward in evaluation mode; adds to the totals. */
    bool (*evaluate)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                     GError **error);
    /** Returns the sums and resets them. Waits for the device. */
    bool (*totals_take)(struct orch_torch_model *model, struct orch_torch_totals *out,
                        GError **error);
    /** Outputs in evaluation mode; `out` has space for count x classes floats. */
    bool (*logits)(struct orch_torch_model *model, const struct orch_torch_batch *batch, float *out,
                   GError **error);
    /** Inputs of the head in evaluation mode: count x feature_count floats. Computed once, they
     * train the head alone (ORCH_TORCH_FEATURES) with the same result as with a frozen body, if
     * images are not augmented. */
    bool (*features)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                     float *out, GError **error);
    int64_t (*feature_count)(const struct orch_torch_model *model);
    int64_t (*class_count)(const struct orch_torch_model *model);

    /** State of the random number generator on the model's device. Free `*out` with
     * g_bytes_unref. */
    bool (*random_get)(const struct orch_torch_model *model, GBytes **out, GError **error);
    bool (*random_set)(struct orch_torch_model *model, GBytes *state, GError **error);

    /** Times a layer on random values. After `warmup` iterations writes `repeats` numbers to
     * `out_ms`, each the mean time per iteration over enough iterations for 2 ms (at most 50),
     * including synchronisation. */
    bool (*layer_time)(const struct orch_torch_layer *layer, const char *device, int warmup,
                       int repeats, double *out_ms, GError **error);
};

#define ORCH_TORCH_ABI 1
/** The one symbol of orch-torch.so. */
#define ORCH_TORCH_SYMBOL "orch_torch_v1"
const struct orch_torch *orch_torch_v1(void);

/** Loads the adapter: the file $ORCH_TORCH, else common/orch-torch.so in the program's plugin
 * folder. Takes about half a second the first time; it is never unloaded. Fails with NULL and
 * ORCH_ERROR_PLUGIN, with the path and a hint. */
const struct orch_torch *orch_torch_load(GError **error);

/** Initialises every tensor as the graph specifies. Each tensor has its own random stream, derived
 * from `seed` and its name, so the values do not depend on the device, the number of threads, or
 * other layers. */
bool orch_torch_init(const struct orch_torch *torch, struct orch_torch_model *model,
                     const struct orch_net *net, uint64_t seed, GError **error);

/** Result of loading weights. */
struct orch_torch_load_report {
    size_t loaded;
    GPtrArray *missing;    /* char *: tensors of the model that are missing in the weights */
    GPtrArray *extra;      /* char *: tensors of the weights that are not in the model */
    GPtrArray *mismatched; /* char *: "fc.weight: [1000, 512] for [5, 512]" */
};
void orch_torch_load_report_clear(struct orch_torch_load_report *report);

/** Copies the model's tensors by name. Caller frees. */
struct orch_weights *orch_torch_state_copy(const struct orch_torch *torch,
                                           const struct orch_torch_model *model, GError **error);

/** Sets the model's tensors by name. All must exist with matching shapes; extra ones are ignored.
 * With `head_replaced`, tensors of the head that are missing or mismatched keep their values. The
 * report (may be NULL) is filled in any case. Fails with ORCH_ERROR_CHECK, naming the first
 * mismatches; then no tensor was changed. */
bool orch_torch_state_load(const struct orch_torch *torch, struct orch_torch_model *model,
                           const struct orch_net *net, const struct orch_weights *weights,
                           bool head_replaced, struct orch_torch_load_report *out_report,
                           GError **error);

/** Progress of a training. */
struct orch_torch_progress {
    int64_t epoch; /* number of complete epochs */
    double best;   /* best validation accuracy so far */
    int64_t best_epoch;
};

/** Copies model, optimizer, random state and progress. A caller may add tensors and metadata of its
 * own, under names with a prefix of its own, and write it with orch_weights_save. Caller frees. */
struct orch_weights *orch_torch_checkpoint_copy(const struct orch_torch *torch,
                                                const struct orch_torch_model *model,
                                                const struct orch_torch_progress *progress,
                                                GError **error);
/** Reads a checkpoint. ORCH_ERROR_NOT_FOUND if there is no such file. Caller frees. */
struct orch_weights *orch_torch_checkpoint_open(const char *path, GError **error);
/** Restores a checkpoint into a model with the same graph and optimizer, so that training continues
 * as if uninterrupted (bit-identical with one thread). After an error the model must be created
 * again. */
bool orch_torch_checkpoint_restore(const struct orch_torch *torch, struct orch_torch_model *model,
                                   const struct orch_weights *checkpoint,
                                   struct orch_torch_progress *out_progress, GError **error);

/** orch_torch_checkpoint_copy, written atomically to a file (safetensors). */
bool orch_torch_checkpoint_save(const struct orch_torch *torch,
                                const struct orch_torch_model *model,
                                const struct orch_torch_progress *progress, const char *path,
                                GError **error);
/** orch_torch_checkpoint_open and orch_torch_checkpoint_restore. */
bool orch_torch_checkpoint_load(const struct orch_torch *torch, struct orch_torch_model *model,
                                const char *path, struct orch_torch_progress *out_progress,
                                GError **error);

#ifdef __cplusplus
}
#endif

#endif
