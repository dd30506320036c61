/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model's files: checkpoints and weights, and those that do not fit. */
#include "tests/unit/checkpoint_file.h"
#include "tests/unit/training_fixture.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

struct model {
    const struct orch_torch *torch;
    struct orch_net *net;
    struct orch_torch_model *model;
};

static struct model make_model(const char *net, enum orch_torch_method method)
{
    GError *error = NULL;
    struct model m = {.torch = orch_torch_load(&error)};
    struct orch_net_options options = {
        .name = net, .channels = 1, .height = 4, .width = 4, .classes = 3};
    struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_optimizer optimizer = {.method = method, .momentum = 0.9};
    m.net = orch_net_make(&options, &error);
    m.model = m.torch->model_new(m.net, &setup, &error);
    assert_true(orch_torch_init(m.torch, m.model, m.net, 7, &error));
    assert_true(m.torch->optimizer_set(m.model, &optimizer, &error));
    m.torch->rate_set(m.model, 0.1);
    return m;
}

static void free_model(struct model *m)
{
    m->torch->model_free(m->model);
    orch_net_free(m->net);
}

static void take_step(struct model *m)
{
    static const float images[2 * 16] = {[0] = 1, [5] = -2, [17] = 3, [30] = 0.5F};
    static const int64_t labels[] = {0, 2};
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = 2};
    assert_true(m->torch->train(m->model, &batch, NULL));
}

static float head_weight(const struct model *m)
{
    g_autofree float *values = g_new(float, 64);
    size_t index = (size_t)orch_net_head(m->net)->first_tensor;
    assert_true(m->torch->tensor_get(m->model, index, values, NULL));
    return values[1];
}

/* One step more after a checkpoint is the same step, before and after loading it. */
static void test_checkpoint_goes_on(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        GError *error = NULL;
        struct model one = make_model("mlp:8", (enum orch_torch_method)method);
        struct model two = make_model("mlp:8", (enum orch_torch_method)method);
        struct orch_torch_progress progress = {2, 0.5, 1}, loaded = {0};
        take_step(&one);
        take_step(&one);
        assert_true(checkpoint_save(one.torch, one.model, &progress, "one", &error));
        assert_true(checkpoint_load(two.torch, two.model, "one", &loaded, &error));
        assert_int_equal(loaded.epoch, 2);
        assert_int_equal(loaded.best_epoch, 1);
        assert_true(fabs(loaded.best - 0.5) < 1e-12);
        assert_int_equal(two.torch->steps_get(two.model), 2);
        assert_memory_equal(&(float){head_weight(&one)}, &(float){head_weight(&two)},
                            sizeof(float));
        take_step(&one);
        take_step(&two);
        assert_memory_equal(&(float){head_weight(&one)}, &(float){head_weight(&two)},
                            sizeof(float));
        free_model(&one);
        free_model(&two);
    }
}

/* The gradient scaler of fp16 goes on where it was; one that a checkpoint does not have begins
 * anew. */
static void test_checkpoint_has_the_scaler(void **state)
{
    (void)state;
    struct model half[2], whole = make_model("mlp:8", ORCH_TORCH_SGD);
    struct orch_torch_setup setup = {.device = "cpu", .precision = ORCH_TORCH_FP16};
    struct orch_torch_scaler scaler = {512, 7, 3}, found = {0};
    struct orch_torch_progress progress = {2, 0.5, 1};
    for (int i = 0; i < 2; i++) {
        half[i] = make_model("mlp:8", ORCH_TORCH_SGD);
        half[i].torch->model_free(half[i].model);
        half[i].model = half[i].torch->model_new(half[i].net, &setup, NULL);
        assert_true(orch_torch_init(half[i].torch, half[i].model, half[i].net, 7, NULL));
    }
    assert_true(half[0].torch->scaler_set(half[0].model, &scaler, NULL));
    assert_true(checkpoint_save(half[0].torch, half[0].model, &progress, "half", NULL));
    assert_true(checkpoint_load(half[1].torch, half[1].model, "half", &progress, NULL));
    assert_true(half[1].torch->scaler_get(half[1].model, &found, NULL));
    assert_true(found.scale == 512 && found.finite_steps == 7 && found.skipped_steps == 3);
    assert_true(checkpoint_save(whole.torch, whole.model, &progress, "whole", NULL));
    free_model(&half[1]);
    half[1] = make_model("mlp:8", ORCH_TORCH_SGD);
    half[1].torch->model_free(half[1].model);
    half[1].model = half[1].torch->model_new(half[1].net, &setup, NULL);
    assert_true(checkpoint_load(half[1].torch, half[1].model, "whole", &progress, NULL));
    assert_true(half[1].torch->scaler_get(half[1].model, &found, NULL));
    assert_true(found.scale == ORCH_SCALER_START && found.finite_steps == 0);
    free_model(&half[0]);
    free_model(&half[1]);
    free_model(&whole);
}

