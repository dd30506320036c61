/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Images with boxes: transforms that keep boxes true, generated images, batches. */
#include "tests/unit/image_files_fixture.h"

#include "plugins/common/data/random.h"
#include "plugins/common/data/transform.h"
#include "plugins/common/scenes/generated_scenes.h"
#include "plugins/common/scenes/scene_loader.h"

#include <math.h>
#include <string.h>

#define assert_near(a, b, tolerance) assert_float_equal((float)(a), (float)(b), (float)(tolerance))

static const struct orch_scene_pixels PLAIN = {32, ORCH_SCENE_MEAN, ORCH_SCENE_DEVIATION};

/* ---- texts ------------------------------------------------------------------------------------
 */

static void test_parse(void **state)
{
    (void)state;
    struct orch_scene_transforms t;
    const char *all[] = {"distort", " expand  2.5 ", "crop", "flip"};
    assert_true(orch_scene_transforms_parse(all, 4, &t, NULL));
    assert_true(t.distorts && t.crops && t.flips && t.expand == 2.5);
    const char *expand[] = {"expand"};
    assert_true(orch_scene_transforms_parse(expand, 1, &t, NULL));
    assert_true(!t.distorts && !t.crops && !t.flips && t.expand == 4);
    assert_true(orch_scene_transforms_parse(NULL, 0, &t, NULL));
    assert_true(t.expand == 0);
    static const struct {
        const char *texts[2], *error;
    } BAD[] = {
        {{"flipp"},
         "unknown transform 'flipp' in 'flipp': expected distort, expand, crop, flip\n"
         "  hint: did you mean 'flip'?"},
        {{""}, "unknown transform ''"},
        {{"crop 3"}, "transform 'crop 3' takes no value"},
        {{"expand much"}, "transform 'expand much': its factor must be from 1 to 16"},
        {{"expand 0.5"}, "its factor must be"},
        {{"expand 1000"}, "its factor must be"},
        {{"crop", "crop"}, "transform 'crop' comes twice"},
        {{"crop", "expand"},
         "transform 'expand' is listed too late\n  hint: list each transform once"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        g_autoptr(GError) error = NULL;
        assert_false(
            orch_scene_transforms_parse(BAD[i].texts, BAD[i].texts[1] ? 2 : 1, &t, &error));
        if (!strstr(error->message, BAD[i].error))
            fail_msg("'%s' not in '%s'", BAD[i].error, error->message);
    }
}

/* ---- plans ------------------------------------------------------------------------------------
 */

static float unit(uint64_t *random)
{
    return (float)orch_random_unit(random);
}

static struct orch_box random_box(uint64_t *random)
{
    const float w = 0.05F + 0.5F * unit(random), h = 0.05F + 0.5F * unit(random);
    const float x = (1 - w) * unit(random), y = (1 - h) * unit(random);
    return (struct orch_box){x, y, x + w, y + h};
}

static void assert_same_box(struct orch_box a, struct orch_box b, double tolerance)
{
    assert_near(a.x1, b.x1, tolerance);
    assert_near(a.y1, b.y1, tolerance);
    assert_near(a.x2, b.x2, tolerance);
    assert_near(a.y2, b.y2, tolerance);
}

static void test_flip(void **state)
{
    (void)state;
    struct orch_scene_plan plan = orch_scene_plan_none();
    plan.is_mirrored = true;
    uint64_t random = 3;
    for (int i = 0; i < 500; i++) {
        const struct orch_box box = random_box(&random);
        struct orch_box once, twice;
        int64_t object;
        assert_int_equal(orch_scene_plan_boxes(&plan, &box, 1, &once, &object), 1);
        assert_int_equal(orch_scene_plan_boxes(&plan, &once, 1, &twice, &object), 1);
        assert_near(once.x1, 1 - box.x2, 1e-6);
        assert_near(orch_box_area(once), orch_box_area(box), 1e-6);
        assert_same_box(twice, box, 1e-6);
    }
    /* and pixels: the mirrored image is the image read from right to left */
    uint8_t pixels[20 * 31 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)orch_random_below_32(&random, 256);
    const struct orch_scene_image image = {31, 20, pixels, NULL};
    static float straight[3 * 32 * 32], mirrored[3 * 32 * 32];
    const struct orch_scene_plan none = orch_scene_plan_none();
    orch_scene_plan_apply(&none, &image, &PLAIN, straight);
    orch_scene_plan_apply(&plan, &image, &PLAIN, mirrored);
    for (int row = 0; row < 3 * 32; row++)
        for (int x = 0; x < 32; x++)
            assert_near(mirrored[row * 32 + x], straight[row * 32 + 31 - x], 1e-5);
}

static void test_same_size_is_the_image(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint8_t pixels[32 * 32 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)orch_random_below_32(&random, 256);
    const struct orch_scene_image image = {32, 32, pixels, NULL};
    static float out[3 * 32 * 32];
    const struct orch_scene_plan none = orch_scene_plan_none();
    orch_scene_plan_apply(&none, &image, &PLAIN, out);
    for (int i = 0; i < 32 * 32; i++)
        for (int c = 0; c < 3; c++)
            assert_near(out[c * 32 * 32 + i], ((float)pixels[3 * i + c] - 127) / 128, 1e-5);
}

/* What every plan keeps to, whatever was drawn. */
static void check_boxes(const struct orch_scene_plan *plan, const struct orch_box *boxes,
                        int64_t count)
{
    struct orch_box out[8];
    int64_t object[8], expected = 0;
    const struct orch_box w = plan->window;
    const int64_t kept = orch_scene_plan_boxes(plan, boxes, count, out, object);
    for (int64_t i = 0; i < count; i++) {
        const double x = ((double)boxes[i].x1 + (double)boxes[i].x2) / 2;
        const double y = ((double)boxes[i].y1 + (double)boxes[i].y2) / 2;
        expected += (float)x > w.x1 && (float)x < w.x2 && (float)y > w.y1 && (float)y < w.y2;
    }
    assert_int_equal(kept, expected);
    for (int64_t i = 0; i < kept; i++) {
        const struct orch_box from = boxes[object[i]], shown = orch_box_overlap(from, w);
        const double size = (double)orch_box_area(w);
        assert_true(out[i].x1 >= 0 && out[i].y1 >= 0 && out[i].x2 <= 1 && out[i].y2 <= 1);
        assert_true(orch_box_is_proper(out[i]));
        assert_near(orch_box_area(out[i]), (double)orch_box_area(shown) / size, 1e-4);
        double x = ((double)shown.x1 + (double)shown.x2) / 2;
        x = (x - (double)w.x1) / ((double)w.x2 - (double)w.x1);
        assert_near((out[i].x1 + out[i].x2) / 2, plan->is_mirrored ? 1 - x : x, 1e-4);
        const double y = ((double)shown.y1 + (double)shown.y2) / 2;
        assert_near((out[i].y1 + out[i].y2) / 2, (y - (double)w.y1) / ((double)w.y2 - (double)w.y1),
                    1e-4);
    }
}

struct counts {
    int mirrored, grown, cropped, distorted, shown;
};

/* Draws many plans for an image of 500 x 375 pixels with 0 to 4 objects. */
static struct counts draw_many(const struct orch_scene_transforms *transforms, int rounds)
{
    struct counts counts = {0};
    uint64_t random = 29;
    for (int i = 0; i < rounds; i++) {
        struct orch_box boxes[4];
        const int64_t count = i % 5;
        for (int64_t k = 0; k < count; k++)
            boxes[k] = random_box(&random);
        const struct orch_scene_plan plan = orch_scene_plan_draw(transforms, 500, 375, boxes, count,
                                                                 orch_transform_stream(1, 0, i, 0));
        const struct orch_box w = plan.window;
        const double width = (double)w.x2 - (double)w.x1, height = (double)w.y2 - (double)w.y1;
        counts.mirrored += plan.is_mirrored;
        counts.grown += width > 1.0001;
        counts.cropped += width < 0.9999 && height < 0.9999;
        counts.distorted += plan.colour[0][0] != 1 || plan.colour[0][3] != 0;
        check_boxes(&plan, boxes, count);
        struct orch_box out[4];
        int64_t object[4];
        const int64_t kept = orch_scene_plan_boxes(&plan, boxes, count, out, object);
        assert_true(count == 0 || kept > 0);
        counts.shown += kept == count;
    }
    return counts;
}

static void test_drawn_plans(void **state)
{
    (void)state;
    enum { ROUNDS = 4000 };
    const struct orch_scene_transforms none = {0}, flips = {.flips = true}, grows = {.expand = 4},
                                       crops = {.crops = true}, all = {true, 4, true, true};
    struct counts c = draw_many(&none, ROUNDS);
    assert_true(c.mirrored == 0 && c.grown == 0 && c.cropped == 0 && c.distorted == 0);
    c = draw_many(&flips, ROUNDS);
    assert_true(c.mirrored > 0.46 * ROUNDS && c.mirrored < 0.54 * ROUNDS && c.cropped == 0);
    c = draw_many(&grows, ROUNDS);
    assert_true(c.grown > 0.46 * ROUNDS && c.grown < 0.54 * ROUNDS);
    assert_int_equal(c.shown, ROUNDS); /* nothing leaves the canvas */
    c = draw_many(&crops, ROUNDS);
    assert_true(c.cropped > 0.6 * ROUNDS && c.cropped < 0.9 * ROUNDS && c.grown == 0);
    assert_true(c.shown < ROUNDS);
    c = draw_many(&all, ROUNDS);
    assert_true(c.distorted > 0.8 * ROUNDS && c.mirrored > 0.46 * ROUNDS);
}

static void test_crops(void **state)
{
    (void)state;
    const struct orch_scene_transforms crops = {.crops = true};
    const struct orch_box box = {0.3F, 0.3F, 0.7F, 0.7F};
    int wide = 0, tight = 0;
    for (int i = 0; i < 2000; i++) {
        const struct orch_box w =
            orch_scene_plan_draw(&crops, 500, 375, &box, 1, orch_transform_stream(9, 0, i, 0))
                .window;
        const double width = (double)w.x2 - (double)w.x1, height = (double)w.y2 - (double)w.y1;
        assert_true(w.x1 >= 0 && w.y1 >= 0 && w.x2 <= 1.00001F && w.y2 <= 1.00001F);
        assert_true(width > 0.2999 && height > 0.2999);
        const double aspect = width * 500 / (height * 375);
        assert_true((aspect > 0.4999 && aspect < 2.0001) || (width == 1 && height == 1));
        wide += aspect > 1.9;
        tight += orch_box_iou(w, box, 0) >= 0.5F;
    }
    assert_true(wide > 0);
    /* of the crops without a threshold one in thirty overlaps the object by 0.5 */
    assert_true(tight > 0.15 * 2000);
}

/* A white object on black: after any plan, what the box says is white is white. */
static void check_pixels(const struct orch_scene_plan *plan, struct orch_box box)
{
    enum { W = 80, H = 60 };
    static uint8_t pixels[W * H * 3];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            memset(pixels + (y * W + x) * 3,
                   x >= box.x1 * W && x < box.x2 * W && y >= box.y1 * H && y < box.y2 * H ? 255 : 0,
                   3);
    const struct orch_scene_image image = {W, H, pixels, NULL};
    static float out[3 * 32 * 32];
    struct orch_box moved;
    int64_t object;
    orch_scene_plan_apply(plan, &image, &PLAIN, out);
    if (!orch_scene_plan_boxes(plan, &box, 1, &moved, &object))
        return;
    /* the filter blurs by a pixel of the result, or of the image, whichever is wider */
    const float window =
        fminf(plan->window.x2 - plan->window.x1, plan->window.y2 - plan->window.y1);
    const float margin = fmaxf(1.1F / 32, 1.5F / (60 * window));
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++) {
            const float u = ((float)x + 0.5F) / 32, v = ((float)y + 0.5F) / 32;
            const float value = out[y * 32 + x];
            if (u > moved.x1 + margin && u < moved.x2 - margin && v > moved.y1 + margin &&
                v < moved.y2 - margin)
                assert_near(value, 1, 1e-3);
            if (u < moved.x1 - margin || u > moved.x2 + margin || v < moved.y1 - margin ||
                v > moved.y2 + margin)
                assert_true(fabsf(value + 127.0F / 128) < 1e-3F || value == 0);
        }
}

