/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes of objects: cases computed by hand, and properties on random boxes. */
#include "plugins/common/boxes/box_score.h"
#include "plugins/common/boxes/multibox_loss.h"

#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* NaN is near nothing. */
#define assert_near(a, b, tolerance)                                                               \
    assert_true(fabs((double)(a) - (double)(b)) <= (double)(tolerance))

static struct orch_priors *make(const struct orch_prior_spec *spec)
{
    GError *error = NULL;
    struct orch_priors *priors = orch_priors_new(spec, &error);
    if (!priors)
        fail_msg("%s", error->message);
    return priors;
}

/* One map of `cells` x `cells` squares that tile the image, in a row of `cells * cells` priors. */
static struct orch_priors *make_tiles(int cells)
{
    const float side = 100.0F / (float)cells;
    const struct orch_prior_spec spec = {
        100, 1, {{.cells = cells, .step = side, .size_min = side, .size_max = side}}};
    struct orch_priors *priors = make(&spec);
    /* the small and the large square of a cell are the same here: one of them is left */
    for (int64_t i = 0; i < priors->count / 2; i++) {
        priors->centred[i] = priors->centred[2 * i];
        priors->corners[i] = priors->corners[2 * i];
    }
    priors->count /= 2;
    return priors;
}

static float unit(uint64_t *random)
{
    return (float)orch_random_unit(random);
}

/* A proper box within the image. */
static struct orch_box random_box(uint64_t *random)
{
    const float w = 0.05F + 0.9F * unit(random), h = 0.05F + 0.9F * unit(random);
    const float x = (1 - w) * unit(random), y = (1 - h) * unit(random);
    return (struct orch_box){x, y, x + w, y + h};
}

static void test_overlap(void **state)
{
    (void)state;
    const struct orch_box a = {0, 0, 0.5F, 0.5F}, b = {0.25F, 0.25F, 0.75F, 0.75F};
    const struct orch_box inverted = {0.5F, 0.5F, 0.25F, 0.25F};
    assert_near(orch_box_area(a), 0.25, 1e-7);
    assert_near(orch_box_area(inverted), 0, 0);
    assert_near(orch_box_iou(a, b, 0), 1.0 / 7, 1e-6);
    assert_near(orch_box_iou(a, a, 0), 1, 1e-7);
    assert_near(orch_box_iou(a, (struct orch_box){0.5F, 0, 1, 0.5F}, 0), 0, 0); /* they touch */
    assert_near(orch_box_iou(inverted, inverted, 0), 0, 0);
    assert_false(orch_box_is_proper(inverted));
    assert_false(orch_box_is_proper((struct orch_box){0, 0, 0, 1}));
    assert_false(orch_box_is_proper((struct orch_box){0, NAN, 1, 1}));
    assert_false(orch_box_is_proper((struct orch_box){-INFINITY, 0, 1, 1}));
    assert_true(orch_box_is_proper(b));
    const struct orch_box clipped = orch_box_clip((struct orch_box){-1, 0.5F, 0.5F, 3});
    assert_true(clipped.x1 == 0 && clipped.y1 == 0.5F && clipped.x2 == 0.5F && clipped.y2 == 1);
}

static void test_priors(void **state)
{
    (void)state;
    const struct orch_prior_spec spec = orch_prior_spec_mobilenet_v1_ssd();
    struct orch_priors *priors = make(&spec);
    assert_int_equal(priors->count, 3000);
    assert_int_equal(orch_prior_spec_per_cell(&spec, 0), 6);
    const struct orch_prior_box first = priors->centred[0], wide = priors->centred[2],
                                large = priors->centred[1], tall = priors->centred[5];
    assert_near(first.cx, 8.0 / 300, 1e-6); /* half a step of 16 pixels */
    assert_near(first.width, 0.2, 1e-6);
    assert_near(large.height, sqrt(60.0 * 105) / 300, 1e-6);
    assert_near(wide.width / wide.height, 2, 1e-5);
    assert_near(tall.height / tall.width, 3, 1e-5);
    assert_near(wide.width * wide.height, 0.04, 1e-6);
    /* the second cell is to the right of the first; the last prior is the map of one cell */
    assert_near(priors->centred[6].cx, 24.0 / 300, 1e-6);
    assert_near(priors->centred[6].cy, 8.0 / 300, 1e-6);
    assert_near(priors->centred[2999].cx, 0.5, 1e-6);
    assert_near(priors->centred[2995].width, 1, 1e-6); /* 307 pixels, clamped */
    orch_priors_free(priors);

    /* the same sizes by the rule for other inputs; the steps are the input by the cells */
    static const int cells[] = {19, 10, 5, 3, 2, 1};
    const struct orch_prior_spec even = orch_prior_spec_even(300, cells, 6, 0.2, 0.95);
    for (int m = 0; m < 6; m++) {
        assert_near(even.maps[m].size_min, spec.maps[m].size_min, 1e-3);
        assert_near(even.maps[m].size_max, spec.maps[m].size_max, 1e-3);
    }
    assert_near(even.maps[5].step, 300, 1e-4);
}

