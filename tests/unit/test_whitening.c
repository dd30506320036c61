/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whitening filters, flips that alternate by epoch, and crops from images that were padded ahead.
 */
#include "plugins/common/data/loader.h"
#include "plugins/common/data/whitening.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static struct orch_image_set *synthetic(int channels, int height, int width)
{
    struct orch_image_set_options options = {.name = "synthetic",
                                             .channels = channels,
                                             .height = height,
                                             .width = width,
                                             .synthetic_count = 60,
                                             .synthetic_classes = 3};
    struct orch_image_set *set = orch_image_set_open(&options, NULL);
    assert_non_null(set);
    return set;
}

/* ---- whitening --------------------------------------------------------------------------------
 */

/* The mean of (a' x) (b' x) over all patches x, computed from the definition. */
static double moment(const struct orch_image_set *d, const struct orch_transform_table *table,
                     int kernel, const float *a, const float *b)
{
    double sum = 0;
    int64_t patches = 0;
    for (int64_t n = 0; n < d->count; n++)
        for (int y = 0; y + kernel <= d->height; y++)
            for (int x = 0; x + kernel <= d->width; x++, patches++) {
                double left = 0, right = 0;
                for (int i = 0; i < d->channels * kernel * kernel; i++) {
                    const int c = i / (kernel * kernel), at = i % (kernel * kernel);
                    const int64_t row = (n * d->channels + c) * d->height + y + at / kernel;
                    const uint8_t byte = d->images[row * d->width + x + at % kernel];
                    left += (double)(a[i] * table->of[c % 3][byte]);
                    right += (double)(b[i] * table->of[c % 3][byte]);
                }
                sum += left * right;
            }
    return sum / (double)patches;
}

/* The responses of the first half are uncorrelated, and their mean squares are e / (e + epsilon)
 * for falling e. The second half is the negative. */
static void assert_white(int channels, int kernel, int filters, double epsilon)
{
    struct orch_image_set *d = synthetic(channels, 8, 7);
    struct orch_subset *all = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    const struct orch_transforms none = {.count = 0};
    const struct orch_whitening w = {kernel, kernel, filters, epsilon};
    const int size = channels * kernel * kernel, half = (filters + 1) / 2;
    struct orch_transform_table table;
    g_autofree float *out = g_new0(float, filters *size + 1);
    orch_transforms_table(&none, d->mean, d->std, &table);
    out[filters * size] = 777;
    orch_whitening_filters(all, &table, &w, out);
    assert_true(out[filters * size] == 777);
    double before = 2;
    for (int i = 0; i < half; i++) {
        const double square = moment(d, &table, kernel, out + i * size, out + i * size);
        assert_true(square > 0 && square < 1.01 && square <= before + 0.01);
        before = square;
        if (epsilon < 1e-6 && fabs(square - 1) > 2e-2)
            fail_msg("filter %d of %d: mean square %g", i, half, square);
        for (int j = 0; j < i; j++)
            assert_true(fabs(moment(d, &table, kernel, out + i * size, out + j * size)) < 1e-3);
    }
    for (int i = half; i < filters; i++)
        for (int j = 0; j < size; j++)
            assert_true(out[i * size + j] == -out[(i - half) * size + j]);
    orch_subset_free(all);
    orch_image_set_free(d);
}

static void test_whitening(void **state)
{
    (void)state;
    assert_white(1, 3, 18, 1e-9);
    assert_white(3, 2, 24, 1e-9);
    assert_white(3, 2, 24, 0.5);
    assert_white(3, 2, 7, 1e-9); /* four directions and three negatives */
    assert_white(1, 2, 1, 1e-9);
}

/* Images of one colour have a single direction; the others have the variance 0, and filters that
 * are finite. */
static void test_whitening_of_flat_images(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic(1, 6, 6);
    struct orch_subset *all = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    const struct orch_whitening w = {2, 2, 8, 0.01};
    struct orch_transform_table table;
    float out[8 * 4];
    memset((void *)(uintptr_t)d->images, 200, (size_t)(d->count * 36));
    orch_transforms_table(&(struct orch_transforms){.count = 0}, (float[]){0, 0, 0},
                          (float[]){1, 1, 1}, &table);
    orch_whitening_filters(all, &table, &w, out);
    for (int i = 0; i < 4; i++) /* (1, 1, 1, 1) / 2 over the root of 4 (200 / 255)^2 + 0.01 */
        assert_true(fabs((double)out[i] - 0.5 / sqrt(4 * 200.0 * 200 / 255 / 255 + 0.01)) < 1e-5);
    for (int i = 0; i < 32; i++)
        assert_true(fabs((double)out[i]) <= 10.001); /* 1 / sqrt(0.01) */
    orch_subset_free(all);
    orch_image_set_free(d);
}