static void test_boxes_fit_pixels(void **state)
{
    (void)state;
    const struct orch_scene_transforms moves = {.expand = 3, .crops = true, .flips = true};
    uint64_t random = 31;
    for (int i = 0; i < 300; i++) {
        struct orch_box box = random_box(&random);
        box = (struct orch_box){roundf(box.x1 * 80) / 80, roundf(box.y1 * 60) / 60,
                                roundf(box.x2 * 80) / 80, roundf(box.y2 * 60) / 60};
        const struct orch_scene_plan plan =
            orch_scene_plan_draw(&moves, 80, 60, &box, 1, orch_transform_stream(2, 0, i, 0));
        check_pixels(&plan, box);
    }
}

static void test_colours(void **state)
{
    (void)state;
    const struct orch_scene_transforms distorts = {.distorts = true};
    for (int i = 0; i < 500; i++) {
        const struct orch_scene_plan plan =
            orch_scene_plan_draw(&distorts, 10, 10, NULL, 0, orch_transform_stream(3, 0, i, 0));
        float contrast[3];
        for (int c = 0; c < 3; c++)
            contrast[c] = plan.colour[c][0] + plan.colour[c][1] + plan.colour[c][2];
        /* grey stays grey, and the brightness moves with the contrast */
        assert_near(contrast[1], contrast[0], 1e-4);
        assert_near(contrast[2], contrast[0], 1e-4);
        assert_true(contrast[0] > 0.4999F && contrast[0] < 1.5001F);
        assert_true(plan.colour[0][3] == plan.colour[1][3] &&
                    plan.colour[0][3] == plan.colour[2][3]);
        assert_true(fabsf(plan.colour[0][3]) <= 32 * contrast[0] * 1.0001F);
        /* brightness of a colour, but for the contrast: luma is kept */
        const double luma = 0.299 * (double)plan.colour[0][0] + 0.587 * (double)plan.colour[1][0] +
                            0.114 * (double)plan.colour[2][0];
        assert_near(luma, 0.299 * (double)contrast[0], 1e-3);
    }
}

