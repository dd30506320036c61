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
 * A loss of the caller's, on a network with any number of outputs:
 *
 *     struct orch_torch_array outputs[N], gradients[N];
 *     torch->forward(model, &batch, ORCH_TORCH_TRAIN, false, outputs, &error);
 *     for each output: gradients[i] = outputs[i], with d loss / d output as its data
 *     torch->backward(model, gradients, N, &error);
 *     torch->update(model, &error);
 *
 * A model must be used by one thread at a time. Functions with an `error` return false or NULL on
 * failure (ORCH_ERROR_TRIAL; the message says if memory was exhausted). No exception leaves the
 * module. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_H
#define ORCH_PLUGINS_COMMON_TORCH_H

#include "plugins/common/data/pixel.h"
#include "plugins/common/torch/scaler.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orch_net;
struct orch_weights;
struct orch_torch_model;
struct orch_torch_images;

enum orch_torch_precision {
    ORCH_TORCH_FP32 = 0, /* on a GPU without tf32 */
    ORCH_TORCH_BF16,     /* autocast: convolutions and matrix products in bf16, weights in fp32 */
    ORCH_TORCH_TF32, /* fp32 tensors; NVIDIA's tensor cores (Ampere and later) multiply with 10 bits
                        of mantissa. On a CPU the same as fp32 */
    ORCH_TORCH_FP16, /* autocast in half precision, with a scaler (scaler.h). A CPU needs LibTorch
                        2.x and instructions for it */
};

/** Placement and execution of a model. */
struct orch_torch_setup {
    const char *device; /* "cpu", "cuda" (the first), "cuda:1" */
    enum orch_torch_precision precision;
    bool channels_last; /* memory layout, faster for convolutions on CPUs and tensor cores */
};

enum orch_torch_method {
    ORCH_TORCH_SGD = 0,
    ORCH_TORCH_ADAM,
    ORCH_TORCH_ADAMW, /* Loshchilov and Hutter 2019: weights decay by rate * weight_decay */
    /* Jordan et al. 2024: the momentum of a matrix is replaced by the nearest orthogonal matrix
     * (Newton-Schulz iterations), times sqrt(max(1, rows / columns)). Convolutions count as
     * matrices of one row per filter. The first layer, the last layer, biases and norms use AdamW.
     * Weights decay by rate * weight_decay. Refused in fp16 on a GPU: there the scaler's decision
     * to skip a step stays on the device, where fused kernels read it but Muon's operations do not.
     */
    ORCH_TORCH_MUON,
};

/** An optimizer with PyTorch's update rules (in SGD and Adam weight decay is added to the
 * gradient). */
struct orch_torch_optimizer {
    enum orch_torch_method method;
    double momentum;     /* SGD, Muon (0.95); dampening is 0 */
    bool nesterov;       /* SGD, Muon; with momentum > 0 */
    double weight_decay; /* for every trained parameter; L2 in SGD and Adam */
    double beta1, beta2; /* Adam, AdamW, AdamW's share of Muon: 0.9, 0.999 */
    double epsilon;      /* likewise: 1e-8 */
    /* The learning rate of layer group g is multiplied by group_rates[g], by 1 for further
     * groups. */
    const double *group_rates;
    size_t group_rate_count;
    /* Layer groups below this keep their weights; their batch norms use the running statistics
     * without changing them. 0: all layers are trained. */
    int frozen_groups;
    /* By tensor, tensor_count values >= 0, or NULL: 1 for each. The learning rate of a tensor is
     * multiplied by its value, and its weight decay is divided by it, so that the weights decay as
     * fast as the others'. 0: the tensor keeps its values and gets no gradient. Not used after the
     * call. */
    const double *tensor_rates;
    int iterations;      /* Muon: Newton-Schulz iterations, 5 */
    double adamw_factor; /* Muon: the learning rate of AdamW's share is the rate times this, > 0 */
};

enum orch_torch_input {
    ORCH_TORCH_FLOAT = 0, /* const float *, N x C x H x W, already normalised */
    ORCH_TORCH_BYTES,     /* const uint8_t *, N x C x H x W; becomes (x / 255 - mean) / std */
    ORCH_TORCH_FEATURES,  /* const float *, N x features: input of the head (see features) */
};

