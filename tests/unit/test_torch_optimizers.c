/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimizers of the adapter against their rules written out here, resumed trainings, precisions,
 * and layouts of batches. Gradients are read off the momentum of a first step, which equals them.
 */
#include "tests/unit/checkpoint_file.h"
#include "tests/unit/tensor_find.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { SIDE = 6, BATCH = 5, CLASSES = 3 };

static const struct orch_torch *torch;

/* A model with a batch. The network: linear layers 36-8-7-3, of which Muon updates the middle. */
struct bed {
    struct orch_net *net;
    struct orch_torch_model *model;
    float *images;
    int64_t labels[BATCH];
    struct orch_torch_batch batch;
};

static struct bed bed_new(const char *name, int64_t channels, enum orch_torch_precision precision,
                          bool channels_last)
{
    GError *error = NULL;
    struct orch_net_options options = {
        .name = name, .channels = channels, .height = SIDE, .width = SIDE, .classes = CLASSES};
    struct bed bed = {.net = orch_net_make(&options, &error)};
    if (error)
        fail_msg("%s", error->message);
    struct orch_torch_setup setup = {"cpu", precision, channels_last};
    bed.model = torch->model_new(bed.net, &setup, &error);
    if (error)
        fail_msg("%s", error->message);
    assert_true(orch_torch_init(torch, bed.model, bed.net, 7, NULL));
    int64_t size = BATCH * channels * SIDE * SIDE;
    bed.images = g_new(float, size);
    for (int64_t i = 0; i < size; i++)
        bed.images[i] = (float)sin((double)i * 0.7);
    for (int i = 0; i < BATCH; i++)
        bed.labels[i] = i % CLASSES;
    return bed;
}

static void bed_free(struct bed *bed)
{
    torch->model_free(bed->model);
    orch_net_free(bed->net);
    g_free(bed->images);
}

static void step(struct bed *bed)
{
    GError *error = NULL;
    bed->batch.images = bed->images;
    bed->batch.labels = bed->labels;
    bed->batch.count = BATCH;
    if (!torch->train(bed->model, &bed->batch, &error))
        fail_msg("%s", error->message);
}

static void set_optimizer(struct bed *bed, const struct orch_torch_optimizer *optimizer,
                          double rate)
{
    GError *error = NULL;
    if (!torch->optimizer_set(bed->model, optimizer, &error))
        fail_msg("%s", error->message);
    torch->rate_set(bed->model, rate);
}

static float *values_of(const struct bed *bed, size_t index)
{
    float *values = g_new(float, orch_net_tensor(bed->net, (int)index)->count);
    assert_true(torch->tensor_get(bed->model, index, values, NULL));
    return values;
}

/* The gradients of the bed's tensors on its batch. */
static float **gradients_of(const struct bed *bed)
{
    size_t count = torch->tensor_count(bed->model);
    float **gradients = g_new0(float *, count + 1);
    struct bed other = bed_new("mlp:8,7", 1, ORCH_TORCH_FP32, false);
    struct orch_torch_optimizer sgd = {.method = ORCH_TORCH_SGD, .momentum = 0.9};
    for (size_t i = 0; i < count; i++) {
        g_autofree float *values = values_of(bed, i);
        assert_true(torch->tensor_set(other.model, i, values, NULL));
    }
    set_optimizer(&other, &sgd, 0.1);
    step(&other);
    for (size_t i = 0; i < count; i++) {
        bool is_set = false;
        gradients[i] = g_new(float, orch_net_tensor(bed->net, (int)i)->count);
        assert_true(torch->slot_get(other.model, i, 0, gradients[i], &is_set, NULL));
        assert_true(is_set);
    }
    bed_free(&other);
    return gradients;
}

static void free_all(float **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        g_free(arrays[i]);
    g_free(arrays);
}

/* State of a tensor in the test's own arithmetic. */
struct shadow {
    int64_t rows, columns, count;
    double *value, *first, *second;
};

