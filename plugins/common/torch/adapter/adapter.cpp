/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With layer.cpp the only C++ of the project: executes a graph of lib/net as ATen calls with
 * autograd, behind the function table of torch.h. The graph is evaluated node by node, and a value
 * is released after its last use. Activations and additions work in place if nothing else reads
 * their input. There is no implicit fusion. */
#include "plugins/common/torch/adapter/adapter.h"

extern "C" {
#include "lib/net/net.h"
}

#include <ATen/autocast_mode.h>

#include <cmath>
#include <cstring>
#include <vector>

using at::Tensor;

struct orch_torch_model {
    const orch_net *net;
    at::Device device = at::kCPU;
    bool bf16 = false;
    at::MemoryFormat format = at::MemoryFormat::Contiguous;
    std::vector<Tensor> tensors; /* as in the graph's table; parameters are leaves */
    std::vector<int> last_use;   /* node -> last node that reads it */
    std::vector<int> readers;    /* node -> number of nodes that read it */
    int head = -1;               /* node of the classifier */
    /* optimizer */
    orch_torch_method method = ORCH_TORCH_SGD;
    double momentum = 0, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, rate = 0;
    bool nesterov = false;
    int frozen_groups = 0;
    std::vector<double> group_rates;
    std::vector<Tensor> slots[2];
    int64_t steps = 0;
    /* sums, kept on the device until they are taken */
    Tensor loss_sum, correct_sum;
    int64_t images = 0;
};

