/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many 32x32 colour images a second the loader makes, augmented, by number of threads.
 * usage: bench_loader_speed [SECONDS]; prints one line for each number of threads. */
#include "lib/base/ident.h"
#include "plugins/common/data/loader.h"

#include <stdio.h>
#include <stdlib.h>

static double images_per_s(const struct orch_subset *subset, int threads, bool augment,
                           double seconds)
{
    struct orch_loader_options options = {.batch = 128,
                                          .threads = threads,
                                          .shuffle = true,
                                          .crop_pad = augment ? 4 : 0,
                                          .flip = augment,
                                          .seed = 1};
    struct orch_loader *loader = orch_loader_new(subset, &options);
    struct orch_loader_batch batch;
    int64_t begin = orch_mono_ns(), images = 0, epoch = 0;
    while ((double)(orch_mono_ns() - begin) < seconds * 1e9)
        for (orch_loader_start(loader, epoch++); orch_loader_next(loader, &batch);)
            images += batch.count;
    double took = (double)(orch_mono_ns() - begin) / 1e9;
    orch_loader_free(loader);
    return (double)images / took;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct orch_image_set_options options = {
        .name = "synthetic", .height = 32, .width = 32, .synthetic_count = 10000, .seed = 1};
    struct orch_image_set *d = orch_image_set_open(&options, NULL);
    struct orch_subset *subset = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    for (int threads = 0; threads <= 4; threads = threads ? 2 * threads : 1)
        printf("threads %d: %.0f images/s augmented, %.0f plain\n", threads,
               images_per_s(subset, threads, true, seconds),
               images_per_s(subset, threads, false, seconds));
    orch_subset_free(subset);
    orch_image_set_free(d);
    return 0;
}
