/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gradient scaler's state in a checkpoint, on a GPU where there is one, else on a CPU that
 * computes in fp16. */
#include "tests/unit/checkpoint_file.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { SIDE = 6, BATCH = 4, SKIPPED = 77 };

static const struct orch_torch *torch;
static struct orch_torch_setup setup = {.precision = ORCH_TORCH_FP16};

static struct orch_torch_model *make_model(const struct orch_net *net, GError **error)
{
    struct orch_torch_optimizer sgd = {.method = ORCH_TORCH_SGD, .momentum = 0.9};
    struct orch_torch_model *model = torch->model_new(net, &setup, error);
    if (!model)
        return NULL;
    assert_true(orch_torch_init(torch, model, net, 7, NULL));
    assert_true(torch->optimizer_set(model, &sgd, NULL));
    torch->rate_set(model, 0.01);
    return model;
}

static struct orch_net *make_net(void)
{
    struct orch_net_options options = {
        .name = "mlp:8,7", .channels = 1, .height = SIDE, .width = SIDE, .classes = 3};
    struct orch_net *net = orch_net_make(&options, NULL);
    assert_non_null(net);
    return net;
}

static void step(struct orch_torch_model *model)
{
    static const int64_t labels[BATCH] = {0, 1, 2, 0};
    float images[BATCH * SIDE * SIDE];
    GError *error = NULL;
    for (int i = 0; i < BATCH * SIDE * SIDE; i++)
        images[i] = (float)sin(i * 0.7);
    struct orch_torch_batch batch = {.images = images, .labels = labels, .count = BATCH};
    if (!torch->train(model, &batch, &error))
        fail_msg("%s", error->message);
}

/* A step that overflows and two that do not change all three numbers of the state; a model that
 * takes it from a checkpoint has the same, before and after a further step. */
static void test_scaler_is_in_the_checkpoint(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_net *net = make_net();
    struct orch_torch_model *models[2] = {make_model(net, &error), make_model(net, &error)};
    struct orch_torch_scaler scalers[2];
    struct orch_torch_progress progress = {1, 0.5, 1};
    g_autofree char *folder = g_dir_make_tmp("orch-fp16-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "checkpoint", NULL);
    assert_true(torch->scaler_set(models[0], &(struct orch_torch_scaler){0x1p100F, 7, 3}, NULL));
    step(models[0]);
    assert_true(torch->scaler_get(models[0], &scalers[0], NULL));
    assert_true(scalers[0].scale == 0x1p99F && scalers[0].skipped_steps == 4);
    assert_true(torch->scaler_set(models[0], &(struct orch_torch_scaler){512, 7, 4}, NULL));
    step(models[0]);
    assert_true(checkpoint_save(torch, models[0], &progress, path, NULL));
    assert_true(checkpoint_load(torch, models[1], path, &progress, NULL));
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            assert_true(torch->scaler_get(models[k], &scalers[k], NULL));
            assert_true(scalers[k].scale == 512 && scalers[k].skipped_steps == 4);
            assert_int_equal(scalers[k].finite_steps, 8 + i);
            assert_int_equal(torch->steps_get(models[k]), 1 + i);
            step(models[k]);
        }
    }
    torch->model_free(models[0]);
    torch->model_free(models[1]);
    orch_net_free(net);
    orch_tree_remove(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scaler_is_in_the_checkpoint)};
    GError *error = NULL;
    torch = orch_torch_load(&error);
    if (!torch) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    setup.device = torch->cuda_count() > 0 ? "cuda" : "cpu";
    struct orch_net *net = make_net();
    struct orch_torch_model *model = make_model(net, &error);
    if (!model) {
        printf("skipped: no GPU, and %s\n", error->message);
        return SKIPPED;
    }
    torch->model_free(model);
    orch_net_free(net);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
