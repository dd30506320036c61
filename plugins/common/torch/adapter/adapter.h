/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the adapter. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H
#define ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H

#include "plugins/common/torch/torch.h"

extern "C" {
#include "lib/base/error.h"
#include "lib/net/layer_spec.h"
#include "lib/net/net.h"
}

/* Not <torch/torch.h>, which takes twice the time to compile. */
#include <torch/autograd.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/* A batch normalisation that is computed together with what follows it, when the last of them is
 * reached. */
struct orch_torch_fusion {
    int norm = -1;     /* node of the normalisation; -1: nothing ends here */
    int shortcut = -1; /* node that is added; -1: none */
    bool relu = false;
};

namespace adapter
{
struct Buckets;
struct BucketsFree {
    void operator()(Buckets *b) const;
};
struct FixedStep;
struct FixedStepFree {
    void operator()(FixedStep *step) const;
};
} // namespace adapter

/* LibTorch's fused optimizers take learning rates on the device from 2.4 on. */
#define ORCH_TORCH_HAS_FUSED                                                                       \
    (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4))

/* How parameters are updated; see optimizer.cpp. */
enum class Update { operations, loops, fused };

/* Sums that totals_mark set aside. */
struct orch_torch_mark {
    at::Tensor loss_sum, correct_sum;
    int64_t images;
};

struct orch_torch_model {
    const orch_net *net;
    at::Device device = at::kCPU;
    orch_torch_precision precision = ORCH_TORCH_FP32;
    at::MemoryFormat format = at::MemoryFormat::Contiguous;
    std::vector<at::Tensor> tensors;         /* as in the graph's table; parameters are leaves */
    std::vector<int> last_use;               /* node -> last node that reads it */
    std::vector<int> readers;                /* node -> number of nodes that read it */
    std::vector<bool> is_needed;             /* node -> an output depends on it */
    int head = -1;                           /* node of the classifier */
    std::vector<orch_torch_fusion> fusions;  /* node -> what ends there */
    std::vector<int> fused_into;             /* node -> where the fusion that it is part of ends */
    bool draws = false;                      /* a training step draws random numbers */
    orch_torch_norm_calls norms_shared = {}; /* sum: NULL where each model has its own statistics */
    bool norms_fixed = false; /* batch norms use their running statistics in training too */
    at::Tensor random;        /* its random state while another model has the generator */
    int64_t random_round = 0; /* the seed that the state comes from */
    /* outputs of the last forward: with their graph until backward, and as the caller sees them */
    std::vector<at::Tensor> outputs, output_values;
    std::unique_ptr<adapter::Buckets, adapter::BucketsFree> buckets; /* NULL: not watched */
    /* optimizer */
    orch_torch_method method = ORCH_TORCH_SGD;
    double momentum = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, rate = 0;
    bool nesterov = false;
    int frozen_groups = 0;
    int iterations = 5;
    double adamw_factor = 1;
    std::vector<double> group_rates;
    std::vector<double> tensor_rates;       /* by tensor; empty: 1 */
    std::vector<orch_torch_method> methods; /* by tensor */
    std::vector<double> factors;            /* by tensor: what the learning rate is multiplied by */
    std::vector<double> decays;             /* by tensor: its weight decay */
    std::vector<at::Tensor> slots[2];
    int64_t steps = 0;
    Update update = Update::operations;
    /* fused updates: 0-d tensors on the device */
    std::vector<std::pair<double, double>> rate_kinds; /* the distinct factors with their decays */
    std::vector<at::Tensor> rates;                     /* a learning rate for each of them */
    at::Tensor steps_on_device;
    /* fp16: the scaler, on the host or (then `scale` is defined) on the device */
    bool has_scaler = false;
    orch_torch_scaler scaler = {};
    at::Tensor scale, finite_steps, skipped_steps, found_infinite;
    /* sums, 0-d tensors on the device, added to in place until they are taken */
    at::Tensor loss_sum, correct_sum;
    int64_t images = 0;
    std::vector<orch_torch_mark> marks;          /* sums of totals_mark, on the device */
    std::deque<orch_torch_totals> marked_totals; /* older ones, read but not taken */
    /* steps from fixed buffers; see fixed_step.cpp */
    orch_torch_graphs_state graphs = {};
    std::vector<int64_t> last_form;                                    /* of train's last batch */
    std::unique_ptr<adapter::FixedStep, adapter::FixedStepFree> fixed; /* NULL: none yet */
    std::string capture_problem;                                       /* "": no capture failed */
};

