/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loader: contents of batches, whatever the number of threads. */
#include "lib/base/file.h"
#include "tests/unit/image_fixture.h"

/* Images and labels of two epochs, made by orch 0.1.0 before transforms were a list. */
static const struct {
    int channels, height, width, pad;
    bool flip, channels_last;
    int64_t limit; /* rows of each of three classes; 0: all rows */
    const char *digest;
} EARLIER[] = {
    {3, 12, 12, 2, true, false, 0,
     "3a66c612718ca75e1bfbec6000071946af2468b158b4b8444e3abae89353bb0f"},
    {3, 12, 12, 2, true, true, 0,
     "6d40f30faa8e3468254193098ef91ec8b7299eb65db76f127fccfa425900e04b"},
    {3, 10, 13, 4, true, false, 0,
     "50a147aba76e10db9c2889eb418920adf6b592e087aeffb5822b29576b7ca02f"},
    {1, 9, 7, 3, true, false, 0,
     "70edc5e6876b940e54aa77253c6510fc4b41f891c7ebd945a2a5585961121ea6"},
    {1, 9, 7, 3, true, true, 0, "431e7cd8498c681c59e10041dc655011b2c07380816a5bcece40c80de8bf0d53"},
    {3, 12, 12, 2, false, false, 0,
     "097271dc507f1492d11edd9f08a97798bcc9377e4f1b04c9110e55358b05ffb4"},
    {3, 12, 12, 0, true, true, 0,
     "11f8916f8a94fe31f1be0922f9dd7053776593797b94b77687c5ae239382e8a0"},
    {3, 12, 12, 0, false, false, 3,
     "451585d0c44c12818f00a3c96b2074519081a71d52e9b89fa393954eb1f093cc"},
    {4, 5, 6, 1, true, true, 4, "774e2476fccd83c32abed354b0f59ab93946866ee9a98bb6e82f625a820ee0be"},
    {3, 6, 6, 20, true, false, 0,
     "00649dfeef9322502abaddfa2c140af593e56f4dc6eb7e07b8cd22942e325792"},
};

/* The first copies of two epochs as one digest. */
static void digest_of_first_copies(const struct orch_subset *s, struct orch_loader_options options,
                                   char out[65])
{
    const struct orch_image_set *d = s->dataset;
    const size_t image = sizeof(float) * (size_t)(d->channels * d->height * d->width);
    struct orch_loader *loader = loader_of(s, options);
    struct orch_loader_batch b;
    g_autoptr(GByteArray) all = g_byte_array_new();
    for (int64_t epoch = 0; epoch < 6; epoch += 3)
        for (orch_loader_start(loader, epoch); orch_loader_next(loader, &b);) {
            const size_t samples = (size_t)b.samples;
            g_byte_array_append(all, (const guint8 *)b.images, (guint)(samples * image));
            g_byte_array_append(all, (const guint8 *)b.labels, (guint)(samples * sizeof *b.labels));
        }
    orch_sha256(all->data, all->len, out);
    orch_loader_free(loader);
}

/* A seed gives the batches that it gave in earlier versions, and further copies change nothing of
 * the first one. */
static void test_batches_are_those_of_earlier_versions(void **state)
{
    (void)state;
    const int64_t classes[] = {4, 1, 2};
    for (unsigned i = 0; i < G_N_ELEMENTS(EARLIER); i++) {
        struct orch_image_set *d =
            noise_set(EARLIER[i].channels, EARLIER[i].height, EARLIER[i].width);
        const int64_t limit = EARLIER[i].limit;
        struct orch_subset *s = orch_subset_new(d, classes, limit ? 3 : 0, limit, 7, NULL);
        for (int copies = 0; copies < 4; copies++) {
            char found[65];
            digest_of_first_copies(
                s,
                (struct orch_loader_options){
                    .batch = 8,
                    .threads = copies,
                    .shuffle = true,
                    .channels_last = EARLIER[i].channels_last,
                    .copies = copies,
                    .seed = 3 + i,
                    .transforms = orch_transforms_crop_flip(EARLIER[i].pad, EARLIER[i].flip)},
                found);
            assert_string_equal(found, EARLIER[i].digest);
        }
        orch_subset_free(s);
        orch_image_set_free(d);
    }
}

/* Everything that a loader gives in two epochs, as one digest. */
static void digest_of(const struct orch_subset *s, int threads, int64_t epoch, char out[65])
{
    struct orch_loader_options options = {
        .batch = 8, .threads = threads, .shuffle = true, .copies = 2, .seed = 3};
    static const char *const texts[] = {"crop 2", "flip", "cutout 4", "erase"};
    assert_true(orch_transforms_parse(texts, 4, 12, 12, &options.transforms, NULL));
    struct orch_loader *loader = loader_of(s, options);
    struct orch_loader_batch batch;
    GByteArray *all = g_byte_array_new();
    int64_t images = 0;
    orch_loader_start(loader, 7); /* an epoch that is left in the middle */
    orch_loader_next(loader, &batch);
    for (int64_t e = epoch; e < epoch + 2; e++) {
        orch_loader_start(loader, e);
        while (orch_loader_next(loader, &batch)) {
            images += batch.count;
            g_byte_array_append(all, (const guint8 *)batch.images,
                                (guint)(sizeof(float) * 432 * (size_t)batch.count));
            g_byte_array_append(all, (const guint8 *)batch.labels,
                                (guint)(sizeof(int64_t) * (size_t)batch.count));
        }
    }
    assert_int_equal(images, 2 * 2 * s->count);
    orch_sha256(all->data, all->len, out);
    g_byte_array_unref(all);
    orch_loader_free(loader);
}

