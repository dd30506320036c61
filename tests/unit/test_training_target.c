/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trainings that stop at an accuracy, and the times until then. */
#include "tests/unit/training_fixture.h"

#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/torch/torch.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Learns so slowly that the accuracy rises over several epochs. */
static struct orch_training slow(double target)
{
    struct orch_training t = training_fixture_usual();
    t.lr = 0.02;
    t.momentum = 0;
    t.schedule = "constant";
    t.epochs = 200;
    t.val_images = 0;
    t.target_accuracy = target;
    t.stop_at_target = true;
    t.checkpoint_every = 0;
    return t;
}

static double sum_of(const struct recorder *r, const char *metric)
{
    double sum = 0;
    for (guint i = 0; i < recorder_points(r, metric); i++)
        sum += recorder_point(r, metric, i);
    return sum;
}

static void expect_no_time(const struct recorder *r, double reached)
{
    static const char *const names[] = {"time_to_accuracy", "time_to_accuracy_with_validation",
                                        "epochs_to_accuracy"};
    assert_true(fabs(recorder_result(r, "reached_target") - reached) < 1e-12);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        assert_null(g_hash_table_lookup(r->results, names[i]));
}

/* The training ends with the first epoch that reaches the target; its time is that of its epochs.
 */
static void test_target_reached(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = slow(0.8);
    gint64 begin = g_get_monotonic_time();
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    double wall_s = (double)(g_get_monotonic_time() - begin) / 1e6;
    guint epochs = recorder_points(&r, "val_accuracy");
    assert_in_range(epochs, 2, 199);
    for (guint i = 0; i + 1 < epochs; i++)
        assert_true(recorder_point(&r, "val_accuracy", i) < 0.8);
    assert_true(recorder_point(&r, "val_accuracy", epochs - 1) >= 0.8);
    double time = recorder_result(&r, "time_to_accuracy");
    double with_validation = recorder_result(&r, "time_to_accuracy_with_validation");
    assert_true(fabs(recorder_result(&r, "reached_target") - 1) < 1e-12);
    assert_true(fabs(recorder_result(&r, "epochs_to_accuracy") - epochs) < 1e-12);
    assert_true(fabs(time - sum_of(&r, "epoch_time")) < 1e-9);
    assert_true(fabs(time - recorder_result(&r, "training_time")) < 1e-12);
    assert_true(with_validation > time && with_validation < wall_s);
    /* every step is in a point of the loss, also those of the last epoch */
    guint steps = 5 * epochs, per_point = (5 * 200 + 399) / 400;
    assert_int_equal(recorder_points(&r, "step_loss"), (steps + per_point - 1) / per_point);
    assert_non_null(strstr(r.artifacts->str, "weights"));
    recorder_clear(&r);
}

static void test_target_in_the_first_epoch(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = slow(0.01);
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&r, "val_accuracy"), 1);
    assert_true(fabs(recorder_result(&r, "epochs_to_accuracy") - 1) < 1e-12);
    assert_true(
        fabs(recorder_result(&r, "time_to_accuracy") - recorder_point(&r, "epoch_time", 0)) < 1e-9);
    recorder_clear(&r);
}

/* With stop_at_target off all epochs are trained, and the times are those at the first that reached
 * the target, also when the training is resumed after it. */
static void test_target_without_a_stop(void **state)
{
    (void)state;
    struct recorder first, second;
    struct orch_training t = slow(0.01);
    t.stop_at_target = false;
    t.epochs = 4;
    recorder_init(&first);
    first.checkpoints = training_fixture_folder;
    first.cancel_at = 2.5;
    assert_int_equal(recorder_train(&first, &t, NULL), ORCH_CANCELLED);
    recorder_init(&second);
    second.checkpoints = training_fixture_folder;
    assert_int_equal(recorder_train(&second, &t, NULL), ORCH_OK);
    double sum = sum_of(&first, "epoch_time") + sum_of(&second, "epoch_time");
    assert_int_equal(
        recorder_points(&first, "val_accuracy") + recorder_points(&second, "val_accuracy"), 4);
    assert_true(fabs(recorder_result(&second, "reached_target") - 1) < 1e-12);
    assert_true(fabs(recorder_result(&second, "epochs_to_accuracy") - 1) < 1e-12);
    assert_true(fabs(recorder_result(&second, "time_to_accuracy") -
                     recorder_point(&first, "epoch_time", 0)) < 1e-9);
    assert_true(fabs(recorder_result(&second, "training_time") - sum) < 1e-9);
    assert_true(recorder_result(&second, "time_to_accuracy_with_validation") -
                    recorder_result(&second, "time_to_accuracy") <
                recorder_result(&second, "validation_time"));
    recorder_clear(&first);
    recorder_clear(&second);
    g_autofree char *path = g_build_filename(training_fixture_folder, "training.safetensors", NULL);
    unlink(path);
}

/* A training that never gets there is a result without a time, and so is one that diverges. */
static void test_target_never_reached(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = slow(1);
    t.epochs = 3;
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&r, "val_accuracy"), 3);
    expect_no_time(&r, 0);
    recorder_clear(&r);
    recorder_init(&r);
    g_setenv("TINY_TORCH_NAN", "1", TRUE);
    t.target_accuracy = 0.001; /* reached, but the loss is no number */
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_DIVERGED);
    g_unsetenv("TINY_TORCH_NAN");
    expect_no_time(&r, 0);
    recorder_clear(&r);
    recorder_init(&r);
    t.target_accuracy = 0;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_null(g_hash_table_lookup(r.results, "reached_target"));
    recorder_clear(&r);
}