static void adam(struct shadow *s, const float *gradient, double rate, double decay,
                 bool is_decoupled, int steps)
{
    for (int64_t i = 0; i < s->count; i++) {
        double g = (double)gradient[i];
        if (is_decoupled)
            s->value[i] -= rate * decay * s->value[i];
        else
            g += decay * s->value[i];
        s->first[i] = 0.9 * s->first[i] + 0.1 * g;
        s->second[i] = 0.999 * s->second[i] + 0.001 * g * g;
        s->value[i] -= rate * (s->first[i] / (1 - pow(0.9, steps))) /
                       (sqrt(s->second[i] / (1 - pow(0.999, steps))) + 1e-8);
    }
}

/* out = a (n x k) b (k x m), or a b' with `transposed` (b: m x k). */
static void product(const double *a, const double *b, int64_t n, int64_t k, int64_t m,
                    bool transposed, double *out)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            out[i * m + j] = 0;
            for (int64_t l = 0; l < k; l++)
                out[i * m + j] += a[i * k + l] * (transposed ? b[j * k + l] : b[l * m + j]);
        }
}

/* Newton-Schulz iterations on a wide matrix (rows <= columns), in place. */
static void orthogonalize(double *x, int64_t rows, int64_t columns, int iterations)
{
    g_autofree double *square = g_new(double, rows *rows), *fourth = g_new(double, rows *rows);
    g_autofree double *next = g_new(double, rows *columns);
    double norm = 0;
    for (int64_t i = 0; i < rows * columns; i++)
        norm += x[i] * x[i];
    for (int64_t i = 0; i < rows * columns; i++)
        x[i] /= sqrt(norm) + 1e-7;
    for (int k = 0; k < iterations; k++) {
        product(x, x, rows, columns, rows, true, square);
        product(square, square, rows, rows, rows, false, fourth);
        for (int64_t i = 0; i < rows * rows; i++)
            square[i] = -4.7750 * square[i] + 2.0315 * fourth[i];
        product(square, x, rows, rows, columns, false, next);
        for (int64_t i = 0; i < rows * columns; i++)
            x[i] = 3.4445 * x[i] + next[i];
    }
}

static void muon(struct shadow *s, const float *gradient, double rate, double decay)
{
    bool is_tall = s->rows > s->columns;
    g_autofree double *x = g_new(double, s->count);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t row = i / s->columns, column = i % s->columns;
        s->first[i] = 0.95 * s->first[i] + (double)gradient[i];
        x[is_tall ? column * s->rows + row : i] = (double)gradient[i] + 0.95 * s->first[i];
    }
    orthogonalize(x, MIN(s->rows, s->columns), MAX(s->rows, s->columns), 5);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t row = i / s->columns, column = i % s->columns;
        double direction = x[is_tall ? column * s->rows + row : i];
        double scale = sqrt(fmax(1, (double)s->rows / (double)s->columns));
        s->value[i] = s->value[i] * (1 - rate * decay) - rate * scale * direction;
    }
}

static struct shadow *shadows_of(const struct bed *bed)
{
    size_t count = torch->tensor_count(bed->model);
    struct shadow *shadows = g_new0(struct shadow, count);
    for (size_t i = 0; i < count; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(bed->net, (int)i);
        g_autofree float *values = values_of(bed, i);
        shadows[i] = (struct shadow){.rows = t->shape[0],
                                     .columns = t->count / t->shape[0],
                                     .count = t->count,
                                     .value = g_new0(double, t->count),
                                     .first = g_new0(double, t->count),
                                     .second = g_new0(double, t->count)};
        for (int64_t j = 0; j < t->count; j++)
            shadows[i].value[j] = (double)values[j];
    }
    return shadows;
}

static void shadows_free(struct shadow *shadows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        g_free(shadows[i].value);
        g_free(shadows[i].first);
        g_free(shadows[i].second);
    }
    g_free(shadows);
}

static void shadow_step(const struct orch_torch_optimizer *o, struct shadow *s,
                        const float *gradient, bool is_inner, double rate, int steps)
{
    if (o->method == ORCH_TORCH_MUON && is_inner)
        muon(s, gradient, rate, o->weight_decay);
    else if (o->method == ORCH_TORCH_MUON)
        adam(s, gradient, rate * o->adamw_factor, o->weight_decay, true, steps);
    else
        adam(s, gradient, rate, o->weight_decay, o->method == ORCH_TORCH_ADAMW, steps);
}

