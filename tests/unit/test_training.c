/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The training loop: which parameters are refused, what is reported at each step and epoch, where a
 * resumed training begins, and which error of which part ends it. */
#include "tests/unit/training_fixture.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/hw/machine.h"
#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/precision.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    struct orch_training t = training_fixture_usual();
    training_fixture_fails(&t, ORCH_FAILED, "there is no LibTorch adapter");
    g_autofree char *tiny =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "tiny-torch.so", NULL);
    g_setenv("ORCH_TORCH", tiny, TRUE);
    assert_non_null(orch_torch_load(NULL));
}

/* ---- check and cost ---------------------------------------------------------------------------
 */

static void test_check_refuses(void **state)
{
    (void)state;
    static const char *const late[] = {"10", "20"}, *const odd[] = {"soon"};
    static const double rates[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct orch_training t = training_fixture_usual();
    t.milestones = (struct orch_list){2, late};
    training_fixture_refused(
        &t, "milestones: all 2 learning-rate drops come after the last of 4 epochs");
    t.milestones = (struct orch_list){1, odd};
    training_fixture_refused(&t, "'soon'");
    t = training_fixture_usual();
    t.net = "resnet2O";
    training_fixture_refused(&t, "resnet2O");
    t = training_fixture_usual();
    t.freeze = 2;
    training_fixture_refused(&t, "freeze: 2, but network 'mlp:10' has only layer groups 0 to 1, "
                                 "and the last group must learn");
    t = training_fixture_usual();
    t.layer_rates = (struct orch_list){8, rates};
    training_fixture_refused(
        &t, "layer_rates: there are 8 factors, but 2 layer groups in network 'mlp:10'");
    t = training_fixture_usual();
    t.feature_extractor = t.cache_features = t.flip = true;
    training_fixture_refused(&t, "features that are computed once cannot be augmented");
    static const char *const list[] = {"crop 2", "cutout 4"}, *const unknown[] = {"blur 3"};
    t = training_fixture_usual();
    t.transforms = (struct orch_list){2, list};
    t.crop_pad = 2;
    training_fixture_refused(&t, "parameters 'crop_pad' and 'flip' exclude 'transforms'");
    t.crop_pad = 0;
    t.feature_extractor = t.cache_features = true;
    training_fixture_refused(&t, "features that are computed once cannot be augmented");
    t = training_fixture_usual();
    t.transforms = (struct orch_list){1, unknown};
    training_fixture_refused(&t, "blur");
    t = training_fixture_usual();
    t.data_root = "/nowhere";
    training_fixture_refused(&t, "data set 'mnist' was not found");
}

static void test_check_names_the_inputs(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = training_fixture_usual();
    recorder_init(&r);
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "train test ");
    g_string_truncate(r.inputs, 0);
    r.is_smoke = true; /* reads no data */
    assert_int_equal(orch_training_check(&t, &r.host), ORCH_OK);
    assert_string_equal(r.inputs->str, "");
    recorder_clear(&r);
}

/* What is said of bf16 depends on where the training may run. */
static void test_precision(void **state)
{
    (void)state;
    struct orch_training t = training_fixture_usual();
    t.device = "auto";
    t.precision = "bf16";
    assert_non_null(strstr(orch_precision_caution(&t, false, false), "bf16 is slow"));
    assert_null(orch_precision_caution(&t, true, false));
    assert_null(orch_precision_caution(&t, false, true)); /* a GPU may compute it */
    t.device = "cuda";
    assert_null(orch_precision_caution(&t, false, false));
    t.device = "cpu";
    assert_non_null(orch_precision_caution(&t, false, true));
    assert_string_equal(orch_precision_known(&t), "bf16");
    t.precision = "fp32";
    assert_null(orch_precision_caution(&t, false, false));
    t.precision = "auto";
    assert_null(orch_precision_caution(&t, false, false));
    assert_string_equal(orch_precision_known(&t), orch_cpu_computes_bf16() ? "bf16" : "fp32");
    t.device = "cuda";
    assert_null(orch_precision_known(&t));
}