namespace
{

/* Enables mixed precision during its lifetime. */
struct Autocast {
    bool on, cuda, before = false;
    explicit Autocast(const orch_torch_model *m) : on(m->bf16), cuda(m->device.is_cuda())
    {
        if (!on)
            return;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
        at::autocast::set_autocast_dtype(m->device.type(), at::kBFloat16);
        before = at::autocast::is_autocast_enabled(m->device.type());
        at::autocast::set_autocast_enabled(m->device.type(), true);
#else
        if (cuda) {
            at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
            before = at::autocast::is_enabled();
            at::autocast::set_enabled(true);
        } else {
            at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
            before = at::autocast::is_cpu_enabled();
            at::autocast::set_cpu_enabled(true);
        }
#endif
        at::autocast::increment_nesting();
    }
    ~Autocast()
    {
        if (!on)
            return;
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
        at::autocast::set_autocast_enabled(cuda ? at::kCUDA : at::kCPU, before);
#else
        if (cuda)
            at::autocast::set_enabled(before);
        else
            at::autocast::set_cpu_enabled(before);
#endif
    }
    Autocast(const Autocast &) = delete;
    Autocast &operator=(const Autocast &) = delete;
};

/* ---- forward ----------------------------------------------------------------------------------
 */

/* True if the node may overwrite its input, because nothing else reads it and no gradient needs
 * it. */
bool owns_input(const orch_torch_model *m, const struct orch_net_node *node)
{
    const struct orch_net_node *input = orch_net_node(m->net, node->inputs[0]);
    switch (input->op) {
    case ORCH_NET_CONV2D:
    case ORCH_NET_BATCHNORM2D:
    case ORCH_NET_LINEAR:
    case ORCH_NET_ADD:
        return m->readers[(size_t)input->id] == 1;
    default:
        return false;
    }
}

Tensor batch_norm(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x,
                  bool training)
{
    size_t first = (size_t)node->first_tensor;
    bool learns = training && node->group >= m->frozen_groups;
    return at::batch_norm(x, m->tensors[first], m->tensors[first + 1], m->tensors[first + 2],
                          m->tensors[first + 3], learns, node->momentum, node->eps,
                          at::globalContext().userEnabledCuDNN());
}

Tensor pad_shortcut(const struct orch_net_node *node, const Tensor &x)
{
    int64_t extra = node->out.c - x.size(1), before = extra / 2;
    Tensor strided =
        x.slice(2, 0, c10::nullopt, node->stride_h).slice(3, 0, c10::nullopt, node->stride_w);
    return at::constant_pad_nd(strided, {0, 0, 0, 0, before, extra - before}, 0);
}

/* Krizhevsky et al. 2012, 3.3, with Caffe's constants: alpha 1e-4, beta 0.75, k 1. */
Tensor local_response_norm(const struct orch_net_node *node, const Tensor &x)
{
    int64_t window = node->kernel_h;
    Tensor square =
        at::constant_pad_nd(x.mul(x).unsqueeze(1), {0, 0, 0, 0, window / 2, (window - 1) / 2}, 0);
    Tensor mean = at::avg_pool3d(square, {window, 1, 1}, {1, 1, 1}).squeeze(1);
    return x.div(mean.mul(1e-4).add(1).pow(0.75));
}

/* Huang et al. 2016, per image; remaining values are scaled up. */
Tensor stochastic_depth(const struct orch_net_node *node, const Tensor &x, bool training)
{
    if (!training || node->p <= 0)
        return x;
    Tensor kept = at::empty({x.size(0), 1, 1, 1}, x.options()).bernoulli_(1 - node->p);
    return x.mul(kept.div_(1 - node->p));
}

Tensor apply(const orch_torch_model *m, const struct orch_net_node *node,
             const std::vector<Tensor> &values, bool training)
{
    const Tensor &x = values[(size_t)node->inputs[0]];
    size_t first = (size_t)node->first_tensor;
    auto bias = [&]() { return node->has_bias ? m->tensors[first + 1] : Tensor(); };
    switch (node->op) {
    case ORCH_NET_CONV2D:
        return at::conv2d(x, m->tensors[first], bias(), {node->stride_h, node->stride_w},
                          {node->pad_h, node->pad_w}, {node->dilation, node->dilation},
                          node->groups);
    case ORCH_NET_BATCHNORM2D:
        return batch_norm(m, node, x, training);
    case ORCH_NET_RELU:
        if (owns_input(m, node)) {
            Tensor same = x;
            return at::relu_(same);
        }
        return at::relu(x);
    case ORCH_NET_TANH:
        return at::tanh(x);
    case ORCH_NET_MAXPOOL2D:
        return at::max_pool2d(x, {node->kernel_h, node->kernel_w}, {node->stride_h, node->stride_w},
                              {node->pad_h, node->pad_w}, 1, node->ceil_mode);
    case ORCH_NET_AVGPOOL2D:
        return at::avg_pool2d(x, {node->kernel_h, node->kernel_w}, {node->stride_h, node->stride_w},
                              {node->pad_h, node->pad_w}, node->ceil_mode);
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return at::adaptive_avg_pool2d(x, {node->out.h, node->out.w});
    case ORCH_NET_LINEAR:
        return at::linear(x, m->tensors[first], bias());
    case ORCH_NET_ADD:
        if (orch_net_node(m->net, node->inputs[0])->op == ORCH_NET_BATCHNORM2D &&
            owns_input(m, node)) {
            Tensor same = x;
            return same.add_(values[(size_t)node->inputs[1]]);
        }
        return at::add(x, values[(size_t)node->inputs[1]]);
    case ORCH_NET_CONCAT: {
        std::vector<Tensor> parts;
        for (int i = 0; i < node->input_count; i++)
            parts.push_back(values[(size_t)node->inputs[i]]);
        return at::cat(parts, 1);
    }
    case ORCH_NET_FLATTEN:
        return x.flatten(1);
    case ORCH_NET_DROPOUT:
        return at::dropout(x, node->p, training);
    case ORCH_NET_PAD_SHORTCUT:
        return pad_shortcut(node, x);
    case ORCH_NET_RELU6:
        return at::hardtanh(x, 0, 6);
    case ORCH_NET_SIGMOID:
        return at::sigmoid(x);
    case ORCH_NET_SILU:
        return at::silu(x);
    case ORCH_NET_GELU:
        return at::gelu(x);
    case ORCH_NET_SOFTMAX:
        return at::softmax(x, 1);
    case ORCH_NET_LRN:
        return local_response_norm(node, x);
    case ORCH_NET_MUL:
        return at::mul(x, values[(size_t)node->inputs[1]]);
    case ORCH_NET_STOCHASTIC_DEPTH:
        return stochastic_depth(node, x, training);
    default: /* transformers are only counted; model_new rejects them */
        break;
    }
    throw std::runtime_error(std::string("operation not known to the adapter: ") +
                             orch_net_op_name(node->op));
}

/* Evaluates the graph after node `from`, whose value is `x`, up to node `to`. */
Tensor forward(const orch_torch_model *m, const Tensor &x, int from, int to, bool training)
{
    std::vector<Tensor> values((size_t)m->net->nodes->len);
    values[(size_t)from] = x;
    for (int i = from + 1; i <= to; i++) {
        const struct orch_net_node *node = orch_net_node(m->net, i);
        if (node->is_auxiliary)
            continue;
        values[(size_t)i] = apply(m, node, values, training);
        for (int j = 0; j < node->input_count; j++)
            if (m->last_use[(size_t)node->inputs[j]] == i)
                values[(size_t)node->inputs[j]] = Tensor();
    }
    return values[(size_t)to];
}

Tensor input_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    const orch_net_shape &s = m->net->input;
    void *data = const_cast<void *>(b->images);
    if (b->input == ORCH_TORCH_FEATURES) {
        const orch_net_shape &f =
            orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
        std::vector<int64_t> shape = {b->count, f.c};
        if (f.h != 1 || f.w != 1)
            shape.insert(shape.end(), {f.h, f.w});
        return at::from_blob(data, shape, at::kFloat).to(m->device, at::kFloat, false, true);
    }
    at::ScalarType type = b->input == ORCH_TORCH_BYTES ? at::kByte : at::kFloat;
    Tensor x = at::from_blob(data, {b->count, s.c, s.h, s.w}, type).to(m->device);
    if (b->input == ORCH_TORCH_BYTES) {
        Tensor mean =
            at::from_blob(const_cast<float *>(b->mean), {1, s.c, 1, 1}, at::kFloat).to(m->device);
        Tensor std =
            at::from_blob(const_cast<float *>(b->std), {1, s.c, 1, 1}, at::kFloat).to(m->device);
        x = x.to(at::kFloat).div_(255).sub_(mean).div_(std);
    }
    return x.contiguous(m->format);
}

