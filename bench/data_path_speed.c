/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many images a second are made ready, beside how many a network consumes; 3x32x32 images, crop
 * 4, flip, cutout 16 and normalisation, batches of 128. Prints lines "images/s, what", the medians
 * of ROUNDS measurements that take turns:
 *   the processor's path with 1 and with 4 worker threads
 *   on a GPU, both with the copy to it, and the GPU's path: worker threads draw plans, the kernel
 *     makes the images; a network of one small layer reads the batches
 *   resnet20 training on a batch that lies ready, with 1 thread of the processor, or on the GPU
 * and the ratio of one worker's transforms to what the network consumes.
 *
 * usage: bench_data_path_speed [cpu|cuda [SECONDS [ROUNDS]]]  (defaults cpu, 2 s, 3)
 * Exit status 1 with --strict as the last argument and a ratio below 5; 2 for an error. */
#include "lib/base/ident.h"
#include "lib/base/reals.h"
#include "lib/net/net.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/torch/torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 128, IMAGES = 8192, SIDE = 32, ROUNDS_MAX = 99 };
static const double LEAST_RATIO = 5;

/* What is measured with. */
struct bench {
    const struct orch_torch *torch;
    struct orch_net *net;
    struct orch_torch_model *model;
    struct orch_net *small_net;
    struct orch_torch_model *reader; /* on a GPU: reads the batches; else NULL */
    struct orch_image_set *set;
    struct orch_subset *subset;
    struct orch_torch_images *images; /* NULL: there is no GPU, or no kernel */
    bool is_gpu;
};

static void need(bool ok, GError *error)
{
    if (ok)
        return;
    fprintf(stderr, "bench_data_path_speed: %s\n", error ? error->message : "failed");
    exit(2);
}

static double seconds_since(int64_t begin_ns)
{
    return (double)(orch_mono_ns() - begin_ns) / 1e9;
}

/* Waits for all that a model has queued. */
static void wait_for(const struct bench *b, struct orch_torch_model *model)
{
    struct orch_torch_totals totals;
    GError *error = NULL;
    need(b->torch->totals_take(model, &totals, &error), error);
}

static struct orch_loader *loader_of(const struct bench *b, int threads, bool plans_only)
{
    static const char *const texts[] = {"crop 4", "flip", "cutout 16", "normalise"};
    struct orch_loader_options options = {
        .batch = BATCH, .threads = threads, .shuffle = true, .plans_only = plans_only, .seed = 1};
    GError *error = NULL;
    need(orch_transforms_parse(texts, G_N_ELEMENTS(texts), SIDE, SIDE, &options.transforms, &error),
         error);
    struct orch_loader *loader = orch_loader_new(b->subset, &options, &error);
    need(loader != NULL, error);
    return loader;
}

/* ---- what is measured -------------------------------------------------------------------------
 */

/* Which path is measured. */
struct path {
    int threads;
    bool to_gpu; /* the reader reads the batches */
    bool by_gpu; /* the kernel makes them */
};

static void read_batch(const struct bench *b, const struct path *path, struct orch_loader *loader,
                       const struct orch_loader_batch *batch)
{
    struct orch_torch_batch input = {
        .images = batch->images, .labels = batch->labels, .count = batch->count};
    struct orch_torch_image_plans plans = {.count = batch->count,
                                           .rows = batch->rows,
                                           .plans = batch->plans,
                                           .table = orch_loader_table(loader),
                                           .labels = batch->labels};
    GError *error = NULL;
    need(!path->by_gpu || b->torch->images_make(b->images, &plans, &input, &error), error);
    need(!path->to_gpu || b->torch->evaluate(b->reader, &input, &error), error);
}

static double path_rate(const struct bench *b, const struct path *path, double seconds)
{
    struct orch_loader *loader = loader_of(b, path->threads, path->by_gpu);
    struct orch_loader_batch batch;
    int64_t images = 0, epoch = 0, begin = orch_mono_ns();
    while (seconds_since(begin) < seconds) {
        for (orch_loader_start(loader, epoch++); orch_loader_next(loader, &batch);) {
            read_batch(b, path, loader, &batch);
            images += batch.count;
        }
        if (path->to_gpu)
            wait_for(b, b->reader);
    }
    double rate = (double)images / seconds_since(begin);
    orch_loader_free(loader);
    return rate;
}

static double network_rate(const struct bench *b, double seconds)
{
    struct orch_loader *loader = loader_of(b, 0, false);
    struct orch_loader_batch batch;
    GError *error = NULL;
    int64_t images = 0;
    orch_loader_start(loader, 0);
    orch_loader_next(loader, &batch);
    struct orch_torch_batch input = {
        .images = batch.images, .labels = batch.labels, .count = batch.count};
    need(b->torch->train(b->model, &input, &error), error); /* prepares its kernels */
    wait_for(b, b->model);
    int64_t begin = orch_mono_ns();
    while (seconds_since(begin) < seconds) {
        for (int step = 0; step < (b->is_gpu ? 20 : 1); step++, images += batch.count)
            need(b->torch->train(b->model, &input, &error), error);
        wait_for(b, b->model);
    }
    double rate = (double)images / seconds_since(begin);
    orch_loader_free(loader);
    return rate;
}