static void test_refused_priors(void **state)
{
    (void)state;
    const struct orch_prior_map good = {4, 25, 20, 40, 1, {2}};
    struct orch_prior_spec specs[] = {
        {.image_size = 0, .map_count = 1, .maps = {good}},
        {.image_size = 100, .map_count = 0},
        {.image_size = 100, .map_count = ORCH_PRIOR_MAPS_MAX + 1},
        {100, 1, {{0, 25, 20, 40, 0, {0}}}},
        {100, 1, {{4, NAN, 20, 40, 0, {0}}}},
        {100, 1, {{4, 25, 40, 20, 0, {0}}}},
        {100, 1, {{4, 25, 20, 40, ORCH_PRIOR_RATIOS_MAX + 1, {0}}}},
        {100, 1, {{4, 25, 20, 40, 1, {-2}}}},
        {100, 1, {{ORCH_PRIOR_CELLS_MAX, 25, 20, 40, 1, {2}}}}, /* four million priors */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(orch_priors_new(&specs[i], &error));
        assert_non_null(strstr(error->message, "prior boxes"));
    }
}

static void test_matching(void **state)
{
    (void)state;
    struct orch_priors *priors = make_tiles(4);
    int32_t object[16];
    /* fills tile 5, covers half of tile 6, and less than half of 9 and 10 */
    const struct orch_box boxes[] = {
        {0.25F, 0.25F, 0.5F, 0.5F}, {0.5F, 0.25F, 0.75F, 0.38F}, {0.3F, 0.6F, 0.35F, 0.65F}};
    orch_priors_match(priors, boxes, 3, ORCH_MATCH_IOU, object);
    for (int p = 0; p < 16; p++)
        assert_int_equal(object[p], p == 5 ? 0 : p == 6 ? 1 : p == 9 ? 2 : -1);
    /* a higher threshold: the objects keep their best priors */
    orch_priors_match(priors, boxes, 3, 0.9F, object);
    assert_true(object[5] == 0 && object[6] == 1 && object[9] == 2);
    /* two small objects in one tile: the later one has it */
    const struct orch_box both[] = {{0.3F, 0.3F, 0.35F, 0.35F}, {0.4F, 0.4F, 0.45F, 0.45F}};
    orch_priors_match(priors, both, 2, ORCH_MATCH_IOU, object);
    assert_int_equal(object[5], 1);
    orch_priors_match(priors, boxes, 0, ORCH_MATCH_IOU, object);
    for (int p = 0; p < 16; p++)
        assert_int_equal(object[p], -1);
    orch_priors_free(priors);
}

/* Written again from the definition, for one prior at a time. */
static int32_t match_of(const struct orch_priors *priors, int64_t prior,
                        const struct orch_box *boxes, int64_t count)
{
    int32_t best = -1;
    double most = 0.5;
    for (int32_t i = 0; i < count; i++) {
        const double iou = (double)orch_box_iou(priors->corners[prior], boxes[i], 1e-5F);
        if (iou >= most && (best < 0 || iou > most)) {
            most = iou;
            best = i;
        }
    }
    for (int32_t i = 0; i < count; i++) {
        int64_t own = 0;
        for (int64_t p = 1; p < priors->count; p++)
            if (orch_box_iou(priors->corners[p], boxes[i], 1e-5F) >
                orch_box_iou(priors->corners[own], boxes[i], 1e-5F))
                own = p;
        if (own == prior)
            best = i;
    }
    return best;
}