static void test_checkpoint_errors(void **state)
{
    (void)state;
    static const char *const saving[] = {"tensor_get", "slot_get", "random_get"};
    static const char *const loading[] = {"tensor_set", "slot_set", "random_set"};
    struct model m = make_model("mlp:8", ORCH_TORCH_SGD);
    struct orch_torch_progress progress = {1, 0.5, 1};
    g_autoptr(GError) error = NULL;
    take_step(&m);
    assert_false(checkpoint_load(m.torch, m.model, "none", &progress, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    g_clear_error(&error);
    assert_false(
        checkpoint_save(m.torch, m.model, &progress, "no/such/training_fixture_folder", &error));
    assert_non_null(strstr(error->message, "no/such/training_fixture_folder"));
    g_clear_error(&error);
    assert_true(checkpoint_save(m.torch, m.model, &progress, "two", &error));
    for (int i = 0; i < 6; i++) {
        const char *name = i < 3 ? saving[i] : loading[i - 3];
        g_autofree char *text = g_strdup_printf("%s failed on purpose", name);
        g_autofree char *fault = g_strdup_printf("%s:001", name);
        g_setenv("TINY_TORCH_FAIL", fault, TRUE);
        assert_false(i < 3 ? checkpoint_save(m.torch, m.model, &progress, "x", &error)
                           : checkpoint_load(m.torch, m.model, "two", &progress, &error));
        assert_string_equal(error->message, text);
        g_clear_error(&error);
    }
    g_unsetenv("TINY_TORCH_FAIL");
    free_model(&m);
    /* a deeper network misses tensors */
    struct model deep = make_model("mlp:8,8", ORCH_TORCH_SGD);
    assert_false(checkpoint_load(deep.torch, deep.model, "two", &progress, &error));
    assert_non_null(strstr(error->message, "the checkpoint does not fit this training: '"));
    free_model(&deep);
}

/* Without head_replaced nothing may differ; a report names everything that does. */
static void test_weights_that_do_not_fit(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct model m = make_model("mlp:8", ORCH_TORCH_SGD);
    struct orch_torch_load_report report = {0};
    struct orch_weights *weights = orch_torch_state_copy(m.torch, m.model, &error);
    const int64_t one = 1;
    const float value = 1;
    assert_true(
        orch_weights_add(weights, "other.weight", ORCH_DTYPE_FLOAT32, 1, &one, &value, NULL));
    assert_true(orch_weights_add(weights, "bn.num_batches_tracked", ORCH_DTYPE_FLOAT32, 1, &one,
                                 &value, NULL));
    assert_true(orch_torch_state_load(m.torch, m.model, m.net, weights, false, &report, &error));
    assert_int_equal(report.loaded, 4);
    assert_int_equal(report.extra->len, 1); /* PyTorch's counter is none of the model's */
    assert_string_equal(report.extra->pdata[0], "other.weight");
    orch_torch_load_report_clear(&report);
    orch_weights_free(weights);

    weights = orch_weights_new();
    assert_true(orch_weights_add(weights, "fc.bias", ORCH_DTYPE_FLOAT32, 1, &one, &value, NULL));
    assert_false(orch_torch_state_load(m.torch, m.model, m.net, weights, false, NULL, &error));
    assert_non_null(
        strstr(error->message, "the weights do not fit network 'mlp:8': missing fc1.weight"));
    assert_non_null(strstr(error->message, "fc.bias: [1] for [3]"));
    orch_weights_free(weights);
    free_model(&m);
    g_clear_error(&error);

    /* a long list is cut */
    struct model big = make_model("mlp:8,8,8,8,8,8,8,8,8,8,8,8,8", ORCH_TORCH_SGD);
    weights = orch_weights_new();
    assert_false(orch_torch_state_load(big.torch, big.model, big.net, weights, true, NULL, &error));
    assert_non_null(strstr(error->message, "..."));
    assert_null(strstr(error->message, "missing fc.weight")); /* the head may be another */
    orch_weights_free(weights);
    free_model(&big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checkpoint_goes_on),
        cmocka_unit_test(test_checkpoint_has_the_scaler),
        cmocka_unit_test(test_checkpoint_errors),
        cmocka_unit_test(test_weights_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, training_fixture_begin, training_fixture_end);
}