/** Images and what is learned from them, in the caller's memory, which is not used after the call.
 *
 * The loss of sample i is the cross-entropy of PyTorch's nn.CrossEntropyLoss, -log p_i[label],
 * where p_i is the softmax of the scores. The loss of the batch is the mean over its samples. */
struct orch_torch_batch {
    enum orch_torch_input input;
    const void *images;
    const int64_t *labels; /* N, each in [0, classes); NULL in logits and features */
    int64_t count;         /* N > 0 */
    const float *mean;     /* ORCH_TORCH_BYTES: per channel, in the range 0 to 1 */
    const float *std;
    /* What follows may be zero or NULL. */
    /* Divisor of the summed losses instead of `count`, for a shard of a batch: with the batch's
     * number of images the shards' gradients add up to the batch's. 0: count. */
    int64_t total_count;
    double label_smoothing; /* s in [0, 1): learned are (1 - s) of the label and s / classes of each
                               class */
    /* Images, labels, mean and std are memory of the model's device: not copied, not checked. They
     * must stay unchanged until the device has executed the step (see totals_take). On a CPU it
     * means nothing. */
    bool is_on_device;
    bool is_channels_last; /* images are N x H x W x C; not with ORCH_TORCH_FEATURES */
    /* evaluate: images whose largest probability is at most this are evaluated mirrored as well,
     * and the mean of both scores counts. In [0, 1]; 0: none, 1: all. Not with ORCH_TORCH_FEATURES
     */
    double flip_below;
    /* Images are reduced to side x side pixels first (bilinear, antialiased), and each pool that
     * covers its whole input at the network's own size covers it at this one, too (orch_net_
     * takes_side says which sizes a network takes). 0: they stay as they are. Not with
     * ORCH_TORCH_FEATURES. */
    int64_t side;
};

/** Sums over the batches since the last totals_take or totals_mark. */
struct orch_torch_totals {
    int64_t images;
    int64_t correct; /* images whose largest output is the label's */
    double loss; /* cross-entropy summed over images, of a weighted batch the weighted mean times
                    its count; not finite if training diverged */
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
    bool waits_each; /* wait for the device after each iteration, not only after the last */
};

/** Parts of a step that are not nodes of the graph; see orch_torch_part. */
enum {
    ORCH_TORCH_PART_LOSS = -1,   /* the loss, its gradient with respect to the scores, the totals */
    ORCH_TORCH_PART_UPDATE = -2, /* the optimizer's update of all trained parameters */
};

/** A part of a step, for timing. */
struct orch_torch_part {
    /* A node of the graph; 0 brings a batch of floats to the device and into the model's layout.
     * Or ORCH_TORCH_PART_LOSS, ORCH_TORCH_PART_UPDATE. */
    int node;
    int64_t batch; /* images, > 0 */
    bool trains;   /* forward as in training, and backward; else forward as in evaluation */
    /* The gradient of the graph's input is computed, too, as if a layer came before. */
    bool input_learns;
    bool waits_each;     /* wait for the device after each iteration, not only after the last */
    bool processor_time; /* what the process's threads computed, not the time that passed */
    int warmup, repeats;
};

/** How forward evaluates a graph. */
enum orch_torch_mode {
    ORCH_TORCH_INFER = 0,   /* dropout off, batch norms use their running statistics, no backward */
    ORCH_TORCH_TRAIN,       /* dropout on, batch norms use the batch and update the statistics */
    ORCH_TORCH_FIXED_NORMS, /* dropout on, batch norms as in INFER */
};

/** An output of a graph for a batch, or the gradient of a loss with respect to it: floats,
 * row-major. */
struct orch_torch_array {
    const char *name;  /* the node's, lives as long as the graph; NULL in gradients */
    int64_t shape[4];  /* N x C, or N x C x H x W if the output has rows and columns */
    int rank;          /* 2 or 4 */
    bool is_on_device; /* `data` is memory of the model's device; of a model on the CPU it is
                          ordinary memory in either case */
    const float *data; /* in a gradient NULL: zero */
};

/** A part of a model's gradients, ready to be reduced. */
struct orch_torch_bucket {
    size_t index; /* 0 is the first that backward completes: that of the last layers */
    size_t count; /* number of buckets */
    /* Gradients of one parameter after the other, in reverse order of the tensors, each in its
     * parameter's memory layout; so models with equal graphs and setups have equal buckets. May be
     * overwritten until the update; lies on the model's device. */
    float *data;
    int64_t elements;
    bool is_on_device; /* CUDA memory */
    void *stream;      /* CUDA: the cudaStream_t whose earlier work makes the data; else NULL */
};