static void test_matching_of_random_boxes(void **state)
{
    (void)state;
    const int cells[] = {6, 3, 1};
    const struct orch_prior_spec spec = orch_prior_spec_even(96, cells, 3, 0.2, 0.9);
    struct orch_priors *priors = make(&spec);
    g_autofree int32_t *object = g_new(int32_t, priors->count);
    uint64_t random = 7;
    for (int round = 0; round < 30; round++) {
        struct orch_box boxes[5];
        const int64_t count = round % 6;
        for (int64_t i = 0; i < count; i++)
            boxes[i] = random_box(&random);
        orch_priors_match(priors, boxes, count, ORCH_MATCH_IOU, object);
        for (int64_t p = 0; p < priors->count; p++)
            assert_int_equal(object[p], match_of(priors, p, boxes, count));
    }
    orch_priors_free(priors);
}

static void test_offsets(void **state)
{
    (void)state;
    const struct orch_prior_box prior = {0.5F, 0.5F, 0.2F, 0.4F};
    const struct orch_box_offset none =
        orch_box_encode((struct orch_box){0.4F, 0.3F, 0.6F, 0.7F}, prior);
    assert_near(fabs((double)none.cx) + fabs((double)none.height), 0, 1e-5);
    /* the centre moves by half the prior's width, and the width doubles */
    const struct orch_box_offset offset =
        orch_box_encode((struct orch_box){0.4F, 0.3F, 0.8F, 0.7F}, prior);
    assert_near(offset.cx, 5, 1e-4);
    assert_near(offset.cy, 0, 1e-4);
    assert_near(offset.width, log(2) / 0.2, 1e-4);
    uint64_t random = 3;
    for (int i = 0; i < 1000; i++) {
        const struct orch_box box = random_box(&random), p = random_box(&random);
        const struct orch_prior_box centred = {(p.x1 + p.x2) / 2, (p.y1 + p.y2) / 2, p.x2 - p.x1,
                                               p.y2 - p.y1};
        const struct orch_box back = orch_box_decode(orch_box_encode(box, centred), centred);
        assert_near(back.x1, box.x1, 1e-5);
        assert_near(back.y1, box.y1, 1e-5);
        assert_near(back.x2, box.x2, 1e-5);
        assert_near(back.y2, box.y2, 1e-5);
    }
}

/* ---- the loss ---------------------------------------------------------------------------------
 */

struct example {
    struct orch_priors *priors;
    struct orch_box_batch objects;
    struct orch_multibox_options options;
    float *locations, *confidences;
};

static struct orch_multibox_loss loss_of(const struct example *e,
                                         const struct orch_multibox_gradients *gradients)
{
    const struct orch_multibox_outputs outputs = {e->locations, e->confidences};
    struct orch_multibox_loss loss;
    GError *error = NULL;
    if (!orch_multibox_loss(e->priors, &e->objects, &e->options, &outputs, gradients, &loss,
                            &error))
        fail_msg("%s", error->message);
    return loss;
}

static void test_loss_by_hand(void **state)
{
    (void)state;
    /* one object, which fills tile 5 of 16; all confidences 0 but of three backgrounds */
    struct orch_priors *priors = make_tiles(4);
    const int64_t first[] = {0, 1};
    const struct orch_box box = {0.25F, 0.25F, 0.5F, 0.5F};
    const int32_t label = 2;
    float locations[16 * 4] = {0}, confidences[16 * 3] = {0};
    locations[5 * 4] = 0.5F;   /* smooth L1: 0.125 */
    locations[5 * 4 + 3] = -3; /* 2.5 */
    locations[7 * 4] = 100;    /* no positive: does not count */
    confidences[3 * 3] = -2;   /* the hardest negatives: 3, 9 and 12 */
    confidences[9 * 3] = -1;
    confidences[12 * 3] = -0.5F;
    const struct example e = {
        priors, {1, first, &box, &label}, {3, ORCH_MATCH_IOU, 3}, locations, confidences};
    float location_gradient[16 * 4], gradient[16 * 3];
    const struct orch_multibox_gradients gradients = {location_gradient, gradient};
    const struct orch_multibox_loss loss = loss_of(&e, &gradients);
    assert_int_equal(loss.positives, 1);
    assert_int_equal(loss.negatives, 3);
    assert_near(loss.location, 2.625, 1e-5);
    const double expected =
        log(3) + (log(exp(-2) + 2) + 2) + (log(exp(-1) + 2) + 1) + (log(exp(-0.5) + 2) + 0.5);
    assert_near(loss.confidence, expected, 1e-5);
    assert_near(location_gradient[5 * 4], 0.5, 1e-6);
    assert_near(location_gradient[5 * 4 + 3], -1, 1e-6);
    assert_near(location_gradient[7 * 4], 0, 0);
    assert_near(gradient[5 * 3 + 2], 1.0 / 3 - 1, 1e-6);
    assert_near(gradient[5 * 3], 1.0 / 3, 1e-6);
    assert_near(gradient[3 * 3], exp(-2) / (exp(-2) + 2) - 1, 1e-6);
    assert_near(gradient[4 * 3], 0, 0); /* an easy negative */
    orch_priors_free(priors);
}

