/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The training loop and the model's files, on tests/plugins/tiny_torch.c in place of LibTorch: what
 * is reported at each step and epoch, where a resumed training begins, and which error of which
 * part ends it. */
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/data_path.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/training.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/net/net.h"
#include "plugins/common/weights/weights.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRAIN = 80, TEST = 40, SIDE = 28 };

static char *folder;

/* ---- data and parameters ----------------------------------------------------------------------
 */

/* Image i is of class i % 10, whose pixels are those with that index modulo 10. */
static void write_split(const char *images, const char *labels, int count)
{
    size_t bytes = 16 + (size_t)count * SIDE * SIDE;
    g_autofree uint8_t *image = g_malloc0(bytes), *label = g_malloc0(8 + (size_t)count);
    g_autofree char *image_path = g_build_filename(folder, "mnist", images, NULL);
    g_autofree char *label_path = g_build_filename(folder, "mnist", labels, NULL);
    const uint8_t image_head[16] = {0, 0, 8, 3,    0, 0, 0, (uint8_t)count,
                                    0, 0, 0, SIDE, 0, 0, 0, SIDE};
    const uint8_t label_head[8] = {0, 0, 8, 1, 0, 0, 0, (uint8_t)count};
    memcpy(image, image_head, sizeof image_head);
    memcpy(label, label_head, sizeof label_head);
    for (int i = 0; i < count; i++) {
        label[8 + i] = (uint8_t)(i % 10);
        for (int j = i % 10; j < SIDE * SIDE; j += 10)
            image[16 + i * SIDE * SIDE + j] = 255;
    }
    assert_true(orch_file_write(image_path, image, bytes, false, NULL));
    assert_true(orch_file_write(label_path, label, 8 + (size_t)count, false, NULL));
}

static struct orch_training usual(void)
{
    static const char *const milestones[] = {"50%"};
    return (struct orch_training){.dataset = "mnist",
                                  .data_root = folder,
                                  .image_size = 8,
                                  .val_images = 20,
                                  .full_validation = true,
                                  .net = "mlp:10",
                                  .epochs = 4,
                                  .batch = 16,
                                  .lr = 1,
                                  .momentum = 0.9,
                                  .optimizer = "sgd",
                                  .schedule = "steps",
                                  .milestones = {1, milestones},
                                  .gamma = 0.1,
                                  .device = "auto",
                                  .precision = "fp32",
                                  .layout = "plain",
                                  .data_path = "auto",
                                  .loader_threads = 1,
                                  .checkpoint_every = 30};
}

static void expect_failure(const struct orch_training *t, int status, const char *what)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, t, NULL), status);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    recorder_clear(&r);
}

/* ---- check and cost ---------------------------------------------------------------------------
 */

static void refused(const struct orch_training *t, const char *what)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(orch_training_check(t, &r.host), ORCH_FAILED);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    recorder_clear(&r);
}

static void test_check_refuses(void **state)
{
    (void)state;
    static const char *const late[] = {"10", "20"}, *const odd[] = {"soon"};
    static const double rates[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct orch_training t = usual();
    t.milestones = (struct orch_list){2, late};
    refused(&t, "milestones: all 2 learning-rate drops come after the last of 4 epochs");
    t.milestones = (struct orch_list){1, odd};
    refused(&t, "'soon'");
    t = usual();
    t.net = "resnet2O";
    refused(&t, "resnet2O");
    t = usual();
    t.freeze = 2;
    refused(&t, "freeze: 2, but network 'mlp:10' has layer groups 0 to 1, and the last must learn");
    t = usual();
    t.layer_rates = (struct orch_list){8, rates};
    refused(&t, "layer_rates: 8 factors for the 2 layer groups of network 'mlp:10'");
    t = usual();
    t.feature_extractor = t.cache_features = t.flip = true;
    refused(&t, "features that are computed once cannot be augmented");
    static const char *const list[] = {"crop 2", "cutout 4"}, *const unknown[] = {"blur 3"};
    t = usual();
    t.transforms = (struct orch_list){2, list};
    t.crop_pad = 2;
    refused(&t, "crop_pad and flip cannot be used together with transforms");
    t.crop_pad = 0;
    t.feature_extractor = t.cache_features = true;
    refused(&t, "features that are computed once cannot be augmented");
    t = usual();
    t.transforms = (struct orch_list){1, unknown};
    refused(&t, "blur");
    t = usual();
    t.data_root = "/nowhere";
    refused(&t, "data set 'mnist' was not found");
}

static void test_check_names_the_inputs(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    recorder_init(&r);
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "train test ");
    g_string_truncate(r.inputs, 0);
    r.is_smoke = true; /* reads no data */
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "");
    recorder_clear(&r);
}

static void test_cost(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 2, 5};
    struct orch_training t = usual();
    struct orch_cost cost = {0};
    t.net = "MLP:10";
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.network, "mlp:10");
    assert_string_equal(cost.input, "1x28x28");
    assert_int_equal(cost.images, 60000);
    assert_int_equal(cost.classes, 10);
    assert_int_equal(cost.training, 1);
    t.classes = (struct orch_list){3, classes};
    t.feature_extractor = true;
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_int_equal(cost.images, 18000); /* 3 of 10 classes */
    assert_int_equal(cost.training, 0);
    t.per_class = 7;
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_int_equal(cost.images, 21);
    /* a folder has what is asked for, and nobody has counted its classes */
    t = usual();
    t.dataset = "flowers";
    cost = (struct orch_cost){0};
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.input, "3x8x8");
    assert_int_equal(cost.images, 0);
    assert_int_equal(cost.classes, 0);
    /* generated images have the size that is asked for, too */
    t.dataset = "synthetic";
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.input, "3x8x8");
    assert_int_equal(cost.classes, 10);
}