Tensor scores(const orch_torch_model *m, const orch_torch_batch *b, bool training)
{
    int from = b->input == ORCH_TORCH_FEATURES ? orch_net_node(m->net, m->head)->inputs[0] : 0;
    Autocast autocast(m);
    return forward(m, input_of(m, b), from, (int)m->net->nodes->len - 1, training).to(at::kFloat);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

void add_totals(orch_torch_model *m, const Tensor &mean_loss, const Tensor &logits,
                const Tensor &labels)
{
    torch::NoGradGuard no_grad;
    int64_t count = logits.size(0);
    Tensor loss = mean_loss.detach().to(at::kDouble) * (double)count;
    Tensor correct = logits.detach().argmax(1).eq(labels).sum();
    m->loss_sum = m->images ? m->loss_sum + loss : loss;
    m->correct_sum = m->images ? m->correct_sum + correct : correct;
    m->images += count;
}

double rate_of(const orch_torch_model *m, size_t index)
{
    int group = orch_net_node(m->net, orch_net_tensor(m->net, (int)index)->node)->group;
    return m->rate * ((size_t)group < m->group_rates.size() ? m->group_rates[(size_t)group] : 1.0);
}

void step_sgd(orch_torch_model *m, size_t i, Tensor grad)
{
    Tensor &p = m->tensors[i];
    if (m->weight_decay != 0)
        grad = grad.add(p, m->weight_decay);
    if (m->momentum != 0) {
        Tensor &buffer = m->slots[0][i];
        if (buffer.defined())
            buffer.mul_(m->momentum).add_(grad);
        else
            buffer = grad.clone();
        grad = m->nesterov ? grad.add(buffer, m->momentum) : buffer;
    }
    p.add_(grad, -rate_of(m, i));
}

void step_adam(orch_torch_model *m, size_t i, Tensor grad)
{
    Tensor &p = m->tensors[i], &mean = m->slots[0][i], &square = m->slots[1][i];
    if (m->weight_decay != 0)
        grad = grad.add(p, m->weight_decay);
    if (!mean.defined())
        mean = at::zeros_like(p);
    if (!square.defined())
        square = at::zeros_like(p);
    mean.mul_(m->beta1).add_(grad, 1 - m->beta1);
    square.mul_(m->beta2).addcmul_(grad, grad, 1 - m->beta2);
    double correction1 = 1 - std::pow(m->beta1, (double)m->steps);
    double correction2 = 1 - std::pow(m->beta2, (double)m->steps);
    Tensor divisor = square.sqrt().div_(std::sqrt(correction2)).add_(m->epsilon);
    p.addcdiv_(mean, divisor, -rate_of(m, i) / correction1);
}

void update(orch_torch_model *m)
{
    torch::NoGradGuard no_grad;
    m->steps++;
    for (size_t i = 0; i < m->tensors.size(); i++) {
        Tensor grad = m->tensors[i].requires_grad() ? m->tensors[i].grad() : Tensor();
        if (!grad.defined())
            continue;
        if (m->method == ORCH_TORCH_ADAM)
            step_adam(m, i, grad);
        else
            step_sgd(m, i, grad);
        m->tensors[i].mutable_grad() = Tensor();
    }
}

Tensor labels_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    for (int64_t i = 0; i < b->count; i++)
        if (b->labels[i] < 0 || b->labels[i] >= m->net->classes)
            throw std::runtime_error("label " + std::to_string(b->labels[i]) + " of image " +
                                     std::to_string(i) + " is not in [0, " +
                                     std::to_string(m->net->classes) + ")");
    return at::from_blob(const_cast<int64_t *>(b->labels), {b->count}, at::kLong)
        .to(m->device, at::kLong, false, true);
}

