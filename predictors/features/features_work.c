/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations and bytes of one measured row, and its roofline times: single layers by their
 * geometry, transformers by formula, networks layer by layer from the zoo's graph or else from
 * counts. */
#include "predictors/features/features.h"

#include "lib/net/cost.h"
#include "predictors/features/features_kernels.h"
#include "predictors/features/features_nets.h"
#include "predictors/features/features_serving.h"
#include "predictors/steps/prior.h"

#include <math.h>
#include <string.h>

static double field(const struct orch_row_facts *f, enum orch_field which)
{
    return f->field[which];
}

static double or_else(double value, double other)
{
    return isnan(value) ? other : value;
}

/* ---- the device --------------------------------------------------------------------------------
 */

struct rates {
    double compute, tensor, memory; /* operations and bytes per ms; NaN without a GPU */
    struct shares {
        double compute, memory, launch; /* the same as achieved; ms per launch */
    } prior, prior_tf32;
    int value_bytes;
};

static struct shares shares_of(const struct orch_gpu_spec *gpu, enum orch_precision precision)
{
    struct orch_prior prior;
    if (!orch_prior_for(gpu, precision, NULL, NULL, &prior, NULL))
        return (struct shares){(double)NAN, (double)NAN, (double)NAN};
    return (struct shares){prior.device.peak_flops * prior.device.compute_share / 1e3,
                           prior.device.bandwidth * prior.device.memory_share / 1e3,
                           prior.device.launch_s * 1e3};
}

static double shared_ms(const struct shares *s, double flops, double bytes, double launches)
{
    return MAX(flops / s->compute, bytes / s->memory) + launches * s->launch;
}

static struct rates rates_of(const struct orch_row_facts *f)
{
    const double none = (double)NAN;
    struct rates r = {.compute = none,
                      .tensor = none,
                      .memory = none,
                      .prior = {none, none, none},
                      .prior_tf32 = {none, none, none},
                      .value_bytes = orch_precision_bytes(f->precision)};
    if (!f->gpu)
        return r;
    double peak = orch_gpu_peak(f->gpu, f->precision), fp32 = orch_gpu_peak(f->gpu, ORCH_FP32);
    double tensor = f->precision == ORCH_FP32 ? orch_gpu_peak(f->gpu, ORCH_TF32) : peak;
    r.compute = (peak > 0 ? peak : fp32) / 1e3;
    r.tensor = MAX(tensor / 1e3, r.compute);
    r.memory = f->gpu->bandwidth_gbs * 1e6;
    bool tf32 = f->precision == ORCH_FP32 && orch_gpu_peak(f->gpu, ORCH_TF32) > 0;
    r.prior = shares_of(f->gpu, f->precision);
    r.prior_tf32 = tf32 ? shares_of(f->gpu, ORCH_TF32) : r.prior;
    return r;
}

/* Adds one operation of one pass. */
static void add(struct orch_row_work *w, const struct rates *r, double flops, double bytes,
                double launches)
{
    double compute = flops / r->compute, memory = bytes / r->memory;
    w->gflop += flops / 1e9;
    w->mbytes += bytes / 1e6;
    w->launches += launches;
    w->compute_ms += compute;
    w->tensor_ms += flops / r->tensor;
    w->memory_ms += memory;
    w->roofline_ms += MAX(compute, memory);
    w->prior_ms += shared_ms(&r->prior, flops, bytes, launches);
    w->prior_tf32_ms += shared_ms(&r->prior_tf32, flops, bytes, launches);
}

static struct orch_row_work empty_work(void)
{
    const double none = (double)NAN;
    return (struct orch_row_work){.params_m = none,
                                  .macts_m = none,
                                  .gmacs = none,
                                  .update_mbytes = none,
                                  .exchange_mbytes = none,
                                  .gemm_m = none,
                                  .gemm_n = none,
                                  .gemm_k = none,
                                  .gemm_b = none,
                                  .elements = none,
                                  .convs = none,
                                  .depthwise = none,
                                  .linears = none,
                                  .norms = none,
                                  .activations = none,
                                  .pools = none,
                                  .sums = none,
                                  .depthwise_share = none,
                                  .kernels_ms = none};
}