/* ---- training ---------------------------------------------------------------------------------
 */

static void test_learns_and_reports(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    /* five steps an epoch, each a point; a point of the others each epoch */
    assert_int_equal(recorder_points(&r, "step_loss"), 20);
    const char *const by_epoch[] = {"train_loss", "train_accuracy", "val_loss",     "val_accuracy",
                                    "val_error",  "epoch_time",     "images_per_s", "lr"};
    for (unsigned i = 0; i < G_N_ELEMENTS(by_epoch); i++)
        assert_int_equal(recorder_points(&r, by_epoch[i]), 4);
    assert_true(fabs(recorder_point(&r, "lr", 1) - 1) < 1e-12);
    assert_true(fabs(recorder_point(&r, "lr", 2) - 0.1) < 1e-12); /* after the milestone at 50 % */
    assert_true(recorder_point(&r, "train_loss", 3) < recorder_point(&r, "train_loss", 0));
    assert_true(fabs(recorder_result(&r, "final_accuracy") - 1) < 1e-12); /* separable */
    assert_true(fabs(recorder_point(&r, "val_accuracy", 3) + recorder_point(&r, "val_error", 3) -
                     1) < 1e-12);
    /* the mean of the points is that of the epoch */
    double sum = 0;
    for (guint i = 0; i < 5; i++)
        sum += recorder_point(&r, "step_loss", i) / 5;
    assert_true(fabs(sum - recorder_point(&r, "train_loss", 0)) < 1e-9);
    assert_true(fabs(recorder_result(&r, "train_images") - TRAIN) < 1e-12);
    assert_true(fabs(recorder_result(&r, "epoch_val_images") - 20) < 1e-12);
    assert_true(fabs(recorder_result(&r, "val_images_total") - TEST) < 1e-12);
    assert_true(fabs(recorder_result(&r, "class_images_min") - 8) < 1e-12);
    assert_true(fabs(recorder_result(&r, "params") - (785 * 10 + 11 * 10)) < 1e-12);
    assert_true(fabs(recorder_result(&r, "trained_params") - recorder_result(&r, "params")) <
                1e-12);
    assert_string_equal(r.artifacts->str, "classes samples weights ");
    recorder_clear(&r);
}

static void test_weights_begin_a_training(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    recorder_init(&r);
    t.optimizer = "adam";
    t.schedule = "cosine";
    t.lr = 0.1;
    t.precision = "bf16";
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    double before = recorder_result(&r, "final_loss");
    assert_int_equal(rename("weights.safetensors", "base.safetensors"), 0);
    recorder_clear(&r);
    /* the same network at a rate of 0: what the first had learnt is what this one has */
    recorder_init(&r);
    t.weights = "base.safetensors";
    t.lr = 0;
    t.epochs = 1;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_true(fabs(recorder_result(&r, "final_loss") - before) < 1e-6);
    recorder_clear(&r);
    /* other classes: the body is taken, the head is new, and a note says so */
    static const int64_t classes[] = {1, 2, 5};
    recorder_init(&r);
    t.classes = (struct orch_list){3, classes};
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_non_null(strstr(r.notes->str, "the base network gave 2 tensors; the head is new (2 of "
                                         "other shape, 0 missing, 0 left over)"));
    recorder_clear(&r);
    t.net = "mlp:12";
    expect_failure(&t, ORCH_FAILED, "the weights do not fit network 'mlp:12': ");
    t.weights = "none.safetensors";
    expect_failure(&t, ORCH_FAILED, "none.safetensors");
}

static void test_features_computed_once(void **state)
{
    (void)state;
    struct recorder once, each;
    static const double rates[] = {0.5, 2};
    struct orch_training t = usual();
    recorder_init(&once);
    recorder_init(&each);
    t.feature_extractor = t.cache_features = true;
    assert_int_equal(recorder_train(&once, &t, NULL), ORCH_OK);
    assert_non_null(
        strstr(once.notes->str, "the frozen body's 10 features an image were computed once"));
    assert_true(fabs(recorder_result(&once, "trained_params") - 110) < 1e-12);
    assert_true(recorder_result(&once, "feature_time") >= 0);
    t.cache_features = false;
    t.layer_rates = (struct orch_list){2, rates};
    assert_int_equal(recorder_train(&each, &t, NULL), ORCH_OK);
    assert_null(g_hash_table_lookup(each.results, "feature_time"));
    /* the batches are drawn by the same seed, so both train alike but for rounding */
    for (guint i = 0; i < 4; i++)
        assert_true(fabs(recorder_point(&once, "val_loss", i) -
                         recorder_point(&each, "val_loss", i)) < 1e-3);
    assert_true(fabs(recorder_result(&once, "full_accuracy") -
                     recorder_result(&each, "full_accuracy")) < 1e-12);
    recorder_clear(&once);
    recorder_clear(&each);
}

static void test_smoke(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    recorder_init(&r);
    r.is_smoke = true;
    t.data_root = "/nowhere"; /* not read */
    t.weights = "/nowhere/base.safetensors";
    t.epochs = 100;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&r, "step_loss"), 2);
    assert_int_equal(recorder_points(&r, "val_loss"), 1);
    assert_true(fabs(recorder_result(&r, "image_channels") - 1) < 1e-12); /* as mnist's */
    assert_true(fabs(recorder_result(&r, "image_height") - 28) < 1e-12);
    recorder_clear(&r);
}