/* Four steps of the adapter beside the rules in double. An orthogonalised matrix amplifies the
 * rounding of its smallest singular values, hence the tolerance of Muon. */
static void compare(const struct orch_torch_optimizer *optimizer, double tolerance)
{
    struct bed bed = bed_new("mlp:8,7", 1, ORCH_TORCH_FP32, false);
    size_t count = torch->tensor_count(bed.model);
    struct shadow *shadows = shadows_of(&bed);
    const double rate = 0.02;
    set_optimizer(&bed, optimizer, rate);
    double moved = 0;
    for (int steps = 1; steps <= 4; steps++) {
        float **gradients = gradients_of(&bed);
        step(&bed);
        for (size_t i = 0; i < count; i++) {
            const struct orch_net_tensor *t = orch_net_tensor(bed.net, (int)i);
            bool is_inner = t->rank == 2 && t->shape[0] == 7;
            g_autofree float *found = values_of(&bed, i);
            double before = shadows[i].value[0];
            shadow_step(optimizer, &shadows[i], gradients[i], is_inner, rate, steps);
            moved = fmax(moved, fabs(shadows[i].value[0] - before));
            for (int64_t j = 0; j < shadows[i].count; j++)
                if (!(fabs((double)found[j] - shadows[i].value[j]) < tolerance))
                    fail_msg("%s after step %d: %.8g, expected %.8g", t->name, steps,
                             (double)found[j], shadows[i].value[j]);
        }
        free_all(gradients, count);
    }
    assert_true(moved > 1e-3);
    assert_int_equal(torch->steps_get(bed.model), 4);
    shadows_free(shadows, count);
    bed_free(&bed);
}

static struct orch_torch_optimizer optimizer_of(enum orch_torch_method method)
{
    return (struct orch_torch_optimizer){.method = method,
                                         .momentum = 0.95,
                                         .nesterov = true,
                                         .weight_decay = 0.1,
                                         .beta1 = 0.9,
                                         .beta2 = 0.999,
                                         .epsilon = 1e-8,
                                         .iterations = 5,
                                         .adamw_factor = 0.1};
}

/* Where LibTorch has fused kernels they are held against the same rules. */
static void compare_all_ways(enum orch_torch_method method, double tolerance)
{
    static const char *const ways[] = {"", "operations", "fused"};
    struct orch_torch_optimizer optimizer = optimizer_of(method);
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_setenv("ORCH_TORCH_UPDATE", ways[i], TRUE);
        compare(&optimizer, tolerance);
    }
    g_unsetenv("ORCH_TORCH_UPDATE");
}

static void test_adam(void **state)
{
    (void)state;
    compare_all_ways(ORCH_TORCH_ADAM, 2e-6);
}

static void test_adamw(void **state)
{
    (void)state;
    compare_all_ways(ORCH_TORCH_ADAMW, 2e-6);
}

static void test_muon(void **state)
{
    (void)state;
    compare_all_ways(ORCH_TORCH_MUON, 1e-5);
}

/* The same training with loops and with operations, to the last bit: SGD with each kind of
 * momentum, on layouts of both kinds. */
static void train_sgd(const char *way, double momentum, bool nesterov, bool channels_last,
                      GByteArray *out)
{
    struct bed bed = bed_new("resnet-cifar:8", 1, ORCH_TORCH_FP32, channels_last);
    struct orch_torch_optimizer sgd = {
        .momentum = momentum, .nesterov = nesterov, .weight_decay = 1e-3};
    g_setenv("ORCH_TORCH_UPDATE", way, TRUE);
    set_optimizer(&bed, &sgd, 0.05);
    g_unsetenv("ORCH_TORCH_UPDATE");
    for (int i = 0; i < 4; i++)
        step(&bed);
    for (size_t i = 0; i < torch->tensor_count(bed.model); i++) {
        g_autofree float *values = values_of(&bed, i);
        g_byte_array_append(
            out, (const guint8 *)values,
            (guint)(sizeof(float) * (size_t)orch_net_tensor(bed.net, (int)i)->count));
    }
    bed_free(&bed);
}

