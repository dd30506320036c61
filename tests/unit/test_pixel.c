/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function that the GPU's kernel computes a value with (pixel.h) gives what the worker threads'
 * loops give: for each transform and combinations of them, over the batches of two epochs, with
 * copies of each image. */
#include "tests/unit/image_fixture.h"

static const struct {
    const char *texts[ORCH_TRANSFORM_KINDS];
    size_t count;
} LISTS[] = {
    {{NULL}, 0},
    {{"crop 4"}, 1},
    {{"crop 28"}, 1}, /* images that are black but for a corner, or wholly */
    {{"flip"}, 1},
    {{"cutout 8"}, 1},
    {{"erase 1"}, 1},
    {{"normalise 0.1 0.2 0.3 0.4 0.5 0.6"}, 1},
    {{"crop 4", "flip"}, 2},
    {{"flip", "cutout 15"}, 2},
    {{"cutout 8", "erase 0.7"}, 2},
    {{"crop 4", "flip", "cutout 16", "erase 0.5", "normalise 0.5 0.25"}, 5},
};
static const struct orch_image_shape SHAPES[] = {
    {1, 28, 28}, {3, 32, 32}, {3, 64, 64}, {3, 29, 43}};

/* A table whose values are the bytes, so that equal values are equal bytes of the original. */
static struct orch_transform_table byte_table(void)
{
    struct orch_transform_table table;
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            table.of[c][v] = (float)v;
    return table;
}

/* Compares one image; returns how many of its values are not black. */
static int compare_image(const struct orch_transform_plan *plan,
                         const struct orch_transform_table *table, const struct orch_image_set *d,
                         const uint8_t *image, bool channels_last, const float *made)
{
    static const struct orch_transform_table *bytes;
    static struct orch_transform_table memory;
    const struct orch_image_shape shape = {d->channels, d->height, d->width};
    const int values = shape.channels * shape.height * shape.width;
    g_autofree float *expected = g_new(float, values);
    int lit = 0;
    if (!bytes) {
        memory = byte_table();
        bytes = &memory;
    }
    orch_transform_apply(plan, bytes, shape, channels_last, image, expected);
    for (int i = 0; i < values; i++) {
        const float byte = orch_pixel_value(plan, bytes, shape, channels_last, image, i);
        const float value = orch_pixel_value(plan, table, shape, channels_last, image, i);
        assert_true(byte == expected[i]);
        assert_true(fabsf(value - made[i]) <= 1e-6F);
        lit += byte > 0;
    }
    return lit;
}

static void compare_epochs(unsigned list, const struct orch_image_set *d, bool channels_last)
{
    struct orch_subset *s = orch_subset_new(d, NULL, 0, 0, 1, NULL);
    struct orch_loader_options options = {
        .batch = 16, .shuffle = true, .channels_last = channels_last, .copies = 2, .seed = 5};
    if (!orch_transforms_parse(LISTS[list].texts, LISTS[list].count, d->width, d->height,
                               &options.transforms, NULL))
        fail_msg("list %u is refused", list);
    struct orch_loader *whole = loader_of(s, options);
    options.plans_only = true;
    struct orch_loader *plans = loader_of(s, options);
    const int64_t values = (int64_t)d->channels * d->height * d->width;
    struct orch_loader_batch a, b;
    int64_t lit = 0, images = 0;
    for (int epoch = 0; epoch < 2; epoch++) {
        orch_loader_start(whole, epoch);
        orch_loader_start(plans, epoch);
        while (orch_loader_next(whole, &a)) {
            assert_true(orch_loader_next(plans, &b));
            assert_true(a.count == b.count && !b.images);
            assert_memory_equal(a.labels, b.labels, sizeof *a.labels * (size_t)a.count);
            for (int64_t i = 0; i < b.count; i++)
                lit += compare_image(&b.plans[i], orch_loader_table(plans), d,
                                     d->images + b.rows[i] * values, channels_last,
                                     a.images + i * values);
            images += b.count;
        }
        assert_false(orch_loader_next(plans, &b));
    }
    assert_int_equal(images, 4 * s->count);
    assert_true(lit > images * values / 10); /* what was compared is not all black */
    orch_loader_free(whole);
    orch_loader_free(plans);
    orch_subset_free(s);
}

static void test_equals_apply(void **state)
{
    (void)state;
    for (unsigned shape = 0; shape < G_N_ELEMENTS(SHAPES); shape++) {
        struct orch_image_set *d =
            noise_set(SHAPES[shape].channels, SHAPES[shape].height, SHAPES[shape].width);
        for (unsigned list = 0; list < G_N_ELEMENTS(LISTS); list++)
            for (int channels_last = 0; channels_last < 2; channels_last++)
                compare_epochs(list, d, channels_last);
        orch_image_set_free(d);
    }
}

/* Every shift, on images of odd sides and of up to four channels. */
static void test_all_shifts(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        struct orch_image_set *d = noise_set(channels, 7, 9);
        struct orch_transform_table table;
        orch_transforms_table(&(struct orch_transforms){.count = 0}, d->mean, d->std, &table);
        g_autofree float *made = g_new(float, channels * 63);
        for (int dx = -11; dx <= 11; dx++)
            for (int dy = -8; dy <= 8; dy++)
                for (int rest = 0; rest < 4; rest++) {
                    const struct orch_transform_plan plan = {
                        .dx = dx, .dy = dy, .mirror = rest / 2, .cutout = {2, 1, 5, 3}};
                    orch_transform_apply(&plan, &table, (struct orch_image_shape){channels, 7, 9},
                                         rest % 2, d->images, made);
                    compare_image(&plan, &table, d, d->images, rest % 2, made);
                }
        orch_image_set_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equals_apply),
        cmocka_unit_test(test_all_shifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
