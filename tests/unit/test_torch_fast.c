/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What fast trainings need of the adapter: rates by tensor, filters that are the identity, and
 * evaluation of both sides of images that are unsure. */
#include "plugins/common/torch/torch.h"

#include "lib/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { SIDE = 26, BATCH = 6, CLASSES = 4, IMAGE = SIDE * SIDE };

static const struct orch_torch *torch;
static const int64_t labels[BATCH] = {0, 1, 2, 3, 1, 2};

static struct orch_net *make_net(const char *name)
{
    struct orch_net_options options = {
        .name = name, .channels = 1, .height = SIDE, .width = SIDE, .classes = CLASSES};
    struct orch_net *net = orch_net_make(&options, NULL);
    assert_non_null(net);
    return net;
}

static struct orch_torch_model *make_model(const struct orch_net *net)
{
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, true};
    struct orch_torch_model *model = torch->model_new(net, &setup, NULL);
    assert_non_null(model);
    assert_true(orch_torch_init(torch, model, net, 3, NULL));
    return model;
}

static struct orch_torch_batch batch_of(float *images)
{
    for (int i = 0; i < BATCH * IMAGE; i++)
        images[i] = (float)sin((double)i * 0.37 + (double)i * i * 1e-5);
    return (struct orch_torch_batch){.images = images, .labels = labels, .count = BATCH};
}

static float *values_of(const struct orch_torch_model *model, const struct orch_net *net, int i)
{
    float *values = g_new(float, orch_net_tensor(net, i)->count);
    assert_true(torch->tensor_get(model, (size_t)i, values, NULL));
    return values;
}

/* ---- rates by tensor --------------------------------------------------------------------------
 */

/* Trains a step of SGD with weight decay. Caller frees the model. */
static struct orch_torch_model *step_with(const struct orch_net *net, enum orch_torch_method method,
                                          const double *rates, double decay)
{
    g_autofree float *images = g_new(float, BATCH *IMAGE);
    struct orch_torch_batch batch = batch_of(images);
    struct orch_torch_model *model = make_model(net);
    struct orch_torch_optimizer optimizer = {.method = method,
                                             .momentum = 0.5,
                                             .weight_decay = decay,
                                             .beta1 = 0.9,
                                             .beta2 = 0.999,
                                             .epsilon = 1e-8,
                                             .iterations = 5,
                                             .adamw_factor = 1,
                                             .tensor_rates = rates};
    assert_true(torch->optimizer_set(model, &optimizer, NULL));
    torch->rate_set(model, 0.01);
    assert_true(torch->train(model, &batch, NULL));
    return model;
}

/* A tensor at rate 0 keeps its values. One at rate f moves f times as far by its gradient, and as
 * far by its decay: with SGD's first step of x - rate f (g + d / f x). */
static void test_tensor_rates(void **state)
{
    (void)state;
    static const enum orch_torch_method methods[] = {ORCH_TORCH_SGD, ORCH_TORCH_ADAM,
                                                     ORCH_TORCH_ADAMW, ORCH_TORCH_MUON};
    struct orch_net *net = make_net("airbench-relu:3,4,5");
    const int count = (int)net->tensors->len, fast_one = 7; /* group1.conv2.weight */
    double rates[64];
    for (int m = 0; m < 4; m++) {
        for (int i = 0; i < count; i++)
            rates[i] = i % 2 ? 0 : 1;
        struct orch_torch_model *before = make_model(net);
        struct orch_torch_model *half = step_with(net, methods[m], rates, 0.1);
        struct orch_torch_model *all = step_with(net, methods[m], NULL, 0.1);
        for (int i = 0; i < count; i++) {
            const size_t bytes = sizeof(float) * (size_t)orch_net_tensor(net, i)->count;
            const enum orch_net_role role = orch_net_tensor(net, i)->role;
            g_autofree float *was = values_of(before, net, i), *now = values_of(half, net, i),
                             *whole = values_of(all, net, i);
            if (role != ORCH_NET_WEIGHT && role != ORCH_NET_BIAS)
                continue;
            assert_int_equal(memcmp(was, now, bytes) == 0, i % 2);
            assert_int_equal(memcmp(whole, now, bytes) == 0, 1 - i % 2);
        }
        torch->model_free(before);
        torch->model_free(half);
        torch->model_free(all);
    }
    for (int i = 0; i < count; i++)
        rates[i] = 1;
    rates[fast_one] = 8;
    struct orch_torch_model *models[] = {make_model(net), step_with(net, ORCH_TORCH_SGD, NULL, 0),
                                         step_with(net, ORCH_TORCH_SGD, rates, 0.1)};
    g_autofree float *was = values_of(models[0], net, fast_one),
                     *plain = values_of(models[1], net, fast_one),
                     *fast = values_of(models[2], net, fast_one);
    for (int64_t j = 0; j < orch_net_tensor(net, fast_one)->count; j++) {
        const double from = (double)was[j], to = (double)plain[j];
        const double expected = from + 8 * (to - from) - 0.01 * 0.1 * from;
        assert_true(fabs((double)fast[j] - expected) < 1e-5);
    }
    for (int i = 0; i < 3; i++)
        torch->model_free(models[i]);
    orch_net_free(net);
}

