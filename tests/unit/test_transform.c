/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transforms: parsing, the distribution of what is drawn, and applying a plan. */
#include "tests/unit/image_fixture.h"

#include <math.h>

/* The transforms that `texts` list, up to a NULL. */
static struct orch_transforms parse(const char *const *texts, int width, int height)
{
    struct orch_transforms list;
    GError *error = NULL;
    size_t count = 0;
    while (texts[count])
        count++;
    if (!orch_transforms_parse(texts, count, width, height, &list, &error))
        fail_msg("%s", error->message);
    return list;
}

#define PARSE(width, height, ...) parse((const char *const[]){__VA_ARGS__, NULL}, (width), (height))

static void test_parse(void **state)
{
    (void)state;
    struct orch_transforms t =
        PARSE(32, 28, "crop  4", " flip", "cutout\t28 ", "erase 0.25", "normalise 0.5 0.2");
    assert_int_equal(t.count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(t.items[i].kind, i);
    assert_int_equal(t.items[0].size, 4);
    assert_int_equal(t.items[2].size, 28);
    const struct orch_transform *e = &t.items[3];
    assert_true(e->probability == 0.25 && e->area_min == 0.02 && e->area_max == 0.33);
    assert_true(e->aspect_min == 0.3 && e->aspect_max == 3.3);
    for (int c = 0; c < 3; c++)
        assert_true(t.items[4].mean[c] == 0.5F && t.items[4].std[c] == 0.2F);
    t = PARSE(32, 32, "erase 1 0.1 0.2 0.5 2", "normalise 0.1 0.2 0.3 0.4 0.5 0.6");
    assert_true(t.items[0].area_max == 0.2 && t.items[0].aspect_max == 2);
    assert_true(t.items[1].mean[2] == 0.3F && t.items[1].std[0] == 0.4F);
    t = PARSE(32, 32, "erase", "normalise");
    assert_true(t.items[0].probability == 0.5);
    assert_false(t.items[1].has_values);
    assert_true(orch_transforms_parse(NULL, 0, 32, 32, &t, NULL));
    assert_int_equal(t.count, 0);
}

static void test_refused_texts(void **state)
{
    (void)state;
    static const struct {
        const char *texts[3], *error;
    } BAD[] = {
        {{"flip", "cutuot 8"},
         "unknown transform 'cutuot' in 'cutuot 8': expected crop, flip, cutout, erase, normalise\n"
         "  hint: did you mean 'cutout'?"},
        {{"normalize"}, "did you mean 'normalise'?"},
        {{""}, "unknown transform '' in ''"},
        {{"rotate 5"}, "unknown transform 'rotate' in 'rotate 5': expected crop, flip"},
        {{"crop"}, "transform 'crop' has 0 values: expected crop PIXELS"},
        {{"crop 1 2"}, "transform 'crop 1 2' has 2 values"},
        {{"flip 0.5"}, "transform 'flip 0.5' has 1 values: expected flip"},
        {{"erase 0.5 0.1"}, "has 2 values: expected erase [PROBABILITY"},
        {{"normalise 1 2 3"}, "has 3 values"},
        {{"normalise 1 2 3 4 5 6 7"}, "has 7 values"},
        {{"crop four"}, "transform 'crop four': 'four' is not a number"},
        {{"cutout nan"}, "'nan' is not a number"},
        {{"crop -1"}, "transform 'crop -1': -1 is not a whole number of pixels"},
        {{"crop 1.5"}, "1.5 is not a whole number"},
        {{"crop 1e12"}, "1e+12 is not a whole number"},
        {{"crop 29"},
         "transform 'crop 29': 29 pixels are more than the images have, which are 32 "
         "wide and 28 high"},
        {{"cutout 29"},
         "29 pixels are more than the images have, which are 32 wide and 28 high: choose at most "
         "28"},
        {{"erase 1.1"}, "the probability 1.1"},
        {{"erase 1 0.3 0.2"}, "the shares of the area 0.3 and 0.2"},
        {{"erase 1 0 1.5"}, "the shares of the area 0 and 1.5"},
        {{"erase 1 0 1 0 1"}, "the aspects 0 and 1"},
        {{"normalise 0.5 0"}, "the standard deviation 0 is not above 0"},
        {{"normalise", "normalise"}, "transform 'normalise': normalise is listed twice"},
        {{"crop 2", "flip", "crop 3"}, "transform 'crop 3': crop is listed twice"},
        {{"normalise", "cutout 3"},
         "transform 'cutout 3' comes after 'normalise', but transforms "
         "are applied in the order crop, flip, cutout, erase, "
         "normalise"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(BAD); i++) {
        GError *error = NULL;
        struct orch_transforms list = {.count = 77};
        const size_t count = BAD[i].texts[1] ? BAD[i].texts[2] ? 3 : 2 : 1;
        assert_false(orch_transforms_parse(BAD[i].texts, count, 32, 28, &list, &error));
        assert_refused(&error, ORCH_ERROR_RECIPE, BAD[i].error);
        assert_int_equal(list.count, 77);
    }
}

/* The centre is uniform: on 5 x 4 pixels each of the 20 centres has a clipped square of its own. */
static void test_cutout_is_uniform(void **state)
{
    (void)state;
    const struct orch_transforms t = PARSE(5, 4, "cutout 4");
    static const int from[] = {0, 0, 0, 1, 2}, to[] = {2, 3, 4, 5, 5};
    int seen[4][5] = {{0}};
    for (int i = 0; i < 20000; i++) {
        struct orch_transform_plan plan;
        orch_transforms_draw(&t, 5, 4, orch_transform_stream(1, 0, i, 0), &plan);
        const struct orch_rectangle r = plan.cutout;
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                seen[y][x] += r.x == from[x] && r.x + r.width == to[x] && r.y == from[y] &&
                              r.y + r.height == MIN(to[y], 4);
    }
    for (int i = 0; i < 20; i++) /* 1,000 expected, 31 the standard deviation */
        assert_in_range(seen[i / 5][i % 5], 850, 1150);
}

/* 16 x 16 on 32 x 32: the mean side of the clipped square is 448 / 32 = 14, so that 14^2 = 196
 * pixels are masked in the mean; a square is whole if its centre is one of 17 x 17 pixels of 32
 * x 32. */
static void test_cutout_expectation(void **state)
{
    (void)state;
    enum { IMAGES = 100000 };
    const struct orch_transforms t = PARSE(32, 32, "cutout 16");
    double pixels = 0, whole = 0;
    int least = 1024;
    for (int i = 0; i < IMAGES; i++) {
        struct orch_transform_plan plan;
        orch_transforms_draw(&t, 32, 32, orch_transform_stream(3, 0, i, 0), &plan);
        const int area = plan.cutout.width * plan.cutout.height;
        pixels += area;
        whole += area == 256;
        least = MIN(least, area);
    }
    /* the deviation of one area is 52 pixels: 6 deviations of the mean are 0.99 */
    assert_true(fabs(pixels / IMAGES - 196.0) < 0.99);
    /* 6 x sqrt(0.282 x 0.718 / 100,000) = 0.0085 */
    assert_true(fabs(whole / IMAGES - 17.0 * 17.0 / 1024.0) < 0.0085);
    assert_int_equal(least, 64);
}

/* One pixel square: it is never clipped, and of an odd side the centre is the middle. */
static void test_cutout_of_odd_side(void **state)
{
    (void)state;
    const struct orch_transforms one = PARSE(6, 6, "cutout 1"), three = PARSE(6, 6, "cutout 3");
    for (int i = 0; i < 500; i++) {
        struct orch_transform_plan a, b;
        orch_transforms_draw(&one, 6, 6, orch_transform_stream(1, 0, i, 0), &a);
        orch_transforms_draw(&three, 6, 6, orch_transform_stream(1, 0, i, 0), &b);
        assert_true(a.cutout.width == 1 && a.cutout.height == 1);
        assert_int_equal(b.cutout.x, MAX(a.cutout.x - 1, 0));
        assert_int_equal(b.cutout.x + b.cutout.width, MIN(a.cutout.x + 2, 6));
        assert_int_equal(b.cutout.y, MAX(a.cutout.y - 1, 0));
        assert_int_equal(b.cutout.y + b.cutout.height, MIN(a.cutout.y + 2, 6));
    }
}

/* Share, area, aspect and position of the rectangles that erasing draws. */
static void test_erase_distribution(void **state)
{
    (void)state;
    enum { DRAWS = 20000, SIDE = 200 };
    const struct orch_transforms t = PARSE(SIDE, SIDE, "erase 0.3 0.1 0.2 0.5 2");
    int erased = 0, small = 0, tall = 0, left = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct orch_transform_plan plan;
        orch_transforms_draw(&t, SIDE, SIDE, orch_transform_stream(4, 0, i, 0), &plan);
        const struct orch_rectangle r = plan.erase;
        if (r.width == 0)
            continue;
        const double area = (double)r.width * r.height / (SIDE * SIDE);
        const double aspect = (double)r.height / r.width;
        assert_true(r.x >= 0 && r.y >= 0 && r.x + r.width <= SIDE && r.y + r.height <= SIDE);
        assert_true(area > 0.098 && area < 0.202); /* sides are rounded to a pixel */
        assert_true(aspect > 0.49 && aspect < 2.04);
        erased++;
        small += area < 0.15;
        tall += aspect > 1;
        left += 2 * r.x + r.width < SIDE;
    }
    /* 6,000 expected, 65 the standard deviation; then half of them each, 39 the deviation */
    assert_in_range(erased, 5700, 6300);
    assert_in_range(small, erased / 2 - 200, erased / 2 + 200);
    assert_in_range(tall, erased / 2 - 200, erased / 2 + 200);
    assert_in_range(left, erased / 2 - 200, erased / 2 + 200);
}

/* A rectangle that cannot fit is given up; one of probability 0 or 1 comes never or always. */
static void test_erase_limits(void **state)
{
    (void)state;
    const struct orch_transforms huge = PARSE(8, 8, "erase 1 1 1 1 1");
    const struct orch_transforms never = PARSE(8, 8, "erase 0"), always = PARSE(8, 8, "erase 1");
    for (int i = 0; i < 1000; i++) {
        struct orch_transform_plan plan;
        const uint64_t stream = orch_transform_stream(4, 0, i, 0);
        orch_transforms_draw(&huge, 8, 8, stream, &plan);
        assert_int_equal(plan.erase.width, 0);
        orch_transforms_draw(&never, 8, 8, stream, &plan);
        assert_int_equal(plan.erase.width, 0);
        orch_transforms_draw(&always, 8, 8, stream, &plan);
        assert_true(plan.erase.width > 0 || plan.erase.height > 0);
    }
}

/* A transform draws the same whether others are listed or not. */
static void test_draws_do_not_depend_on_others(void **state)
{
    (void)state;
    const struct orch_transforms all = PARSE(32, 32, "crop 4", "flip", "cutout 8", "erase 0.5"),
                                 basic = orch_transforms_crop_flip(4, true),
                                 cutout = PARSE(32, 32, "cutout 8"),
                                 erase = PARSE(32, 32, "flip", "erase", "normalise");
    for (int i = 0; i < 1000; i++) {
        struct orch_transform_plan a, b, c, e;
        const uint64_t stream = orch_transform_stream(9, 2, i, i % 3);
        orch_transforms_draw(&all, 32, 32, stream, &a);
        orch_transforms_draw(&basic, 32, 32, stream, &b);
        orch_transforms_draw(&cutout, 32, 32, stream, &c);
        orch_transforms_draw(&erase, 32, 32, stream, &e);
        assert_true(a.dx == b.dx && a.dy == b.dy && a.mirror == b.mirror);
        assert_memory_equal(&a.cutout, &c.cutout, sizeof a.cutout);
        assert_memory_equal(&a.erase, &e.erase, sizeof a.erase);
    }
}

/* What one transform draws says nothing about what another draws. */
static void test_draws_are_independent(void **state)
{
    (void)state;
    const struct orch_transforms t = PARSE(32, 32, "crop 16", "flip", "cutout 1", "erase 0.5");
    int seen[2][2][2] = {{{0}}};
    for (int i = 0; i < 8000; i++) {
        struct orch_transform_plan plan;
        orch_transforms_draw(&t, 32, 32, orch_transform_stream(3, 1, i, 0), &plan);
        seen[plan.dx > 0][plan.cutout.x < 16][plan.erase.width > 0]++;
    }
    for (int i = 0; i < 8; i++) /* 970 or 1,030 expected (dx: 33 values), 30 the deviation */
        assert_in_range(seen[i / 4][i / 2 % 2][i % 2], 850, 1150);
}

static bool is_within(struct orch_rectangle r, int x, int y)
{
    return x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
}

/* The definition of a plan, pixel by pixel. */
static float expected_value(const struct orch_transform_plan *p, const struct orch_image_set *d,
                            int c, int x, int y)
{
    const int u = (p->mirror ? d->width - 1 - x : x) + p->dx, v = y + p->dy;
    const bool is_inside = u >= 0 && u < d->width && v >= 0 && v < d->height;
    const float byte = is_inside ? d->images[(c * d->height + v) * d->width + u] : 0;
    if (is_within(p->cutout, x, y) || is_within(p->erase, x, y))
        return 0;
    return (byte / 255.0F - d->mean[c % 3]) / d->std[c % 3];
}

static void assert_applied(const struct orch_transform_plan *plan, const struct orch_image_set *d,
                           const struct orch_transform_table *table, bool channels_last)
{
    const struct orch_image_shape shape = {d->channels, d->height, d->width};
    const int plane = d->height * d->width;
    g_autofree float *out = g_new(float, d->channels *plane + 1);
    out[d->channels * plane] = 777;
    orch_transform_apply(plan, table, shape, channels_last, d->images, out);
    for (int c = 0; c < d->channels; c++)
        for (int y = 0; y < d->height; y++)
            for (int x = 0; x < d->width; x++) {
                const int pixel = y * d->width + x;
                const int at = channels_last ? pixel * d->channels + c : c * plane + pixel;
                assert_true(out[at] == expected_value(plan, d, c, x, y));
            }
    assert_true(out[d->channels * plane] == 777);
}

static void test_apply(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        struct orch_image_set *d = noise_set(channels, 7, 9);
        const struct orch_transforms t = PARSE(9, 7, "flip", "cutout 5", "erase 0.5");
        struct orch_transform_table table;
        orch_transforms_table(&t, d->mean, d->std, &table);
        for (int dx = -11; dx <= 11; dx++)
            for (int dy = -8; dy <= 8; dy++)
                for (int rest = 0; rest < 4; rest++) {
                    struct orch_transform_plan plan;
                    orch_transforms_draw(&t, 9, 7,
                                         orch_transform_stream((uint64_t)rest, dx + 20, dy + 20, 0),
                                         &plan);
                    plan.dx = dx;
                    plan.dy = dy;
                    assert_applied(&plan, d, &table, rest % 2);
                }
        orch_image_set_free(d);
    }
}

static void test_given_mean_and_std(void **state)
{
    (void)state;
    const struct orch_transforms t = PARSE(9, 7, "flip", "normalise 0.1 0.2 0.3 0.5 0.25 0.125");
    const float mean[3] = {1, 1, 1}, std[3] = {0, 1, 1};
    struct orch_transform_table table;
    orch_transforms_table(&t, mean, std, &table);
    assert_true(table.of[0][255] == (1.0F - 0.1F) / 0.5F && table.of[2][0] == -0.3F / 0.125F);
    orch_transforms_table(&(struct orch_transforms){.count = 0}, mean, std, &table);
    assert_true(table.of[0][0] == -1 && table.of[0][255] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refused_texts),
        cmocka_unit_test(test_cutout_is_uniform),
        cmocka_unit_test(test_cutout_expectation),
        cmocka_unit_test(test_cutout_of_odd_side),
        cmocka_unit_test(test_erase_distribution),
        cmocka_unit_test(test_erase_limits),
        cmocka_unit_test(test_draws_do_not_depend_on_others),
        cmocka_unit_test(test_draws_are_independent),
        cmocka_unit_test(test_apply),
        cmocka_unit_test(test_given_mean_and_std),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
