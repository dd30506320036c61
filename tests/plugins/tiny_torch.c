/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A stand-in for orch-torch.so without LibTorch: softmax regression on the head of a network, so
 * that the training loop, checkpoints and plugins are tested wherever orch is built. Every other
 * layer is ignored: feature j of an image is the mean of its values whose index is j modulo the
 * number of features.
 *
 *   TINY_TORCH_FAIL=NAME[:N]  the Nth call (default 1) of that function of the table fails
 *   TINY_TORCH_FAIL_TEXT=TEXT  ... with this message
 *   TINY_TORCH_NAN=N          losses are not finite from a model's Nth image on
 *   TINY_TORCH_CUDA=N         number of CUDA devices
 *   TINY_TORCH_MEMORY=N       free memory of a CUDA device in bytes, of 1,000,000 (the default)
 *   TINY_TORCH_CAPTURE=fail   the capture of a step fails
 *   TINY_TORCH_LOG=FILE       a line for each thread count, optimizer and device that is set, and
 *                             for each read of the totals, with the number of steps before it */
#include "plugins/common/torch/torch.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS_MAX = 2 };

struct orch_torch_model {
    const struct orch_net *net;
    const struct orch_net_node *head;
    float **values;           /* by tensor */
    float **slots[SLOTS_MAX]; /* by tensor; NULL: not set yet */
    struct orch_torch_optimizer optimizer;
    double rate;
    int64_t steps;
    uint64_t random; /* advances by 1 a step, as dropout's would */
    struct orch_torch_totals totals;
    int64_t scored; /* images so far, for TINY_TORCH_NAN */
    GArray *marks;  /* struct orch_torch_totals */
    /* the head's gradient since the last update: classes x features weights, then biases */
    float *gradient;
    bool has_gradient;
    /* of the last forward */
    double *features;
    float *outputs;
    int64_t count; /* 0: backward is not allowed */
    struct orch_torch_bucket_calls calls;
    bool is_held;
    struct orch_torch_scaler scaler; /* of fp16; nothing is scaled */
    struct orch_torch_graphs_state graphs;
};

/* ---- faults -----------------------------------------------------------------------------------
 */

static bool fails(const char *name, GError **error)
{
    static GHashTable *calls;
    const char *wanted = g_getenv("TINY_TORCH_FAIL");
    size_t length = strlen(name);
    if (!wanted || strncmp(wanted, name, length) != 0 || (wanted[length] && wanted[length] != ':'))
        return false;
    if (!calls)
        calls = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int call = GPOINTER_TO_INT(g_hash_table_lookup(calls, wanted)) + 1;
    g_hash_table_insert(calls, g_strdup(wanted), GINT_TO_POINTER(call));
    if (call != (wanted[length] ? atoi(wanted + length + 1) : 1))
        return false;
    const char *text = g_getenv("TINY_TORCH_FAIL_TEXT");
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "%s%s", text ? text : name,
                   text ? "" : " failed on purpose");
    return true;
}