static void test_resumes(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
    const struct orch_torch *torch = orch_torch_load(&error);
    struct orch_net_options options = {"mlp:10", 1, SIDE, SIDE, 10};
    struct orch_net *net = orch_net_make(&options, &error);
    struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    struct orch_torch_optimizer sgd = {.momentum = 0.9};
    struct orch_torch_progress progress = {3, 0.75, 2};
    assert_true(torch->optimizer_set(model, &sgd, &error));
    assert_true(orch_torch_checkpoint_save(torch, model, &progress, path, &error));
    torch->model_free(model);
    orch_net_free(net);

    recorder_init(&r);
    r.checkpoints = folder;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_non_null(strstr(r.notes->str, "an earlier attempt had finished 3 epochs"));
    assert_int_equal(recorder_points(&r, "val_loss"), 1); /* the fourth */
    recorder_clear(&r);
    /* all epochs are done: it only validates, and the best is the earlier attempt's */
    recorder_init(&r);
    r.checkpoints = folder;
    t.epochs = 3;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&r, "val_loss"), 0);
    assert_true(fabs(recorder_result(&r, "best_accuracy") - 0.75) < 1e-12);
    assert_true(fabs(recorder_result(&r, "best_epoch") - 2) < 1e-12);
    assert_true(isfinite(recorder_result(&r, "final_loss")));
    recorder_clear(&r);
    /* of another network, and damaged */
    recorder_init(&r);
    r.checkpoints = folder;
    t.net = "mlp:9";
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
    assert_string_equal(r.failure->str,
                        "cannot resume: the checkpoint does not fit: 'fc1.weight' is of another "
                        "shape\n  hint: remove the checkpoint to begin anew");
    assert_true(orch_file_write(path, "{", 1, false, NULL));
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
    assert_true(g_str_has_prefix(r.failure->str, "cannot resume: "));
    assert_non_null(strstr(r.failure->str, path));
    recorder_clear(&r);
    unlink(path);
}

/* ---- a target ---------------------------------------------------------------------------------
 */

/* Learns so slowly that the accuracy rises over several epochs. */
static struct orch_training slow(double target)
{
    struct orch_training t = usual();
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
    first.checkpoints = folder;
    first.cancel_at = 2.5;
    assert_int_equal(recorder_train(&first, &t, NULL), ORCH_CANCELLED);
    recorder_init(&second);
    second.checkpoints = folder;
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
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
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
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
    recorder_init(&whole);
    assert_int_equal(recorder_train(&whole, &t, NULL), ORCH_OK);
    double epochs = recorder_result(&whole, "epochs_to_accuracy");
    recorder_init(&first);
    first.checkpoints = folder;
    first.cancel_at = floor(epochs / 2);
    assert_int_equal(recorder_train(&first, &t, NULL), ORCH_CANCELLED);
    assert_null(g_hash_table_lookup(first.results, "reached_target"));
    recorder_init(&second);
    second.checkpoints = folder;
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
    second.checkpoints = folder;
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

/* The clocks of a checkpoint go on; a checkpoint without clocks gives no time. */
static void test_target_and_the_checkpoint(void **state)
{
    (void)state;
    struct orch_training t = slow(0.8);
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
    for (int has_clocks = 0; has_clocks < 2; has_clocks++) {
        struct recorder r;
        struct orch_torch_progress progress = {3, 0.25, 2};
        const struct orch_torch *torch = orch_torch_load(&error);
        struct orch_net_options options = {"mlp:10", 1, SIDE, SIDE, 10};
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
        r.checkpoints = folder;
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
        assert_true(recorder_result(&r, "epochs_to_accuracy") > 3);
        if (has_clocks) {
            double sum = 2000 + sum_of(&r, "epoch_time");
            assert_true(fabs(recorder_result(&r, "time_to_accuracy") - sum) < 1e-6);
            double validation = recorder_result(&r, "time_to_accuracy_with_validation") - sum;
            assert_true(validation > 1000 && validation < 1100);
        } else {
            assert_null(g_hash_table_lookup(r.results, "time_to_accuracy"));
            assert_null(g_hash_table_lookup(r.results, "time_to_accuracy_with_validation"));
            assert_non_null(strstr(r.notes->str, "no time_to_accuracy: "));
        }
        recorder_clear(&r);
    }
    unlink(path);
}

static void test_ends_early(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    recorder_init(&r);
    r.cancel_after = 1; /* told in the first epoch */
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_CANCELLED);
    assert_int_equal(recorder_points(&r, "val_loss"), 0);
    recorder_clear(&r);
    recorder_init(&r);
    /* batches of 20 images, a point at every step */
    t.batch = 20;
    g_setenv("TINY_TORCH_NAN", "45", TRUE);
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_DIVERGED);
    g_unsetenv("TINY_TORCH_NAN");
    assert_string_equal(r.failure->str, "the training loss is not finite: first in step 3 (epoch "
                                        "1); try a lower lr");
    assert_int_equal(recorder_points(&r, "val_loss"),
                     1); /* of the epoch that diverged, and no more */
    recorder_clear(&r);
}

static void test_devices(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = usual();
    t.device = "cuda:1";
    expect_failure(&t, ORCH_SKIPPED, "no CUDA device");
    recorder_init(&r);
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    t.device = "auto";
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    g_unsetenv("TINY_TORCH_CUDA");
    /* on a GPU a point is the mean of eight steps: two, and the last step's */
    assert_int_equal(recorder_points(&r, "step_loss"), 3);
    recorder_clear(&r);
}