bool train(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        Tensor labels = labels_of(m, b);
        Tensor logits = scores(m, b, true);
        Tensor loss = at::cross_entropy_loss(logits, labels);
        loss.backward();
        add_totals(m, loss, logits, labels);
        update(m);
    });
}

bool evaluate(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        Tensor labels = labels_of(m, b), out = scores(m, b, false);
        add_totals(m, at::cross_entropy_loss(out, labels), out, labels);
    });
}

bool totals_take(orch_torch_model *m, orch_torch_totals *out, GError **error)
{
    return guarded(error, [&] {
        orch_torch_totals totals = {m->images, 0, 0};
        if (m->images) {
            totals.loss = m->loss_sum.item<double>();
            totals.correct = m->correct_sum.item<int64_t>();
        }
        m->images = 0;
        *out = totals;
    });
}

void copy_out(const Tensor &tensor, float *out)
{
    Tensor flat = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    std::memcpy(out, flat.data_ptr<float>(), sizeof(float) * (size_t)flat.numel());
}

bool logits(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        copy_out(scores(m, b, false), out);
    });
}

int64_t feature_count(const orch_torch_model *m)
{
    const orch_net_shape &f = orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
    return f.c * f.h * f.w;
}

bool features(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        Autocast autocast(m);
        copy_out(forward(m, input_of(m, b), 0, orch_net_node(m->net, m->head)->inputs[0], false),
                 out);
    });
}