static void tell(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void tell(const char *format, ...)
{
    const char *path = g_getenv("TINY_TORCH_LOG");
    FILE *file = path ? fopen(path, "ae") : NULL;
    if (!file)
        return;
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* ---- process and model ------------------------------------------------------------------------
 */

static int cuda_count(void)
{
    const char *text = g_getenv("TINY_TORCH_CUDA");
    return text ? atoi(text) : 0;
}

static void threads_set(int threads)
{
    tell("threads %d\n", threads);
}

static void deterministic_set(bool on)
{
    tell("deterministic %d\n", on);
}

static void seed(uint64_t value)
{
    (void)value;
}

static struct orch_torch_model *model_new(const struct orch_net *net,
                                          const struct orch_torch_setup *setup, GError **error)
{
    if (fails("model_new", error))
        return NULL;
    if (g_str_has_prefix(setup->device, "cuda") && cuda_count() == 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "no device '%s'", setup->device);
        return NULL;
    }
    tell("device %s precision %d channels_last %d\n", setup->device, (int)setup->precision,
         setup->channels_last);
    struct orch_torch_model *m = g_new0(struct orch_torch_model, 1);
    m->net = net;
    m->head = orch_net_head(net);
    m->marks = g_array_new(FALSE, FALSE, sizeof(struct orch_torch_totals));
    if (setup->precision == ORCH_TORCH_FP16)
        m->scaler.scale = ORCH_SCALER_START;
    m->values = g_new0(float *, net->tensors->len);
    for (int slot = 0; slot < SLOTS_MAX; slot++)
        m->slots[slot] = g_new0(float *, net->tensors->len);
    for (guint i = 0; i < net->tensors->len; i++)
        m->values[i] = g_new0(float, orch_net_tensor(net, (int)i)->count + 1);
    return m;
}

static void drop_slots(struct orch_torch_model *m)
{
    for (int slot = 0; slot < SLOTS_MAX; slot++)
        for (guint i = 0; i < m->net->tensors->len; i++)
            g_clear_pointer(&m->slots[slot][i], g_free);
}

static void model_free(struct orch_torch_model *m)
{
    drop_slots(m);
    for (guint i = 0; i < m->net->tensors->len; i++)
        g_free(m->values[i]);
    for (int slot = 0; slot < SLOTS_MAX; slot++)
        g_free(m->slots[slot]);
    g_free(m->values);
    g_free(m->gradient);
    g_free(m->features);
    g_free(m->outputs);
    g_array_unref(m->marks);
    g_free(m);
}

/* ---- tensors ----------------------------------------------------------------------------------
 */

static size_t tensor_count(const struct orch_torch_model *m)
{
    return m->net->tensors->len;
}

static void tensor_describe(const struct orch_torch_model *m, size_t index,
                            struct orch_torch_tensor *out)
{
    const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)index);
    *out = (struct orch_torch_tensor){.name = t->name,
                                      .rank = t->rank,
                                      .count = t->count,
                                      .group = orch_net_node(m->net, t->node)->group,
                                      .is_parameter =
                                          t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS};
    memcpy(out->shape, t->shape, sizeof out->shape);
}

static size_t bytes_of(const struct orch_torch_model *m, size_t index)
{
    return sizeof(float) * (size_t)orch_net_tensor(m->net, (int)index)->count;
}

static bool tensor_get(const struct orch_torch_model *m, size_t index, float *out, GError **error)
{
    if (fails("tensor_get", error))
        return false;
    memcpy(out, m->values[index], bytes_of(m, index));
    return true;
}

static bool tensor_set(struct orch_torch_model *m, size_t index, const float *values,
                       GError **error)
{
    if (fails("tensor_set", error))
        return false;
    memcpy(m->values[index], values, bytes_of(m, index));
    return true;
}

/* ---- optimizer --------------------------------------------------------------------------------
 */

static bool optimizer_set(struct orch_torch_model *m, const struct orch_torch_optimizer *optimizer,
                          GError **error)
{
    if (fails("optimizer_set", error))
        return false;
    drop_slots(m);
    m->optimizer = *optimizer;
    m->optimizer.group_rates = NULL;
    tell("optimizer %s frozen %d rates %zu\n",
         optimizer->method == ORCH_TORCH_ADAM ? "adam" : "sgd", optimizer->frozen_groups,
         optimizer->group_rate_count);
    return true;
}

static void rate_set(struct orch_torch_model *m, double rate)
{
    m->rate = rate;
}

static int slot_count(const struct orch_torch_model *m)
{
    return m->optimizer.method == ORCH_TORCH_ADAM ? 2 : m->optimizer.momentum > 0 ? 1 : 0;
}

static bool slot_get(const struct orch_torch_model *m, size_t index, int slot, float *out,
                     bool *out_is_set, GError **error)
{
    if (fails("slot_get", error))
        return false;
    *out_is_set = m->slots[slot][index] != NULL;
    if (*out_is_set)
        memcpy(out, m->slots[slot][index], bytes_of(m, index));
    return true;
}

static float *slot_of(struct orch_torch_model *m, size_t index, int slot)
{
    if (!m->slots[slot][index])
        m->slots[slot][index] = g_new0(float, orch_net_tensor(m->net, (int)index)->count + 1);
    return m->slots[slot][index];
}

static bool slot_set(struct orch_torch_model *m, size_t index, int slot, const float *values,
                     GError **error)
{
    if (fails("slot_set", error))
        return false;
    memcpy(slot_of(m, index, slot), values, bytes_of(m, index));
    return true;
}

