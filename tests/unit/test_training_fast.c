/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of fast training (fast_params.h) in the training loop, on
 * tests/plugins/tiny_torch.c in place of LibTorch: which ones are refused, and what they change. */
#include "plugins/common/training/training.h"

#include "lib/base/file.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static char *folder;

static struct orch_training usual(void)
{
    return (struct orch_training){.dataset = "synthetic",
                                  .image_size = 10,
                                  .per_class = 8,
                                  .val_images = 40,
                                  .full_validation = true,
                                  .crop_pad = 1,
                                  .flip = true,
                                  .net = "mlp:10",
                                  .epochs = 3,
                                  .batch = 16,
                                  .lr = 0.2,
                                  .momentum = 0.9,
                                  .optimizer = "sgd",
                                  .schedule = "linear",
                                  .device = "auto",
                                  .precision = "fp32",
                                  .layout = "plain",
                                  .data_path = "auto",
                                  .loader_threads = 1,
                                  .average = "none",
                                  .average_every = 1,
                                  .average_decay = 0.9,
                                  .filter_init = "usual",
                                  .norm_bias_rate = 1,
                                  .whiten_epsilon = 0.0005};
}

static void refused(const struct orch_training *t, const char *what)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(orch_training_check(t, &r.host), ORCH_FAILED);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    recorder_clear(&r);
}

static void test_refused(void **state)
{
    (void)state;
    struct orch_training t = usual();
    t.flip = false;
    t.flip_alternate = true;
    refused(&t, "flip_alternate does nothing, because the training images are not flipped");
    static const char *const crop[] = {"crop 2"};
    t.crop_pad = 0;
    t.transforms = (struct orch_list){1, crop};
    refused(&t, "flip_alternate does nothing, because the training images are not flipped");
    t = usual();
    t.whiten = true;
    refused(&t, "whiten: the first layer of network 'mlp:10' is not a plain convolution");
    t.net = "vgg11";
    t.image_size = 32;
    refused(&t, "whiten: 'features.0' of network 'vgg11' has 64 filters, but patches of 3x3x3 "
                "values give at most 54 filters");
    t.net = "airbench";
    t.weights = "base.safetensors";
    refused(&t, "whiten: the first layer's filters come from 'weights'");
    t = usual();
    t.net = "airbench:4,0";
    refused(&t, "'4,0' is not a list of 1 to 5 widths");
}

/* Runs a training into `r`, which the caller clears. */
static void run(struct recorder *r, const struct orch_training *t)
{
    recorder_init(r);
    if (recorder_train(r, t, NULL) != ORCH_OK)
        fail_msg("%s", r->failure->str);
}

static double final_loss(const struct orch_training *t)
{
    struct recorder r;
    run(&r, t);
    double loss = recorder_result(&r, "final_loss");
    recorder_clear(&r);
    return loss;
}

/* An average that follows at once is the model itself; one that lags is another. Weights that are
 * averaged do not change the training, unless it goes on from the average. */
static void test_average(void **state)
{
    (void)state;
    struct orch_training t = usual();
    struct recorder plain, ema, lookahead;
    run(&plain, &t);
    t.average_decay = 0;
    t.average = "ema";
    assert_true(final_loss(&t) == recorder_result(&plain, "final_loss"));
    t.average = "lookahead";
    assert_true(final_loss(&t) == recorder_result(&plain, "final_loss"));
    t.average_decay = 0.9;
    run(&lookahead, &t);
    t.average = "ema";
    run(&ema, &t);
    for (guint epoch = 0; epoch < 3; epoch++)
        assert_true(recorder_point(&ema, "train_loss", epoch) ==
                    recorder_point(&plain, "train_loss", epoch));
    assert_true(recorder_result(&ema, "final_loss") != recorder_result(&plain, "final_loss"));
    assert_true(recorder_point(&lookahead, "train_loss", 2) !=
                recorder_point(&plain, "train_loss", 2));
    recorder_clear(&plain);
    recorder_clear(&ema);
    recorder_clear(&lookahead);
}

