/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plain engine: linear layers with ReLUs between. Weights lie transposed, inputs x outputs, so
 * that a product runs along the outputs; columns are padded to whole vectors with zeros, which stay
 * zero because their gradients are. */
#include "plugins/replay/agent/dense_loops.h"
#include "plugins/replay/agent/q_net_private.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <string.h>

enum { LAYERS_MOST = 17 };

struct layer {
    int64_t in, out, columns; /* columns: out, padded */
    int64_t weights, bias;    /* offsets in the arrays of values */
    float *outputs, *errors;  /* room x columns: the last forward's, and d loss / d outputs */
};

struct plain {
    struct layer layers[LAYERS_MOST];
    int count;
    int64_t values_count, padded_count; /* parameters; the same with padding */
    float *values, *gradients, *means, *squares;
    float *transposed; /* of one layer */
    int64_t steps;
    int64_t room, kept; /* rows of outputs and errors; rows of the last kept forward */
    float *states;      /* room x in of the first layer */
    float *compact;     /* room x outputs of the last layer, without padding */
};

static int64_t padded(int64_t columns)
{
    return (columns + ORCH_DENSE_TILE - 1) / ORCH_DENSE_TILE * ORCH_DENSE_TILE;
}

bool orch_q_plain_can(const struct orch_net *net)
{
    int layers = 0;
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        const bool is_last = i + 1 == net->nodes->len;
        const bool fits = i == 1       ? node->op == ORCH_NET_FLATTEN
                          : i % 2 == 0 ? node->op == ORCH_NET_LINEAR && node->has_bias
                                       : node->op == ORCH_NET_RELU && !is_last;
        if (!fits || node->inputs[0] != (int)i - 1)
            return false;
        layers += node->op == ORCH_NET_LINEAR;
    }
    return layers >= 1 && layers <= LAYERS_MOST && orch_net_output_count(net) == 1;
}

static void add_layer(struct plain *p, const struct orch_net_node *node)
{
    struct layer *l = &p->layers[p->count++];
    l->in = node->in_channels;
    l->out = node->out_channels;
    l->columns = padded(l->out);
    l->weights = p->padded_count;
    l->bias = l->weights + l->in * l->columns;
    p->padded_count = l->bias + l->columns;
    p->values_count += (l->in + 1) * l->out;
}

/* Each tensor draws from a stream of its own. */
static void draw(struct plain *p, const struct orch_net *net, uint64_t seed)
{
    g_autofree float *values = g_new0(float, p->values_count);
    float *at = values;
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(net, (int)i);
        uint64_t random = orch_random_stream(seed, i);
        for (int64_t v = 0; v < t->count; v++)
            *at++ = t->init == ORCH_NET_INIT_UNIFORM
                        ? (float)((2 * orch_random_unit(&random) - 1) * t->init_scale)
                        : 0;
    }
    orch_q_plain_calls.set(p, values, NULL);
}

void *orch_q_plain_new(const struct orch_net *net, uint64_t seed)
{
    struct plain *p = g_new0(struct plain, 1);
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_node(net, (int)i)->op == ORCH_NET_LINEAR)
            add_layer(p, orch_net_node(net, (int)i));
    int64_t largest = 0;
    for (int i = 0; i < p->count; i++)
        largest = MAX(largest, p->layers[i].out * padded(p->layers[i].in));
    p->values = g_new0(float, 4 * p->padded_count + largest);
    p->gradients = p->values + p->padded_count;
    p->means = p->gradients + p->padded_count;
    p->squares = p->means + p->padded_count;
    p->transposed = p->squares + p->padded_count;
    draw(p, net, seed);
    return p;
}

static void plain_free(void *self)
{
    struct plain *p = self;
    if (!p)
        return;
    g_free(p->values);
    g_free(p->states);
    g_free(p);
}

/* One allocation for all activations of `rows` rows. */
static void make_room(struct plain *p, int64_t rows)
{
    if (rows <= p->room)
        return;
    const int64_t in = p->layers[0].in, out = p->layers[p->count - 1].out;
    int64_t width = in + out;
    for (int i = 0; i < p->count; i++)
        width += 2 * p->layers[i].columns;
    g_free(p->states);
    float *at = p->states = g_new0(float, rows *width);
    at += rows * in;
    p->compact = at;
    at += rows * out;
    for (struct layer *l = p->layers; l < p->layers + p->count; l++) {
        l->outputs = at;
        l->errors = at + rows * l->columns;
        at += 2 * rows * l->columns;
    }
    p->room = rows;
}

/* Copies rows of `from` columns to rows of `to` columns; missing ones are 0. */
static void repack(const float *source, int64_t from, float *target, int64_t to, int64_t rows)
{
    const size_t each = sizeof(float) * (size_t)MIN(from, to);
    for (int64_t r = 0; r < rows; r++) {
        memcpy(target + r * to, source + r * from, each);
        if (to > from)
            memset(target + r * to + from, 0, sizeof(float) * (size_t)(to - from));
    }
}