/* Number of states that an optimizer keeps per weight, by PyTorch's and TensorFlow's names. */
static int states_of(const char *opt)
{
    static const struct {
        const char *name;
        int states;
    } table[] = {{"momentum", 1}, {"adagrad", 1}, {"rmsprop", 1},
                 {"adadelta", 2}, {"adam", 2},    {"adamw", 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (g_ascii_strcasecmp(opt, table[i].name) == 0)
            return table[i].states;
    return 0;
}

/* The optimizer reads weight, gradient and states and writes weight and states, all in fp32.
 * Devices exchange gradients in a ring. */
static void add_update(struct orch_row_work *w, const struct orch_row_facts *f, double params)
{
    double gpus = or_else(field(f, ORCH_FIELD_GPUS), 1);
    w->params_m = params / 1e6;
    w->update_mbytes = f->training ? 4e-6 * params * (3 + 2 * states_of(f->opt)) : 0;
    w->exchange_mbytes = gpus > 1 ? 4e-6 * params * 2 * (gpus - 1) / gpus : 0;
}

/* ---- single layers -----------------------------------------------------------------------------
 */

/* A layer computed as `b` products of m x k by k x n, plus its memory traffic. The backward pass
 * has two products of the same size. */
static bool product_work(const struct orch_row_facts *f, const struct rates *r, double params,
                         double values, struct orch_row_work *w)
{
    double flops = 2 * w->gemm_b * w->gemm_m * w->gemm_n * w->gemm_k;
    if (!(flops > 0) || !isfinite(flops))
        return false;
    w->elements = w->gemm_b * w->gemm_m * w->gemm_n;
    w->prior_ms = w->prior_tf32_ms = (double)NAN; /* the shares are only for whole networks */
    add(w, r, flops, (values + params) * r->value_bytes, 1);
    if (f->training) {
        add(w, r, flops, (values + params) * r->value_bytes, 1);
        add(w, r, flops, (values + params) * r->value_bytes, 1);
        w->launches += 1;
    }
    add_update(w, f, params);
    return true;
}

static bool conv_work(const struct orch_row_facts *f, const struct rates *r,
                      struct orch_row_work *w)
{
    double batch = field(f, ORCH_FIELD_BATCH), side = field(f, ORCH_FIELD_IN_HW);
    double kernel = field(f, ORCH_FIELD_KERNEL), cin = field(f, ORCH_FIELD_CIN);
    double cout = field(f, ORCH_FIELD_COUT), same = field(f, ORCH_FIELD_PAD_SAME);
    double pad = or_else(field(f, ORCH_FIELD_PAD), 0);
    double moved = same > 0 ? side : side - kernel + 1 + 2 * (isnan(same) ? pad : 0);
    double out = ceil(moved / or_else(field(f, ORCH_FIELD_STRIDE), 1));
    w->gemm_m = batch * out * out;
    w->gemm_n = cout;
    w->gemm_k = kernel * kernel * cin;
    w->gemm_b = 1;
    return product_work(f, r, kernel * kernel * cin * cout,
                        batch * (side * side * cin + out * out * cout), w);
}

static bool dense_work(const struct orch_row_facts *f, const struct rates *r,
                       struct orch_row_work *w)
{
    double batch = field(f, ORCH_FIELD_BATCH);
    w->gemm_m = batch;
    w->gemm_n = field(f, ORCH_FIELD_DOUT);
    w->gemm_k = field(f, ORCH_FIELD_DIN);
    w->gemm_b = 1;
    return product_work(f, r, w->gemm_k * w->gemm_n, batch * (w->gemm_k + w->gemm_n), w);
}

static bool gemm_work(const struct orch_row_facts *f, const struct rates *r,
                      struct orch_row_work *w)
{
    w->gemm_m = field(f, ORCH_FIELD_M);
    w->gemm_n = field(f, ORCH_FIELD_N);
    w->gemm_k = field(f, ORCH_FIELD_K);
    w->gemm_b = or_else(field(f, ORCH_FIELD_B), 1);
    return product_work(
        f, r, 0,
        w->gemm_b * (w->gemm_m * w->gemm_k + w->gemm_k * w->gemm_n + w->gemm_m * w->gemm_n), w);
}

/* Element-wise or row-wise operations: memory traffic of their inputs and outputs. */
static bool element_work(const struct orch_row_facts *f, const struct rates *r,
                         struct orch_row_work *w)
{
    static const struct {
        const char *op;
        double tensors, operations; /* tensors read and written; operations per element */
    } table[] = {{"add", 3, 1},     {"mul", 3, 1},  {"div", 3, 4},  {"pow", 3, 20}, {"sub", 3, 1},
                 {"softmax", 2, 8}, {"ln", 2, 8},   {"gelu", 2, 8}, {"tanh", 2, 8}, {"powu", 2, 20},
                 {"divu", 2, 4},    {"relu", 2, 1}, {"addu", 2, 1}, {"mulu", 2, 1}};
    double elements = field(f, ORCH_FIELD_ROWS) * field(f, ORCH_FIELD_COLS);
    double tensors = 2, operations = 1;
    if (!(elements > 0))
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
        if (strcmp(table[i].op, f->op) == 0) {
            tensors = table[i].tensors;
            operations = table[i].operations;
        }
    }
    w->elements = elements;
    w->prior_ms = w->prior_tf32_ms = (double)NAN;
    add(w, r, operations * elements, tensors * elements * r->value_bytes, 1);
    return true;
}

/* A kernel of an inference server, at the peak of its format. */
static bool serving_work(const struct orch_row_facts *f, const struct rates *r,
                         struct orch_row_work *w)
{
    struct orch_serving_kernel kernel;
    if (!orch_row_serving(f, &kernel))
        return false;
    struct rates rates = *r;
    double peak = f->gpu ? orch_number_format_peak(f->gpu, f->format) : 0;
    if (peak > 0)
        rates.compute = rates.tensor = peak / 1e3;
    w->gemm_m = kernel.m;
    w->gemm_n = kernel.n;
    w->gemm_k = kernel.k;
    w->gemm_b = 1;
    w->prior_ms = w->prior_tf32_ms = (double)NAN;
    add(w, &rates, kernel.operations, kernel.bytes, 1);
    w->kernels_ms = 1e3 * kernel.seconds;
    return true;
}

/* ---- transformers ------------------------------------------------------------------------------
 */

/* Transformer blocks: attention (four products along the hidden size, two along the sequence) and
 * two linear layers over the tokens of a batch, with memory traffic for the element-wise operations
 * between them (Vaswani et al. 2017). The output layer has as many classes as the vocabulary. */
static bool transformer_work(const struct orch_row_facts *f, const struct rates *r,
                             struct orch_row_work *w)
{
    double layers = field(f, ORCH_FIELD_LAYERS), hidden = field(f, ORCH_FIELD_HIDDEN);
    double seq = field(f, ORCH_FIELD_SEQ), batch = field(f, ORCH_FIELD_BATCH);
    double ff = or_else(field(f, ORCH_FIELD_FF), 4 * hidden);
    double heads = or_else(field(f, ORCH_FIELD_HEADS), hidden / 64);
    double vocab = or_else(field(f, ORCH_FIELD_VOCAB), 0);
    double tokens = batch * seq, scores = batch * heads * seq * seq;
    if (!(layers * hidden * tokens > 0))
        return false;
    for (int pass = 0; pass < (f->training ? 3 : 1); pass++) {
        double bytes = r->value_bytes;
        double linear = layers * tokens * hidden * (4 * hidden + 2 * ff);
        double linear_values =
            layers * (tokens * (9 * hidden + 3 * ff) + hidden * 4 * hidden + 2 * hidden * ff);
        add(w, r, 2 * linear, linear_values * bytes, 6 * layers);
        add(w, r, 2 * layers * 2 * batch * seq * seq * hidden,
            layers * (2 * scores + 4 * tokens * hidden) * bytes, 2 * layers);
        add(w, r, layers * (10 * scores + tokens * (20 * hidden + 8 * ff)),
            layers * (6 * scores + tokens * (12 * hidden + 4 * ff)) * bytes, 10 * layers);
        add(w, r, 2 * tokens * hidden * vocab, (tokens * (hidden + vocab) + hidden * vocab) * bytes,
            1);
    }
    double params = layers * (4 * hidden * hidden + 2 * hidden * ff) + vocab * hidden;
    add_update(w, f, params);
    w->gmacs =
        (layers * seq * hidden * (4 * hidden + 2 * ff + 2 * seq) + seq * hidden * vocab) / 1e9;
    w->macts_m = layers * (heads * seq * seq + seq * (9 * hidden + ff)) / 1e6;
    w->linears = 6 * layers;
    w->norms = 2 * layers;
    return true;
}

/* ---- networks ----------------------------------------------------------------------------------
 */

/* Key for comparing names of networks: letters and digits in lower case. Caller frees. */
static char *name_key(const char *name)
{
    GString *key = g_string_new(NULL);
    for (; *name; name++)
        if (g_ascii_isalnum(*name))
            g_string_append_c(key, g_ascii_tolower(*name));
    return g_string_free(key, FALSE);
}

/* Names of networks in measurement files that differ from the zoo's. */
static const char *const OTHER_NAMES[][2] = {
    {"alexnetowt", "alexnet"},
    {"vgga", "vgg11"},
    {"inceptionv1", "googlenet"},
    {"inceptionv1v1", "googlenet"},
    {"squeezenet", "squeezenet1_0"},
    {"mobilenet", "mobilenet_v1"},
    {"inception3", "inception_v3"},
    {"resnet50v15", "resnet50"},
    {"resnext50", "resnext50_32x4d"},
    {"wideresnet502", "wide_resnet50_2"},
    {"efficientnetb0", "efficientnet_b0"},
};

static const char *zoo_name(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(OTHER_NAMES); i++)
        if (strcmp(OTHER_NAMES[i][0], key) == 0)
            return OTHER_NAMES[i][1];
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        g_autofree char *own = strchr(f->pattern, ':') ? g_strdup("") : name_key(f->pattern);
        if (strcmp(own, key) == 0)
            return f->pattern;
    }
    return NULL;
}