static int64_t steps_get(const struct orch_torch_model *m)
{
    return m->steps;
}

static void steps_set(struct orch_torch_model *m, int64_t steps)
{
    m->steps = steps;
}

static void move(struct orch_torch_model *m, size_t index, int64_t at, double gradient)
{
    float *value = &m->values[index][at];
    if (m->optimizer.method == ORCH_TORCH_ADAM) {
        float *mean = &slot_of(m, index, 0)[at], *square = &slot_of(m, index, 1)[at];
        *mean = (float)(0.9 * (double)*mean + 0.1 * gradient);
        *square = (float)(0.999 * (double)*square + 0.001 * gradient * gradient);
        double first = (double)*mean / (1 - pow(0.9, (double)m->steps));
        double second = (double)*square / (1 - pow(0.999, (double)m->steps));
        *value -= (float)(m->rate * first / (sqrt(second) + 1e-8));
        return;
    }
    if (m->optimizer.momentum > 0) {
        float *velocity = &slot_of(m, index, 0)[at];
        *velocity = (float)(m->optimizer.momentum * (double)*velocity + gradient);
        gradient = (double)*velocity;
    }
    *value -= (float)(m->rate * gradient);
}

/* ---- batches ----------------------------------------------------------------------------------
 */

static int64_t feature_count(const struct orch_torch_model *m)
{
    return m->head->in_channels;
}

static int64_t class_count(const struct orch_torch_model *m)
{
    return m->net->classes;
}

/* Features of image `i`, in `out`. */
static void features_of(const struct orch_torch_model *m, const struct orch_torch_batch *batch,
                        int64_t i, double *out)
{
    int64_t count = feature_count(m), size = m->net->input.c * m->net->input.h * m->net->input.w;
    const float *from = batch->images;
    for (int64_t j = 0; j < count; j++)
        out[j] = 0;
    if (batch->input == ORCH_TORCH_FEATURES)
        for (int64_t j = 0; j < count; j++)
            out[j] = (double)from[i * count + j];
    else
        for (int64_t j = 0, k = 0; j < size; j++, k = k + 1 < count ? k + 1 : 0)
            out[k] += (double)from[i * size + j] * (double)count / (double)size;
}

static void scores_of(const struct orch_torch_model *m, const double *features, double *out)
{
    int64_t count = feature_count(m);
    const float *weight = m->values[m->head->first_tensor];
    const float *bias = m->head->has_bias ? m->values[m->head->first_tensor + 1] : NULL;
    for (int64_t k = 0; k < class_count(m); k++) {
        out[k] = bias ? (double)bias[k] : 0;
        for (int64_t j = 0; j < count; j++)
            out[k] += (double)weight[k * count + j] * features[j];
    }
}

/* What image `i` is to give: the label, smoothed. */
static double wanted(const struct orch_torch_model *m, const struct orch_torch_batch *b, int64_t i,
                     int64_t k)
{
    int64_t classes = class_count(m);
    return (1 - b->label_smoothing) * (b->labels[i] == k) + b->label_smoothing / (double)classes;
}

/* An image's share of its batch's loss. */
static double share_of(const struct orch_torch_batch *b)
{
    return 1 / (double)(b->total_count > 0 ? b->total_count : b->count);
}

/* Turns scores into probabilities and adds image `i` to the totals. */
static void judge(struct orch_torch_model *m, const struct orch_torch_batch *batch, int64_t i,
                  double *scores)
{
    int64_t classes = class_count(m), best = 0;
    double sum = 0, loss = 0;
    for (int64_t k = 1; k < classes; k++)
        best = scores[k] > scores[best] ? k : best;
    double most = scores[best];
    for (int64_t k = 0; k < classes; k++)
        sum += scores[k] = exp(scores[k] - most);
    for (int64_t k = 0; k < classes; k++) {
        scores[k] /= sum;
        loss -= wanted(m, batch, i, k) * log(fmax(scores[k], 1e-30));
    }
    m->totals.images++;
    m->totals.correct += best == batch->labels[i];
    const char *first = g_getenv("TINY_TORCH_NAN");
    m->totals.loss += first && ++m->scored >= atoll(first) ? (double)NAN : loss;
}