/* Three images, the middle one without an object. */
static struct example make_example(uint64_t seed, struct orch_box *boxes, int32_t *labels)
{
    static const int64_t first[] = {0, 2, 2, 5};
    static const int cells[] = {5, 2};
    const struct orch_prior_spec spec = orch_prior_spec_even(96, cells, 2, 0.3, 0.8);
    struct example e = {.priors = make(&spec), .options = {4, ORCH_MATCH_IOU, 3}};
    uint64_t random = seed;
    for (int i = 0; i < 5; i++) {
        boxes[i] = random_box(&random);
        labels[i] = 1 + (int32_t)orch_random_below(&random, 3);
    }
    e.objects = (struct orch_box_batch){3, first, boxes, labels};
    e.locations = g_new(float, 3 * e.priors->count * 4);
    e.confidences = g_new(float, 3 * e.priors->count * 4);
    for (int64_t i = 0; i < 3 * e.priors->count * 4; i++) {
        e.locations[i] = 4 * unit(&random) - 2;
        e.confidences[i] = 4 * unit(&random) - 2;
    }
    return e;
}

static void clear_example(struct example *e)
{
    orch_priors_free(e->priors);
    g_free(e->locations);
    g_free(e->confidences);
}

/* The difference quotient of the sum of both losses by one output. The hardest negatives stay the
 * same in so small a step, but for ties, which random outputs do not have. */
static double slope(const struct example *e, float *value)
{
    const float kept = *value, step = 1.0F / 256;
    *value = kept + step;
    const struct orch_multibox_loss above = loss_of(e, NULL);
    *value = kept - step;
    const struct orch_multibox_loss below = loss_of(e, NULL);
    *value = kept;
    return (above.location + above.confidence - below.location - below.confidence) /
           (2 * (double)step);
}

static void test_gradients(void **state)
{
    (void)state;
    struct orch_box boxes[5];
    int32_t labels[5];
    struct example e = make_example(11, boxes, labels);
    const int64_t values = 3 * e.priors->count * 4;
    g_autofree float *locations = g_new(float, values), *confidences = g_new(float, values);
    const struct orch_multibox_gradients gradients = {locations, confidences};
    const struct orch_multibox_loss loss = loss_of(&e, &gradients);
    assert_true(loss.positives >= 5 && loss.negatives == 3 * loss.positives);
    int other = 0, nonzero = 0;
    for (int64_t i = 0; i < values; i++) {
        nonzero += confidences[i] != 0.0F;
        /* a step may exchange the last of the hardest negatives for the next one */
        other += fabs(slope(&e, &e.confidences[i]) - (double)confidences[i]) > 2e-3;
        assert_near(slope(&e, &e.locations[i]), locations[i], 2e-3);
    }
    assert_int_equal(nonzero, 4 * (loss.positives + loss.negatives));
    assert_true(other <= 8);
    /* nothing of the image without an object */
    for (int64_t i = values / 3; i < 2 * values / 3; i++)
        assert_true(locations[i] == 0 && confidences[i] == 0);
    clear_example(&e);
}