/* Stopped and resumed, an average goes on; it is not begun anew, nor is one made up. */
static void test_average_resumes(void **state)
{
    (void)state;
    static const char *const modes[] = {"ema", "lookahead"};
    for (int i = 0; i < 2; i++) {
        struct orch_training t = usual();
        t.average = modes[i];
        t.average_every = 2;
        g_autofree char *checkpoints = g_build_filename(folder, modes[i], NULL);
        assert_int_equal(g_mkdir(checkpoints, 0700), 0);
        double whole = final_loss(&t);
        struct recorder r;
        recorder_init(&r);
        r.checkpoints = checkpoints;
        r.cancel_at = 1.5;
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_CANCELLED);
        recorder_clear(&r);
        recorder_init(&r);
        r.checkpoints = checkpoints;
        assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
        assert_non_null(strstr(r.notes->str, "an earlier attempt had finished"));
        assert_true(recorder_result(&r, "final_loss") == whole);
        recorder_clear(&r);
    }
    /* a checkpoint without an average */
    struct orch_training t = usual();
    g_autofree char *checkpoints = g_build_filename(folder, "none", NULL);
    assert_int_equal(g_mkdir(checkpoints, 0700), 0);
    struct recorder r;
    recorder_init(&r);
    r.checkpoints = checkpoints;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_OK);
    recorder_clear(&r);
    t.average = "ema";
    recorder_init(&r);
    r.checkpoints = checkpoints;
    assert_int_equal(recorder_train(&r, &t, NULL), ORCH_FAILED);
    assert_non_null(strstr(r.failure->str, "the checkpoint has no averaged tensor"));
    recorder_clear(&r);
}

/* Smoothing is part of the loss that is learned, not of the one that is validated: with a learning
 * rate of 0 only the former differs. */
static void test_label_smoothing(void **state)
{
    (void)state;
    struct orch_training t = usual();
    struct recorder plain, smooth;
    t.lr = 0;
    run(&plain, &t);
    t.label_smoothing = 0.2;
    run(&smooth, &t);
    assert_true(recorder_point(&plain, "train_loss", 0) !=
                recorder_point(&smooth, "train_loss", 0));
    assert_true(recorder_result(&plain, "final_loss") == recorder_result(&smooth, "final_loss"));
    recorder_clear(&plain);
    recorder_clear(&smooth);
}

/* Which images are flipped changes the training; padding them ahead does not. */
static void test_flips_and_padding(void **state)
{
    (void)state;
    struct orch_training t = usual();
    double drawn = final_loss(&t);
    t.pad_ahead = true;
    assert_true(final_loss(&t) == drawn);
    t.flip_alternate = true;
    double alternating = final_loss(&t);
    assert_true(alternating != drawn);
    static const char *const list[] = {"crop 1", "flip"};
    t.crop_pad = 0;
    t.flip = false;
    t.transforms = (struct orch_list){2, list};
    assert_true(final_loss(&t) == alternating);
}

/* Whitened filters and the frozen scales do not learn. airbench-relu:2,3,4 on 3 channels: 24
 * filters of 3x2x2 with biases; convolutions of 24-2, 2-2, 2-3, 3-3, 3-4 and 4-4 channels; scales
 * and shifts of 2, 2, 3, 3, 4 and 4; 4 x 10 weights and 10 biases. */
static void test_what_learns(void **state)
{
    (void)state;
    struct orch_training t = usual();
    const double filters = 9 * (24 * 2 + 2 * 2 + 2 * 3 + 3 * 3 + 3 * 4 + 4 * 4);
    t.net = "airbench-relu:2,3,4";
    t.image_size = 32;
    t.epochs = 1;
    struct recorder r;
    run(&r, &t);
    assert_true(recorder_result(&r, "trained_params") == 288 + 24 + filters + 36 + 50);
    assert_null(g_hash_table_lookup(r.results, "whitening_time"));
    recorder_clear(&r);
    t.freeze_norm_scale = true;
    t.norm_bias_rate = 64;
    t.filter_init = "dirac";
    run(&r, &t);
    assert_true(recorder_result(&r, "trained_params") == 288 + 24 + filters + 18 + 50);
    recorder_clear(&r);
    t.whiten = true;
    run(&r, &t);
    assert_true(recorder_result(&r, "trained_params") == 24 + filters + 18 + 50);
    double whitening_s = recorder_result(&r, "whitening_time");
    assert_true(whitening_s > 0 && recorder_result(&r, "training_time") > whitening_s);
    recorder_clear(&r);
}

static int begin(void **state)
{
    (void)state;
    g_autofree char *adapter =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests/plugins/tiny-torch.so", NULL);
    g_setenv("ORCH_TORCH", adapter, TRUE);
    folder = g_dir_make_tmp("orch-training-fast-XXXXXX", NULL);
    g_setenv("XDG_CACHE_HOME", folder, TRUE);
    return folder && g_chdir(folder) == 0 ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    bool ok = g_chdir("/") == 0 && orch_tree_remove(folder, NULL);
    g_free(folder);
    return ok ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_average),
        cmocka_unit_test(test_average_resumes),   cmocka_unit_test(test_label_smoothing),
        cmocka_unit_test(test_flips_and_padding), cmocka_unit_test(test_what_learns),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