/* ---- the data path ----------------------------------------------------------------------------
 */

static const char *const PATH_SERIES[] = {"train_loss", "val_loss", "train_accuracy"};

/* Trains on a made-up GPU with `data_path`; keeps the series of PATH_SERIES. The notes are the
 * caller's. */
static char *train_by_path(struct orch_training *t, const char *data_path, bool is_on_gpu,
                           double out[3][2])
{
    struct recorder r;
    recorder_init(&r);
    t->data_path = data_path;
    assert_int_equal(recorder_train(&r, t, NULL), ORCH_OK);
    assert_int_equal(recorder_result(&r, "gpu_data_path"), is_on_gpu);
    for (int i = 0; i < 3; i++)
        for (guint epoch = 0; epoch < 2; epoch++)
            out[i][epoch] = recorder_point(&r, PATH_SERIES[i], epoch);
    char *notes = g_strdup(r.notes->str);
    recorder_clear(&r);
    return notes;
}

/* The GPU's path trains on the same batches, to the last bit; features that are computed once, too.
 */
static void test_data_paths_are_equal(void **state)
{
    (void)state;
    static const char *const list[] = {"crop 3", "flip", "cutout 9", "erase 0.5",
                                       "normalise 0.3 0.4"};
    double by_cpu[3][2], by_gpu[3][2];
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (int i = 0; i < 4; i++) {
        struct orch_training t = usual();
        t.epochs = 2;
        t.milestones.count = 0;
        t.layout = i % 2 ? "channels_last" : "plain";
        t.feature_extractor = t.cache_features = i >= 2;
        t.transforms =
            i < 2 ? (struct orch_list){G_N_ELEMENTS(list), list} : (struct orch_list){1, &list[4]};
        g_autofree char *quiet = train_by_path(&t, "cpu", false, by_cpu);
        g_autofree char *notes = train_by_path(&t, i % 2 ? "gpu" : "auto", true, by_gpu);
        assert_null(strstr(quiet, "the processor makes"));
        assert_null(strstr(notes, "the processor makes"));
        assert_memory_equal(by_cpu, by_gpu, sizeof by_cpu);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

/* Where the GPU cannot make the batches, the processor does and a note says why. */
static void test_data_path_falls_back(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *value, *why;
    } CASES[] = {
        {"TINY_TORCH_MEMORY", "200000",
         "the data set takes 91.9 KiB of the GPU's memory, of which 195.3 KiB are free and 122.1 "
         "KiB must stay free for the training"},
        {"TINY_TORCH_FAIL", "gpu_memory", "gpu_memory failed on purpose"},
        {"TINY_TORCH_FAIL", "images_new", "images_new failed on purpose"},
        {"TINY_TORCH_FAIL", "images_new:02", "images_new failed on purpose"},
    };
    struct orch_training t = usual();
    double found[3][2];
    t.epochs = 2;
    t.milestones.count = 0;
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES); i++) {
        const bool is_memory = i == 0;
        g_setenv(CASES[i].variable, CASES[i].value, TRUE);
        g_autofree char *notes = train_by_path(&t, "auto", false, found);
        const char *note = strstr(notes, "the processor makes the batches, not the GPU: ");
        assert_non_null(note);
        assert_null(strstr(note + 1, "the processor makes")); /* once */
        if (!strstr(notes, CASES[i].why))
            fail_msg("'%s' lacks '%s'", notes, CASES[i].why);
        if (is_memory) {
            t.data_path = "gpu";
            expect_failure(&t, ORCH_FAILED, "data_path: gpu: the data set takes 91.9 KiB");
            expect_failure(&t, ORCH_FAILED, "hint: set data_path: auto or cpu");
        }
        g_unsetenv(CASES[i].variable);
    }
    g_unsetenv("TINY_TORCH_CUDA");
    /* on the processor there is nothing to say, and `gpu` is refused: by the check, where that
     * knows */
    g_autofree char *notes = train_by_path(&t, "auto", false, found);
    assert_null(strstr(notes, "the processor makes"));
    t.data_path = "gpu";
    expect_failure(&t, ORCH_FAILED,
                   "data_path: gpu needs a GPU, but the device of this training is the processor\n"
                   "  hint: set data_path: auto, or train on a machine with a GPU");
    t.device = "cpu";
    refused(&t, "data_path: gpu needs a GPU");
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    g_setenv("TINY_TORCH_FAIL", "images_make:3", TRUE);
    t.device = "cuda";
    expect_failure(&t, ORCH_FAILED, "images_make failed on purpose");
    g_unsetenv("TINY_TORCH_FAIL");
    g_unsetenv("TINY_TORCH_CUDA");
}

static struct orch_feed *usual_feed(void *ctx, const struct orch_session *s, GError **error)
{
    (void)ctx;
    return orch_feed_training(s, NULL, error);
}

/* A plugin with a feed of its own gets the processor's batches, unless it says that it takes
 * others. */