static float *gradient_of(struct orch_torch_model *m)
{
    if (!m->gradient)
        m->gradient = g_new0(float, class_count(m) * (feature_count(m) + 1));
    m->has_gradient = true;
    return m->gradient;
}

/* Adds what an image's d loss / d scores makes of its features. */
static void collect(struct orch_torch_model *m, const double *features, const double *scores)
{
    int64_t count = feature_count(m), classes = class_count(m);
    float *gradient = gradient_of(m);
    for (int64_t k = 0; k < classes; k++) {
        for (int64_t j = 0; j < count; j++)
            gradient[k * count + j] += (float)(scores[k] * features[j]);
        gradient[classes * count + k] += (float)scores[k];
    }
}

/* All gradients are one bucket. */
static bool call_ready(struct orch_torch_model *m, GError **error)
{
    struct orch_torch_bucket bucket = {
        .count = 1, .data = gradient_of(m), .elements = class_count(m) * (feature_count(m) + 1)};
    return !m->calls.ready || m->is_held || m->calls.ready(m->calls.ctx, &bucket, error);
}

static bool apply(struct orch_torch_model *m, GError **error)
{
    int64_t count = feature_count(m), classes = class_count(m);
    if (m->calls.finish && !m->calls.finish(m->calls.ctx, NULL, error))
        return false;
    m->steps++;
    for (int64_t at = 0; at < classes * count; at++)
        move(m, (size_t)m->head->first_tensor, at, (double)m->gradient[at]);
    for (int64_t k = 0; m->head->has_bias && k < classes; k++)
        move(m, (size_t)m->head->first_tensor + 1, k, (double)m->gradient[classes * count + k]);
    memset(m->gradient, 0, sizeof *m->gradient * (size_t)(classes * (count + 1)));
    m->has_gradient = false;
    return true;
}

/* As if every step after the first two were a replay. */
static void count_step(struct orch_torch_model *m)
{
    struct orch_torch_graphs_state *state = &m->graphs;
    state->reason = NULL;
    if (state->mode != ORCH_TORCH_GRAPHS_ON)
        return;
    if (m->calls.ready)
        state->reason = "gradients are read in buckets while backward makes them";
    else if (state->ordinary >= 2 && g_getenv("TINY_TORCH_CAPTURE"))
        state->reason = "the capture failed on purpose";
    if (state->reason || state->ordinary < 2)
        state->ordinary++;
    else
        state->replayed++;
}

static bool train(struct orch_torch_model *m, const struct orch_torch_batch *batch, GError **error)
{
    if (fails("train", error))
        return false;
    g_autofree double *features = g_new(double, feature_count(m));
    g_autofree double *scores = g_new(double, class_count(m));
    m->random++;
    for (int64_t i = 0; i < batch->count; i++) {
        features_of(m, batch, i, features);
        scores_of(m, features, scores);
        judge(m, batch, i, scores);
        for (int64_t k = 0; k < class_count(m); k++)
            scores[k] = (scores[k] - wanted(m, batch, i, k)) * share_of(batch);
        collect(m, features, scores);
    }
    count_step(m);
    return call_ready(m, error) && apply(m, error);
}

/* ---- steps in parts ---------------------------------------------------------------------------
 */

static size_t output_count(const struct orch_torch_model *m)
{
    (void)m;
    return 1;
}

static void output_describe(const struct orch_torch_model *m, size_t index,
                            struct orch_torch_array *out)
{
    (void)index;
    *out = (struct orch_torch_array){
        .name = m->head->name, .shape = {1, class_count(m), 1, 1}, .rank = 2};
}

static bool forward(struct orch_torch_model *m, const struct orch_torch_batch *batch,
                    enum orch_torch_mode mode, bool on_device, struct orch_torch_array *outputs,
                    GError **error)
{
    if (fails("forward", error))
        return false;
    int64_t count = feature_count(m), classes = class_count(m);
    g_autofree double *scores = g_new(double, classes);
    m->features = g_renew(double, m->features, batch->count *count);
    m->outputs = g_renew(float, m->outputs, batch->count *classes);
    for (int64_t i = 0; i < batch->count; i++) {
        features_of(m, batch, i, &m->features[i * count]);
        scores_of(m, &m->features[i * count], scores);
        for (int64_t k = 0; k < classes; k++)
            m->outputs[i * classes + k] = (float)scores[k];
    }
    m->random += mode != ORCH_TORCH_INFER;
    m->count = mode != ORCH_TORCH_INFER ? batch->count : 0;
    output_describe(m, 0, outputs);
    outputs->shape[0] = batch->count;
    outputs->is_on_device = on_device;
    outputs->data = m->outputs;
    return true;
}