static const struct {
    const char *name;
    struct path path; /* 0 threads: the network is measured */
} PARTS[] = {
    {"made by 1 worker thread", {1, false, false}},
    {"made by 4 worker threads", {4, false, false}},
    {"made by 1 worker thread and copied to the GPU", {1, true, false}},
    {"made by 4 worker threads and copied to the GPU", {4, true, false}},
    {"made by the GPU, plans of 1 worker thread", {1, true, true}},
    {"made by the GPU, plans of 4 worker threads", {4, true, true}},
    {"consumed by resnet20, training", {0}},
};
enum { ONE_WORKER = 0, PART_COUNT = G_N_ELEMENTS(PARTS), NETWORK = PART_COUNT - 1 };

static bool is_measured(const struct bench *b, int part)
{
    return (!PARTS[part].path.to_gpu || b->reader) && (!PARTS[part].path.by_gpu || b->images);
}

/* ---- setting up -------------------------------------------------------------------------------
 */

static void copy_images(struct bench *b)
{
    struct orch_torch_image_bytes bytes = {
        .bytes = b->set->images, .count = b->set->count, .shape = {3, SIDE, SIDE}};
    GError *error = NULL;
    b->images = b->torch->images_new(b->model, &bytes, &error);
    if (!b->images)
        fprintf(stderr, "bench_data_path_speed: the GPU's path is not measured: %s\n",
                error->message);
    g_clear_error(&error);
}

static struct orch_torch_model *model_of(const struct bench *b, const char *name,
                                         const char *device, struct orch_net **out_net)
{
    struct orch_net_options net = {
        .name = name, .channels = 3, .height = SIDE, .width = SIDE, .classes = 10};
    struct orch_torch_setup setup = {.device = device, .precision = ORCH_TORCH_TF32};
    struct orch_torch_optimizer sgd = {.momentum = 0.9};
    GError *error = NULL;
    *out_net = orch_net_make(&net, &error);
    need(*out_net != NULL, error);
    struct orch_torch_model *model = b->torch->model_new(*out_net, &setup, &error);
    need(model != NULL, error);
    need(orch_torch_init(b->torch, model, *out_net, 1, &error), error);
    need(b->torch->optimizer_set(model, &sgd, &error), error);
    b->torch->rate_set(model, 0.01);
    return model;
}

static struct bench set_up(const char *device)
{
    struct bench b = {.is_gpu = strcmp(device, "cpu") != 0};
    struct orch_image_set_options data = {.name = "synthetic",
                                          .height = SIDE,
                                          .width = SIDE,
                                          .synthetic_count = IMAGES,
                                          .synthetic_classes = 10,
                                          .seed = 1};
    GError *error = NULL;
    b.torch = orch_torch_load(&error);
    need(b.torch != NULL, error);
    b.torch->threads_set(1);
    b.set = orch_image_set_open(&data, &error);
    need(b.set != NULL, error);
    b.subset = orch_subset_new(b.set, NULL, 0, 0, 1, &error);
    need(b.subset != NULL, error);
    b.model = model_of(&b, "resnet20", device, &b.net);
    if (b.is_gpu) {
        b.reader = model_of(&b, "mlp:8", device, &b.small_net);
        copy_images(&b);
    }
    return b;
}

int main(int argc, char **argv)
{
    const bool is_strict = argc > 1 && strcmp(argv[argc - 1], "--strict") == 0;
    argc -= is_strict;
    const char *device = argc > 1 ? argv[1] : "cpu";
    const double seconds = argc > 2 ? atof(argv[2]) : 2;
    const int rounds = CLAMP(argc > 3 ? atoi(argv[3]) : 3, 1, ROUNDS_MAX);
    static double found[PART_COUNT][ROUNDS_MAX];
    struct bench b = set_up(device);
    for (int round = 0; round < rounds; round++)
        for (int part = 0; part < (int)PART_COUNT; part++)
            if (is_measured(&b, part))
                found[part][round] = part == NETWORK ? network_rate(&b, seconds)
                                                     : path_rate(&b, &PARTS[part].path, seconds);
    for (int part = 0; part < (int)PART_COUNT; part++) {
        orch_reals_sort(found[part], (size_t)rounds);
        if (is_measured(&b, part))
            printf("%9.0f images/s, %s%s\n", found[part][rounds / 2], PARTS[part].name,
                   part != NETWORK ? ""
                   : b.is_gpu      ? " on the GPU"
                                   : " on 1 thread");
    }
    const double ratio = found[ONE_WORKER][rounds / 2] / found[NETWORK][rounds / 2];
    printf("ratio %.1f: transforms of 1 worker thread / what resnet20 consumes\n", ratio);
    if (b.images)
        b.torch->images_free(b.images);
    if (b.reader)
        b.torch->model_free(b.reader);
    b.torch->model_free(b.model);
    orch_net_free(b.net);
    orch_net_free(b.small_net);
    orch_subset_free(b.subset);
    orch_image_set_free(b.set);
    return is_strict && ratio < LEAST_RATIO ? 1 : 0;
}