/* ---- generated images -------------------------------------------------------------------------
 */

#define CLOTHES 40

/* Bright rectangles as Fashion-MNIST: those of class k are k + 8 pixels wide, 20 high in the
 * training images and 12 in the test images. */
static void write_clothes(void)
{
    static uint8_t images[16 + CLOTHES * 784], labels[8 + CLOTHES];
    for (int test = 0; test < 2; test++) {
        const uint8_t head[16] = {0, 0, 8, 3, 0, 0, 0, CLOTHES, 0, 0, 0, 28, 0, 0, 0, 28};
        const uint8_t label_head[8] = {0, 0, 8, 1, 0, 0, 0, CLOTHES};
        memset(images, 0, sizeof images);
        memcpy(images, head, 16);
        memcpy(labels, label_head, 8);
        for (int i = 0; i < CLOTHES; i++) {
            labels[8 + i] = (uint8_t)(i % 10);
            for (int y = 3; y < (test ? 15 : 23); y++)
                memset(images + 16 + i * 784 + y * 28 + 2, 200, (size_t)(i % 10 + 8));
        }
        const char *name = test ? "t10k" : "train";
        g_autofree char *image_file =
            g_strdup_printf("fashion-mnist/%s-images-idx3-ubyte.gz", name);
        g_autofree char *label_file =
            g_strdup_printf("fashion-mnist/%s-labels-idx1-ubyte.gz", name);
        write_bytes(image_file, images, sizeof images, true);
        write_bytes(label_file, labels, sizeof labels, true);
    }
}