/* An error of a function of the caller's, which guarded() passes on unchanged. */
struct Passed : std::exception { /* so that autograd passes it on, too */
    explicit Passed(GError *e) : error(e)
    {
    }
    GError *error;
};

/* Runs `work` and converts exceptions to errors. */
template <typename Work> inline bool guarded(GError **error, Work work)
{
    try {
        work();
        return true;
    } catch (const Passed &e) {
        g_propagate_error(error, e.error);
    } catch (const c10::Error &e) {
        std::string text = e.what_without_backtrace();
        bool memory = text.find("out of memory") != std::string::npos;
        orch_error_set(error, ORCH_ERROR_TRIAL, memory ? "use a smaller batch" : nullptr,
                       "LibTorch: %s", text.substr(0, text.find("\nException raised")).c_str());
    } catch (const std::bad_alloc &) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "use a smaller batch", "LibTorch is out of memory");
    } catch (const std::exception &e) {
        orch_error_set(error, ORCH_ERROR_TRIAL, nullptr, "LibTorch: %s", e.what());
    }
    return false;
}

/* Parses "cpu", "cuda", "cuda:1"; throws if the device does not exist. */
inline at::Device device_of(const char *name)
{
    at::Device device(name);
    if (device.is_cuda()) {
        if (!torch::cuda::is_available())
            throw std::runtime_error("no CUDA device");
        if (device.index() >= (int)torch::cuda::device_count())
            throw std::runtime_error(std::string("no CUDA device '") + name + "': there are " +
                                     std::to_string(torch::cuda::device_count()));
    } else if (!device.is_cpu()) {
        throw std::runtime_error(std::string("unknown device '") + name + "': cpu, cuda or cuda:N");
    }
    return device;
}

/* See torch.h. */
bool orch_torch_layer_time(const struct orch_torch_layer *layer, const char *device, int warmup,
                           int repeats, double *out_ms, GError **error);

/* What the files of the adapter give each other. The functions that take a model and, where
 * they can fail, an error are entries of the table; torch.h describes them. */