int64_t class_count(const orch_torch_model *m)
{
    return m->net->classes;
}

/* ---- models -----------------------------------------------------------------------------------
 */

void plan_uses(orch_torch_model *m)
{
    size_t count = (size_t)m->net->nodes->len;
    m->last_use.assign(count, -1);
    m->readers.assign(count, 0);
    for (size_t i = 0; i < count; i++) {
        const struct orch_net_node *node = orch_net_node(m->net, (int)i);
        for (int j = 0; j < node->input_count; j++) {
            m->last_use[(size_t)node->inputs[j]] = (int)i;
            m->readers[(size_t)node->inputs[j]]++;
        }
    }
    m->head = orch_net_head(m->net)->id;
}

void set_learning(orch_torch_model *m)
{
    for (size_t i = 0; i < m->tensors.size(); i++) {
        const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)i);
        bool parameter = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
        m->tensors[i].set_requires_grad(parameter &&
                                        orch_net_node(m->net, t->node)->group >= m->frozen_groups);
    }
}

orch_torch_model *model_new(const orch_net *net, const orch_torch_setup *setup, GError **error)
{
    orch_torch_model *m = new (std::nothrow) orch_torch_model;
    bool ok = m && guarded(error, [&] {
                  if (!orch_net_is_classifier(net))
                      throw std::runtime_error(std::string("network '") + net->name +
                                               "' is counted only: it is no image classifier");
                  m->net = net;
                  m->device = device_of(setup->device);
                  m->bf16 = setup->precision == ORCH_TORCH_BF16;
                  m->format = setup->channels_last ? at::MemoryFormat::ChannelsLast
                                                   : at::MemoryFormat::Contiguous;
                  plan_uses(m);
                  for (guint i = 0; i < net->tensors->len; i++) {
                      const struct orch_net_tensor *t = orch_net_tensor(net, (int)i);
                      Tensor tensor = at::zeros(at::IntArrayRef(t->shape, (size_t)t->rank),
                                                at::TensorOptions().device(m->device));
                      m->tensors.push_back(t->rank == 4 ? tensor.contiguous(m->format) : tensor);
                  }
                  set_learning(m);
                  m->slots[0].resize(m->tensors.size());
                  m->slots[1].resize(m->tensors.size());
              });
    if (ok)
        return m;
    delete m;
    return nullptr;
}

void model_free(orch_torch_model *m)
{
    delete m;
}

size_t tensor_count(const orch_torch_model *m)
{
    return m->tensors.size();
}

void tensor_describe(const orch_torch_model *m, size_t index, orch_torch_tensor *out)
{
    const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)index);
    out->name = t->name;
    for (int i = 0; i < 4; i++)
        out->shape[i] = t->shape[i];
    out->rank = t->rank;
    out->count = t->count;
    out->group = orch_net_node(m->net, t->node)->group;
    out->is_parameter = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
}

Tensor from_floats(const orch_torch_model *m, size_t index, const float *values)
{
    const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)index);
    return at::from_blob(const_cast<float *>(values), at::IntArrayRef(t->shape, (size_t)t->rank),
                         at::kFloat)
        .to(m->device);
}

bool tensor_get(const orch_torch_model *m, size_t index, float *out, GError **error)
{
    return guarded(error, [&] { copy_out(m->tensors.at(index), out); });
}

bool tensor_set(orch_torch_model *m, size_t index, const float *values, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        m->tensors.at(index).copy_(from_floats(m, index, values));
    });
}

bool optimizer_set(orch_torch_model *m, const orch_torch_optimizer *o, GError **error)
{
    return guarded(error, [&] {
        m->method = o->method;
        m->momentum = o->momentum;
        m->nesterov = o->nesterov;
        m->weight_decay = o->weight_decay;
        m->beta1 = o->beta1;
        m->beta2 = o->beta2;
        m->epsilon = o->epsilon;
        m->group_rates.assign(o->group_rates, o->group_rates + o->group_rate_count);
        m->frozen_groups = o->frozen_groups;
        m->steps = 0;
        for (auto &slot : m->slots)
            slot.assign(m->tensors.size(), Tensor());
        set_learning(m);
    });
}