static struct orch_scene_set *generate(const struct orch_generated_scenes *options)
{
    GError *error = NULL;
    struct orch_generated_scenes o = *options;
    o.root = folder;
    struct orch_scene_set *set = orch_generated_scenes_new(&o, &error);
    if (!set)
        fail_msg("%s", error->message);
    return set;
}

static void test_generated(void **state)
{
    (void)state;
    write_clothes();
    struct orch_generated_scenes options = orch_generated_scenes_usual(ORCH_SPLIT_TRAIN, 60, 4);
    struct orch_scene_set *set = generate(&options);
    assert_int_equal(set->count, 60);
    assert_int_equal(set->classes, 11);
    assert_string_equal(set->class_names[0], "background");
    assert_null(set->class_names[11]);
    int seen[11] = {0}, several = 0, overlaps = 0;
    for (int64_t i = 0; i < set->count; i++) {
        const int64_t from = set->first[i], to = set->first[i + 1];
        assert_true(to > from && to - from <= 4);
        assert_true(set->widths[i] >= 96 && set->widths[i] <= 160);
        assert_true(set->heights[i] >= 96 && set->heights[i] <= 160);
        several += to - from > 1;
        for (int64_t k = from; k < to; k++) {
            const struct orch_box b = set->boxes[k];
            assert_true(orch_box_is_proper(b) && b.x1 >= 0 && b.y1 >= 0 && b.x2 <= 1 && b.y2 <= 1);
            seen[set->labels[k]]++;
            for (int64_t m = from; m < k; m++) {
                const float both = orch_box_area(orch_box_overlap(b, set->boxes[m]));
                overlaps += both > 0;
                assert_true(both <= 0.401F * fminf(orch_box_area(b), orch_box_area(set->boxes[m])));
            }
        }
    }
    for (int label = 1; label < 11; label++)
        assert_true(seen[label] > 0);
    assert_true(several > 20 && overlaps > 5);
    const struct orch_box_batch objects = {set->count, set->first, set->boxes, set->labels};
    assert_true(orch_box_batch_check(&objects, set->classes, NULL));

    /* the same again; fewer images are the first ones; another seed or split gives others */
    struct orch_scene_set *again = generate(&options);
    assert_memory_equal(again->pixels, set->pixels, (size_t)set->pixels_at[60]);
    assert_memory_equal(again->boxes, set->boxes, sizeof(struct orch_box) * (size_t)set->first[60]);
    orch_scene_set_free(again);
    options.count = 10;
    struct orch_scene_set *fewer = generate(&options);
    assert_memory_equal(fewer->pixels, set->pixels, (size_t)fewer->pixels_at[10]);
    options.seed = 5;
    struct orch_scene_set *other = generate(&options);
    options = orch_generated_scenes_usual(ORCH_SPLIT_TEST, 10, 4);
    struct orch_scene_set *test = generate(&options);
    assert_true(memcmp(other->pixels, set->pixels, 1000) != 0);
    assert_true(memcmp(test->pixels, set->pixels, 1000) != 0);
    orch_scene_set_free(test);
    orch_scene_set_free(fewer);
    orch_scene_set_free(other);
    orch_scene_set_free(set);
}