static void test_sgd_loops_equal_operations(void **state)
{
    (void)state;
    static const struct {
        double momentum;
        bool nesterov, channels_last;
    } cases[] = {{0, false, false}, {0.9, false, false}, {0.9, true, false}, {0.9, true, true}};
    torch->threads_set(1);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GByteArray *loops = g_byte_array_new(), *operations = g_byte_array_new();
        train_sgd("", cases[i].momentum, cases[i].nesterov, cases[i].channels_last, loops);
        train_sgd("operations", cases[i].momentum, cases[i].nesterov, cases[i].channels_last,
                  operations);
        assert_int_equal(loops->len, operations->len);
        assert_true(loops->len > 1000 && memcmp(loops->data, operations->data, loops->len) == 0);
        g_byte_array_unref(loops);
        g_byte_array_unref(operations);
    }
}

/* Trains six steps, or three, a checkpoint and three in a new model. */
static float *train_resumed(enum orch_torch_method method, const char *path, bool resumes)
{
    struct orch_torch_optimizer optimizer = optimizer_of(method);
    struct orch_torch_progress progress = {1, 0.5, 1};
    struct bed bed = bed_new("resnet-cifar:8", 1, ORCH_TORCH_FP32, true);
    GError *error = NULL;
    set_optimizer(&bed, &optimizer, 0.01);
    for (int i = 0; i < 6; i++) {
        if (i == 3 && resumes) {
            assert_true(checkpoint_save(torch, bed.model, &progress, path, &error));
            bed_free(&bed);
            bed = bed_new("resnet-cifar:8", 1, ORCH_TORCH_FP32, true);
            set_optimizer(&bed, &optimizer, 0.01);
            assert_true(checkpoint_load(torch, bed.model, path, &progress, &error));
        }
        step(&bed);
    }
    float *values = values_of(&bed, (size_t)tensor_find(bed.net, "layer2.0.conv1.weight"));
    bed_free(&bed);
    return values;
}

