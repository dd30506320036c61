/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch norms in channels-last memory on a CPU, where normalisation, addition and ReLU are one
 * operation with a gradient of its own, against those of the plain layout. */
#include "plugins/common/torch/torch.h"

#include "lib/net/build.h"
#include "lib/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const struct orch_torch *torch;

static void need(bool ok, GError *error)
{
    if (error)
        fail_msg("%s", error->message);
    assert_true(ok);
}

static struct orch_torch_model *make_model(const struct orch_net *net, bool channels_last,
                                           double rate)
{
    GError *error = NULL;
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, channels_last};
    struct orch_torch_optimizer sgd = {.method = ORCH_TORCH_SGD};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    need(model, error);
    need(orch_torch_init(torch, model, net, 7, &error), error);
    need(torch->optimizer_set(model, &sgd, &error), error);
    torch->rate_set(model, rate);
    return model;
}

static float *make_images(int64_t count)
{
    float *images = g_new(float, count);
    for (int64_t i = 0; i < count; i++)
        images[i] = (float)sin((double)i * 0.7);
    return images;
}

/* ---- whole networks ---------------------------------------------------------------------------
 */

/* How far two models' changes since `start` are apart, as a share of the change: of the tensor that
 * differs most, and of all together. */
struct distance {
    double worst, all;
};

static double square_distance(const float *a, const float *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return sum;
}

static struct distance distance_of(struct orch_torch_model *a, struct orch_torch_model *b,
                                   struct orch_torch_model *start)
{
    double worst = 0, between = 0, change = 0;
    for (size_t i = 0; i < torch->tensor_count(a); i++) {
        struct orch_torch_tensor tensor;
        torch->tensor_describe(a, i, &tensor);
        g_autofree float *x = g_new(float, tensor.count), *y = g_new(float, tensor.count),
                         *z = g_new(float, tensor.count);
        assert_true(torch->tensor_get(a, i, x, NULL) && torch->tensor_get(b, i, y, NULL) &&
                    torch->tensor_get(start, i, z, NULL));
        double apart = square_distance(x, y, tensor.count);
        double moved = square_distance(y, z, tensor.count);
        worst = moved > 0 ? fmax(worst, apart / moved) : worst;
        between += apart;
        change += moved;
    }
    return (struct distance){sqrt(worst), sqrt(between / change)};
}

/* In channels-last memory on a CPU normalisation, addition and ReLU are one operation with a
 * gradient of its own: what a step changes is what it changes in the plain layout, but for values
 * that rounding moves across the kink of a ReLU. The networks have the operation with and without
 * shortcut and ReLU, and with a shortcut that is normalised too. */
static void test_fused_norm_is_the_norm(void **state)
{
    (void)state;
    static const char *const names[] = {"resnet20", "resnet18-cifar"};
    GError *error = NULL;
    for (unsigned n = 0; n < G_N_ELEMENTS(names); n++) {
        struct orch_net_options options = {
            .name = names[n], .channels = 3, .height = 32, .width = 32, .classes = 5};
        struct orch_net *net = orch_net_make(&options, &error);
        need(net, error);
        g_autofree float *images = make_images(8 * 3 * 32 * 32);
        const int64_t labels[] = {0, 1, 2, 3, 4, 0, 1, 2};
        struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 8};
        struct orch_torch_model *models[3]; /* fused, plain, and one that does not learn */
        for (int i = 0; i < 3; i++) {
            torch->seed(1);
            models[i] = make_model(net, i == 0, 0.01);
            need(i == 2 || torch->train(models[i], &batch, &error), error);
        }
        struct distance distance = distance_of(models[0], models[1], models[2]);
        if (!(distance.worst < 0.1) || !(distance.all < 2e-3))
            fail_msg("%s: a step differs by %g of its length, a tensor's by %g", names[n],
                     distance.all, distance.worst);
        for (int i = 0; i < 3; i++)
            torch->model_free(models[i]);
        orch_net_free(net);
    }
}

/* ---- outputs and fixed statistics -------------------------------------------------------------
 */

enum { COUNT = 6, SIDE = 8, CLASSES = 5 };

/* Nodes of the network below. */
enum node { NORM1, RELU1, NORM2, SUM, RELU2, NORM3, SCORES, NODES };
static const char *const NODE_NAMES[NODES] = {"norm 1", "ReLU 1", "norm 2", "sum",
                                              "ReLU 2", "norm 3", "scores"};

/* Three norms: with a ReLU, with a shortcut and a ReLU, and alone. `also` is an output beside the
 * scores; NORM3 is the network's only output instead, and its last node. */
static struct orch_net *make_net(enum node also)
{
    struct orch_net_builder b;
    GError *error = NULL;
    struct orch_conv conv = {6, 3, 1, 1, 1, false, ORCH_CONV_DEFAULT};
    int id[NODES];
    orch_net_builder_init(&b, "norms", "norms", (struct orch_net_shape){3, SIDE, SIDE}, CLASSES);
    id[NORM1] = orch_net_batchnorm(&b, orch_net_conv(&b, 0, conv, "conv1"), "bn1");
    id[RELU1] = orch_net_relu(&b, id[NORM1]);
    id[NORM2] = orch_net_batchnorm(&b, orch_net_conv(&b, id[RELU1], conv, "conv2"), "bn2");
    id[SUM] = orch_net_add(&b, id[NORM2], id[RELU1]);
    id[RELU2] = orch_net_relu(&b, id[SUM]);
    id[NORM3] = orch_net_batchnorm(&b, orch_net_conv(&b, id[RELU2], conv, "conv3"), "bn3");
    if (also == NORM3) {
        orch_net_declare_output(&b, id[NORM3]);
    } else {
        int flat = orch_net_flatten(&b, orch_net_avgpool(&b, id[NORM3], 4, 4));
        id[SCORES] = orch_net_linear(&b, flat, CLASSES, 0, "fc");
        orch_net_declare_output(&b, id[SCORES]);
        if (also != SCORES)
            orch_net_declare_output(&b, id[also]);
    }
    struct orch_net *net = orch_net_builder_finish(&b, &error);
    need(net, error);
    return net;
}

