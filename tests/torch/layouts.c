/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains one network from several seeds in plain and in channels-last layout and compares the
 * accuracies, paired by seed. Both layouts compute the same function, but in another order of sums
 * and with other code (on CPUs channels-last fuses batch norm, shortcut and ReLU), so two trainings
 * from a seed drift apart by chance, while a defect of one layout moves all pairs to one side.
 *
 * Passes if the 99 % interval of the mean difference (Student's t) contains zero and reaches less
 * than half a point to either side of the mean, so that a difference of half a point would be
 * detected.
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

enum { SEEDS_MAX = 10 };
/** The difference that must be detected, in points (per cent of the test images). */
static const double POINTS_MAX = 0.5;

/* ---- images -----------------------------------------------------------------------------------
 */

enum { TRAIN = 60000, TEST = 10000, SIDE = 28, CLASSES = 10 };

/* How many seeds bound the difference depends on how much the pairs scatter. */
struct design {
    int seeds;
    double t_99; /* Student's t with seeds - 1 degrees of freedom, two-sided 99 % */
    int side;    /* of the images that are trained on: half is a quarter of the time */
};

static const struct design FASHION = {6, 4.0321, SIDE / 2}, MADE = {SEEDS_MAX, 3.2498, SIDE};

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
        uint64_t random = orch_random_stream(1, split, (uint64_t)i);
        label[8 + i] = (uint8_t)(i % CLASSES);
        draw(image + 16 + (size_t)i * SIDE * SIDE, i % CLASSES, &random);
    }
    write_or_exit(images, image, image_bytes);
    write_or_exit(labels, label, label_bytes);
}

/* Sets the data set: Fashion-MNIST, or made images where it is not installed. */
static const struct design *choose_data(struct orch_training *t, bool is_made)
{
    struct orch_image_set_options options = {.name = "fashion-mnist"};
    g_autoptr(GPtrArray) files = orch_image_set_files(&options, NULL);
    t->dataset = files && !is_made ? "fashion-mnist" : "mnist";
    printf("images: %s\n", files && !is_made ? "Fashion-MNIST" : "made");
    if (files && !is_made)
        return &FASHION;
    if (!orch_dir_make("mnist", NULL))
        exit(1);
    write_split("mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte", TRAIN, 1);
    write_split("mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte", TEST, 2);
    t->data_root = ".";
    return &MADE;
}

/* ---- trainings --------------------------------------------------------------------------------
 */

static struct orch_training training(void)
{
    return (struct orch_training){.per_class = 300,
                                  .val_images = 10,
                                  .full_validation = true,
                                  .flip = true,
                                  .net = "resnet-cifar:8",
                                  .epochs = 2,
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

/* Per cent of all test images that are right after a training. */
static double accuracy(const struct orch_training *t, const char *layout, uint64_t seed)
{
    struct orch_training own = *t;
    struct recorder r;
    own.layout = layout;
    recorder_init(&r);
    r.seed = seed;
    if (recorder_train(&r, &own, NULL) != ORCH_OK) {
        fprintf(stderr, "layouts: seed %d, %s: %s\n", (int)seed, layout, r.failure->str);
        exit(1);
    }
    if ((recorder_result(&r, "channels_last") > 0) != g_str_equal(layout, "channels_last")) {
        fprintf(stderr, "layouts: the training did not use the layout '%s'\n", layout);
        exit(1);
    }
    double found = 100 * recorder_result(&r, "full_accuracy");
    recorder_clear(&r);
    return found;
}

/* Prints the interval; returns whether it can tell POINTS_MAX and contains zero. */
static bool is_same(const struct design *design, const double *differences)
{
    const int count = design->seeds;
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++)
        mean += differences[i] / count;
    for (int i = 0; i < count; i++)
        squares += (differences[i] - mean) * (differences[i] - mean);
    double half = design->t_99 * sqrt(squares / (count - 1) / count);
    printf("channels-last minus plain: %+.2f points, 99 %% interval %+.2f to %+.2f\n", mean,
           mean - half, mean + half);
    if (!(fabs(mean) <= half))
        printf("the layouts differ: the interval does not contain 0\n");
    if (!(half < POINTS_MAX))
        printf("the interval is too wide to detect a difference of %g points\n", POINTS_MAX);
    return half < POINTS_MAX && fabs(mean) <= half;
}

static bool compare(bool is_made)
{
    struct orch_training t = training();
    double differences[SEEDS_MAX];
    const struct design *design = choose_data(&t, is_made);
    t.image_size = design->side;
    for (int i = 0; i < design->seeds; i++) {
        double plain = accuracy(&t, "plain", (uint64_t)i);
        double channels_last = accuracy(&t, "channels_last", (uint64_t)i);
        differences[i] = channels_last - plain;
        printf("seed %d: plain %.2f %%, channels-last %.2f %% right\n", i, plain, channels_last);
    }
    return is_same(design, differences);
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
