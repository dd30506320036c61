/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where batches are made, and how they lie in memory. */
#include "tests/unit/training_fixture.h"

#include "lib/base/file.h"
#include "plugins/common/training/data_path.h"
#include "plugins/common/training/epochs.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

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
        struct orch_training t = training_fixture_usual();
        t.epochs = 2;
        t.milestones.count = 0;
        t.layout = i % 2 ? "channels_last" : "plain";
        t.feature_extractor = t.cache_features = i >= 2;
        t.transforms =
            i < 2 ? (struct orch_list){G_N_ELEMENTS(list), list} : (struct orch_list){1, &list[4]};
        g_autofree char *quiet = train_by_path(&t, "cpu", false, by_cpu);
        g_autofree char *notes = train_by_path(&t, i % 2 ? "gpu" : "auto", true, by_gpu);
        assert_null(strstr(quiet, "the CPU makes"));
        assert_null(strstr(notes, "the CPU makes"));
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
    struct orch_training t = training_fixture_usual();
    double found[3][2];
    t.epochs = 2;
    t.milestones.count = 0;
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (unsigned i = 0; i < G_N_ELEMENTS(CASES); i++) {
        const bool is_memory = i == 0;
        g_setenv(CASES[i].variable, CASES[i].value, TRUE);
        g_autofree char *notes = train_by_path(&t, "auto", false, found);
        const char *note = strstr(notes, "the CPU makes the batches, not the GPU: ");
        assert_non_null(note);
        assert_null(strstr(note + 1, "the CPU makes")); /* once */
        if (!strstr(notes, CASES[i].why))
            fail_msg("'%s' lacks '%s'", notes, CASES[i].why);
        if (is_memory) {
            t.data_path = "gpu";
            training_fixture_fails(&t, ORCH_FAILED, "data_path: gpu: the data set takes 91.9 KiB");
            training_fixture_fails(&t, ORCH_FAILED, "hint: set data_path: auto or cpu");
        }
        g_unsetenv(CASES[i].variable);
    }
    g_unsetenv("TINY_TORCH_CUDA");
    /* on the processor there is nothing to say, and `gpu` is refused: by the check, where that
     * knows */
    g_autofree char *notes = train_by_path(&t, "auto", false, found);
    assert_null(strstr(notes, "the CPU makes"));
    t.data_path = "gpu";
    training_fixture_fails(&t, ORCH_FAILED,
                           "data_path: gpu needs a GPU, but this training runs on the CPU\n"
                           "  hint: set data_path: auto");
    t.device = "cpu";
    training_fixture_refused(&t, "data_path: gpu needs a GPU");
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    g_setenv("TINY_TORCH_FAIL", "images_make:3", TRUE);
    t.device = "cuda";
    training_fixture_fails(&t, ORCH_FAILED, "images_make failed on purpose");
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
    struct orch_training t = training_fixture_usual();
    g_setenv("TINY_TORCH_CUDA", "1", TRUE);
    for (int takes = 0; takes < 2; takes++) {
        struct orch_training_parts parts = {.feed = usual_feed, .takes_gpu_batches = takes};
        struct recorder r;
        recorder_init(&r);
        assert_int_equal(recorder_train(&r, &t, &parts), ORCH_OK);
        assert_int_equal(recorder_result(&r, "gpu_data_path"), takes);
        assert_int_equal(strstr(r.notes->str, "needs the images in the CPU's memory") == NULL,
                         takes);
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
    struct orch_training t = training_fixture_usual();
    g_autofree char *cache = g_build_filename(g_get_user_cache_dir(), "orch", NULL);
    g_autofree char *path = g_build_filename(cache, "layouts", NULL);
    g_autofree char *text = NULL;
    double first, second;
    assert_true(g_str_has_prefix(path, training_fixture_folder)); /* not the user's */
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
        cmocka_unit_test(test_data_paths_are_equal),    cmocka_unit_test(test_data_path_falls_back),
        cmocka_unit_test(test_data_path_of_plugins),    cmocka_unit_test(test_data_path_limits),
        cmocka_unit_test(test_layout_is_measured_once),
    };
    return cmocka_run_group_tests(tests, training_fixture_begin, training_fixture_end);
}