/* The negatives by a sort of all. */
static int compare_down(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double hardest_sum(const struct example *e, int64_t image, const int32_t *object,
                          int64_t wanted)
{
    g_autofree double *losses = g_new(double, e->priors->count);
    double sum = 0;
    int64_t count = 0;
    for (int64_t p = 0; p < e->priors->count; p++) {
        const float *c = e->confidences + (image * e->priors->count + p) * 4;
        double all = 0;
        for (int k = 0; k < 4; k++)
            all += exp((double)c[k]);
        if (object[p] < 0)
            losses[count++] = log(all) - (double)c[0];
        else
            sum += log(all);
    }
    qsort(losses, (size_t)count, sizeof *losses, compare_down);
    for (int64_t i = 0; i < MIN(wanted, count); i++)
        sum += losses[i];
    return sum;
}

static void test_hardest_negatives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct orch_box boxes[5];
        int32_t labels[5];
        struct example e = make_example(seed, boxes, labels);
        e.options.negatives = (float)(seed % 5);
        if (seed % 7 == 0) /* all alike */
            for (int64_t i = 0; i < 3 * e.priors->count * 4; i++)
                e.confidences[i] = 0;
        g_autofree int32_t *object = g_new(int32_t, e.priors->count);
        double sum = 0;
        int64_t all = 0;
        for (int64_t i = 0; i < 3; i++) {
            const int64_t from = e.objects.first[i], count = e.objects.first[i + 1] - from;
            orch_priors_match(e.priors, boxes + from, count, ORCH_MATCH_IOU, object);
            int64_t positives = 0;
            for (int64_t p = 0; p < e.priors->count; p++) {
                positives += object[p] >= 0;
                if (object[p] >= 0)
                    sum -=
                        (double)
                            e.confidences[(i * e.priors->count + p) * 4 + labels[from + object[p]]];
            }
            if (positives)
                sum += hardest_sum(&e, i, object, (int64_t)(seed % 5) * positives);
            all += positives;
        }
        assert_near(loss_of(&e, NULL).confidence, sum / (double)all, 1e-4);
        clear_example(&e);
    }
}

static void test_loss_without_objects(void **state)
{
    (void)state;
    struct orch_box boxes[5];
    int32_t labels[5];
    struct example e = make_example(5, boxes, labels);
    static const int64_t none[] = {0, 0, 0, 0};
    const int64_t values = 3 * e.priors->count * 4;
    e.objects.first = none;
    g_autofree float *locations = g_new(float, values), *confidences = g_new(float, values);
    memset(locations, 0xff, sizeof(float) * (size_t)values);
    memset(confidences, 0xff, sizeof(float) * (size_t)values);
    const struct orch_multibox_gradients gradients = {locations, confidences};
    const struct orch_multibox_loss loss = loss_of(&e, &gradients);
    assert_true(loss.location == 0 && loss.confidence == 0 && loss.positives == 0);
    for (int64_t i = 0; i < values; i++)
        assert_true(locations[i] == 0 && confidences[i] == 0);
    clear_example(&e);
}

static void test_loss_of_nan(void **state)
{
    (void)state;
    struct orch_box boxes[5];
    int32_t labels[5];
    struct example e = make_example(5, boxes, labels);
    const int64_t at = e.priors->count * 4 + 7; /* in the image without an object */
    const float kept = e.confidences[at];
    for (int i = 0; i < 2; i++) {
        e.confidences[at] = i ? INFINITY : NAN;
        assert_true(isnan(loss_of(&e, NULL).confidence));
    }
    e.confidences[at] = kept;
    assert_true(isfinite(loss_of(&e, NULL).confidence));
    for (int64_t i = 0; i < 3 * e.priors->count * 4; i++)
        e.locations[i] = NAN;
    assert_true(isnan(loss_of(&e, NULL).location));
    clear_example(&e);
}