static const uint8_t *pixel_at(const struct orch_scene_image *image, int x, int y)
{
    return image->pixels + (y * image->width + x) * 3;
}

/* One object of even brightness on each canvas: its box is where the even colour is. */
static void test_generated_boxes_fit(void **state)
{
    (void)state;
    const int64_t classes[] = {9, 2};
    const struct orch_generated_scenes options = {NULL, ORCH_SPLIT_TEST, 40, 50, 70, 1, 1, 0.3,
                                                  0.6,  classes,         2,  8};
    struct orch_scene_set *set = generate(&options);
    assert_int_equal(set->classes, 3);
    int labels[3] = {0};
    for (int64_t i = 0; i < set->count; i++) {
        struct orch_scene_image image;
        assert_int_equal(set->first[i + 1] - set->first[i], 1);
        assert_true(orch_scene_image_get(set, i, &image, NULL));
        const struct orch_box b = set->boxes[i];
        const int x1 = (int)lrintf(b.x1 * (float)image.width),
                  x2 = (int)lrintf(b.x2 * (float)image.width),
                  y1 = (int)lrintf(b.y1 * (float)image.height),
                  y2 = (int)lrintf(b.y2 * (float)image.height);
        const uint8_t *middle = pixel_at(&image, (x1 + x2) / 2, (y1 + y2) / 2);
        for (int y = y1 + 2; y < y2 - 2; y++)
            for (int x = x1 + 2; x < x2 - 2; x++)
                assert_memory_equal(pixel_at(&image, x, y), middle, 3);
        int same = 0;
        for (int x = x1; x < x2; x++) {
            same += y1 > 0 && memcmp(pixel_at(&image, x, y1 - 1), middle, 3) == 0;
            same += y2 < image.height && memcmp(pixel_at(&image, x, y2), middle, 3) == 0;
        }
        assert_true(same < (x2 - x1) / 2);
        labels[set->labels[i]]++;
        /* class 9 is 17 of 12 pixels wide, class 2 is 10: stretched by 0.8 to 1.2 */
        const double aspect = (double)(x2 - x1) / (y2 - y1);
        assert_true(set->labels[i] == 1 ? aspect > 1.0 : aspect < 1.1);
    }
    assert_true(labels[1] > 5 && labels[2] > 5);
    orch_scene_set_free(set);
}

