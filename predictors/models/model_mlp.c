/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A multilayer perceptron with three hidden ReLU layers (AI Gauge's has 250, 200, 200), trained
 * with Adam on the squared error of the standardised target; the learning rate decays along a half
 * cosine. */
#include "lib/base/random.h"
#include "predictors/models/model.h"
#include "predictors/numbers/dense.h"

#include <math.h>
#include <string.h>

#define LAYERS 4 /* three hidden layers and the output */
#define BATCH 64
#define ABREAST 4 /* rows of weights added at once */
#define THREADS_MIN_WORK                                                                           \
    200000              /* rows times widths; with less, threads cost more than they save          \
                         */
#define WHOLE_ROWS 8000 /* with more rows, fewer epochs are run */

struct layer {
    int in, out;
    float *w, *b;             /* out x in, out */
    float *tiles;             /* w as tiles, for prediction */
    float *gw, *gb;           /* gradients */
    float *mw, *mb, *vw, *vb; /* Adam's moments */
};

struct mlp {
    struct layer layers[LAYERS];
    double mean, spread; /* of the target */
};

static void layer_init(struct layer *l, int in, int out, uint64_t *random)
{
    size_t n = (size_t)in * (size_t)out;
    *l = (struct layer){.in = in, .out = out};
    float **weights[] = {&l->w, &l->gw, &l->mw, &l->vw},
          **biases[] = {&l->b, &l->gb, &l->mb, &l->vb};
    for (int i = 0; i < 4; i++) {
        *weights[i] = g_new0(float, MAX(n, 1));
        *biases[i] = g_new0(float, (size_t)out);
    }
    float scale = (float)sqrt(2.0 / MAX(in, 1)); /* He et al. 2015 */
    for (size_t i = 0; i < n; i++)
        l->w[i] = scale * (float)orch_random_normal(random);
}

static void drop_training(struct layer *l)
{
    float **arrays[] = {&l->gw, &l->mw, &l->vw, &l->gb, &l->mb, &l->vb};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_clear_pointer(arrays[i], g_free);
}

static void mlp_release(void *fitted)
{
    struct mlp *m = fitted;
    for (int i = 0; i < LAYERS; i++) {
        drop_training(&m->layers[i]);
        g_free(m->layers[i].w);
        g_free(m->layers[i].tiles);
        g_free(m->layers[i].b);
    }
    g_free(m);
}

static void forward(const struct layer *l, const float *in, float *out, bool relu)
{
    orch_dots_float(l->w, (size_t)l->out, in, (size_t)l->in, out);
    for (int o = 0; o < l->out; o++) {
        float sum = l->b[o] + out[o];
        out[o] = relu && sum < 0 ? 0 : sum;
    }
}

/* Adds scales[k] * a[k] to inout, in the order of k. */
static inline void add_scaled(float *restrict inout, const float *const *a, const float *scales,
                              size_t n)
{
    const float *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
    for (size_t i = 0; i < n; i++)
        inout[i] = (((inout[i] + scales[0] * a0[i]) + scales[1] * a1[i]) + scales[2] * a2[i]) +
                   scales[3] * a3[i];
}

/* Backpropagates `delta` of the outputs to the gradients and to the inputs (NULL: not needed). */
ORCH_WIDE static void backward(struct layer *l, const float *restrict in, const float *delta,
                               float *restrict out_delta)
{
    size_t n = (size_t)l->in, waiting = 0;
    const float *rows[ABREAST];
    float scales[ABREAST];
    if (out_delta)
        memset(out_delta, 0, sizeof(float) * n);
    for (int o = 0; o < l->out; o++) {
        float d = delta[o], *restrict gradient = l->gw + (size_t)o * n;
        if (!(d > 0 || d < 0)) /* skips zeros, about half of the values after ReLU */
            continue;
        l->gb[o] += d;
        for (size_t i = 0; i < n; i++)
            gradient[i] += d * in[i];
        rows[waiting] = l->w + (size_t)o * n;
        scales[waiting++] = d;
        if (out_delta && waiting == ABREAST)
            add_scaled(out_delta, rows, scales, n);
        waiting %= ABREAST;
    }
    for (size_t k = 0; out_delta && k < waiting; k++)
        for (size_t i = 0; i < n; i++)
            out_delta[i] += scales[k] * rows[k][i];
}

struct adam {
    double rate, decay, correct1, correct2;
};

ORCH_WIDE static void adam_step(float *restrict w, float *restrict g, float *restrict m,
                                float *restrict v, size_t n, const struct adam *a, float scale)
{
    const float rate = (float)(a->rate / a->correct1), decay = (float)(a->rate * a->decay);
    const float second = (float)(1 / a->correct2);
    for (size_t i = 0; i < n; i++) {
        float gradient = g[i] * scale;
        m[i] = 0.9f * m[i] + 0.1f * gradient;
        v[i] = 0.999f * v[i] + 0.001f * gradient * gradient;
        w[i] -= rate * m[i] / (sqrtf(v[i] * second) + 1e-8f) + decay * w[i];
        g[i] = 0;
    }
}

struct scratch {
    float *values[LAYERS + 1], *deltas[LAYERS + 1];
};

static void train_row(struct mlp *m, struct scratch *s, float target)
{
    for (int k = 0; k < LAYERS; k++)
        forward(&m->layers[k], s->values[k], s->values[k + 1], k + 1 < LAYERS);
    s->deltas[LAYERS][0] = s->values[LAYERS][0] - target;
    for (int k = LAYERS - 1; k >= 0; k--) {
        backward(&m->layers[k], s->values[k], s->deltas[k + 1], k ? s->deltas[k] : NULL);
        for (int i = 0; k && i < m->layers[k].in; i++)
            if (s->values[k][i] <= 0)
                s->deltas[k][i] = 0;
    }
}

static void load_row(const double *values, size_t rows, int cols, size_t row, float *out)
{
    for (int c = 0; c < cols; c++)
        out[c] = (float)CLAMP(values[(size_t)c * rows + row], -10, 10);
}

/* Fewer epochs for many rows: about as many steps as for WHOLE_ROWS rows, at least a third. */
static int epochs_for(const struct orch_hyperparams *k, size_t rows)
{
    double share = MIN((double)WHOLE_ROWS / (double)MAX(rows, 1), 1);
    return MAX(1, (int)ceil(k->epochs * MAX(share, 1.0 / 3)));
}

static void train(struct mlp *m, const double *values, size_t rows, int cols, const double *y,
                  const struct orch_hyperparams *k, uint64_t *random)
{
    struct scratch s = {0};
    g_autofree uint32_t *order = g_new(uint32_t, rows);
    g_autofree float *lines = g_new(float, MAX(rows * (size_t)cols, 1));
    for (size_t i = 0; i < rows; i++)
        load_row(values, rows, cols, i, lines + i * (size_t)cols);
    for (int i = 0; i <= LAYERS; i++) {
        int size = i < LAYERS ? m->layers[i].in : 1;
        s.values[i] = g_new0(float, MAX(size, 1));
        s.deltas[i] = g_new0(float, MAX(size, 1));
    }
    for (size_t i = 0; i < rows; i++)
        order[i] = (uint32_t)i;
    int epochs = epochs_for(k, rows);
    double steps = ceil((double)rows / BATCH) * epochs, step = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
        for (size_t i = rows; i > 1; i--) {
            size_t other = orch_random_below(random, i);
            uint32_t kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
        for (size_t begin = 0; begin < rows; begin += BATCH) {
            size_t end = MIN(begin + BATCH, rows);
            for (size_t i = begin; i < end; i++) {
                memcpy(s.values[0], lines + order[i] * (size_t)cols, sizeof(float) * (size_t)cols);
                train_row(m, &s, (float)((y[order[i]] - m->mean) / m->spread));
            }
            step++;
            struct adam a = {k->rate * 0.5 * (1 + cos(3.14159265358979323846 * step / steps)),
                             k->ridge, 1 - pow(0.9, step), 1 - pow(0.999, step)};
            for (int l = 0; l < LAYERS; l++) {
                struct layer *layer = &m->layers[l];
                float scale = 1 / (float)(end - begin);
                adam_step(layer->w, layer->gw, layer->mw, layer->vw,
                          (size_t)layer->in * (size_t)layer->out, &a, scale);
                adam_step(layer->b, layer->gb, layer->mb, layer->vb, (size_t)layer->out, &a, scale);
            }
        }
    }
    for (int i = 0; i <= LAYERS; i++) {
        g_free(s.values[i]);
        g_free(s.deltas[i]);
    }
}

static void make_tiles(struct mlp *m)
{
    for (int k = 0; k < LAYERS; k++)
        m->layers[k].tiles =
            orch_tiles_new(m->layers[k].w, (size_t)m->layers[k].out, (size_t)m->layers[k].in);
}

static void *mlp_fit(const double *values, size_t rows, int cols, const double *y,
                     const int8_t *monotone, const struct orch_hyperparams *hyperparams,
                     uint64_t seed, GError **error)
{
    (void)monotone;
    (void)error;
    struct mlp *m = g_new0(struct mlp, 1);
    uint64_t random = orch_random_stream(seed, 0);
    double squares = 0;
    for (size_t i = 0; i < rows; i++)
        m->mean += y[i] / (double)rows;
    for (size_t i = 0; i < rows; i++)
        squares += (y[i] - m->mean) * (y[i] - m->mean);
    m->spread = squares > 0 ? sqrt(squares / (double)rows) : 1;
    int width = hyperparams->width,
        later = hyperparams->later_widths > 0 ? hyperparams->later_widths : width;
    layer_init(&m->layers[0], cols, width, &random);
    layer_init(&m->layers[1], width, later, &random);
    layer_init(&m->layers[2], later, later, &random);
    layer_init(&m->layers[3], later, 1, &random);
    train(m, values, rows, cols, y, hyperparams, &random);
    for (int i = 0; i < LAYERS; i++)
        drop_training(&m->layers[i]);
    make_tiles(m);
    return m;
}

/* Passes ORCH_ABREAST rows through a layer. */
static void forward_abreast(const struct layer *l, const float *in, float *out, bool relu)
{
    size_t n = (size_t)l->in, outs = (size_t)l->out;
    float dots[ORCH_ABREAST * ORCH_TILE];
    for (size_t first = 0; first < outs; first += ORCH_TILE) {
        size_t some = MIN(ORCH_TILE, outs - first);
        orch_tile_dots(l->tiles + first * n, in, n, dots);
        for (size_t q = 0; q < ORCH_ABREAST; q++) {
            for (size_t o = 0; o < some; o++) {
                float sum = l->b[first + o] + dots[q * ORCH_TILE + o];
                out[q * outs + first + o] = relu && sum < 0 ? 0 : sum;
            }
        }
    }
}

static void mlp_predict(const void *fitted, const double *values, size_t rows, double *out)
{
    const struct mlp *m = fitted;
    int cols = m->layers[0].in, width = MAX(m->layers[0].out, m->layers[1].out);
    size_t size = ORCH_ABREAST * (size_t)MAX(MAX(cols, width), 1);
#pragma omp parallel for schedule(static) if (rows * (size_t)width > THREADS_MIN_WORK)
    for (size_t first = 0; first < rows; first += ORCH_ABREAST) {
        size_t some = MIN(ORCH_ABREAST, rows - first);
        g_autofree float *a = g_new0(float, size), *b = g_new0(float, size);
        for (size_t q = 0; q < some; q++)
            load_row(values, rows, cols, first + q, a + q * (size_t)cols);
        for (int k = 0; k < LAYERS; k++)
            forward_abreast(&m->layers[k], k % 2 ? b : a, k % 2 ? a : b, k + 1 < LAYERS);
        for (size_t q = 0; q < some; q++)
            out[first + q] = m->mean + m->spread * (double)a[q];
    }
}

static int mlp_grid(const struct orch_hyperparams **out)
{
    static const struct orch_hyperparams grid[] = {
        {.width = 64, .rate = 3e-3, .ridge = 1e-4, .epochs = 60},
        {.width = 128, .rate = 2e-3, .ridge = 1e-3, .epochs = 60},
        /* the size of AI Gauge's network */
        {.width = 250, .later_widths = 200, .rate = 1e-3, .ridge = 1e-3, .epochs = 60}};
    *out = grid;
    return G_N_ELEMENTS(grid);
}

static json_t *mlp_save(const void *fitted, enum orch_save_style style)
{
    const struct mlp *m = fitted;
    json_t *layers = json_array();
    for (int k = 0; k < LAYERS; k++) {
        const struct layer *l = &m->layers[k];
        size_t n = (size_t)l->in * (size_t)l->out;
        json_array_append_new(layers, json_pack("{s:i, s:o, s:o}", "out", l->out, "w",
                                                orch_save_floats(l->w, n, style), "b",
                                                orch_save_floats(l->b, (size_t)l->out, style)));
    }
    return json_pack("{s:f, s:f, s:o}", "mean", m->mean, "spread", m->spread, "layers", layers);
}

static bool load_layer(struct layer *l, int in, bool last, const json_t *saved, GError **error)
{
    int64_t out;
    if (!orch_load_int(saved, "out", 1, last ? 1 : 4096, &out, error))
        return false;
    size_t n = (size_t)in * (size_t)out, biases = (size_t)out;
    *l = (struct layer){.in = in, .out = (int)out};
    l->w = orch_load_floats(saved, "w", &n, error);
    l->b = l->w ? orch_load_floats(saved, "b", &biases, error) : NULL;
    return l->b;
}

static void *mlp_load(const json_t *saved, int cols, GError **error)
{
    struct mlp *m = g_new0(struct mlp, 1);
    const json_t *layers = orch_load_list(saved, "layers", error);
    bool ok = layers && orch_load_real(saved, "mean", &m->mean, error) &&
              orch_load_real(saved, "spread", &m->spread, error);
    if (ok && json_array_size(layers) != LAYERS)
        ok = orch_load_fail("layers", "has the wrong length", error);
    for (int k = 0, in = cols; ok && k < LAYERS; in = m->layers[k++].out)
        ok = load_layer(&m->layers[k], in, k + 1 == LAYERS, json_array_get(layers, (size_t)k),
                        error) &&
             (k != 2 || m->layers[2].out <= MAX(m->layers[0].out, m->layers[1].out) ||
              orch_load_fail("layers", "have growing widths", error));
    if (ok) {
        make_tiles(m);
        return m;
    }
    mlp_release(m);
    return NULL;
}

static char *mlp_describe(const struct orch_hyperparams *k)
{
    if (k->later_widths > 0)
        return g_strdup_printf("widths %d, %d, %d, rate %g, decay %g, %d epochs", k->width,
                               k->later_widths, k->later_widths, k->rate, k->ridge, k->epochs);
    return g_strdup_printf("width %d, rate %g, decay %g, %d epochs", k->width, k->rate, k->ridge,
                           k->epochs);
}

const struct orch_model_kind ORCH_MODEL_MLP = {
    .name = "mlp",
    .about = "a network of three hidden layers",
    .coding = ORCH_CODING_ONE_HOT,
    .fit = mlp_fit,
    .predict = mlp_predict,
    .release = mlp_release,
    .save = mlp_save,
    .load = mlp_load,
    .grid = mlp_grid,
    .describe = mlp_describe,
};