static void test_bad_rates(void **state)
{
    (void)state;
    struct orch_net *net = make_net("mlp:3");
    struct orch_torch_model *model = make_model(net);
    const double rates[] = {1, -1, 1, 1};
    struct orch_torch_optimizer optimizer = {.method = ORCH_TORCH_SGD, .tensor_rates = rates};
    g_autoptr(GError) error = NULL;
    assert_false(torch->optimizer_set(model, &optimizer, &error));
    assert_non_null(strstr(error->message, "the rate of tensor 'fc1.bias' must be 0 or more"));
    torch->model_free(model);
    orch_net_free(net);
}

/* ---- identity ---------------------------------------------------------------------------------
 */

static void test_dirac(void **state)
{
    (void)state;
    struct orch_net *net = make_net("airbench-relu:3,4,4");
    struct orch_torch_model *usual = make_model(net), *model = make_model(net);
    assert_true(orch_torch_init_dirac(torch, model, net, 1, NULL));
    for (int i = 0; i < (int)net->tensors->len; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(net, i);
        g_autofree float *was = values_of(usual, net, i), *now = values_of(model, net, i);
        const int64_t filter = t->shape[1] * t->shape[2] * t->shape[3];
        const bool is_set =
            orch_net_node(net, t->node)->op == ORCH_NET_CONV2D && t->rank == 4 && t->node != 1;
        for (int64_t j = 0; j < t->count; j++) {
            const bool is_identity = is_set && j / filter < t->shape[1];
            const int64_t centre = (j / filter) * 9 + 4;
            const float expected = !is_identity ? was[j] : j % filter == centre ? 1 : 0;
            assert_true(now[j] == expected);
        }
    }
    torch->model_free(usual);
    torch->model_free(model);
    orch_net_free(net);
}

/* ---- both sides -------------------------------------------------------------------------------
 */

static void logits_of(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                      bool is_mirrored, double out[BATCH][CLASSES])
{
    float scores[BATCH * CLASSES];
    g_autofree float *images = g_new(float, BATCH *IMAGE);
    const float *from = batch->images;
    struct orch_torch_batch other = *batch;
    for (int i = 0; i < BATCH * IMAGE; i++)
        images[i] = is_mirrored ? from[i - i % SIDE + SIDE - 1 - i % SIDE] : from[i];
    other.images = images;
    assert_true(torch->logits(model, &other, scores, NULL));
    for (int i = 0; i < BATCH * CLASSES; i++)
        out[i / CLASSES][i % CLASSES] = (double)scores[i];
}

static double largest_probability(const double *scores)
{
    double most = scores[0], sum = 0;
    for (int k = 1; k < CLASSES; k++)
        most = fmax(most, scores[k]);
    for (int k = 0; k < CLASSES; k++)
        sum += exp(scores[k] - most);
    return 1 / sum;
}

static double loss_of(const double *scores, int64_t label)
{
    double sum = 0;
    for (int k = 0; k < CLASSES; k++)
        sum += exp(scores[k]);
    return log(sum) - scores[label];
}

/* Sum of the losses, and the number of images that are seen from both sides. */
static double expected_loss(struct orch_torch_model *model, const struct orch_torch_batch *batch,
                            double limit, int *out_both)
{
    double own[BATCH][CLASSES], mirrored[BATCH][CLASSES], sum = 0;
    logits_of(model, batch, false, own);
    logits_of(model, batch, true, mirrored);
    *out_both = 0;
    for (int i = 0; i < BATCH; i++) {
        const bool is_unsure = limit > 0 && largest_probability(own[i]) <= limit;
        for (int k = 0; k < CLASSES && is_unsure; k++)
            own[i][k] = (own[i][k] + mirrored[i][k]) / 2;
        *out_both += is_unsure;
        sum += loss_of(own[i], labels[i]);
    }
    return sum;
}