void rate_set(orch_torch_model *m, double rate)
{
    m->rate = rate;
}

int slot_count(const orch_torch_model *m)
{
    return m->method == ORCH_TORCH_ADAM ? 2 : m->momentum != 0 ? 1 : 0;
}

bool slot_get(const orch_torch_model *m, size_t index, int slot, float *out, bool *out_is_set,
              GError **error)
{
    return guarded(error, [&] {
        const Tensor &tensor = m->slots[slot].at(index);
        *out_is_set = tensor.defined();
        if (tensor.defined())
            copy_out(tensor, out);
    });
}

bool slot_set(orch_torch_model *m, size_t index, int slot, const float *values, GError **error)
{
    return guarded(error, [&] {
        Tensor tensor = at::empty_like(m->tensors.at(index)).detach();
        torch::NoGradGuard no_grad;
        tensor.copy_(from_floats(m, index, values));
        m->slots[slot].at(index) = tensor;
    });
}

int64_t steps_get(const orch_torch_model *m)
{
    return m->steps;
}

void steps_set(orch_torch_model *m, int64_t steps)
{
    m->steps = steps;
}

/* ---- the process ------------------------------------------------------------------------------
 */

int cuda_count()
{
    int count = 0;
    guarded(nullptr,
            [&] { count = torch::cuda::is_available() ? (int)torch::cuda::device_count() : 0; });
    return count;
}

void threads_set(int threads)
{
    guarded(nullptr, [&] { at::set_num_threads(threads); });
}

void deterministic_set(bool on)
{
    guarded(nullptr, [&] { at::globalContext().setDeterministicAlgorithms(on, false); });
}

void seed(uint64_t value)
{
    guarded(nullptr, [&] { torch::manual_seed(value); });
}

bool random_get(const orch_torch_model *m, GBytes **out, GError **error)
{
    return guarded(error, [&] {
        at::Generator generator = at::globalContext().defaultGenerator(m->device);
        std::lock_guard<std::mutex> lock(generator.mutex());
        Tensor state = generator.get_state().contiguous();
        *out = g_bytes_new(state.data_ptr(), (gsize)state.numel());
    });
}

bool random_set(orch_torch_model *m, GBytes *bytes, GError **error)
{
    return guarded(error, [&] {
        gsize length;
        const void *data = g_bytes_get_data(bytes, &length);
        Tensor state =
            at::from_blob(const_cast<void *>(data), {(int64_t)length}, at::kByte).clone();
        at::Generator generator = at::globalContext().defaultGenerator(m->device);
        std::lock_guard<std::mutex> lock(generator.mutex());
        generator.set_state(state);
    });
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char VERSION[] =
    TEXT(TORCH_VERSION_MAJOR) "." TEXT(TORCH_VERSION_MINOR) "." TEXT(TORCH_VERSION_PATCH);

} // namespace

extern "C" __attribute__((visibility("default"))) const struct orch_torch *orch_torch_v1(void)
{
    static const orch_torch table = {
        sizeof(orch_torch),
        ORCH_TORCH_ABI,
        VERSION,
        cuda_count,
        threads_set,
        deterministic_set,
        seed,
        model_new,
        model_free,
        tensor_count,
        tensor_describe,
        tensor_get,
        tensor_set,
        optimizer_set,
        rate_set,
        slot_count,
        slot_get,
        slot_set,
        steps_get,
        steps_set,
        train,
        evaluate,
        totals_take,
        logits,
        features,
        feature_count,
        class_count,
        random_get,
        random_set,
        orch_torch_layer_time,
    };
    return &table;
}
