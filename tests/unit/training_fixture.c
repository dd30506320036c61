/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/training_fixture.h"

#include "lib/base/file.h"
#include "tests/torch/recorder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

char *training_fixture_folder;

/* Image i is of class i % 10, whose pixels are those with that index modulo 10. */
static void write_split(const char *images, const char *labels, int count)
{
    size_t bytes = 16 + (size_t)count * SIDE * SIDE;
    g_autofree uint8_t *image = g_malloc0(bytes), *label = g_malloc0(8 + (size_t)count);
    g_autofree char *image_path = g_build_filename(training_fixture_folder, "mnist", images, NULL);
    g_autofree char *label_path = g_build_filename(training_fixture_folder, "mnist", labels, NULL);
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

struct orch_training training_fixture_usual(void)
{
    static const char *const milestones[] = {"50%"};
    return (struct orch_training){.dataset = "mnist",
                                  .data_root = training_fixture_folder,
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

void training_fixture_fails(const struct orch_training *t, int status, const char *what)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(recorder_train(&r, t, NULL), status);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    recorder_clear(&r);
}

void training_fixture_refused(const struct orch_training *t, const char *what)
{
    struct recorder r;
    recorder_init(&r);
    assert_int_equal(orch_training_check(t, &r.host), ORCH_FAILED);
    if (!strstr(r.failure->str, what))
        fail_msg("'%s' lacks '%s'", r.failure->str, what);
    recorder_clear(&r);
}

int training_fixture_begin(void **state)
{
    (void)state;
    g_log_set_always_fatal((GLogLevelFlags)(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
    training_fixture_folder = g_dir_make_tmp("orch-training-XXXXXX", NULL);
    g_autofree char *tiny =
        g_build_filename(g_getenv("ORCH_BUILD_DIR"), "tests", "plugins", "tiny-torch.so", NULL);
    g_setenv("ORCH_TORCH", tiny, TRUE);
    g_setenv("XDG_CACHE_HOME", training_fixture_folder ? training_fixture_folder : "", TRUE);
    g_autofree char *mnist =
        training_fixture_folder ? g_build_filename(training_fixture_folder, "mnist", NULL) : NULL;
    if (!training_fixture_folder || !orch_dir_make(mnist, NULL) ||
        chdir(training_fixture_folder) != 0)
        return 1;
    write_split("train-images-idx3-ubyte", "train-labels-idx1-ubyte", TRAIN);
    write_split("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", TEST);
    return 0;
}

int training_fixture_end(void **state)
{
    (void)state;
    int moved = chdir("/");
    orch_tree_remove(training_fixture_folder, NULL);
    g_free(training_fixture_folder);
    return moved;
}