static void test_cost(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 2, 5};
    struct orch_training t = training_fixture_usual();
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
    /* a training_fixture_folder has what is asked for, and nobody has counted its classes */
    t = training_fixture_usual();
    t.dataset = "flowers";
    cost = (struct orch_cost){0};
    assert_int_equal(orch_training_cost(&t, &cost), ORCH_OK);
    assert_string_equal(cost.input, "3x8x8");
    assert_int_equal(cost.images, 0);
    assert_int_equal(cost.classes, 0);
    /* generated images have the size that is asked for, too; texts of one cost outlive the next */
    struct orch_cost other = {0};
    t.dataset = "synthetic";
    t.image_size = 16;
    assert_int_equal(orch_training_cost(&t, &other), ORCH_OK);
    assert_string_equal(other.input, "3x16x16");
    assert_string_equal(cost.input, "3x8x8");
    t.image_size = 8;
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
    struct orch_training t = training_fixture_usual();
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
    struct orch_training t = training_fixture_usual();
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
    assert_non_null(
        strstr(r.notes->str, "2 tensors were taken from the base network; the head is new"));
    recorder_clear(&r);
    t.net = "mlp:12";
    training_fixture_fails(&t, ORCH_FAILED, "the weights do not fit network 'mlp:12': ");
    t.weights = "none.safetensors";
    training_fixture_fails(&t, ORCH_FAILED, "none.safetensors");
}

static void test_features_computed_once(void **state)
{
    (void)state;
    struct recorder once, each;
    static const double rates[] = {0.5, 2};
    struct orch_training t = training_fixture_usual();
    recorder_init(&once);
    recorder_init(&each);
    t.feature_extractor = t.cache_features = true;
    assert_int_equal(recorder_train(&once, &t, NULL), ORCH_OK);
    assert_non_null(strstr(
        once.notes->str, "the frozen layers computed the 10 features of each training image once"));
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
    struct orch_training t = training_fixture_usual();
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
    struct orch_training t = training_fixture_usual();
    GError *error = NULL;
    g_autofree char *path = g_build_filename(training_fixture_folder, "training.safetensors", NULL);
    const struct orch_torch *torch = orch_torch_load(&error);
    struct orch_net_options options = {
        .name = "mlp:10", .channels = 1, .height = SIDE, .width = SIDE, .classes = 10};
    struct orch_net *net = orch_net_make(&options, &error);
    struct orch_torch_setup setup = {.device = "cpu"};
    struct orch_torch_model *model = torch->model_new(net, &setup, &error);
    struct orch_torch_optimizer sgd = {.momentum = 0.9};
    struct orch_torch_progress progress = {3, 0.75, 2};
    assert_true(torch->optimizer_set(model, &sgd, &error));
    struct orch_weights *file = orch_torch_checkpoint_copy(torch, model, &progress, &error);
    assert_non_null(file);
    g_hash_table_insert(file->metadata, g_strdup("training_s"), g_strdup("20"));
    g_hash_table_insert(file->metadata, g_strdup("validation_s"), g_strdup("10"));
    assert_true(orch_weights_save(file, path, true, &error));
    orch_weights_free(file);
    torch->model_free(model);
    orch_net_free(net);

    recorder_init(&r);
    r.checkpoints = training_fixture_folder;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_non_null(strstr(r.notes->str, "an earlier attempt had finished 3 epochs"));
    assert_int_equal(recorder_points(&r, "val_loss"), 1); /* the fourth */
    recorder_clear(&r);
    /* all epochs are done: it only validates, and the best is the earlier attempt's */
    recorder_init(&r);
    r.checkpoints = training_fixture_folder;
    t.epochs = 3;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    assert_int_equal(recorder_points(&r, "val_loss"), 0);
    assert_true(fabs(recorder_result(&r, "best_accuracy") - 0.75) < 1e-12);
    assert_true(fabs(recorder_result(&r, "best_epoch") - 2) < 1e-12);
    assert_true(isfinite(recorder_result(&r, "final_loss")));
    recorder_clear(&r);
    /* of another network, and damaged */
    recorder_init(&r);
    r.checkpoints = training_fixture_folder;
    t.net = "mlp:9";
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
    assert_string_equal(
        r.failure->str,
        "cannot resume: the checkpoint does not fit this training: 'fc1.weight' is of another "
        "shape\n  hint: remove the checkpoint to start again");
    assert_true(orch_file_write(path, "{", 1, false, NULL));
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
    assert_true(g_str_has_prefix(r.failure->str, "cannot resume: "));
    assert_non_null(strstr(r.failure->str, path));
    recorder_clear(&r);
    unlink(path);
}