/* ---- flips and crops --------------------------------------------------------------------------
 */

static void test_flips_alternate(void **state)
{
    (void)state;
    int mirrored = 0;
    for (int64_t row = 0; row < 1000; row++) {
        const int first = orch_transform_alternate(5, row, 0, 0);
        mirrored += first;
        for (int64_t epoch = 1; epoch < 5; epoch++)
            assert_int_equal(orch_transform_alternate(5, row, epoch, 0), (first + epoch) % 2);
        assert_int_equal(orch_transform_alternate(5, row, 0, 1), 1 - first);
    }
    assert_in_range(mirrored, 420, 580); /* 500 expected, 16 the standard deviation */
}

/* Reads an epoch; the images are those of `rows`. Caller frees both. */
static float *read_epoch(const struct orch_subset *subset,
                         const struct orch_loader_options *options, int64_t epoch, int64_t *rows,
                         int32_t *mirrors)
{
    const struct orch_image_set *d = subset->dataset;
    const int64_t size = (int64_t)d->channels * d->height * d->width;
    float *images = g_new(float, subset->count *size);
    struct orch_loader *loader = orch_loader_new(subset, options, NULL);
    struct orch_loader_batch batch;
    assert_non_null(loader);
    orch_loader_start(loader, epoch);
    for (int64_t at = 0; orch_loader_next(loader, &batch); at += batch.count)
        for (int64_t i = 0; i < batch.count; i++) {
            memcpy(images + (at + i) * size, batch.images + i * size, sizeof(float) * (size_t)size);
            rows[at + i] = batch.rows[i];
            mirrors[batch.rows[i]] = batch.plans[i].mirror;
        }
    orch_loader_free(loader);
    return images;
}

static struct orch_transforms transforms_of(bool alternates)
{
    struct orch_transforms t = orch_transforms_crop_flip(3, true);
    t.items[1].alternates = alternates;
    return t;
}

static void test_loader_alternates(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic(1, 5, 6);
    struct orch_subset *all = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader_options options = {.batch = 7, .shuffle = true, .seed = 3};
    options.transforms = transforms_of(true);
    int64_t rows[60];
    int32_t before[60], now[60];
    g_free(read_epoch(all, &options, 0, rows, before));
    for (int64_t epoch = 1; epoch < 4; epoch++) {
        g_free(read_epoch(all, &options, epoch, rows, now));
        for (int i = 0; i < 60; i++)
            assert_int_equal(now[i], 1 - before[i]);
        memcpy(before, now, sizeof now);
    }
    orch_subset_free(all);
    orch_image_set_free(d);
}

/* The same images to the last bit, in both layouts, for every crop; also for a part of the set. */
static void test_padded_ahead(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 3; channels += 2)
        for (int last = 0; last < 2; last++) {
            struct orch_image_set *d = synthetic(channels, 5, 6);
            struct orch_subset *part = orch_subset_new(d, NULL, 0, 7, 1, NULL);
            struct orch_loader_options options = {.batch = 4,
                                                  .threads = 2,
                                                  .shuffle = true,
                                                  .channels_last = last,
                                                  .seed = 9,
                                                  .transforms = transforms_of(false)};
            int64_t rows[2][21];
            int32_t mirrors[60];
            for (int64_t epoch = 0; epoch < 20; epoch++) {
                options.pad_ahead = false;
                g_autofree float *usual = read_epoch(part, &options, epoch, rows[0], mirrors);
                options.pad_ahead = true;
                g_autofree float *padded = read_epoch(part, &options, epoch, rows[1], mirrors);
                assert_memory_equal(rows[0], rows[1], sizeof rows[0]);
                assert_memory_equal(usual, padded, sizeof(float) * 21 * 30 * (size_t)channels);
            }
            orch_subset_free(part);
            orch_image_set_free(d);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whitening),       cmocka_unit_test(test_whitening_of_flat_images),
        cmocka_unit_test(test_flips_alternate), cmocka_unit_test(test_loader_alternates),
        cmocka_unit_test(test_padded_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