/** What happens to buckets. Both calls may fail with an error, which the function that ran the
 * backward or the update then returns. */
struct orch_torch_bucket_calls {
    /* Called during backward for each bucket, in the order of their indices, when its last gradient
     * has been queued on the stream. On CUDA a thread of LibTorch's calls it. It may return before
     * its work is done. */
    bool (*ready)(void *ctx, const struct orch_torch_bucket *bucket, GError **error);
    /* Called before an update reads the buckets: returns when the work that `ready` began is done,
     * or, on CUDA, has been queued ahead of what `stream` does next. May be NULL. */
    bool (*finish)(void *ctx, void *stream, GError **error);
    void *ctx;
};

/** How batch norms get their statistics over all workers that train a model together. */
struct orch_torch_norm_calls {
    /* Replaces `count` values in ordinary memory by their sums over all workers. Called once in the
     * forward and once in the backward of each batch norm that learns, in the same order in all
     * workers with equal graphs. In a backward it is called by the thread that calls `ready` of the
     * buckets. */
    bool (*sum)(void *ctx, float *values, size_t count, GError **error);
    void *ctx;
    int rank, ranks; /* this worker's number, of how many */
};

/** A data set's images, from which images_make makes batches on a GPU. */
struct orch_torch_image_bytes {
    const uint8_t *bytes; /* count x C x H x W */
    int64_t count;
    struct orch_image_shape shape; /* at most 2^31 - 1 values an image */
};

/** One batch, as a loader with `plans_only` gives it: ordinary memory, not used after the call. */
struct orch_torch_image_plans {
    int64_t count;                           /* > 0 */
    const int64_t *rows;                     /* count images of the set */
    const struct orch_transform_plan *plans; /* count */
    const struct orch_transform_table *table;
    const int64_t *labels; /* count */
    bool channels_last;    /* make N x H x W x C */
};

/** How `train` runs its steps. */
enum orch_torch_graphs {
    ORCH_TORCH_GRAPHS_OFF = 0, /* operation by operation */
    /* Operation by operation too, but with the batch in fixed buffers, as a capture needs it. A
     * step with an operation that waits for the device fails and names it. For tests. */
    ORCH_TORCH_GRAPHS_BUFFERS,
    ORCH_TORCH_GRAPHS_ON, /* captured once as a CUDA graph, then replayed */
};

/** What became of the steps of `train`. */
struct orch_torch_graphs_state {
    enum orch_torch_graphs mode;
    int64_t replayed; /* steps that a captured graph did */
    int64_t buffered; /* steps from fixed buffers, operation by operation: before the capture */
    int64_t ordinary; /* all others since graphs_set */
    /* Why steps are not captured; NULL: they are, or will be. Valid until the model's next call. */
    const char *reason;
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
    /** Allows only deterministic algorithms, which are slower on CUDA. Otherwise cuDNN measures
     * its algorithms for each new shape and takes the fastest. */
    void (*deterministic_set)(bool on);
    /** Seeds dropout on every device. Every model then draws a stream of its own that begins with
     * this seed, whatever other models draw in between. */
    void (*seed)(uint64_t seed);

    /** Builds the graph on a device. Parameters are zero until orch_torch_init. `net` must outlive
     * the model. Fails for an unknown or missing device, and for a graph with an operation that is
     * only counted. */
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
    /** Number of state arrays per parameter: SGD with momentum 1, Adam, AdamW and Muon 2, else
     * 0. A matrix that Muon updates has the first alone. */
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

