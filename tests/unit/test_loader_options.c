/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loader: copies of samples, shards, batches of plans, and refused options. */
#include "tests/unit/image_fixture.h"

/* Copies of a sample have its label and row, and differ from one another. */
static void test_copies(void **state)
{
    (void)state;
    enum { COPIES = 5, SIZE = 3 * 40 * 40 };
    struct orch_image_set *d = noise_set(3, 40, 40);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader *loader = loader_of(
        s, (struct orch_loader_options){.batch = 10,
                                        .threads = 2,
                                        .shuffle = true,
                                        .copies = COPIES,
                                        .transforms = orch_transforms_crop_flip(20, true)});
    struct orch_loader_batch b;
    int same = 0, pairs = 0;
    for (orch_loader_start(loader, 2); orch_loader_next(loader, &b);) {
        assert_int_equal(b.count, b.samples * COPIES);
        assert_int_equal(b.total, b.count);
        for (int64_t i = 0; i < b.samples; i++)
            for (int64_t j = 0; j < COPIES; j++) {
                const int64_t at = j * b.samples + i;
                assert_int_equal(b.rows[at], b.rows[i]);
                assert_int_equal(b.labels[at], d->labels[b.rows[i]]);
                for (int64_t k = 0; k < j; k++, pairs++)
                    same += memcmp(b.images + at * SIZE, b.images + (k * b.samples + i) * SIZE,
                                   sizeof(float) * SIZE) == 0;
            }
    }
    /* of 41 x 41 x 2 transforms: 530 pairs, 0.16 of them equal on average */
    assert_int_equal(pairs, NOISE_COUNT * COPIES * (COPIES - 1) / 2);
    assert_in_range(same, 0, 4);
    orch_loader_free(loader);
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Compares shard `shard`'s batch with its samples in the whole batch, from `from` on. */
static void assert_part(const struct orch_loader_batch *part, const struct orch_loader_batch *whole,
                        int64_t from, int64_t size)
{
    const int64_t copies = whole->count / whole->samples;
    assert_int_equal(part->total, whole->count);
    assert_int_equal(part->count, part->samples * copies);
    for (int64_t j = 0; j < copies; j++)
        for (int64_t i = 0; i < part->samples; i++) {
            const int64_t here = j * part->samples + i, there = j * whole->samples + from + i;
            assert_int_equal(part->rows[here], whole->rows[there]);
            assert_int_equal(part->labels[here], whole->labels[there]);
            assert_memory_equal(part->images + here * size, whole->images + there * size,
                                sizeof(float) * (size_t)size);
        }
}

/* The shards' batches of size b, one after the other, are the batch of size n * b. */
static void test_shards(void **state)
{
    (void)state;
    enum { SHARDS = 3, SIZE = 3 * 6 * 6 };
    struct orch_image_set *d = noise_set(3, 6, 6);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    for (int last = 0; last < 4; last++) { /* last batches of 5, 4, 2 and 1 of 24 samples */
        orch_subset_limit(s, (int64_t[]){53, 52, 50, 49}[last], 1);
        struct orch_loader_options options = {.batch = 4 * SHARDS * 2,
                                              .shuffle = true,
                                              .drop_last = false,
                                              .copies = 2,
                                              .seed = 5,
                                              .transforms = orch_transforms_crop_flip(2, true)};
        struct orch_loader *whole = loader_of(s, options), *shards[SHARDS];
        options.batch /= SHARDS;
        options.shards = SHARDS;
        for (int r = 0; r < SHARDS; r++) {
            options.shard = r;
            options.threads = r;
            shards[r] = loader_of(s, options);
            assert_int_equal(orch_loader_batches(shards[r]), orch_loader_batches(whole));
            orch_loader_start(shards[r], 1);
        }
        struct orch_loader_batch b, part;
        for (orch_loader_start(whole, 1); orch_loader_next(whole, &b);) {
            int64_t from = 0;
            for (int r = 0; r < SHARDS; r++, from += part.samples) {
                assert_true(orch_loader_next(shards[r], &part));
                assert_part(&part, &b, from, SIZE);
                assert_in_range(part.samples, b.samples / SHARDS, (b.samples + 2) / SHARDS);
            }
            assert_int_equal(from, b.samples);
        }
        for (int r = 0; r < SHARDS; r++) {
            assert_false(orch_loader_next(shards[r], &part));
            orch_loader_free(shards[r]);
        }
        orch_loader_free(whole);
        options.drop_last = true;
        whole = loader_of(s, options);
        assert_int_equal(orch_loader_batches(whole), 2);
        orch_loader_free(whole);
    }
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Rows and plans alone say what the images are. */
static void test_plans_only(void **state)
{
    (void)state;
    enum { SIZE = 3 * 8 * 9 };
    struct orch_image_set *d = noise_set(3, 8, 9);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader_options options = {.batch = 7, .threads = 1, .shuffle = true, .copies = 2};
    static const char *const texts[] = {"crop 3", "flip", "cutout 4", "erase 0.7"};
    assert_true(orch_transforms_parse(texts, 4, 9, 8, &options.transforms, NULL));
    struct orch_loader *loader = loader_of(s, options);
    options.plans_only = true;
    struct orch_loader *plans = loader_of(s, options);
    struct orch_loader_batch b, p;
    orch_loader_start(plans, 0);
    for (orch_loader_start(loader, 0); orch_loader_next(loader, &b);) {
        assert_true(orch_loader_next(plans, &p));
        assert_null(p.images);
        assert_int_equal(p.count, b.count);
        for (int64_t i = 0; i < p.count; i++) {
            float image[SIZE];
            orch_transform_apply(&p.plans[i], orch_loader_table(plans),
                                 (struct orch_image_shape){3, 8, 9}, false,
                                 d->images + p.rows[i] * SIZE, image);
            assert_memory_equal(image, b.images + i * SIZE, sizeof image);
        }
    }
    orch_loader_free(loader);
    orch_loader_free(plans);
    orch_subset_free(s);
    orch_image_set_free(d);
}

static void test_refused_options(void **state)
{
    (void)state;
    static const struct {
        struct orch_loader_options options;
        const char *text;
    } BAD[] = {
        {{.batch = 0}, "batches of 0 samples"},
        {{.batch = 1, .threads = -1}, "-1 threads"},
        {{.batch = 1, .copies = -1}, "-1 copies of each sample"},
        {{.batch = 1, .shards = 2, .shard = 2}, "shard 2 of 2"},
        {{.batch = 1, .shards = 2, .shard = -1}, "shard -1 of 2"},
        {{.batch = 1, .shards = -1}, "shard 0 of -1"},
        {{.batch = 1, .shard = 1}, "shard 1 of 1"},
        {{.batch = 1 << 20, .threads = 2, .copies = 1 << 20},
         "4 batches of 1048576 samples x 1048576 copies of 3x12x12 values take 7152.0 TiB, but "
         "this machine has "},
        {{.batch = INT32_MAX, .threads = 9, .copies = INT32_MAX},
         "2147483647 samples x 2147483647"},
    };
    struct orch_image_set *d = synthetic_set(5, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(BAD); i++) {
        GError *error = NULL;
        assert_null(orch_loader_new(s, &BAD[i].options, &error));
        assert_refused(&error, ORCH_ERROR_RECIPE, BAD[i].text);
        const struct orch_image_shape shape = {d->channels, d->height, d->width};
        assert_false(orch_loader_fits(&BAD[i].options, shape, &error));
        assert_refused(&error, ORCH_ERROR_RECIPE, BAD[i].text);
    }
    const struct orch_loader_options usual = {.batch = 64, .threads = 2, .copies = 32};
    assert_true(orch_loader_fits(&usual, (struct orch_image_shape){3, 32, 32}, NULL));
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* The time of making batches grows with each epoch, with threads and without. */
static void test_time_of_making(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(50, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    for (int threads = 0; threads < 3; threads += 2) {
        struct orch_loader *l =
            loader_of(s, (struct orch_loader_options){.batch = 8, .threads = threads, .copies = 3});
        struct orch_loader_batch b;
        double before = orch_loader_made_s(l);
        assert_true(before == 0);
        for (int epoch = 0; epoch < 3; epoch++) {
            for (orch_loader_start(l, epoch); orch_loader_next(l, &b);)
                ;
            assert_true(orch_loader_made_s(l) > before);
            before = orch_loader_made_s(l);
        }
        assert_true(before < 60);
        orch_loader_free(l);
    }
    orch_subset_free(s);
    orch_image_set_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),         cmocka_unit_test(test_shards),
        cmocka_unit_test(test_plans_only),     cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_time_of_making),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