static void test_refused_objects(void **state)
{
    (void)state;
    struct orch_box boxes[5];
    int32_t labels[5];
    struct example e = make_example(5, boxes, labels);
    const struct orch_multibox_outputs outputs = {e.locations, e.confidences};
    static const struct {
        struct orch_box box;
        int32_t label;
        const char *error;
    } BAD[] = {
        {{0.5F, 0, 0.5F, 1}, 1, "image 2 of the batch: box 1 is empty, inverted"},
        {{0.5F, 1, 0.6F, 0}, 1, "is empty, inverted or not finite (0.5, 1, 0.6, 0)"},
        {{0, 0, NAN, 1}, 1, "not finite"},
        {{0, 0, 1, 1}, 0, "image 2 of the batch: box 1 has label 0, expected 1 to 3"},
        {{0, 0, 1, 1}, 4, "has label 4"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        struct orch_multibox_loss loss;
        g_autoptr(GError) error = NULL;
        boxes[3] = BAD[i].box;
        labels[3] = BAD[i].label;
        assert_false(
            orch_multibox_loss(e.priors, &e.objects, &e.options, &outputs, NULL, &loss, &error));
        if (!strstr(error->message, BAD[i].error))
            fail_msg("'%s' not in '%s'", BAD[i].error, error->message);
    }
    const int64_t many[] = {0, 0, 0, 1000000};
    e.objects.first = many;
    g_autoptr(GError) error = NULL;
    assert_false(orch_box_batch_check(&e.objects, 4, &error));
    assert_non_null(strstr(error->message, "image 2 of the batch has 1000000 boxes; 0 to 4096"));
    clear_example(&e);
}

/* ---- detections -------------------------------------------------------------------------------
 */

static struct orch_detection detection(const GArray *found, guint i)
{
    return g_array_index(found, struct orch_detection, i);
}

static void test_suppression(void **state)
{
    (void)state;
    const struct orch_box boxes[] = {{0, 0, 0.5F, 0.5F},       {0.02F, 0, 0.52F, 0.5F},
                                     {0.5F, 0.5F, 1, 1},       {0, 0, NAN, 0.5F},
                                     {0.5F, 0.5F, 0.5F, 0.5F}, {0.3F, 0, 0.8F, 0.5F}};
    /* background, class 1, class 2 */
    const float scores[] = {0.1F, 0.6F, 0.3F, 0.1F, 0.8F, 0.1F, 0.2F, 0.4F, 0.4F,
                            0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.1F, NAN,  0.9F};
    struct orch_detection_options options = {0.25F, 0.45F, 200, 0};
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    orch_detections_pick(boxes, scores, 6, 3, &options, found);
    /* class 1: boxes 1 (which suppresses 0) and 2; class 2: boxes 5, 2, 0 */
    assert_int_equal(found->len, 5);
    static const struct {
        int32_t label;
        float score;
    } EXPECTED[] = {{1, 0.8F}, {1, 0.4F}, {2, 0.9F}, {2, 0.4F}, {2, 0.3F}};
    for (guint i = 0; i < 5; i++) {
        assert_int_equal(detection(found, i).label, EXPECTED[i].label);
        assert_near(detection(found, i).score, EXPECTED[i].score, 0);
    }
    g_array_set_size(found, 0);
    options.per_class = 1;
    orch_detections_pick(boxes, scores, 6, 3, &options, found);
    assert_int_equal(found->len, 2);
    g_array_set_size(found, 0);
    options = (struct orch_detection_options){0.25F, 0.45F, 2, 0};
    orch_detections_pick(boxes, scores, 6, 3, &options, found);
    assert_int_equal(found->len, 3); /* of class 1 the candidates are 1 and 0 */
    g_array_set_size(found, 0);
    orch_detections_pick(boxes, scores, 0, 3, &options, found);
    assert_int_equal(found->len, 0);
}

/* No two boxes that are kept overlap by more than the threshold, and each box that is left out
 * overlaps a better one that is kept. */
static void test_suppression_of_random_boxes(void **state)
{
    (void)state;
    uint64_t random = 19;
    for (int round = 0; round < 20; round++) {
        struct orch_box boxes[80];
        float scores[160];
        for (int i = 0; i < 80; i++) {
            boxes[i] = random_box(&random);
            scores[2 * i] = 0;
            scores[2 * i + 1] = 0.01F + unit(&random);
        }
        const struct orch_detection_options options = {0, 0.3F, 0, 0};
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
        orch_detections_pick(boxes, scores, 80, 2, &options, found);
        for (int i = 0; i < 80; i++) {
            bool is_kept = false, is_covered = false;
            for (guint k = 0; k < found->len; k++) {
                const struct orch_detection d = detection(found, k);
                is_kept |= d.score == scores[2 * i + 1];
                is_covered |= d.score > scores[2 * i + 1] &&
                              orch_box_iou(d.box, boxes[i], ORCH_BOX_UNION_ADDED) > 0.3F;
            }
            assert_int_equal(is_kept, !is_covered);
        }
    }
}

static void test_found(void **state)
{
    (void)state;
    struct orch_priors *priors = make_tiles(3);
    float locations[9 * 4] = {0}, confidences[9 * 3] = {0};
    confidences[4 * 3 + 1] = (float)log(8);
    const struct orch_detection_options options = {0.5F, 0.45F, 200, 0};
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct orch_detection));
    orch_detections_find(priors, locations, confidences, 3, &options, found);
    assert_int_equal(found->len, 1);
    assert_near(detection(found, 0).score, 0.8, 1e-6);
    assert_near(detection(found, 0).box.x1, 1.0 / 3, 1e-6);
    assert_near(detection(found, 0).box.y2, 2.0 / 3, 1e-6);
    confidences[0] = 1e30F; /* no overflow */
    orch_detection_scores(confidences, 9, 3, confidences);
    assert_near(confidences[0], 1, 0);
    orch_priors_free(priors);
}