/* A network and its costs, counted once. */
struct counted {
    struct orch_net *net;
    struct orch_net_cost *costs;
};

/* The network of the zoo by its own name (resnet-cifar:20), or by one that measurements use. */
static struct counted *count_net(const char *name, const struct orch_net_options *input)
{
    g_autofree char *key = name_key(name), *own = orch_net_canonical_name(name);
    struct orch_net_options options = *input;
    options.name = strchr(name, ':') ? own : zoo_name(key);
    struct counted *c = g_new0(struct counted, 1);
    c->net = options.name ? orch_net_make(&options, NULL) : orch_counted_net(key, input->height);
    if (c->net)
        c->costs = orch_net_costs(c->net);
    return c;
}

/* Returns the counted network from a cache that lives as long as the process, because tables name
 * few networks in many rows. */
static const struct counted *counted_of(const char *name, const struct orch_net_options *input)
{
    static GMutex mutex;
    static GHashTable *known;
    g_autofree char *key =
        g_strdup_printf("%s/%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, name,
                        input->channels, input->height, input->width);
    g_mutex_lock(&mutex);
    if (!known)
        known = g_hash_table_new(g_str_hash, g_str_equal);
    struct counted *c = g_hash_table_lookup(known, key);
    if (!c) {
        c = count_net(name, input);
        g_hash_table_insert(known, g_steal_pointer(&key), c);
    }
    g_mutex_unlock(&mutex);
    return c;
}