static bool backward(struct orch_torch_model *m, const struct orch_torch_array *gradients,
                     size_t count, GError **error)
{
    if (fails("backward", error))
        return false;
    int64_t classes = class_count(m);
    if (!m->count || count != 1 || gradients->rank != 2 || gradients->shape[0] != m->count ||
        gradients->shape[1] != classes) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "backward: no forward, or another shape than its output '%s'",
                       m->head->name);
        return false;
    }
    g_autofree double *scores = g_new(double, classes);
    for (int64_t i = 0; gradients->data && i < m->count; i++) {
        for (int64_t k = 0; k < classes; k++)
            scores[k] = (double)gradients->data[i * classes + k];
        collect(m, &m->features[i * feature_count(m)], scores);
    }
    m->count = 0;
    return call_ready(m, error);
}

static bool update(struct orch_torch_model *m, GError **error)
{
    if (fails("update", error))
        return false;
    if (m->has_gradient)
        return apply(m, error);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "update needs gradients");
    return false;
}

static void gradients_drop(struct orch_torch_model *m)
{
    g_clear_pointer(&m->gradient, g_free);
    m->has_gradient = false;
}

static bool gradients_watch(struct orch_torch_model *m, size_t bucket_bytes,
                            const struct orch_torch_bucket_calls *calls, GError **error)
{
    if (fails("gradients_watch", error))
        return false;
    if (calls && bucket_bytes == 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "a bucket size of 0 bytes");
        return false;
    }
    m->calls = calls ? *calls : (struct orch_torch_bucket_calls){0};
    return true;
}

static bool gradients_watch_from(struct orch_torch_model *m, size_t first_bytes,
                                 size_t bucket_bytes, const struct orch_torch_bucket_calls *calls,
                                 GError **error)
{
    return gradients_watch(m, MIN(first_bytes, bucket_bytes), calls, error);
}

static void gradients_hold(struct orch_torch_model *m, bool on)
{
    m->is_held = on;
}

static bool blend(struct orch_torch_model *destination, const struct orch_torch_model *source,
                  double alpha, GError **error)
{
    if (fails("blend", error))
        return false;
    for (guint i = 0; i < destination->net->tensors->len; i++)
        for (int64_t k = 0; k < orch_net_tensor(destination->net, (int)i)->count; k++) {
            float *to = &destination->values[i][k];
            *to = (float)((1 - alpha) * (double)*to + alpha * (double)source->values[i][k]);
        }
    return true;
}

static bool evaluate(struct orch_torch_model *m, const struct orch_torch_batch *batch,
                     GError **error)
{
    g_autofree double *features = g_new(double, feature_count(m));
    g_autofree double *scores = g_new(double, class_count(m));
    if (fails("evaluate", error))
        return false;
    for (int64_t i = 0; i < batch->count; i++) {
        features_of(m, batch, i, features);
        scores_of(m, features, scores);
        judge(m, batch, i, scores);
    }
    return true;
}

static bool totals_take(struct orch_torch_model *m, struct orch_torch_totals *out, GError **error)
{
    if (fails("totals_take", error))
        return false;
    tell("totals_take %" G_GINT64_FORMAT "\n", m->steps);
    if (m->marks->len) {
        *out = g_array_index(m->marks, struct orch_torch_totals, 0);
        g_array_remove_index(m->marks, 0);
        return true;
    }
    *out = m->totals;
    m->totals = (struct orch_torch_totals){0};
    return true;
}

static bool totals_mark(struct orch_torch_model *m, GError **error)
{
    if (fails("totals_mark", error))
        return false;
    g_array_append_val(m->marks, m->totals);
    m->totals = (struct orch_torch_totals){0};
    return true;
}