static void test_data_path_of_plugins(void **state)
{
    (void)state;
    struct orch_training t = usual();
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (int takes = 0; takes < 2; takes++) {
        struct orch_training_parts parts = {.feed = usual_feed, .takes_gpu_batches = takes};
        struct recorder r;
        recorder_init(&r);
        assert_int_equal(recorder_train(&r, &t, &parts), ORCH_OK);
        assert_int_equal(recorder_result(&r, "gpu_data_path"), takes);
        assert_int_equal(strstr(r.notes->str, "a feed or a step of its own") == NULL, takes);
        recorder_clear(&r);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

static void test_data_path_limits(void **state)
{
    (void)state;
    assert_true(orch_data_path_fits(700, 800, 800));
    assert_false(orch_data_path_fits(701, 800, 800));
    assert_false(orch_data_path_fits(1, 100, 800));
    assert_false(orch_data_path_fits(1, 50, 800));
}

/* An error of each function ends the trial with its own message. */
static void test_errors_of_the_library(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "model_new",      "tensor_set",    "optimizer_set", "train:3",       "evaluate",
        "totals_take",    "totals_take:6", "totals_take:7", "totals_take:8", "totals_take:33",
        "totals_take:34", "evaluate:5",    "tensor_get"};
    static const char *const cached[] = {"features", "features:2", "features:3",
                                         "train:3",  "evaluate",   "totals_take:8"};
    struct orch_training t = usual();
    for (int caches = 0; caches < 2; caches++) {
        size_t count = caches ? G_N_ELEMENTS(cached) : G_N_ELEMENTS(plain);
        t.feature_extractor = t.cache_features = caches;
        for (size_t i = 0; i < count; i++) {
            const char *name = (caches ? cached : plain)[i];
            /* a zero before the number makes the count of calls begin anew */
            g_autofree char *what = g_strndup(name, strcspn(name, ":"));
            g_autofree char *text = g_strdup_printf("%s failed on purpose", what);
            g_autofree char *fault =
                g_strdup_printf("%s:%s%s", what, caches ? "0" : "",
                                name[strlen(what)] ? strchr(name, ':') + 1 : "1");
            g_setenv("TINY_TORCH_FAIL", fault, TRUE);
            expect_failure(&t, ORCH_FAILED, text);
        }
    }
    g_unsetenv("TINY_TORCH_FAIL");
}

static void test_bad_data(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 11};
    struct orch_training t = usual();
    t.classes = (struct orch_list){2, classes};
    expect_failure(&t, ORCH_FAILED, "11");
    t = usual();
    t.dataset = "flowers";
    expect_failure(&t, ORCH_FAILED, "'flowers' was not found");
}

/* ---- a model's files --------------------------------------------------------------------------
 */

struct model {
    const struct orch_torch *torch;
    struct orch_net *net;
    struct orch_torch_model *model;
};

static struct model make_model(const char *net, enum orch_torch_method method)
{
    GError *error = NULL;
    struct model m = {.torch = orch_torch_load(&error)};
    struct orch_net_options options = {net, 1, 4, 4, 3};
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
        assert_true(orch_torch_checkpoint_save(one.torch, one.model, &progress, "one", &error));
        assert_true(orch_torch_checkpoint_load(two.torch, two.model, "one", &loaded, &error));
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
    assert_true(orch_torch_checkpoint_save(half[0].torch, half[0].model, &progress, "half", NULL));
    assert_true(orch_torch_checkpoint_load(half[1].torch, half[1].model, "half", &progress, NULL));
    assert_true(half[1].torch->scaler_get(half[1].model, &found, NULL));
    assert_true(found.scale == 512 && found.finite_steps == 7 && found.skipped_steps == 3);
    assert_true(orch_torch_checkpoint_save(whole.torch, whole.model, &progress, "whole", NULL));
    free_model(&half[1]);
    half[1] = make_model("mlp:8", ORCH_TORCH_SGD);
    half[1].torch->model_free(half[1].model);
    half[1].model = half[1].torch->model_new(half[1].net, &setup, NULL);
    assert_true(orch_torch_checkpoint_load(half[1].torch, half[1].model, "whole", &progress, NULL));
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
    assert_false(orch_torch_checkpoint_load(m.torch, m.model, "none", &progress, &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    g_clear_error(&error);
    assert_false(orch_torch_checkpoint_save(m.torch, m.model, &progress, "no/such/folder", &error));
    assert_non_null(strstr(error->message, "no/such/folder"));
    g_clear_error(&error);
    assert_true(orch_torch_checkpoint_save(m.torch, m.model, &progress, "two", &error));
    for (int i = 0; i < 6; i++) {
        const char *name = i < 3 ? saving[i] : loading[i - 3];
        g_autofree char *text = g_strdup_printf("%s failed on purpose", name);
        g_autofree char *fault = g_strdup_printf("%s:001", name);
        g_setenv("TINY_TORCH_FAIL", fault, TRUE);
        assert_false(i < 3
                         ? orch_torch_checkpoint_save(m.torch, m.model, &progress, "x", &error)
                         : orch_torch_checkpoint_load(m.torch, m.model, "two", &progress, &error));
        assert_string_equal(error->message, text);
        g_clear_error(&error);
    }
    g_unsetenv("TINY_TORCH_FAIL");
    free_model(&m);
    /* a deeper network misses tensors */
    struct model deep = make_model("mlp:8,8", ORCH_TORCH_SGD);
    assert_false(orch_torch_checkpoint_load(deep.torch, deep.model, "two", &progress, &error));
    assert_non_null(strstr(error->message, "the checkpoint does not fit: '"));
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

/* ---- loading ----------------------------------------------------------------------------------
 */

/* Before anything else: what is loaded once stays. */
static void test_adapters_that_cannot_be_loaded(void **state)
{
    (void)state;
    g_autofree char *other =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "other-torch.so", NULL);
    g_autofree char *none =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "plugins", "null.so", NULL);
    const struct {
        const char *path, *what;
    } bad[] = {
        {"/nowhere/torch.so", "there is no LibTorch adapter: '/nowhere/torch.so' was not built"},
        {none, "undefined symbol: orch_torch_v1"},
        {"/proc/self/maps", "cannot load the LibTorch adapter '/proc/self/maps': "},
        {other, "has interface version 7 ("}};
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_setenv("ORCH_TORCH", bad[i].path, TRUE);
        assert_null(orch_torch_load(&error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_PLUGIN));
        if (!strstr(error->message, bad[i].what))
            fail_msg("'%s' lacks '%s'", error->message, bad[i].what);
    }
    g_setenv("ORCH_TORCH", "/nowhere/torch.so", TRUE);
    struct orch_training t = usual();
    expect_failure(&t, ORCH_FAILED, "there is no LibTorch adapter");
    g_autofree char *tiny =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "tiny-torch.so", NULL);
    g_setenv("ORCH_TORCH", tiny, TRUE);
    assert_non_null(orch_torch_load(NULL));
}