namespace adapter
{

/* ---- graph.cpp ---- */

/* Sets the precision of products on the model's device. Mixed precision ends with its lifetime;
 * tf32 stays allowed or forbidden until a model of another precision is used. */
struct Autocast {
    bool on, cuda, before = false;
    explicit Autocast(const orch_torch_model *m);
    ~Autocast();
    Autocast(const Autocast &) = delete;
    Autocast &operator=(const Autocast &) = delete;
};

/* Throws if the device cannot compute in the model's precision. */
void precision_check(const orch_torch_model *m);

/* False for operations that are only counted. */
bool is_known(enum orch_net_op op);
/* Evaluates the graph after node `from`, whose value is `x`, to the values of nodes
 * `to`. */
std::vector<at::Tensor> forward_to(const orch_torch_model *m, const at::Tensor &x, int from,
                                   const std::vector<int> &to, bool training);
/* The same for a single node. */
at::Tensor forward(const orch_torch_model *m, const at::Tensor &x, int from, int to, bool training);
/* The value of node `id`, given those that it reads; for the last node of a fusion that of the
 * fusion. The three functions below tell what that is. Whether norms are fused depends on the
 * gradient mode, see norm_is_fused. */
at::Tensor node_value(const orch_torch_model *m, int id, const std::vector<at::Tensor> &values,
                      bool training);
/* The node with which node `id` is computed: itself, or the last one of its fusion. */
int node_end(const orch_torch_model *m, int id, bool training);
std::vector<int> node_reads(const orch_torch_model *m, int id, bool training);
std::vector<size_t> node_tensors(const orch_torch_model *m, int id, bool training);
/* True if the node may overwrite its input, because nothing else reads it and no gradient needs
 * it. */
bool owns_input(const orch_torch_model *m, const struct orch_net_node *node);

/* ---- norm.cpp ---- */

/* True if the normalisation `node` is fused where the model is: on CPUs in channels-last memory, in
 * training with statistics of its own, and where no gradient is asked for. */
bool norm_is_fused(const orch_torch_model *m, const struct orch_net_node *node, bool training);
/* Normalises x, adds `shortcut` (may be undefined), and applies ReLU. In training it uses x's own
 * statistics and updates the running ones. */
at::Tensor norm_fused(const orch_torch_model *m, const struct orch_net_node *node,
                      const at::Tensor &x, const at::Tensor &shortcut, bool relu, bool training);

/* ---- shared_norm.cpp ---- */

bool norms_share(orch_torch_model *m, const orch_torch_norm_calls *calls, GError **error);
/* Normalises x by the statistics of all workers and updates the running ones. */
at::Tensor norm_shared(const orch_torch_model *m, const struct orch_net_node *node,
                       const at::Tensor &x);

/* ---- adapter.cpp ---- */

/* State of the random generator of a device. */
at::Tensor random_state(at::Device device);
void random_state_set(at::Device device, const at::Tensor &state);

/* Gives the generator of the model's device to the model, with the model's state. */
void own_random(orch_torch_model *m);
/* The model is about to be freed. */
void disown_random(const orch_torch_model *m);

/* ---- model.cpp ---- */

/* Copies a tensor to the host as row-major floats. */
void copy_out(const at::Tensor &tensor, float *out);
/* Values of tensor `index` on the model's device. On the CPU it borrows `values`. */
at::Tensor from_floats(const orch_torch_model *m, size_t index, const float *values);

orch_torch_model *model_new(const orch_net *net, const orch_torch_setup *setup, GError **error);
void model_free(orch_torch_model *m);
size_t tensor_count(const orch_torch_model *m);
void tensor_describe(const orch_torch_model *m, size_t index, orch_torch_tensor *out);
bool tensor_get(const orch_torch_model *m, size_t index, float *out, GError **error);
bool tensor_set(orch_torch_model *m, size_t index, const float *values, GError **error);
bool blend(orch_torch_model *destination, const orch_torch_model *source, double alpha,
           GError **error);

/* ---- optimizer.cpp ---- */

/* Decides by the frozen groups which tensors get gradients. */
void set_learning(orch_torch_model *m);
/* State array `slot` of a tensor; zeros if there was none. */
at::Tensor &slot_of(orch_torch_model *m, int slot, size_t index);
/* The learning rate of a tensor. */
double rate_of(const orch_torch_model *m, size_t index);
/* One step with the gradients that the tensors have; drops the gradients. */
void update(orch_torch_model *m);

bool optimizer_set(orch_torch_model *m, const orch_torch_optimizer *o, GError **error);
void rate_set(orch_torch_model *m, double rate);
int slot_count(const orch_torch_model *m);
bool slot_get(const orch_torch_model *m, size_t index, int slot, float *out, bool *out_is_set,
              GError **error);
bool slot_set(orch_torch_model *m, size_t index, int slot, const float *values, GError **error);
int64_t steps_get(const orch_torch_model *m);
void steps_set(orch_torch_model *m, int64_t steps);

/* ---- update_rules.cpp ---- */

/* Updates a tensor by the rule of its method, if updates are not fused. The number of steps counts
 * this one. */
void update_tensor(orch_torch_model *m, size_t index, const at::Tensor &grad);

/* ---- loss.cpp ---- */

/* What is learned from a batch, on the model's device. */
struct Goal {
    at::Tensor labels; /* N */
    at::Tensor share;  /* 1 float: of a shard in its batch, times the mean of the shard is its part
                        * of the loss. Undefined: the batch is whole */
    double smoothing = 0;
};
struct Loss {
    at::Tensor learned; /* goes backward */
    at::Tensor mean;    /* over the batch, for the totals */
};
/* Checks the batch's labels and counts. */
Goal goal_of(const orch_torch_model *m, const orch_torch_batch *b);
/* The loss of a batch, as torch.h defines it. */
Loss loss_of(const Goal &goal, const at::Tensor &logits);
/* Throws unless the graph has one output, classes x 1 x 1. */
void need_classifier(const orch_torch_model *m);

/* ---- outputs.cpp ---- */

/* Whether a backward since the last update left gradients. */
bool has_gradients(const orch_torch_model *m);
size_t output_count(const orch_torch_model *m);
void output_describe(const orch_torch_model *m, size_t index, orch_torch_array *out);
bool forward(orch_torch_model *m, const orch_torch_batch *b, orch_torch_mode mode, bool on_device,
             orch_torch_array *outputs, GError **error);
bool backward(orch_torch_model *m, const orch_torch_array *gradients, size_t count, GError **error);
bool update(orch_torch_model *m, GError **error);
void gradients_drop(orch_torch_model *m);

/* ---- buckets.cpp ---- */

/* Backward from `roots`, into the buckets if there are some. An undefined gradient stands for 1. */
void run_backward(orch_torch_model *m, const std::vector<at::Tensor> &roots,
                  const std::vector<at::Tensor> &gradients);
/* Waits for what the caller does with the buckets; goes before an update. */
void finish_buckets(orch_torch_model *m);
/* The cudaStream_t that the model's work is queued on in this thread; NULL on a CPU. Throws with
 * LibTorch 1.13 on CUDA. */
void *stream_of(const orch_torch_model *m);
/* Plans the buckets again, after the set of trained parameters changed. */
void plan_buckets(orch_torch_model *m);

bool gradients_watch(orch_torch_model *m, size_t bucket_bytes, const orch_torch_bucket_calls *calls,
                     GError **error);
bool gradients_watch_from(orch_torch_model *m, size_t first_bytes, size_t bucket_bytes,
                          const orch_torch_bucket_calls *calls, GError **error);
void gradients_hold(orch_torch_model *m, bool on);

/* ---- fused.cpp, muon.cpp ---- */

bool has_fused_update();
/* Allocates what fused updates need; after optimizer_set. */
void fused_set(orch_torch_model *m);
/* Copies the learning rate or the number of steps to the device, or back. */
void fused_rate_set(orch_torch_model *m);
int64_t fused_steps_get(const orch_torch_model *m);
void fused_steps_set(orch_torch_model *m);
/* Updates the tensors of those indices. */
void update_fused(orch_torch_model *m, const std::vector<size_t> &trained);
/* What Muon subtracts from a matrix at a learning rate of 1; updates its momentum. */
at::Tensor muon_direction(const orch_torch_model *m, at::Tensor &buffer, const at::Tensor &grad);

/* ---- parts.cpp ---- */

bool part_time(orch_torch_model *m, const orch_torch_part *part, double *out_forward_ms,
               double *out_backward_ms, int *out_end, GError **error);

/* ---- scaling.cpp ---- */

/* Sets the scaler of a new model to its start. */
void scaler_start(orch_torch_model *m);
/* What backward must start from: the loss, or a gradient of outputs, times the scale. */
at::Tensor scaled(const orch_torch_model *m, const at::Tensor &loss);
/* Divides the gradients by the scale and updates the scale. Returns false if the step must be
 * skipped; on the device fused updates skip it themselves. */
bool gradients_unscale(orch_torch_model *m, const std::vector<size_t> &trained);

bool scaler_get(const orch_torch_model *m, orch_torch_scaler *out, GError **error);
bool scaler_set(orch_torch_model *m, const orch_torch_scaler *scaler, GError **error);

/* ---- pixels.cpp ---- */

bool gpu_memory(const orch_torch_model *m, int64_t *out_free_bytes, int64_t *out_total_bytes,
                GError **error);
orch_torch_images *images_new(const orch_torch_model *m, const orch_torch_image_bytes *images,
                              GError **error);
void images_free(orch_torch_images *images);
bool images_make(orch_torch_images *images, const orch_torch_image_plans *plans,
                 orch_torch_batch *out, GError **error);
bool images_get(const orch_torch_images *images, float *out, int64_t *out_labels, GError **error);

/* ---- ranges.cpp ---- */

/* A named range in NVIDIA's profilers during its lifetime, for models on a GPU. */
struct Range {
    bool on;
    Range(const orch_torch_model *m, const char *name);
    ~Range();
    Range(const Range &) = delete;
    Range &operator=(const Range &) = delete;
};

/* ---- step.cpp ---- */

/* A checked batch on the model's device, as the caller gave it. On a CPU its tensors are the
 * caller's memory. */
struct Batch {
    orch_torch_input input = ORCH_TORCH_FLOAT;
    int64_t count = 0, side = 0;
    at::Tensor values;    /* N x C x H x W in the caller's strides, or N x features */
    at::Tensor mean, std; /* ORCH_TORCH_BYTES: 1 x C x 1 x 1 */
    Goal goal;
};
/* What is to be learned included. */
Batch batch_of(const orch_torch_model *m, const orch_torch_batch *b);
/* The batch's images or features on the model's device, as the graph takes them. */
at::Tensor input_of(const orch_torch_model *m, const orch_torch_batch *b);
/* The caller's memory on the model's device: borrowed if it lies there or both are on the host,
 * else copied. */
at::Tensor on_device(const orch_torch_model *m, const orch_torch_batch *b, const void *data,
                     at::IntArrayRef shape, at::ScalarType type);
/* A tensor of the host on the model's device; the host does not wait for the copy. On a CPU it is
 * the same tensor. */
at::Tensor sent(const orch_torch_model *m, const at::Tensor &host);
/* One step from a batch: forward, loss, backward, update and totals. It runs on the device alone:
 * nothing here may wait for it, or keep memory that it allocates, because it is what a graph
 * captures. */
void learn(orch_torch_model *m, const Batch &batch);

/* Adds a batch to the totals. */
void add_totals(orch_torch_model *m, const at::Tensor &loss, const at::Tensor &logits,
                const Goal &goal);
/* Allocates the totals of a new model. */
void totals_start(orch_torch_model *m);

bool train(orch_torch_model *m, const orch_torch_batch *b, GError **error);
bool evaluate(orch_torch_model *m, const orch_torch_batch *b, GError **error);
bool totals_take(orch_torch_model *m, orch_torch_totals *out, GError **error);
bool totals_mark(orch_torch_model *m, GError **error);
bool logits(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error);
bool features(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error);
int64_t feature_count(const orch_torch_model *m);
int64_t class_count(const orch_torch_model *m);

/* ---- fixed_step.cpp ---- */

struct Capture;
struct CaptureFree {
    void operator()(Capture *capture) const;
};
/* A step whose batch lies in buffers that stay where they are. */
struct FixedStep {
    std::vector<int64_t> form; /* of its batches */
    Batch batch;               /* the buffers */
    int64_t runs = 0;          /* operation by operation */
    std::unique_ptr<Capture, CaptureFree> capture;
};
/* Learns from fixed buffers into which the batch is copied, by a replay where possible. Returns
 * false, with nothing done, if the step must be an ordinary one. */
bool learn_fixed(orch_torch_model *m, const Batch &batch);
/* Drops buffers and capture, which hold addresses of the optimizer's state. */
void forget_fixed(orch_torch_model *m);
/* Runs a step from the buffers and returns the name of an operation in it that waits for the
 * device; NULL if there was none. */
const char *run_watched(orch_torch_model *m, FixedStep &step);

bool graphs_set(orch_torch_model *m, orch_torch_graphs mode, GError **error);
void graphs_get(const orch_torch_model *m, orch_torch_graphs_state *out);

/* ---- capture.cpp ---- */

/* Why no step of the model can be captured; NULL: it can. */
const char *capture_obstacle(const orch_torch_model *m);
/* Runs a step from the buffers: the first ones to warm up, then one is captured, then replays. If
 * the capture fails, sets capture_problem and runs the step all the same. */
void run_captured(orch_torch_model *m, FixedStep &step);

} // namespace adapter

#endif