/* The outputs of a forward; then a step that makes the sum of their squares smaller, except in
 * mode INFER. */
static GArray *step(struct orch_torch_model *model, const float *images, enum orch_torch_mode mode)
{
    GError *error = NULL;
    struct orch_torch_batch batch = {.images = images, .count = COUNT};
    struct orch_torch_array outputs[2];
    size_t count = torch->output_count(model);
    GArray *values = g_array_new(FALSE, FALSE, sizeof(float));
    need(torch->forward(model, &batch, mode, false, outputs, &error), error);
    for (size_t k = 0; k < count; k++) {
        const int64_t *shape = outputs[k].shape;
        int64_t size = shape[0] * shape[1] * (outputs[k].rank == 4 ? shape[2] * shape[3] : 1);
        g_array_append_vals(values, outputs[k].data, (guint)size);
    }
    if (mode == ORCH_TORCH_INFER)
        return values;
    need(torch->backward(model, outputs, count, &error), error);
    need(torch->update(model, &error), error);
    return values;
}

/* All parameters and statistics, or the statistics alone. */
static GArray *state_of(const struct orch_torch_model *model, bool statistics_alone)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(float));
    for (size_t i = 0; i < torch->tensor_count(model); i++) {
        struct orch_torch_tensor t;
        torch->tensor_describe(model, i, &t);
        if (statistics_alone && t.is_parameter)
            continue;
        g_autofree float *values = g_new(float, t.count);
        assert_true(torch->tensor_get(model, i, values, NULL));
        g_array_append_vals(all, values, (guint)t.count);
    }
    return all;
}

/* Largest difference; frees both. */
static double apart(GArray *a, GArray *b)
{
    double most = 0;
    assert_true(a->len == b->len && a->len > 0);
    for (guint i = 0; i < a->len; i++)
        most = fmax(most,
                    fabs((double)g_array_index(a, float, i) - (double)g_array_index(b, float, i)));
    g_array_unref(a);
    g_array_unref(b);
    return most;
}

static void expect_near(double difference, const char *what, enum node also, int step_number)
{
    if (!(difference < 2e-5))
        fail_msg("output '%s', step %d: %s differ by %g", NODE_NAMES[also], step_number, what,
                 difference);
}

/* Every node of a fused operation can be an output of the network. */
static void test_norms_as_outputs(void **state)
{
    (void)state;
    g_autofree float *images = make_images(COUNT * 3 * SIDE * SIDE);
    for (enum node also = NORM1; also < NODES; also++) {
        struct orch_net *net = make_net(also);
        struct orch_torch_model *fused = make_model(net, true, 1e-4),
                                *plain = make_model(net, false, 1e-4);
        for (int i = 0; i < 3; i++) {
            expect_near(
                apart(step(fused, images, ORCH_TORCH_TRAIN), step(plain, images, ORCH_TORCH_TRAIN)),
                "outputs", also, i);
            expect_near(apart(state_of(fused, false), state_of(plain, false)), "tensors", also, i);
        }
        torch->model_free(fused);
        torch->model_free(plain);
        orch_net_free(net);
    }
}

/* In mode FIXED_NORMS the norms use their running statistics, as in mode INFER, and leave them as
 * they are; their weights learn. */
static void test_fixed_norms(void **state)
{
    (void)state;
    g_autofree float *images = make_images(COUNT * 3 * SIDE * SIDE);
    for (enum node also = NORM1; also < NODES; also++) {
        struct orch_net *net = make_net(also);
        struct orch_torch_model *fused = make_model(net, true, 1e-4),
                                *plain = make_model(net, false, 1e-4);
        /* statistics of their own; the same in both */
        g_array_unref(step(plain, images, ORCH_TORCH_TRAIN));
        assert_true(torch->blend(fused, plain, 1, NULL));
        for (int i = 0; i < 3; i++) {
            GArray *statistics = state_of(fused, true), *before = state_of(fused, false);
            GArray *inferred = step(fused, images, ORCH_TORCH_INFER);
            GArray *of_fused = step(fused, images, ORCH_TORCH_FIXED_NORMS);
            GArray *of_plain = step(plain, images, ORCH_TORCH_FIXED_NORMS);
            expect_near(apart(inferred, g_array_ref(of_fused)), "modes", also, i);
            expect_near(apart(of_fused, of_plain), "outputs", also, i);
            expect_near(apart(state_of(fused, false), state_of(plain, false)), "tensors", also, i);
            assert_true(apart(statistics, state_of(fused, true)) == 0);
            assert_true(apart(before, state_of(fused, false)) > 1e-6);
        }
        /* after that statistics are the batch's again */
        GArray *statistics = state_of(fused, true);
        expect_near(
            apart(step(fused, images, ORCH_TORCH_TRAIN), step(plain, images, ORCH_TORCH_TRAIN)),
            "outputs", also, 3);
        assert_true(apart(statistics, state_of(fused, true)) > 1e-3);
        torch->model_free(fused);
        torch->model_free(plain);
        orch_net_free(net);
    }
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
        cmocka_unit_test(test_fused_norm_is_the_norm),
        cmocka_unit_test(test_norms_as_outputs),
        cmocka_unit_test(test_fixed_norms),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
