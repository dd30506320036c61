/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains one network from a few seeds in plain and in channels-last layout. Both layouts compute
 * the same function, but in another order of sums and with other code (on CPUs channels-last fuses
 * batch norm, shortcut and ReLU): two trainings from a seed drift apart by rounding, which grows
 * from step to step, so they are short. A defect of a layout is there in the first steps, or in the
 * validation: the loss of every step, the part of the last batch of an epoch and a second epoch
 * among them, must agree to a share of it, and the accuracy over test images to half a point.
 *
 * usage: layouts [made]   (made: on made images even where Fashion-MNIST is installed) */
#include "lib/base/file.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/data/random.h"
#include "plugins/common/training/training.h"
#include "tests/torch/recorder.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 3 };
/** What rounding may make of a step's loss, and of an accuracy (per cent). */
static const double LOSS_SHARE = 0.01, POINTS_MAX = 0.5;

/* ---- images -----------------------------------------------------------------------------------
 */

enum { TRAIN = 60000, TEST = 10000, SIDE = 28, CLASSES = 10, EPOCHS = 2, STEPS = 22 };

static void write_or_exit(const char *path, const void *bytes, size_t count)
{
    GError *error = NULL;
    if (orch_file_write(path, bytes, count, false, &error))
        return;
    fprintf(stderr, "layouts: %s\n", error->message);
    exit(1);
}

static void put_number(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * (3 - i)));
}

/* A wave with its class' direction and a phase of its own, below noise of several times its
 * height. */
static void draw(uint8_t *pixels, int label, uint64_t *random)
{
    double angle = 3.14159265358979 * label / CLASSES, phase = orch_random_unit(random) * 6.28;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            double wave = sin((x * cos(angle) + y * sin(angle)) * 0.6 + phase);
            double noise = orch_random_unit(random) + orch_random_unit(random) - 1;
            pixels[y * SIDE + x] = (uint8_t)CLAMP(127 + 36 * wave + 91 * noise, 0, 255);
        }
}

/* Writes a split of made images in MNIST's format. */
static void write_split(const char *images, const char *labels, int count, uint64_t split)
{
    size_t image_bytes = 16 + (size_t)count * SIDE * SIDE, label_bytes = 8 + (size_t)count;
    g_autofree uint8_t *image = g_malloc0(image_bytes), *label = g_malloc0(label_bytes);
    put_number(image, 0x803);
    put_number(image + 4, (uint32_t)count);
    put_number(image + 8, SIDE);
    put_number(image + 12, SIDE);
    put_number(label, 0x801);
    put_number(label + 4, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        uint64_t random = orch_random_stream_of(1, split, (uint64_t)i);
        label[8 + i] = (uint8_t)(i % CLASSES);
        draw(image + 16 + (size_t)i * SIDE * SIDE, i % CLASSES, &random);
    }
    write_or_exit(images, image, image_bytes);
    write_or_exit(labels, label, label_bytes);
}

/* Sets the data set: Fashion-MNIST, or made images where it is not installed. */
static void choose_data(struct orch_training *t, bool is_made)
{
    struct orch_image_set_options options = {.name = "fashion-mnist"};
    g_autoptr(GPtrArray) files = orch_image_set_files(&options, NULL);
    t->dataset = files && !is_made ? "fashion-mnist" : "mnist";
    printf("images: %s\n", files && !is_made ? "Fashion-MNIST" : "made");
    if (files && !is_made)
        return;
    if (!orch_dir_make("mnist", NULL))
        exit(1);
    write_split("mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte", TRAIN, 1);
    write_split("mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte", TEST, 2);
    t->data_root = ".";
}

/* ---- trainings --------------------------------------------------------------------------------
 */

static struct orch_training training(void)
{
    return (struct orch_training){.per_class = 33,
                                  .image_size = SIDE / 2,
                                  .val_images = 1000,
                                  .flip = true,
                                  .net = "resnet-cifar:8",
                                  .epochs = EPOCHS,
                                  .batch = 32,
                                  .lr = 0.02,
                                  .momentum = 0.9,
                                  .weight_decay = 1e-4,
                                  .optimizer = "sgd",
                                  .schedule = "cosine",
                                  .device = "cpu",
                                  .precision = "fp32",
                                  .data_path = "auto",
                                  .graphs = "auto",
                                  .threads = 1,
                                  .loader_threads = 1};
}

static void train(struct recorder *r, const struct orch_training *t, const char *layout,
                  uint64_t seed)
{
    struct orch_training own = *t;
    own.layout = layout;
    recorder_init(r);
    r->seed = seed;
    if (recorder_train(r, &own, NULL) != ORCH_OK) {
        fprintf(stderr, "layouts: seed %d, %s: %s\n", (int)seed, layout, r->failure->str);
        exit(1);
    }
    if ((recorder_result(r, "channels_last") > 0) != g_str_equal(layout, "channels_last")) {
        fprintf(stderr, "layouts: the training did not use the layout '%s'\n", layout);
        exit(1);
    }
}

/* The largest difference of a metric's points, as a share of the point. */
static double share_apart(const struct recorder *a, const struct recorder *b, const char *metric,
                          guint points)
{
    double worst = 0;
    if (recorder_points(a, metric) != points || recorder_points(b, metric) != points)
        g_error("layouts: not %u points of %s", points, metric);
    for (guint i = 0; i < points; i++)
        worst = fmax(worst, fabs(recorder_point(a, metric, i) / recorder_point(b, metric, i) - 1));
    return worst;
}

/* Prints how far two trainings are apart; returns whether rounding explains it. */
static bool is_same(const struct recorder *plain, const struct recorder *other)
{
    double steps = share_apart(other, plain, "step_loss", STEPS);
    double losses = share_apart(other, plain, "val_loss", EPOCHS);
    double right = 100 * recorder_result(plain, "final_accuracy");
    double points = 100 * recorder_result(other, "final_accuracy") - right;
    printf(
        "seed %d: plain %.2f %% right, channels-last %+.2f points; losses of steps apart by %.2g, "
        "of validation by %.2g\n",
        (int)plain->seed, right, points, steps, losses);
    return steps <= LOSS_SHARE && losses <= LOSS_SHARE && fabs(points) <= POINTS_MAX;
}

static bool compare(bool is_made)
{
    struct orch_training t = training();
    bool ok = true;
    choose_data(&t, is_made);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct recorder plain, other;
        train(&plain, &t, "plain", seed);
        train(&other, &t, "channels_last", seed);
        ok = is_same(&plain, &other) && ok;
        recorder_clear(&plain);
        recorder_clear(&other);
    }
    return ok;
}

int main(int count, char **args)
{
    bool is_made = count == 2 && g_str_equal(args[1], "made");
    if (count != 1 + is_made) {
        fprintf(stderr, "usage: layouts [made]\n");
        return 2;
    }
    g_autofree char *folder = g_dir_make_tmp("orch-layouts-XXXXXX", NULL); /* for weights */
    if (!folder || chdir(folder) != 0) {
        perror("layouts: no scratch folder");
        return 1;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool ok = compare(is_made);
    return chdir("/") == 0 && orch_tree_remove(folder, NULL) && ok ? 0 : 1;
}
