/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many 32x32 colour images a second the loader makes, by transforms and number of threads.
 * usage: bench_loader_speed [SECONDS [ROUNDS]]; prints one line for each list of transforms and
 * number of threads: the median of ROUNDS (default 1) measurements of SECONDS (default 1), which
 * take turns, so that other load on the machine hits all of them alike. */
#include "lib/base/ident.h"
#include "lib/base/reals.h"
#include "plugins/common/data/loader.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS_MAX 99

static const struct {
    const char *name, *texts[4];
    size_t count;
    bool channels_last, pad_ahead;
} LISTS[] = {
    {"none", {NULL}, 0, false, false},
    {"crop 4, flip", {"crop 4", "flip"}, 2, false, false},
    {"crop 4, flip, padded ahead", {"crop 4", "flip"}, 2, false, true},
    {"crop 4, flip, cutout 16", {"crop 4", "flip", "cutout 16"}, 3, false, false},
    {"crop 4, flip, cutout 16, erase", {"crop 4", "flip", "cutout 16", "erase"}, 4, false, false},
    {"crop 4, flip (channels last)", {"crop 4", "flip"}, 2, true, false},
    {"crop 4, flip, padded ahead (channels last)", {"crop 4", "flip"}, 2, true, true},
    {"crop 4, flip, cutout 16 (channels last)", {"crop 4", "flip", "cutout 16"}, 3, true, false},
};
static const int THREADS[] = {0, 1, 2, 4};
#define LIST_COUNT G_N_ELEMENTS(LISTS)
#define THREADS_COUNT G_N_ELEMENTS(THREADS)

static double images_per_s(const struct orch_subset *subset, unsigned list, int threads,
                           double seconds)
{
    struct orch_loader_options options = {.batch = 128,
                                          .threads = threads,
                                          .shuffle = true,
                                          .channels_last = LISTS[list].channels_last,
                                          .pad_ahead = LISTS[list].pad_ahead,
                                          .seed = 1};
    orch_transforms_parse(LISTS[list].texts, LISTS[list].count, 32, 32, &options.transforms, NULL);
    struct orch_loader *loader = orch_loader_new(subset, &options, NULL);
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
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const int rounds = CLAMP(argc > 2 ? atoi(argv[2]) : 1, 1, ROUNDS_MAX);
    static double found[LIST_COUNT][THREADS_COUNT][ROUNDS_MAX];
    struct orch_image_set_options options = {
        .name = "synthetic", .height = 32, .width = 32, .synthetic_count = 10000, .seed = 1};
    struct orch_image_set *d = orch_image_set_open(&options, NULL);
    struct orch_subset *subset = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    for (int round = 0; round < rounds; round++)
        for (unsigned t = 0; t < THREADS_COUNT; t++)
            for (unsigned list = 0; list < LIST_COUNT; list++)
                found[list][t][round] = images_per_s(subset, list, THREADS[t], seconds);
    for (unsigned t = 0; t < THREADS_COUNT; t++)
        for (unsigned list = 0; list < LIST_COUNT; list++) {
            orch_reals_sort(found[list][t], (size_t)rounds);
            printf("threads %d: %7.0f images/s, %s\n", THREADS[t], found[list][t][rounds / 2],
                   LISTS[list].name);
        }
    orch_subset_free(subset);
    orch_image_set_free(d);
    return 0;
}