static bool plain_forward(void *self, const float *states, int64_t count, bool keep,
                          const float **out, GError **error)
{
    struct plain *p = self;
    (void)error;
    make_room(p, count);
    struct orch_dense_matrix left = {states, p->layers[0].in, 1};
    for (int i = 0; i < p->count; i++) {
        const struct layer *l = &p->layers[i];
        orch_dense_product(count, l->columns, l->in, left, p->values + l->weights,
                           p->values + l->bias, l->outputs);
        if (i + 1 < p->count)
            orch_dense_relu(l->outputs, count * l->columns);
        left = (struct orch_dense_matrix){l->outputs, l->columns, 1};
    }
    if (keep)
        memcpy(p->states, states, sizeof(float) * (size_t)(count * p->layers[0].in));
    p->kept = keep ? count : 0;
    const struct layer *last = &p->layers[p->count - 1];
    repack(last->outputs, last->columns, p->compact, last->out, count);
    *out = p->compact;
    return true;
}

/* d loss / d inputs of layer `index`, into the errors of the layer before. */
static void errors_back(struct plain *p, int index)
{
    const struct layer *l = &p->layers[index], *before = &p->layers[index - 1];
    const float *weights = p->values + l->weights;
    memset(p->transposed, 0, sizeof(float) * (size_t)(l->out * before->columns));
    for (int64_t i = 0; i < l->in; i++)
        for (int64_t o = 0; o < l->out; o++)
            p->transposed[o * before->columns + i] = weights[i * l->columns + o];
    orch_dense_product(p->kept, before->columns, l->out,
                       (struct orch_dense_matrix){l->errors, l->columns, 1}, p->transposed, NULL,
                       before->errors);
    orch_dense_relu_back(before->outputs, before->errors, p->kept * before->columns);
}

static bool backward(struct plain *p, const float *gradients, GError **error)
{
    if (p->kept == 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "backward needs a forward that keeps its activations");
        return false;
    }
    const struct layer *last = &p->layers[p->count - 1];
    repack(gradients, last->out, last->errors, last->columns, p->kept);
    for (int i = p->count - 1; i >= 0; i--) {
        const struct layer *l = &p->layers[i];
        const struct orch_dense_matrix in =
            i > 0 ? (struct orch_dense_matrix){l[-1].outputs, 1, l[-1].columns}
                  : (struct orch_dense_matrix){p->states, 1, l->in};
        orch_dense_product(l->in, l->columns, p->kept, in, l->errors, NULL,
                           p->gradients + l->weights);
        orch_dense_sum_rows(l->errors, p->kept, l->columns, p->gradients + l->bias);
        if (i > 0)
            errors_back(p, i);
    }
    p->kept = 0;
    return true;
}

static void adam(struct plain *p, double rate)
{
    orch_dense_adam(p->values, p->gradients, p->means, p->squares, p->padded_count, ++p->steps,
                    rate);
}

static bool plain_learn(void *self, const float *gradients, double rate, GError **error)
{
    if (!backward(self, gradients, error))
        return false;
    adam(self, rate);
    return true;
}

/* Between the padded, transposed arrays and vectors as lib/net orders them. */
static void unpack(const struct plain *p, const float *from, float *out)
{
    for (int i = 0; i < p->count; i++) {
        const struct layer *l = &p->layers[i];
        for (int64_t o = 0; o < l->out; o++)
            for (int64_t k = 0; k < l->in; k++)
                *out++ = from[l->weights + k * l->columns + o];
        for (int64_t o = 0; o < l->out; o++)
            *out++ = from[l->bias + o];
    }
}

static void pack(const struct plain *p, const float *values, float *to)
{
    for (int i = 0; i < p->count; i++) {
        const struct layer *l = &p->layers[i];
        for (int64_t o = 0; o < l->out; o++)
            for (int64_t k = 0; k < l->in; k++)
                to[l->weights + k * l->columns + o] = *values++;
        for (int64_t o = 0; o < l->out; o++)
            to[l->bias + o] = *values++;
    }
}

static bool plain_gradients(void *self, const float *gradients, float *out, GError **error)
{
    struct plain *p = self;
    if (!backward(p, gradients, error))
        return false;
    unpack(p, p->gradients, out);
    return true;
}

static bool plain_get(const void *self, float *out, GError **error)
{
    const struct plain *p = self;
    (void)error;
    unpack(p, p->values, out);
    return true;
}

static bool plain_set(void *self, const float *values, GError **error)
{
    struct plain *p = self;
    (void)error;
    pack(p, values, p->values);
    return true;
}

static bool plain_blend(void *self, const void *source, double alpha, GError **error)
{
    struct plain *p = self;
    const struct plain *q = source;
    (void)error;
    if (alpha >= 1)
        memcpy(p->values, q->values, sizeof(float) * (size_t)p->padded_count);
    else
        orch_dense_blend(p->values, q->values, p->padded_count, (float)alpha);
    return true;
}

static bool plain_moments_get(const void *self, float *out, int64_t *out_steps, GError **error)
{
    const struct plain *p = self;
    (void)error;
    unpack(p, p->means, out);
    unpack(p, p->squares, out + p->values_count);
    *out_steps = p->steps;
    return true;
}

static bool plain_moments_set(void *self, const float *moments, int64_t steps, GError **error)
{
    struct plain *p = self;
    (void)error;
    pack(p, moments, p->means);
    pack(p, moments + p->values_count, p->squares);
    p->steps = steps;
    return true;
}

const struct orch_q_engine_calls orch_q_plain_calls = {
    .free = plain_free,
    .forward = plain_forward,
    .learn = plain_learn,
    .gradients = plain_gradients,
    .get = plain_get,
    .set = plain_set,
    .blend = plain_blend,
    .moments_get = plain_moments_get,
    .moments_set = plain_moments_set,
};