static bool logits(struct orch_torch_model *m, const struct orch_torch_batch *batch, float *out,
                   GError **error)
{
    g_autofree double *features = g_new(double, feature_count(m));
    g_autofree double *scores = g_new(double, class_count(m));
    if (fails("logits", error))
        return false;
    for (int64_t i = 0; i < batch->count; i++) {
        features_of(m, batch, i, features);
        scores_of(m, features, scores);
        for (int64_t k = 0; k < class_count(m); k++)
            *out++ = (float)scores[k];
    }
    return true;
}

static bool features(struct orch_torch_model *m, const struct orch_torch_batch *batch, float *out,
                     GError **error)
{
    g_autofree double *row = g_new(double, feature_count(m));
    if (fails("features", error))
        return false;
    for (int64_t i = 0; i < batch->count; i++) {
        features_of(m, batch, i, row);
        for (int64_t j = 0; j < feature_count(m); j++)
            *out++ = (float)row[j];
    }
    return true;
}

static bool random_get(const struct orch_torch_model *m, GBytes **out, GError **error)
{
    if (fails("random_get", error))
        return false;
    *out = g_bytes_new(&m->random, sizeof m->random);
    return true;
}

static bool random_set(struct orch_torch_model *m, GBytes *state, GError **error)
{
    if (fails("random_set", error))
        return false;
    memcpy(&m->random, g_bytes_get_data(state, NULL), sizeof m->random);
    return true;
}

/* Repeats take 1, 2, 3, ... ms. */
static bool layer_time(const struct orch_torch_layer *layer, const char *device, int warmup,
                       int repeats, double *out_ms, GError **error)
{
    (void)warmup;
    if (fails("layer_time", error))
        return false;
    tell("layer %s %s\n", layer->is_conv ? "conv" : "dense", device);
    for (int i = 0; i < repeats; i++)
        out_ms[i] = i + 1;
    return true;
}

/* Repeats take 1, 2, 3, ... ms forward and twice as long backward. Nothing is fused. */
static bool part_time(struct orch_torch_model *m, const struct orch_torch_part *part,
                      double *out_forward_ms, double *out_backward_ms, int *out_end, GError **error)
{
    if (fails("part_time", error))
        return false;
    tell("part %d of %s, batch %d%s%s%s\n", part->node, m->net->name, (int)part->batch,
         part->trains ? ", trains" : "", part->input_learns ? ", input learns" : "",
         part->processor_time ? ", processor time" : "");
    *out_end = part->node;
    for (int i = 0; i < part->repeats; i++) {
        bool has_backward = part->trains && part->node != 0 && part->node != ORCH_TORCH_PART_UPDATE;
        out_forward_ms[i] = i + 1;
        out_backward_ms[i] = has_backward ? 2 * (i + 1) : 0;
    }
    return true;
}

static bool scaler_get(const struct orch_torch_model *m, struct orch_torch_scaler *out,
                       GError **error)
{
    if (fails("scaler_get", error))
        return false;
    *out = m->scaler;
    return true;
}

static bool scaler_set(struct orch_torch_model *m, const struct orch_torch_scaler *scaler,
                       GError **error)
{
    if (fails("scaler_set", error))
        return false;
    m->scaler = *scaler;
    return true;
}

/* ---- images on a made-up GPU ------------------------------------------------------------------
 */

struct orch_torch_images {
    uint8_t *bytes;
    int64_t count, values; /* values: of an image */
    struct orch_image_shape shape;
    float *made;
    int64_t *labels;
    int64_t made_count;
};

static bool gpu_memory(const struct orch_torch_model *m, int64_t *out_free_bytes,
                       int64_t *out_total_bytes, GError **error)
{
    (void)m;
    if (fails("gpu_memory", error))
        return false;
    const char *left = g_getenv("TINY_TORCH_MEMORY");
    *out_total_bytes = 1000000;
    *out_free_bytes = left ? g_ascii_strtoll(left, NULL, 10) : *out_total_bytes;
    return true;
}

static struct orch_torch_images *images_new(const struct orch_torch_model *m,
                                            const struct orch_torch_image_bytes *images,
                                            GError **error)
{
    (void)m;
    if (fails("images_new", error))
        return NULL;
    const struct orch_image_shape shape = images->shape;
    struct orch_torch_images *s = g_new0(struct orch_torch_images, 1);
    s->count = images->count;
    s->shape = shape;
    s->values = (int64_t)shape.channels * shape.height * shape.width;
    s->bytes = g_memdup2(images->bytes, (gsize)(s->count * s->values));
    tell("images %" G_GINT64_FORMAT "\n", s->count);
    return s;
}