static int begin(void **state)
{
    (void)state;
    g_log_set_always_fatal((GLogLevelFlags)(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
    folder = g_dir_make_tmp("orch-training-XXXXXX", NULL);
    g_setenv("XDG_CACHE_HOME", folder ? folder : "", TRUE);
    g_autofree char *mnist = folder ? g_build_filename(folder, "mnist", NULL) : NULL;
    if (!folder || !orch_dir_make(mnist, NULL) || chdir(folder) != 0)
        return 1;
    write_split("train-images-idx3-ubyte", "train-labels-idx1-ubyte", TRAIN);
    write_split("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", TEST);
    return 0;
}

static int end(void **state)
{
    (void)state;
    int moved = chdir("/");
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return moved;
}

/* ---- parts of a plugin's own ------------------------------------------------------------------
 */

/* Softmax cross-entropy, as the built-in loss. */
static bool cross_entropy(void *ctx, const struct orch_torch_batch *batch,
                          const struct orch_torch_array *outputs, float *const *gradients,
                          size_t output_count, struct orch_torch_totals *totals, GError **error)
{
    int *calls = ctx;
    int64_t classes = outputs[0].shape[1];
    assert_int_equal(output_count, 1);
    if (++*calls < 0) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "the loss has no value");
        return false;
    }
    for (int64_t i = 0; i < batch->count; i++) {
        const float *scores = outputs[0].data + i * classes;
        double sum = 0;
        for (int64_t c = 0; c < classes; c++)
            sum += exp((double)scores[c]);
        for (int64_t c = 0; c < classes; c++)
            gradients[0][i * classes + c] =
                (float)((exp((double)scores[c]) / sum - (c == batch->labels[i])) /
                        (double)batch->count);
        totals->loss += log(sum) - (double)scores[batch->labels[i]];
    }
    totals->images += batch->count;
    return true;
}

static struct orch_step *own_step(void *ctx, const struct orch_session *session, GError **error)
{
    (void)session;
    (void)error;
    return orch_step_of_loss(&(struct orch_step_loss){.ctx = ctx, .loss = cross_entropy});
}

static bool pass_on(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    (void)error;
    *(int64_t *)ctx += bucket->elements;
    return true;
}

struct reduction {
    size_t bucket_bytes;
    int64_t elements; /* reduced so far */
};

static struct orch_step *reduced_step(void *ctx, const struct orch_session *session, GError **error)
{
    struct reduction *reduction = ctx;
    struct orch_torch_bucket_calls calls = {.ready = pass_on, .ctx = &reduction->elements};
    return orch_step_reduced(orch_step_classify(), session, reduction->bucket_bytes, &calls, error);
}

static void test_own_steps(void **state)
{
    (void)state;
    struct orch_training t = usual();
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts parts[] = {
        {0}, {.ctx = &calls, .step = own_step}, {.ctx = &reduction, .step = reduced_step}};
    double losses[3];
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        struct recorder r;
        recorder_init(&r);
        assert_int_equal(recorder_train(&r, &t, &parts[i]), ORCH_OK);
        losses[i] = recorder_point(&r, "train_loss", 3);
        recorder_clear(&r);
    }
    assert_int_equal(calls, 20); /* 4 epochs of 5 batches */
    assert_true(fabs(losses[0] - losses[1]) < 1e-6);
    assert_true(losses[0] == losses[2]);
    assert_true(reduction.elements > 0);
    struct recorder r;
    recorder_init(&r);
    calls = -1000;
    assert_int_equal(recorder_train(&r, &t, &parts[1]), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "the loss has no value"));
    reduction.bucket_bytes = 0;
    assert_int_equal(recorder_train(&r, &t, &parts[2]), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "bucket"));
    recorder_clear(&r);
}

/* ---- the loss by step -------------------------------------------------------------------------
 */

/* 70 steps an epoch, eight a point on any device: points span the ends of epochs. */
enum { POINT_EPOCHS = 41, POINT_STEPS = 70, CANCELLED_STEPS = 173 };

static struct orch_training many_steps(const char *device)
{
    struct orch_training t = usual();
    t.device = device;
    t.epochs = POINT_EPOCHS;
    t.per_class = 7;
    t.batch = 1;
    t.lr = 0.01;
    t.checkpoint_every = 0;
    return t;
}

static GString *step_losses; /* "STEP BITS" for each point */