/* Against the definition in double. */
static void test_scores(void **state)
{
    (void)state;
    uint64_t random = 23;
    for (int round = 0; round < 2000; round++) {
        const int classes = 2 + round % 90;
        const float spread = 0.01F + 100 * unit(&random);
        float confidences[92], scores[92];
        double sum = 0, most = -1e9;
        for (int c = 0; c < classes; c++) {
            confidences[c] = spread * (unit(&random) - 0.5F);
            most = fmax(most, (double)confidences[c]);
        }
        for (int c = 0; c < classes; c++)
            sum += exp((double)confidences[c] - most);
        orch_detection_scores(confidences, 1, classes, scores);
        for (int c = 0; c < classes; c++) {
            const double expected = exp((double)confidences[c] - most) / sum;
            /* the difference of two floats of up to 50 is rounded by up to 4e-6 */
            assert_true(fabs((double)scores[c] - expected) < 6e-6 * expected + 1e-37);
        }
    }
    float odd[] = {1, NAN, 0}, infinite[] = {0, INFINITY};
    orch_detection_scores(odd, 1, 3, odd);
    orch_detection_scores(infinite, 1, 2, infinite);
    assert_true(isnan(odd[0]) && isnan(odd[2]) && isnan(infinite[0]));
}

/* ---- average precision ------------------------------------------------------------------------
 */

static void test_average_precision(void **state)
{
    (void)state;
    /* precisions 1, 1/2, 2/3, 1/2 at recalls 1/3, 1/3, 2/3, 2/3; one object is never found */
    static const bool hits[] = {true, false, true, false};
    assert_near(orch_average_precision_area(hits, 4, 3), (1 + 2.0 / 3) / 3, 1e-7);
    /* recalls 0 to 0.3: precision 1; 0.4 to 0.6: 2/3 */
    assert_near(orch_average_precision_2007(hits, 4, 3), (4 + 3 * 2.0 / 3) / 11, 1e-7);
    assert_near(orch_average_precision_area(hits, 0, 3), 0, 0);
    assert_near(orch_average_precision_2007(hits, 0, 3), 0, 0);
    assert_true(isnan(orch_average_precision_2007(hits, 4, 0)));
    assert_true(isnan(orch_average_precision_area(hits, 4, 0)));
    static const bool all[] = {true, true};
    assert_near(orch_average_precision_2007(all, 2, 2), 1, 1e-9);
    assert_near(orch_average_precision_area(all, 2, 2), 1, 1e-9);
}

/* Written again from the definitions: the envelope over arrays, and each of the 11 points by
 * itself.
 */