/* ---- ends --------------------------------------------------------------------------------------
 */

static void test_ends_early(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = training_fixture_usual();
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
    assert_string_equal(r.failure->str,
                        "the training loss is not finite, for the first time in step 3 (epoch "
                        "1); try a lower lr");
    assert_int_equal(recorder_points(&r, "val_loss"),
                     1); /* of the epoch that diverged, and no more */
    recorder_clear(&r);
}

static void test_devices(void **state)
{
    (void)state;
    struct recorder r;
    struct orch_training t = training_fixture_usual();
    t.device = "cuda:1";
    training_fixture_fails(&t, ORCH_SKIPPED, "no CUDA device");
    recorder_init(&r);
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    t.device = "auto";
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    g_unsetenv("TINY_TORCH_CUDA");
    /* on a GPU a point is the mean of eight steps: two, and the last step's */
    assert_int_equal(recorder_points(&r, "step_loss"), 3);
    recorder_clear(&r);
}

/* An error of each function ends the trial with its own message. */
static void test_errors_of_the_library(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "model_new",      "tensor_set",    "optimizer_set", "train:3",       "evaluate",
        "totals_take",    "totals_take:6", "totals_take:7", "totals_take:8", "totals_take:33",
        "totals_take:34", "evaluate:5",    "tensor_get"};
    static const char *const cached[] = {"features", "features:2", "train:3", "evaluate",
                                         "totals_take:8"};
    struct orch_training t = training_fixture_usual();
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
            training_fixture_fails(&t, ORCH_FAILED, text);
        }
    }
    g_unsetenv("TINY_TORCH_FAIL");
}

static void test_bad_data(void **state)
{
    (void)state;
    static const int64_t classes[] = {1, 11};
    struct orch_training t = training_fixture_usual();
    t.classes = (struct orch_list){2, classes};
    training_fixture_fails(&t, ORCH_FAILED, "11");
    t = training_fixture_usual();
    t.dataset = "flowers";
    training_fixture_fails(&t, ORCH_FAILED, "'flowers' was not found");
}

static void test_transforms(void **state)
{
    (void)state;
    static const char *const crop[] = {"crop 2", "flip"}, *const cutout[] = {"cutout 14"},
                             *const normalise[] = {"normalise 0.5 0.25"};
    const struct orch_list lists[] = {{0, NULL}, {2, crop}, {1, cutout}, {1, normalise}};
    double train_loss[4], val_loss[4];
    for (unsigned i = 0; i < G_N_ELEMENTS(lists); i++) {
        struct recorder r;
        struct orch_training t = training_fixture_usual();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adapters_that_cannot_be_loaded),
        cmocka_unit_test(test_check_refuses),
        cmocka_unit_test(test_check_names_the_inputs),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_learns_and_reports),
        cmocka_unit_test(test_weights_begin_a_training),
        cmocka_unit_test(test_features_computed_once),
        cmocka_unit_test(test_smoke),
        cmocka_unit_test(test_resumes),
        cmocka_unit_test(test_ends_early),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_errors_of_the_library),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_transforms),
    };
    return cmocka_run_group_tests(tests, training_fixture_begin, training_fixture_end);
}