static void test_loader_is_the_same_for_every_number_of_threads(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(101, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    char first[65], other[65], later[65];
    digest_of(s, 0, 0, first);
    for (int threads = 1; threads <= 4; threads++) {
        digest_of(s, threads, 0, other);
        assert_string_equal(first, other);
    }
    digest_of(s, 2, 1, later);
    assert_string_not_equal(first, later);
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* Without augmentation: every image once, in order, normalised; and the same values either way
 * round. */
static void test_loader_values(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(30, 1);
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    const int64_t plane = 12 * 12, size = 3 * plane;
    struct orch_loader_options options = {.batch = 8, .threads = 2}, turned = options;
    turned.channels_last = true;
    struct orch_loader *loader = loader_of(s, options);
    struct orch_loader *last = loader_of(s, turned);
    struct orch_loader_batch batch, other;
    int64_t row = 0;
    assert_int_equal(orch_loader_batches(loader), 4);
    orch_loader_start(loader, 0);
    orch_loader_start(last, 0);
    while (orch_loader_next(loader, &batch)) {
        assert_true(orch_loader_next(last, &other));
        assert_int_equal(batch.count, row < 24 ? 8 : 6);
        for (int64_t i = 0; i < batch.count; i++, row++) {
            assert_int_equal(batch.labels[i], d->labels[row]);
            for (int64_t k = 0; k < size; k++) {
                float value = (float)d->images[row * size + k] / 255.0F;
                assert_true(fabsf(batch.images[i * size + k] - (value - 0.5F) / 0.25F) < 1e-5F);
                assert_true(batch.images[i * size + k] ==
                            other.images[i * size + k % plane * 3 + k / plane]);
            }
        }
    }
    assert_int_equal(row, 30);
    orch_loader_free(loader);
    orch_loader_free(last);
    options.drop_last = true;
    loader = loader_of(s, options);
    assert_int_equal(orch_loader_batches(loader), 3);
    orch_loader_free(loader);
    orch_subset_free(s);
    orch_image_set_free(d);
}

/* What padding and mirroring may do: a crop is the image, moved by at most the padding. */
static void test_augmentation(void **state)
{
    (void)state;
    struct orch_image_set *d = synthetic_set(1, 1);
    struct orch_subset *s = g_new0(struct orch_subset, 1);
    int32_t label_of[5] = {0, 1, 2, 3, 4};
    int64_t rows[1] = {0};
    *s = (struct orch_subset){
        .dataset = d, .count = 1, .rows = rows, .label_of = label_of, .classes = 5};
    struct orch_loader_options options = {
        .batch = 1, .transforms = orch_transforms_crop_flip(2, true), .seed = 9};
    struct orch_loader *loader = loader_of(s, options);
    int seen[2][5][5] = {{{0}}};
    for (int epoch = 0; epoch < 1000; epoch++) {
        struct orch_loader_batch batch;
        orch_loader_start(loader, epoch);
        assert_true(orch_loader_next(loader, &batch));
        int found = 0;
        for (int move = 0; move < 50; move++) {
            int mirror = move / 25, dy = move / 5 % 5 - 2, dx = move % 5 - 2, y, x = 0;
            for (y = 0; y < 12; y++) {
                for (x = 0; x < 12; x++) {
                    int v = y + dy, u = (mirror ? 11 - x : x) + dx;
                    float value = v < 0 || v > 11 || u < 0 || u > 11 ? 0 : d->images[v * 12 + u];
                    if (fabsf(batch.images[y * 12 + x] - (value / 255.0F - 0.5F) / 0.25F) > 1e-5F)
                        break;
                }
                if (x < 12)
                    break;
            }
            if (y < 12)
                continue;
            found++;
            seen[mirror][dy + 2][dx + 2]++;
        }
        assert_int_equal(found, 1);
    }
    for (int i = 0; i < 50; i++) /* 20 expected; below 4 or above 45 in less than one of 10,000 */
        assert_in_range(seen[i / 25][i / 5 % 5][i % 5], 4, 45);
    orch_loader_free(loader);
    g_free(s);
    orch_image_set_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches_are_those_of_earlier_versions),
        cmocka_unit_test(test_loader_is_the_same_for_every_number_of_threads),
        cmocka_unit_test(test_loader_values),
        cmocka_unit_test(test_augmentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