/* Stopped after some epochs and resumed: the epochs, their accuracies and the sum of their times
 * are those of one training. */
static void test_target_after_a_resume(void **state)
{
    (void)state;
    struct recorder whole, first, second;
    struct orch_training t = slow(0.8);
    g_autofree char *path = g_build_filename(training_fixture_folder, "training.safetensors", NULL);
    recorder_init(&whole);
    assert_int_equal(recorder_train(&whole, &t, NULL), ORCH_OK);
    double epochs = recorder_result(&whole, "epochs_to_accuracy");
    recorder_init(&first);
    first.checkpoints = training_fixture_folder;
    first.cancel_at = floor(epochs / 2);
    assert_int_equal(recorder_train(&first, &t, NULL), ORCH_CANCELLED);
    assert_null(g_hash_table_lookup(first.results, "reached_target"));
    recorder_init(&second);
    second.checkpoints = training_fixture_folder;
    assert_int_equal(recorder_train(&second, &t, NULL), ORCH_OK);
    guint before = recorder_points(&first, "epoch_time");
    assert_true(before > 0 && recorder_points(&second, "epoch_time") == epochs - before);
    assert_true(fabs(recorder_result(&second, "epochs_to_accuracy") - epochs) < 1e-12);
    double sum = sum_of(&first, "epoch_time") + sum_of(&second, "epoch_time");
    assert_true(fabs(recorder_result(&second, "time_to_accuracy") - sum) < 1e-9);
    assert_true(fabs(recorder_result(&second, "training_time") - sum) < 1e-9);
    double with_validation = recorder_result(&second, "time_to_accuracy_with_validation");
    recorder_clear(&second);
    /* once more, from the checkpoint of the epoch that reached it: no epoch, the same clocks */
    recorder_init(&second);
    second.checkpoints = training_fixture_folder;
    assert_int_equal(recorder_train(&second, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&second, "val_accuracy"), 0);
    assert_true(fabs(recorder_result(&second, "epochs_to_accuracy") - epochs) < 1e-12);
    assert_true(fabs(recorder_result(&second, "time_to_accuracy") - sum) < 1e-9);
    assert_true(fabs(recorder_result(&second, "time_to_accuracy_with_validation") -
                     with_validation) < 1e-9);
    recorder_clear(&whole);
    recorder_clear(&first);
    recorder_clear(&second);
    unlink(path);
}

/* The clocks of a checkpoint go on; a checkpoint without clocks is refused. */
static void test_target_and_the_checkpoint(void **state)
{
    (void)state;
    struct orch_training t = slow(0.8);
    GError *error = NULL;
    g_autofree char *path = g_build_filename(training_fixture_folder, "training.safetensors", NULL);
    for (int has_clocks = 0; has_clocks < 2; has_clocks++) {
        struct recorder r;
        struct orch_torch_progress progress = {3, 0.25, 2};
        const struct orch_torch *torch = orch_torch_load(&error);
        struct orch_net_options options = {
            .name = "mlp:10", .channels = 1, .height = SIDE, .width = SIDE, .classes = 10};
        struct orch_net *net = orch_net_make(&options, &error);
        struct orch_torch_setup setup = {.device = "cpu"};
        struct orch_torch_model *model = torch->model_new(net, &setup, &error);
        struct orch_weights *file = orch_torch_checkpoint_copy(torch, model, &progress, &error);
        if (has_clocks) {
            g_hash_table_insert(file->metadata, g_strdup("training_s"), g_strdup("2000"));
            g_hash_table_insert(file->metadata, g_strdup("validation_s"), g_strdup("1000"));
        }
        assert_true(orch_weights_save(file, path, true, &error));
        orch_weights_free(file);
        torch->model_free(model);
        orch_net_free(net);
        recorder_init(&r);
        r.checkpoints = training_fixture_folder;
        assert_int_equal(recorder_train(&r, &t, NULL), has_clocks ? ORCH_OK : ORCH_FAILED);
        if (has_clocks) {
            assert_true(recorder_result(&r, "epochs_to_accuracy") > 3);
            double sum = 2000 + sum_of(&r, "epoch_time");
            assert_true(fabs(recorder_result(&r, "time_to_accuracy") - sum) < 1e-6);
            double validation = recorder_result(&r, "time_to_accuracy_with_validation") - sum;
            assert_true(validation > 1000 && validation < 1100);
        } else {
            assert_non_null(strstr(r.failure->str, "it records no training time"));
        }
        recorder_clear(&r);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_target_reached),
        cmocka_unit_test(test_target_in_the_first_epoch),
        cmocka_unit_test(test_target_without_a_stop),
        cmocka_unit_test(test_target_never_reached),
        cmocka_unit_test(test_target_after_a_resume),
        cmocka_unit_test(test_target_and_the_checkpoint),
    };
    return cmocka_run_group_tests(tests, training_fixture_begin, training_fixture_end);
}