static void count_kind(struct orch_row_work *w, const struct orch_net_node *node)
{
    bool depthwise =
        node->op == ORCH_NET_CONV2D && node->groups > 1 && node->groups == node->in_channels;
    switch (orch_net_kind_of(node->op)) {
    case ORCH_NET_KIND_CONV:
        *(depthwise ? &w->depthwise : &w->convs) += 1;
        break;
    case ORCH_NET_KIND_LINEAR:
        w->linears += 1;
        break;
    case ORCH_NET_KIND_NORM:
        w->norms += 1;
        break;
    case ORCH_NET_KIND_ACTIVATION:
        w->activations += 1;
        break;
    case ORCH_NET_KIND_POOL:
        w->pools += 1;
        break;
    default:
        w->sums += node->op == ORCH_NET_ADD || node->op == ORCH_NET_CONCAT;
    }
    w->depthwise_share += depthwise ? (double)node->macs : 0;
}

static void add_node(struct orch_row_work *w, const struct rates *r,
                     const struct orch_net_cost *cost, double batch, bool training, bool first)
{
    double flops = (double)orch_net_operations(cost, 2) * batch;
    double values = (double)(cost->read - cost->params + cost->written) * batch;
    double bytes = ((double)cost->params + values) * r->value_bytes;
    if (!(flops > 0) && !(values > 0))
        return;
    add(w, r, flops, bytes, 1);
    if (!training)
        return;
    int passes = cost->macs && !first ? 2 : 1;
    for (int i = 0; i < passes; i++)
        add(w, r, flops, bytes, 1);
}