static void test_flip_below(void **state)
{
    (void)state;
    struct orch_net *net = make_net("airbench-relu:3,4,5");
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = g_new(float, BATCH *IMAGE);
    struct orch_torch_batch batch = batch_of(images);
    double own[BATCH][CLASSES], middle = 0;
    logits_of(model, &batch, false, own);
    for (int i = 0; i < BATCH; i++)
        middle += largest_probability(own[i]) / BATCH;
    const double limits[] = {0, middle, 1};
    double losses[3];
    for (int i = 0; i < 3; i++) {
        struct orch_torch_totals totals;
        int both;
        double expected = expected_loss(model, &batch, limits[i], &both);
        batch.flip_below = limits[i];
        assert_true(torch->evaluate(model, &batch, NULL));
        assert_true(torch->totals_take(model, &totals, NULL));
        assert_int_equal(totals.images, BATCH);
        assert_true(fabs(totals.loss - expected) < 1e-4);
        assert_int_equal(both == 0, i == 0);
        assert_int_equal(both == BATCH, i == 2);
        losses[i] = totals.loss;
    }
    assert_true(losses[0] != losses[1] && losses[1] != losses[2]);
    g_autoptr(GError) error = NULL;
    batch.flip_below = 1.5;
    assert_false(torch->evaluate(model, &batch, &error));
    assert_non_null(strstr(error->message, "flip_below 1.5"));
    torch->model_free(model);
    orch_net_free(net);
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

/* Images of one colour are the same at any size, so a batch that is reduced must give what a
 * network that was built for that size gives with the same weights. */
static void test_smaller_images(void **state)
{
    (void)state;
    enum { REDUCED = SIDE / 2 };
    struct orch_net_options options = {.name = "resnet-cifar:8",
                                       .channels = 1,
                                       .height = REDUCED,
                                       .width = REDUCED,
                                       .classes = CLASSES};
    struct orch_net *net = make_net("resnet-cifar:8"), *built = orch_net_make(&options, NULL);
    struct orch_torch_model *model = make_model(net), *other = make_model(built);
    g_autofree float *images = g_new(float, BATCH *IMAGE);
    struct orch_torch_batch batch = batch_of(images), small = batch;
    float whole[BATCH * CLASSES], reduced[BATCH * CLASSES], expected[BATCH * CLASSES];
    assert_true(torch->logits(model, &batch, whole, NULL));
    batch.side = SIDE;
    assert_true(torch->logits(model, &batch, reduced, NULL));
    assert_memory_equal(whole, reduced, sizeof whole);
    batch.side = REDUCED;
    assert_true(torch->logits(model, &batch, reduced, NULL));
    assert_memory_not_equal(whole, reduced, sizeof whole);
    for (int i = 0; i < BATCH * IMAGE; i++)
        images[i] = (float)(i / IMAGE) / BATCH;
    assert_true(torch->logits(model, &batch, reduced, NULL));
    for (int i = 0; i < BATCH * REDUCED * REDUCED; i++)
        images[i] = (float)(i / (REDUCED * REDUCED)) / BATCH;
    assert_true(torch->logits(other, &small, expected, NULL));
    for (int i = 0; i < BATCH * CLASSES; i++)
        assert_true(fabs((double)(reduced[i] - expected[i])) < 1e-5);
    torch->model_free(other);
    torch->model_free(model);
    orch_net_free(built);
    orch_net_free(net);
}

/* A last pool over 3x3 pixels covers the 2x2 pixels of smaller images. */
static void test_pool_of_smaller_images(void **state)
{
    (void)state;
    struct orch_net *net = make_net("airbench-relu:8,8,8");
    struct orch_torch_model *model = make_model(net);
    g_autofree float *images = g_new(float, BATCH *IMAGE);
    struct orch_torch_batch batch = batch_of(images);
    struct orch_torch_optimizer sgd = {.method = ORCH_TORCH_SGD};
    struct orch_torch_totals totals;
    batch.side = SIDE - 4;
    assert_true(torch->optimizer_set(model, &sgd, NULL));
    torch->rate_set(model, 0.1);
    assert_true(torch->train(model, &batch, NULL));
    assert_true(torch->totals_take(model, &totals, NULL));
    assert_int_equal(totals.images, BATCH);
    assert_true(isfinite(totals.loss));
    torch->model_free(model);
    orch_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor_rates),   cmocka_unit_test(test_bad_rates),
        cmocka_unit_test(test_dirac),          cmocka_unit_test(test_flip_below),
        cmocka_unit_test(test_smaller_images), cmocka_unit_test(test_pool_of_smaller_images),
    };
    return cmocka_run_group_tests(tests, load, NULL);
}