static void keep_step_loss(const struct recorder *r, const char *name, int64_t step, double value)
{
    (void)r;
    if (g_str_equal(name, "step_loss"))
        g_string_append_printf(step_losses, "%" G_GINT64_FORMAT " %a\n", step, value);
}

static int train_keeping(const struct orch_training *t, const struct orch_training_parts *parts,
                         int cancel_after, const char *checkpoints)
{
    struct recorder r;
    recorder_init(&r);
    r.on_number = keep_step_loss;
    r.cancel_after = cancel_after;
    r.checkpoints = checkpoints;
    int status = recorder_train(&r, t, parts);
    recorder_clear(&r);
    return status;
}

/* Cancels a training in the middle of its third epoch and resumes it. Returns the points of both
 * attempts; the caller frees. */
static char *interrupted_series(const char *device, const struct orch_training_parts *parts)
{
    struct orch_training t = many_steps(device);
    g_autofree char *path = g_build_filename(folder, "training.safetensors", NULL);
    step_losses = g_string_new(NULL);
    assert_int_equal(train_keeping(&t, parts, 15, folder), ORCH_CANCELLED);
    assert_non_null(strstr(step_losses->str, "\n168 0x"));
    assert_null(strstr(step_losses->str, "\n176 0x")); /* after CANCELLED_STEPS */
    g_string_append(step_losses, "resumed\n");
    assert_int_equal(train_keeping(&t, parts, 0, folder), ORCH_OK);
    assert_non_null(strstr(step_losses->str, "\n2870 0x"));
    unlink(path);
    return g_string_free(g_steal_pointer(&step_losses), FALSE);
}

/* The log names the reads of the totals by the steps before them: all lie at the ends of epochs, or
 * where the training was cancelled. */
static void expect_reads_after_epochs(const char *path)
{
    g_autofree char *text = NULL;
    int reads = 0;
    assert_true(orch_file_read(path, 1 << 20, &text, NULL, NULL));
    for (const char *at = text; (at = strstr(at, "totals_take ")); reads++) {
        at += strlen("totals_take ");
        int64_t steps = g_ascii_strtoll(at, NULL, 10);
        if (steps % POINT_STEPS && steps != CANCELLED_STEPS)
            fail_msg("the totals were read after step %d", (int)steps);
    }
    assert_true(reads > POINT_EPOCHS);
}

/* A GPU has the processor's points, with the same bits, and is not waited for within an epoch. */
static void test_points_do_not_wait(void **state)
{
    (void)state;
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts parts[] = {
        {0}, {.ctx = &reduction, .step = reduced_step}, {.ctx = &calls, .step = own_step}};
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *log = g_build_filename(folder, "points.log", NULL);
        g_autofree char *on_cpu = interrupted_series("cpu", &parts[i]);
        g_setenv("TINY_TORCH_LOG", log, TRUE);
        g_autofree char *on_gpu = interrupted_series("cuda", &parts[i]);
        g_unsetenv("TINY_TORCH_LOG");
        assert_string_equal(on_cpu, on_gpu);
        expect_reads_after_epochs(log);
        unlink(log);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

/* An epoch that fails reports the points until then, and its own error. */
static void test_points_of_an_epoch_that_fails(void **state)
{
    (void)state;
    static const struct {
        const char *fault, *last; /* the last point */
    } CASES[] = {{"train:100", "\n96 0x"}, {"totals_mark:5", "32 0x"}};
    struct orch_training t = many_steps("cuda");
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES); i++) {
        struct recorder r;
        recorder_init(&r);
        r.on_number = keep_step_loss;
        step_losses = g_string_new(NULL);
        g_setenv("TINY_TORCH_FAIL", CASES[i].fault, TRUE);
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
        g_unsetenv("TINY_TORCH_FAIL");
        assert_non_null(strstr(r.failure->str, "failed on purpose"));
        const char *last = strstr(step_losses->str, CASES[i].last);
        assert_non_null(last);
        assert_true(strchr(last + 1, '\n')[1] == '\0');
        g_string_free(g_steal_pointer(&step_losses), TRUE);
        recorder_clear(&r);
    }
    g_unsetenv("TINY_TORCH_CUDA");
}

/* Trains with graphs on a GPU; returns the result cuda_graphs. `note` is in the notes as often as
 * `count` says. */
static double train_with_graphs(const struct orch_training_parts *parts, const char *note,
                                int count)
{
    struct recorder r;
    struct orch_training t = usual();
    t.device = "cuda";
    t.graphs = "on";
    recorder_init(&r);
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    assert_int_equal(recorder_train(&r, &t, parts), ORCH_OK);
    g_unsetenv("TINY_TORCH_CUDA");
    const char *at = r.notes->str;
    for (; (at = strstr(at, note)); at++)
        count--;
    assert_int_equal(count, 0);
    double replayed = recorder_result(&r, "cuda_graphs");
    recorder_clear(&r);
    return replayed;
}

/* Steps are replayed where the usual step runs, and the reason why not is noted once. */
static void test_graphs(void **state)
{
    (void)state;
    const char *note = "without CUDA graphs: ";
    int calls = 0;
    struct reduction reduction = {.bucket_bytes = 64};
    const struct orch_training_parts own = {.ctx = &calls, .step = own_step},
                                     reduced = {.ctx = &reduction, .step = reduced_step};
    assert_true(train_with_graphs(NULL, note, 0) > 0);
    assert_false(train_with_graphs(&own, "the plugin has a step of its own", 1) > 0);
    assert_false(train_with_graphs(&reduced, "gradients are read in buckets", 1) > 0);
    g_setenv("TINY_TORCH_CAPTURE", "fail", TRUE);
    assert_false(train_with_graphs(NULL, note, 1) > 0);
    g_unsetenv("TINY_TORCH_CAPTURE");
    struct orch_training t = usual();
    t.graphs = "on";
    expect_failure(&t, ORCH_FAILED, "graphs: on needs a GPU, and device: auto found none");
}