    /** One step: forward in training mode, cross-entropy (see orch_torch_batch), backward, update.
     * This, evaluate, logits and features need a classifier: one output, classes x 1 x 1. Fails
     * for a label out of range, naming the image. */
    bool (*train)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                  GError **error);
    /** Forward in evaluation mode; adds to the totals. */
    bool (*evaluate)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                     GError **error);
    /** Returns the sums and resets them; sums that totals_mark set aside come first, one mark a
     * call, in their order. Waits for the device. */
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

    /** State of the model's random numbers. Free `*out` with g_bytes_unref. */
    bool (*random_get)(const struct orch_torch_model *model, GBytes **out, GError **error);
    bool (*random_set)(struct orch_torch_model *model, GBytes *state, GError **error);

    /** Times a layer on random values. After `warmup` iterations writes `repeats` numbers to
     * `out_ms`, each the mean time per iteration over enough iterations for 2 ms (at most 50),
     * including synchronisation. */
    bool (*layer_time)(const struct orch_torch_layer *layer, const char *device, int warmup,
                       int repeats, double *out_ms, GError **error);

    /** Number of outputs of the graph (lib/net), at least 1. */
    size_t (*output_count)(const struct orch_torch_model *model);
    /** Describes output `index` for a batch of 1, with NULL data. */
    void (*output_describe)(const struct orch_torch_model *model, size_t index,
                            struct orch_torch_array *out);
    /** Evaluates the graph and writes output_count arrays to `outputs`. With `on_device` their data
     * stay on the model's device, else they are copied to the host, which waits for the device. The
     * data belong to the model and are valid until its next forward, train or model_free. Except in
     * mode INFER what backward needs is kept. Labels of the batch are ignored; no totals
     * are counted. */
    bool (*forward)(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                    enum orch_torch_mode mode, bool on_device, struct orch_torch_array *outputs,
                    GError **error);
    /** Adds the gradients of the trained parameters to those since the last update, given d loss /
     * d output for each of the `count` == output_count outputs of the last forward. Fails without a
     * change for an array of another shape, and if that forward had mode INFER or was followed by
     * backward already. */
    bool (*backward)(struct orch_torch_model *model, const struct orch_torch_array *gradients,
                     size_t count, GError **error);
    /** One step of the optimizer with the gradients since the last update; resets them. Fails if
     * there are none. */
    bool (*update)(struct orch_torch_model *model, GError **error);
    /** Discards the gradients since the last update. */
    void (*gradients_drop)(struct orch_torch_model *model);

    /** Lays the gradients of the trained parameters into buckets, in the order in which backward
     * makes them, and calls `calls->ready` for each during every backward (train's too). A bucket
     * is closed when it has `bucket_bytes` or more. The first gradient of a parameter is copied
     * into its bucket and further ones are added there: a copy costs less than clearing the bucket
     * and adding. A parameter that gets no gradient from a backward has zeros in the bucket, and is
     * updated. Must not be called between forward and update. `calls` is copied, NULL ends it.
     * Fails for bucket_bytes == 0. */
    bool (*gradients_watch)(struct orch_torch_model *model, size_t bucket_bytes,
                            const struct orch_torch_bucket_calls *calls, GError **error);
    /** While on, backward adds to the buckets without calling `ready`: for all but the last of
     * several backwards before an update. */
    void (*gradients_hold)(struct orch_torch_model *model, bool on);

    /** destination = (1 - alpha) * destination + alpha * source for every parameter and buffer,
     * with alpha in [0, 1]; 1 copies exactly. The optimizer's state is not changed. Fails without a
     * change if the models' tensors differ in name or shape, naming the first. */
    bool (*blend)(struct orch_torch_model *destination, const struct orch_torch_model *source,
                  double alpha, GError **error);

    /** State of the gradient scaler; all zeros if the model is not in fp16. scaler_get waits for
     * the device. scaler_set fails for a scale that is not finite and positive. */
    bool (*scaler_get)(const struct orch_torch_model *model, struct orch_torch_scaler *out,
                       GError **error);
    bool (*scaler_set)(struct orch_torch_model *model, const struct orch_torch_scaler *scaler,
                       GError **error);

    /** Memory of the model's GPU in bytes: free for all processes, and in all. Fails like
     * images_new where that is not for lack of memory. */
    bool (*gpu_memory)(const struct orch_torch_model *model, int64_t *out_free_bytes,
                       int64_t *out_total_bytes, GError **error);
    /** Copies images to the memory of the model's GPU. The model must outlive them. Fails for a
     * model on a CPU, an adapter that was built without CUDA kernels, a GPU that the compiled
     * kernel does not run on, and too little memory. Free with images_free. */
    struct orch_torch_images *(*images_new)(const struct orch_torch_model *model,
                                            const struct orch_torch_image_bytes *images,
                                            GError **error);
    void (*images_free)(struct orch_torch_images *images);
    /** Makes a batch on the GPU, with the values of orch_transform_apply, and returns at once: what
     * the model computes next waits for it, the caller does not. Sets `out` to a batch of floats
     * with is_on_device and the labels; it is valid until the next call with these images. Fails
     * for a row that the set does not have. */
    bool (*images_make)(struct orch_torch_images *images,
                        const struct orch_torch_image_plans *plans, struct orch_torch_batch *out,
                        GError **error);
    /** Copies the images and labels of the last batch to ordinary memory, for tests and benchmarks.
     * Waits for the device. `out_labels` may be NULL. */
    bool (*images_get)(const struct orch_torch_images *images, float *out, int64_t *out_labels,
                       GError **error);

    /** Chooses how `train` runs its steps; a new model has OFF. With ON a form of batch (its count
     * and input) that comes twice in a row gets fixed buffers:
     * the next steps warm up, then one is captured, and further batches of this form are replays.
     * Learning rates, step counts, the gradient scaler and the count of a whole batch are read on
     * the device, so they may change between replays. Batches of another form, such as the last one
     * of an epoch, run operation by operation. So does every step while gradients are watched, and
     * after a capture that failed; graphs_get then has the reason, and no result is affected.
     * optimizer_set discards the capture. Fails for ON if the model is not on a GPU or if this
     * LibTorch cannot capture (no CUDA, or older than 2.5). */
    bool (*graphs_set)(struct orch_torch_model *model, enum orch_torch_graphs mode, GError **error);
    void (*graphs_get)(const struct orch_torch_model *model, struct orch_torch_graphs_state *out);

    /** Sets the sums aside on the device for a later totals_take, and resets them. Does not wait
     * for the device. The first totals_take after marks reads all of them together. */
    bool (*totals_mark)(struct orch_torch_model *model, GError **error);

    /** gradients_watch, but the first bucket is closed when it has `first_bytes` or more: a small
     * one lets communication begin early. The buckets are those of orch_comm_plan
     * (plugins/common/comm/buckets.h). Fails for a size of 0. */
    bool (*gradients_watch_from)(struct orch_torch_model *model, size_t first_bytes,
                                 size_t bucket_bytes, const struct orch_torch_bucket_calls *calls,
                                 GError **error);

    /** From now on batch norms in training normalise by the mean and variance of the batches of all
     * workers together (PyTorch's SyncBatchNorm), which must have the same number of images.
     * Gradients of a worker are those of its own images; with losses that are divided by the images
     * of all workers, their sums over the workers are the gradients of one model with the whole
     * batch. `calls` is copied, NULL ends it. Fails on a GPU. */
    bool (*norms_share)(struct orch_torch_model *model, const struct orch_torch_norm_calls *calls,
                        GError **error);

    /** Times a part of the model's step by itself, on random values, with the code that a step
     * runs. Each of the `repeats` numbers is the mean in ms over enough iterations for 2 ms, at
     * most 50. `out_backward_ms` gets zeros without `trains` and for parts without a backward pass
     * (the update, node 0). A batch norm may be computed together with the addition and the ReLU
     * after it: `*out_end` is the node whose times include those of this one, and the arrays are
     * not written if that is another node. Fails for a node that no output depends on. Changes the
     * running statistics, and the update changes the parameters. */
    bool (*part_time)(struct orch_torch_model *model, const struct orch_torch_part *part,
                      double *out_forward_ms, double *out_backward_ms, int *out_end,
                      GError **error);
};

#define ORCH_TORCH_ABI 4
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

/** orch_torch_init for the tensors of the head alone: with the same seed they get the same values.
 */
bool orch_torch_init_head(const struct orch_torch *torch, struct orch_torch_model *model,
                          const struct orch_net *net, uint64_t seed, GError **error);

/** Sets the filters of convolutions to the identity: filter i of a convolution becomes 1 at the
 * centre of its input channel i and 0 elsewhere, for as many filters as there are input channels;
 * further filters keep their values (torch.nn.init.dirac_ of the first filters, as Jordan 2024).
 * Convolutions in groups keep theirs, and so does node `except` (-1: none). */
bool orch_torch_init_dirac(const struct orch_torch *torch, struct orch_torch_model *model,
                           const struct orch_net *net, int except, GError **error);

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

#ifdef __cplusplus
}
#endif

#endif