static void test_average_precision_of_random_hits(void **state)
{
    (void)state;
    uint64_t random = 41;
    for (int round = 0; round < 500; round++) {
        bool hits[64];
        double recall[66] = {0}, precision[66] = {0}, area = 0, points = 0;
        const int count = round % 64;
        int found = 0;
        for (int i = 0; i < count; i++) {
            found += hits[i] = orch_random_below(&random, 3) > 0;
            precision[i + 1] = found / (i + 1.0);
        }
        const int drawn = found + (int)orch_random_below(&random, 5) - (round % 2);
        const int objects = MAX(1, drawn);
        if (found > objects)
            continue; /* more hits than objects are impossible */
        for (int i = 0, n = 0; i < count; i++) {
            n += hits[i];
            recall[i + 1] = (double)n / objects;
        }
        recall[count + 1] = 1;
        for (int p = 0; p <= 10; p++) {
            double most = 0;
            for (int i = 1; i <= count; i++)
                most = recall[i] >= p * 0.1 ? fmax(most, precision[i]) : most;
            points += most / 11;
        }
        for (int i = count + 1; i > 0; i--)
            precision[i - 1] = fmax(precision[i - 1], precision[i]);
        for (int i = 0; i <= count; i++)
            area += (recall[i + 1] - recall[i]) * precision[i + 1];
        assert_near(orch_average_precision_area(hits, count, objects), area, 1e-6);
        assert_near(orch_average_precision_2007(hits, count, objects), points, 1e-6);
    }
}

static void test_score(void **state)
{
    (void)state;
    struct orch_box_score *score = orch_box_score_new(4, ORCH_BOX_SCORE_IOU);
    const struct orch_box boxes[] = {{0, 0, 0.4F, 0.4F}, {0.5F, 0.5F, 1, 1}, {0, 0.5F, 0.4F, 1}};
    const int32_t labels[] = {1, 1, 2};
    const bool difficult[] = {false, true, false};
    const struct orch_detection detections[] = {
        {{0, 0, 0.4F, 0.39F}, 1, 0.9F},  /* hit */
        {{0, 0, 0.39F, 0.4F}, 1, 0.8F},  /* the same object again: false positive */
        {{0.5F, 0.5F, 1, 1}, 1, 0.95F},  /* difficult: neither */
        {{0.5F, 0.51F, 1, 1}, 1, 0.94F}, /* difficult again: neither */
        {{0, 0.5F, 0.2F, 1}, 2, 0.7F},   /* overlap exactly 0.5: false positive */
        {{0, 0.5F, 0.4F, 1}, 1, 0.1F},   /* another class: false positive */
        {{0, 0, 1, 1}, 0, 0.9F},         /* background, NaN and unknown labels are ignored */
        {{0, 0, 1, 1}, 4, 0.9F},         {{0, 0, 1, 1}, 1, NAN},
    };
    orch_box_score_add(score, boxes, labels, difficult, 3, detections, G_N_ELEMENTS(detections));
    struct orch_class_score one = orch_box_score_class(score, 1);
    assert_int_equal(one.objects, 1);
    assert_int_equal(one.detections, 3);
    assert_int_equal(one.hits, 1);
    assert_near(one.ap_area, 1, 1e-9);
    const struct orch_class_score two = orch_box_score_class(score, 2);
    assert_true(two.objects == 1 && two.detections == 1 && two.hits == 0 && two.ap_2007 == 0);
    assert_true(isnan(orch_box_score_class(score, 3).ap_area));
    double points, area;
    orch_box_score_mean(score, &points, &area);
    assert_near(points, 0.5, 1e-9);
    assert_near(area, 0.5, 1e-9);
    /* an image without an object: its detection, the best of all, is a false positive */
    const struct orch_detection alone = {{0, 0, 1, 1}, 1, 0.99F};
    orch_box_score_add(score, NULL, NULL, NULL, 0, &alone, 1);
    one = orch_box_score_class(score, 1);
    assert_near(one.ap_area, 0.5, 1e-9);
    /* and an object that nothing finds */
    orch_box_score_add(score, boxes, labels, NULL, 1, NULL, 0);
    assert_near(orch_box_score_class(score, 1).ap_area, 0.25, 1e-9);
    orch_box_score_free(score);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_priors),
        cmocka_unit_test(test_refused_priors),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_matching_of_random_boxes),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_loss_by_hand),
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_hardest_negatives),
        cmocka_unit_test(test_loss_without_objects),
        cmocka_unit_test(test_loss_of_nan),
        cmocka_unit_test(test_refused_objects),
        cmocka_unit_test(test_suppression),
        cmocka_unit_test(test_suppression_of_random_boxes),
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_average_precision),
        cmocka_unit_test(test_average_precision_of_random_hits),
        cmocka_unit_test(test_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
