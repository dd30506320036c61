/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets in memory for the tests of subsets, transforms and the loader. */
#ifndef ORCH_TESTS_IMAGE_FIXTURE_H
#define ORCH_TESTS_IMAGE_FIXTURE_H

#include "lib/base/error.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/data/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#define NOISE_COUNT 53

/* NOISE_COUNT images of random bytes, of 5 classes in turn; each channel has its own mean and std.
 */
static inline struct orch_image_set *noise_set(int channels, int height, int width)
{
    struct orch_image_set *d = g_new0(struct orch_image_set, 1);
    d->name = g_strdup("noise");
    d->count = NOISE_COUNT;
    d->channels = channels;
    d->height = height;
    d->width = width;
    d->classes = 5;
    const int64_t bytes = d->count * channels * height * width;
    d->images = g_malloc((gsize)bytes);
    d->labels = g_new(int32_t, d->count);
    uint64_t random = orch_random_stream_of(1, 2, 3);
    for (int64_t i = 0; i < bytes; i++)
        d->images[i] = (uint8_t)orch_random_below_32(&random, 256);
    for (int64_t i = 0; i < d->count; i++)
        d->labels[i] = (int32_t)(i % 5);
    for (int c = 0; c < 3; c++) {
        d->mean[c] = 0.4F + 0.05F * (float)c;
        d->std[c] = 0.2F + 0.03F * (float)c;
    }
    return d;
}

/* Images of 3 x 12 x 12 with 5 classes. */
static inline struct orch_image_set *synthetic_set(int64_t count, uint64_t seed)
{
    struct orch_image_set_options options = {.name = "synthetic",
                                             .channels = 3,
                                             .height = 12,
                                             .width = 12,
                                             .synthetic_count = count,
                                             .synthetic_classes = 5,
                                             .seed = seed};
    return orch_image_set_open(&options, NULL);
}

/* A loader of which no option is wrong. */
static inline struct orch_loader *loader_of(const struct orch_subset *s,
                                            struct orch_loader_options options)
{
    GError *error = NULL;
    struct orch_loader *loader = orch_loader_new(s, &options, &error);
    if (!loader)
        fail_msg("%s", error->message);
    return loader;
}

/* Holds an error against its code and a part of its text, and clears it. */
static inline void assert_refused(GError **error, int code, const char *part)
{
    assert_non_null(*error);
    assert_int_equal((*error)->code, code);
    if (!strstr((*error)->message, part))
        fail_msg("'%s' lacks '%s'", (*error)->message, part);
    g_clear_error(error);
}

#endif