static void test_refused_generated(void **state)
{
    (void)state;
    const int64_t unknown[] = {3, 10};
    struct orch_generated_scenes good = orch_generated_scenes_usual(ORCH_SPLIT_TRAIN, 3, 1);
    good.root = folder;
    struct orch_generated_scenes bad[] = {good, good, good, good, good, good};
    bad[0].count = 0;
    bad[1].side_max = 95;
    bad[2].objects_max = 65;
    bad[3].size_max = 1.5;
    bad[4].classes = unknown;
    bad[4].class_count = 2;
    bad[5].count = ORCH_SCENES_MAX;
    bad[5].side_min = bad[5].side_max = 1024;
    static const char *const ERRORS[] = {"0 generated images of 96 to 160 pixels",
                                         "of 96 to 95 pixels",
                                         "1 to 65 objects",
                                         "of sizes 0.2 to 1.5",
                                         "10",
                                         "5000000 generated images take"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(orch_generated_scenes_new(&bad[i], &error));
        if (!strstr(error->message, ERRORS[i]))
            fail_msg("'%s' not in '%s'", ERRORS[i], error->message);
    }
    good.root = "/nonexistent";
    g_autoptr(GError) error = NULL;
    assert_null(orch_generated_scenes_new(&good, &error));
    assert_non_null(strstr(error->message, "data set 'fashion-mnist' was not found"));
}

/* ---- batches ----------------------------------------------------------------------------------
 */