static bool graph_work(const struct orch_row_facts *f, const struct rates *r,
                       struct orch_row_work *w)
{
    double batch = field(f, ORCH_FIELD_BATCH), img = field(f, ORCH_FIELD_IMG);
    if (!*f->net || !(batch > 0) || img > 4096)
        return false;
    struct orch_net_options input = {
        .channels = f->channels, .height = f->height, .width = f->width};
    if (!f->height)
        input.height = input.width = img > 0 ? (int64_t)img : 0;
    const struct counted *c = counted_of(f->net, &input);
    if (!c->net)
        return false;
    w->convs = w->depthwise = w->linears = w->norms = w->activations = w->pools = w->sums = 0;
    w->depthwise_share = 0;
    double macs = 0, values = 0;
    for (guint i = 1; i < c->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(c->net, (int)i);
        if (node->is_auxiliary)
            continue;
        add_node(w, r, &c->costs[i], batch, f->training,
                 node->input_count == 1 && node->inputs[0] == 0);
        count_kind(w, node);
        macs += (double)c->costs[i].macs;
        values += (double)c->costs[i].written;
    }
    w->depthwise_share = macs > 0 ? w->depthwise_share / macs : 0;
    w->gmacs = macs / 1e9;
    w->macts_m = values / 1e6;
    add_update(w, f, (double)orch_net_params(c->net));
    return true;
}

/* Work from counts that the table contains. */
static bool counted_work(const struct orch_row_facts *f, const struct rates *r,
                         struct orch_row_work *w)
{
    double batch = field(f, ORCH_FIELD_BATCH), macs = field(f, ORCH_FIELD_GMACS) * 1e9;
    double params = field(f, ORCH_FIELD_PARAMS_M) * 1e6;
    double values = or_else(field(f, ORCH_FIELD_MACTS_M), 0) * 1e6;
    if (!(batch > 0) || !(macs > 0) || !(params > 0))
        return false;
    for (int pass = 0; pass < (f->training ? 3 : 1); pass++) {
        add(w, r, 2 * macs * batch, (values * batch + params) * r->value_bytes, 0);
        add(w, r, 0, 2 * values * batch * r->value_bytes, 0);
    }
    w->gmacs = macs / 1e9;
    w->macts_m = values / 1e6;
    add_update(w, f, params);
    return true;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

bool orch_row_work(const struct orch_row_facts *facts, struct orch_row_work *out)
{
    static bool (*const kinds[])(const struct orch_row_facts *, const struct rates *,
                                 struct orch_row_work *) = {
        serving_work, conv_work,        dense_work,   gemm_work,
        element_work, transformer_work, counted_work, graph_work};
    struct rates rates = rates_of(facts);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        *out = empty_work();
        if (!kinds[i](facts, &rates, out))
            continue;
        if (isnan(out->kernels_ms))
            out->kernels_ms = orch_row_kernels_ms(facts, out);
        return true;
    }
    *out = empty_work();
    return false;
}

double orch_row_specs_ms(const struct orch_row_facts *facts)
{
    struct rates r = rates_of(facts);
    double gpus = or_else(field(facts, ORCH_FIELD_GPUS), 1);
    return 1e9 / (gpus * sqrt(r.tensor * r.memory));
}