/* The same transforms in either spelling give the same losses; others do not; a normalisation with
 * values of its own holds for validation, too. */
static void test_transforms(void **state)
{
    (void)state;
    static const char *const crop[] = {"crop 2", "flip"}, *const cutout[] = {"cutout 14"},
                             *const normalise[] = {"normalise 0.5 0.25"};
    const struct orch_list lists[] = {{0, NULL}, {2, crop}, {1, cutout}, {1, normalise}};
    double train_loss[4], val_loss[4];
    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
        struct recorder r;
        struct orch_training t = usual();
        t.crop_pad = i == 0 ? 2 : 0;
        t.flip = i == 0;
        t.transforms = lists[i];
        t.lr = 0; /* nothing is learned: losses differ by the images alone */
        recorder_init(&r);
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
        train_loss[i] = recorder_point(&r, "train_loss", 0);
        val_loss[i] = recorder_point(&r, "val_loss", 0);
        recorder_clear(&r);
    }
    assert_true(train_loss[0] == train_loss[1] && val_loss[0] == val_loss[1]);
    assert_true(train_loss[0] != train_loss[2] && val_loss[0] == val_loss[2]);
    assert_true(val_loss[0] != val_loss[3]);
}

/* Trains for an epoch with layout auto; returns whether it was measured. */
static bool measured_layout(const struct orch_training *t, double *out_channels_last)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, t, NULL), ORCH_OK);
    *out_channels_last = recorder_result(&r, "channels_last");
    bool is_measured = strstr(r.notes->str, "memory layout: ") != NULL;
    recorder_clear(&r);
    return is_measured;
}

static void test_layout_is_measured_once(void **state)
{
    (void)state;
    struct orch_training t = usual();
    g_autofree char *cache = g_build_filename(g_get_user_cache_dir(), "orch", NULL);
    g_autofree char *path = g_build_filename(cache, "layouts", NULL);
    g_autofree char *text = NULL;
    double first, second;
    assert_true(g_str_has_prefix(path, folder)); /* not the user's */
    t.layout = "auto";
    t.epochs = 1;
    t.milestones.count = 0;
    assert_true(measured_layout(&t, &first));
    assert_false(measured_layout(&t, &second));
    assert_true(first == second);
    t.batch = 8; /* the same answer: layouts are not mixed in a comparison of batch sizes */
    assert_false(measured_layout(&t, &second));
    assert_true(first == second);
    t.net = "mlp:9";
    assert_true(measured_layout(&t, &second));
    /* an answer that is there counts; lines that are none do not */
    assert_true(orch_file_read(path, 4096, &text, NULL, NULL));
    char *tab = strchr(text, '\t');
    assert_non_null(tab);
    g_autofree char *other =
        g_strdup_printf("junk\n\t\n%.*s\tmaybe\n%.*s\t%s\n", (int)(tab - text), text,
                        (int)(tab - text), text, first > 0 ? "plain" : "channels_last");
    assert_true(orch_file_write(path, other, strlen(other), false, NULL));
    t.net = "mlp:10";
    assert_false(measured_layout(&t, &second));
    assert_true(first != second);
    /* what was asked for is not measured; nor is a head alone, or a smoke run */
    t.layout = "channels_last";
    assert_false(measured_layout(&t, &second));
    assert_true(second > 0);
    /* no place to keep it: measured each time */
    assert_true(orch_tree_remove(cache, NULL));
    assert_true(orch_file_write(cache, "", 0, false, NULL));
    t.layout = "auto";
    assert_true(measured_layout(&t, &first));
    assert_true(measured_layout(&t, &first));
    unlink(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adapters_that_cannot_be_loaded),
        cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_check_names_the_inputs),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_learns_and_reports),
        cmocka_unit_test(test_weights_begin_a_training),
        cmocka_unit_test(test_features_computed_once),
        cmocka_unit_test(test_smoke),
        cmocka_unit_test(test_resumes),
        cmocka_unit_test(test_target_reached),
        cmocka_unit_test(test_target_in_the_first_epoch),
        cmocka_unit_test(test_target_without_a_stop),
        cmocka_unit_test(test_target_never_reached),
        cmocka_unit_test(test_target_after_a_resume),
        cmocka_unit_test(test_target_and_the_checkpoint),
        cmocka_unit_test(test_ends_early),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_data_paths_are_equal),
        cmocka_unit_test(test_data_path_falls_back),
        cmocka_unit_test(test_data_path_of_plugins),
        cmocka_unit_test(test_data_path_limits),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_points_do_not_wait),
        cmocka_unit_test(test_points_of_an_epoch_that_fails),
        cmocka_unit_test(test_errors_of_the_library),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_checkpoint_goes_on),
        cmocka_unit_test(test_checkpoint_has_the_scaler),
        cmocka_unit_test(test_checkpoint_errors),
        cmocka_unit_test(test_weights_that_do_not_fit),
        cmocka_unit_test(test_layout_is_measured_once),
        cmocka_unit_test(test_transforms),
        cmocka_unit_test(test_own_steps),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