static void test_resumed_bit_by_bit(void **state)
{
    (void)state;
    torch->threads_set(1);
    g_autofree char *folder = g_dir_make_tmp("orch-torch-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "checkpoint", NULL);
    for (enum orch_torch_method method = ORCH_TORCH_SGD; method <= ORCH_TORCH_MUON; method++) {
        g_autofree float *whole = train_resumed(method, path, false);
        g_autofree float *parts = train_resumed(method, path, true);
        assert_memory_equal(whole, parts, sizeof(float) * 32 * 16 * 9);
    }
    orch_tree_remove(folder, NULL);
}

static void test_bad_muon(void **state)
{
    (void)state;
    struct bed bed = bed_new("mlp:8,7", 1, ORCH_TORCH_FP32, false);
    struct orch_torch_optimizer optimizer = optimizer_of(ORCH_TORCH_MUON);
    GError *error = NULL;
    optimizer.iterations = 0;
    assert_false(torch->optimizer_set(bed.model, &optimizer, &error));
    assert_non_null(strstr(error->message, "iteration"));
    g_clear_error(&error);
    optimizer.iterations = 5;
    optimizer.adamw_factor = (double)NAN;
    assert_false(torch->optimizer_set(bed.model, &optimizer, &error));
    assert_non_null(strstr(error->message, "adamw_factor"));
    g_clear_error(&error);
    bed_free(&bed);
}

/* ---- precisions -------------------------------------------------------------------------------
 */

static void test_tf32_on_a_cpu_is_fp32(void **state)
{
    (void)state;
    struct orch_torch_optimizer optimizer = optimizer_of(ORCH_TORCH_SGD);
    float *found[2];
    for (int i = 0; i < 2; i++) {
        struct bed bed = bed_new("mlp:8,7", 1, i ? ORCH_TORCH_TF32 : ORCH_TORCH_FP32, false);
        struct orch_torch_scaler scaler = {.scale = 1};
        set_optimizer(&bed, &optimizer, 0.1);
        step(&bed);
        found[i] = values_of(&bed, 0);
        assert_true(torch->scaler_get(bed.model, &scaler, NULL));
        assert_true(scaler.scale == 0); /* none */
        bed_free(&bed);
    }
    assert_memory_equal(found[0], found[1], sizeof(float) * 8 * SIDE * SIDE);
    g_free(found[0]);
    g_free(found[1]);
}

/* A step whose gradients overflow is skipped and halves the scale; the state is resumed. */
static void train_fp16(struct bed *bed)
{
    struct orch_torch_optimizer optimizer = optimizer_of(ORCH_TORCH_SGD);
    struct orch_torch_scaler scaler;
    set_optimizer(bed, &optimizer, 0.01);
    g_autofree float *before = values_of(bed, 0);
    assert_true(torch->scaler_set(bed->model, &(struct orch_torch_scaler){0x1p100F, 7, 1}, NULL));
    step(bed);
    g_autofree float *skipped = values_of(bed, 0);
    assert_memory_equal(before, skipped, sizeof(float) * 16);
    assert_int_equal(torch->steps_get(bed->model), 0);
    assert_true(torch->scaler_get(bed->model, &scaler, NULL));
    assert_true(scaler.scale == 0x1p99F && scaler.finite_steps == 0 && scaler.skipped_steps == 2);
    assert_true(torch->scaler_set(bed->model, &(struct orch_torch_scaler){1024, 7, 1}, NULL));
    step(bed);
    g_autofree float *after = values_of(bed, 0);
    assert_memory_not_equal(before, after, sizeof(float) * 16);
    assert_int_equal(torch->steps_get(bed->model), 1);
    assert_true(torch->scaler_get(bed->model, &scaler, NULL));
    assert_true(scaler.scale == 1024 && scaler.finite_steps == 8 && scaler.skipped_steps == 1);
    GError *error = NULL;
    assert_false(torch->scaler_set(bed->model, &(struct orch_torch_scaler){-1, 0, 0}, &error));
    g_clear_error(&error);
}

static void test_fp16(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net_options options = {
        .name = "mlp:8,7", .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES};
    struct orch_net *net = orch_net_make(&options, NULL);
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP16, false};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    if (model) {
        struct bed bed = bed_new("mlp:8,7", 1, ORCH_TORCH_FP16, false);
        train_fp16(&bed);
        bed_free(&bed);
        torch->model_free(model);
    } else {
        assert_non_null(strstr(error->message, "use bf16"));
        g_clear_error(&error);
        print_message("fp16 is not available on this CPU with this LibTorch\n");
    }
    orch_net_free(net);
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

/* Images that come as N x H x W x C train as the same images as N x C x H x W. */
static void test_channels_last_batch(void **state)
{
    (void)state;
    enum { CHANNELS = 3, PIXELS = SIDE * SIDE };
    float outputs[2][BATCH * CLASSES];
    for (int i = 0; i < 2; i++) {
        struct bed bed = bed_new("resnet-cifar:8", CHANNELS, ORCH_TORCH_FP32, true);
        g_autofree float *last = g_new(float, BATCH *CHANNELS *PIXELS);
        for (int n = 0; n < BATCH; n++)
            for (int c = 0; c < CHANNELS; c++)
                for (int p = 0; p < PIXELS; p++)
                    last[(n * PIXELS + p) * CHANNELS + c] =
                        bed.images[(n * CHANNELS + c) * PIXELS + p];
        bed.batch.images = i ? last : bed.images;
        bed.batch.is_channels_last = i;
        bed.batch.count = BATCH;
        assert_true(torch->logits(bed.model, &bed.batch, outputs[i], NULL));
        bed_free(&bed);
    }
    assert_memory_equal(outputs[0], outputs[1], sizeof outputs[0]);
}

static int load(void **state)
{
    (void)state;
    GError *error = NULL;
    torch = orch_torch_load(&error);
    if (!torch)
        print_error("%s\n", error->message);
    return torch == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adam),
        cmocka_unit_test(test_adamw),
        cmocka_unit_test(test_muon),
        cmocka_unit_test(test_sgd_loops_equal_operations),
        cmocka_unit_test(test_resumed_bit_by_bit),
        cmocka_unit_test(test_bad_muon),
        cmocka_unit_test(test_tf32_on_a_cpu_is_fp32),
        cmocka_unit_test(test_fp16),
        cmocka_unit_test(test_channels_last_batch),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