static void images_free(struct orch_torch_images *s)
{
    g_free(s->bytes);
    g_free(s->made);
    g_free(s->labels);
    g_free(s);
}

/* What a thread of the kernel does, value by value. */
static bool images_make(struct orch_torch_images *s, const struct orch_torch_image_plans *plans,
                        struct orch_torch_batch *out, GError **error)
{
    if (fails("images_make", error))
        return false;
    s->made = g_renew(float, s->made, plans->count * s->values);
    s->labels = g_renew(int64_t, s->labels, plans->count);
    s->made_count = plans->count;
    memcpy(s->labels, plans->labels, sizeof *s->labels * (size_t)plans->count);
    for (int64_t i = 0; i < plans->count; i++)
        for (int at = 0; at < s->values; at++)
            s->made[i * s->values + at] =
                orch_pixel_value(&plans->plans[i], plans->table, s->shape, plans->channels_last,
                                 s->bytes + plans->rows[i] * s->values, at);
    *out = (struct orch_torch_batch){.input = ORCH_TORCH_FLOAT,
                                     .images = s->made,
                                     .labels = s->labels,
                                     .count = plans->count,
                                     .is_on_device = true,
                                     .is_channels_last = plans->channels_last};
    return true;
}

static bool images_get(const struct orch_torch_images *s, float *out, int64_t *out_labels,
                       GError **error)
{
    if (fails("images_get", error))
        return false;
    memcpy(out, s->made, sizeof *out * (size_t)(s->made_count * s->values));
    if (out_labels)
        memcpy(out_labels, s->labels, sizeof *out_labels * (size_t)s->made_count);
    return true;
}

static bool graphs_set(struct orch_torch_model *m, enum orch_torch_graphs mode, GError **error)
{
    if (fails("graphs_set", error))
        return false;
    tell("graphs %d\n", (int)mode);
    m->graphs = (struct orch_torch_graphs_state){.mode = mode};
    return true;
}

static void graphs_get(const struct orch_torch_model *m, struct orch_torch_graphs_state *out)
{
    *out = m->graphs;
}

#ifndef TINY_TORCH_VERSION
#define TINY_TORCH_VERSION ORCH_TORCH_ABI
#endif

static const struct orch_torch TABLE = {
    .struct_bytes = sizeof(struct orch_torch),
    .abi = TINY_TORCH_VERSION,
    .version = "tiny",
    .cuda_count = cuda_count,
    .threads_set = threads_set,
    .deterministic_set = deterministic_set,
    .seed = seed,
    .model_new = model_new,
    .model_free = model_free,
    .tensor_count = tensor_count,
    .tensor_describe = tensor_describe,
    .tensor_get = tensor_get,
    .tensor_set = tensor_set,
    .optimizer_set = optimizer_set,
    .rate_set = rate_set,
    .slot_count = slot_count,
    .slot_get = slot_get,
    .slot_set = slot_set,
    .steps_get = steps_get,
    .steps_set = steps_set,
    .train = train,
    .evaluate = evaluate,
    .totals_take = totals_take,
    .logits = logits,
    .features = features,
    .feature_count = feature_count,
    .class_count = class_count,
    .random_get = random_get,
    .random_set = random_set,
    .layer_time = layer_time,
    .output_count = output_count,
    .output_describe = output_describe,
    .forward = forward,
    .backward = backward,
    .update = update,
    .gradients_drop = gradients_drop,
    .gradients_watch = gradients_watch,
    .gradients_hold = gradients_hold,
    .blend = blend,
    .scaler_get = scaler_get,
    .scaler_set = scaler_set,
    .gpu_memory = gpu_memory,
    .images_new = images_new,
    .images_free = images_free,
    .images_make = images_make,
    .images_get = images_get,
    .graphs_set = graphs_set,
    .graphs_get = graphs_get,
    .totals_mark = totals_mark,
    .gradients_watch_from = gradients_watch_from,
    .part_time = part_time,
};

__attribute__((visibility("default"))) const struct orch_torch *orch_torch_v1(void)
{
    return &TABLE;
}