/* A digest of two epochs: pixels, boxes, labels, rows. */
static char *digest_of(const struct orch_scene_set *set,
                       const struct orch_scene_loader_options *options)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    struct orch_scene_loader *loader = orch_scene_loader_new(set, options, NULL);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        struct orch_scene_batch b;
        GError *error = NULL;
        int64_t batches = 0;
        orch_scene_loader_start(loader, epoch);
        for (; orch_scene_loader_next(loader, &b, &error); batches++) {
            const int64_t objects = b.objects.first[b.count];
            g_checksum_update(sum, (const guchar *)b.images, (gssize)(b.count * 3 * 32 * 32 * 4));
            g_checksum_update(sum, (const guchar *)b.objects.boxes, (gssize)(objects * 16));
            g_checksum_update(sum, (const guchar *)b.objects.labels, (gssize)(objects * 4));
            g_checksum_update(sum, (const guchar *)b.rows, (gssize)(b.count * 8));
            assert_true(orch_box_batch_check(&b.objects, set->classes, NULL));
        }
        assert_null(error);
        assert_int_equal(batches, orch_scene_loader_batches(loader));
    }
    orch_scene_loader_free(loader);
    char *text = g_strdup(g_checksum_get_string(sum));
    g_checksum_free(sum);
    return text;
}

static void test_threads(void **state)
{
    (void)state;
    const struct orch_generated_scenes scenes =
        orch_generated_scenes_usual(ORCH_SPLIT_TRAIN, 37, 1);
    struct orch_scene_set *set = generate(&scenes);
    struct orch_scene_loader_options options = {.batch = 8,
                                                .shuffles = true,
                                                .seed = 6,
                                                .pixels = PLAIN,
                                                .transforms = {true, 4, true, true}};
    g_autofree char *expected = digest_of(set, &options);
    for (int threads = 1; threads <= 5; threads += 2) {
        options.threads = threads;
        g_autofree char *found = digest_of(set, &options);
        assert_string_equal(found, expected);
    }
    options.seed = 7;
    g_autofree char *other = digest_of(set, &options);
    assert_string_not_equal(other, expected);
    orch_scene_set_free(set);
}

static void test_batches(void **state)
{
    (void)state;
    const struct orch_generated_scenes scenes =
        orch_generated_scenes_usual(ORCH_SPLIT_TRAIN, 21, 1);
    struct orch_scene_set *set = generate(&scenes);
    set->is_difficult[set->first[3]] = true;
    struct orch_scene_loader_options options = {
        .batch = 8, .with_difficult = true, .pixels = PLAIN};
    for (int with = 0; with < 2; with++) {
        options.with_difficult = with;
        struct orch_scene_loader *loader = orch_scene_loader_new(set, &options, NULL);
        struct orch_scene_batch b;
        int64_t images = 0, objects = 0, difficult = 0;
        assert_false(orch_scene_loader_next(loader, &b, NULL)); /* no epoch yet */
        orch_scene_loader_start(loader, 0);
        while (orch_scene_loader_next(loader, &b, NULL)) {
            for (int64_t i = 0; i < b.count; i++) {
                assert_int_equal(b.rows[i], images + i);
                for (int64_t k = b.objects.first[i]; k < b.objects.first[i + 1]; k++)
                    difficult += b.is_difficult[k];
            }
            images += b.count;
            objects += b.objects.first[b.count];
        }
        assert_int_equal(images, 21);
        assert_int_equal(objects, set->first[21] - !with);
        assert_int_equal(difficult, with);
        assert_true(orch_scene_loader_made_s(loader) > 0);
        orch_scene_loader_free(loader);
    }
    struct orch_scene_loader_options bad[] = {options, options, options, options};
    bad[0].batch = 0;
    bad[1].pixels.size = 0;
    bad[2].threads = -1;
    bad[3].pixels.size = 4097;
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(orch_scene_loader_new(set, &bad[i], &error));
        assert_non_null(strstr(error->message, "expected 1 to 100000 images"));
    }
    orch_scene_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_flip),
        cmocka_unit_test(test_same_size_is_the_image),
        cmocka_unit_test(test_drawn_plans),
        cmocka_unit_test(test_crops),
        cmocka_unit_test(test_boxes_fit_pixels),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_generated_boxes_fit),
        cmocka_unit_test(test_refused_generated),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
