/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences of outputs, and files of samples. */
#include "plugins/common/samples/class_names.h"
#include "plugins/common/samples/sample_file.h"
#include "plugins/onnxrun/compare.h"
#include "plugins/onnxrun/label_places.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Many labels that all want the same corner: none covers another, and what finds no place is told.
 */
static void labels_do_not_cover_each_other(void **state)
{
    (void)state;
    enum { SIDE = 100, HEIGHT = 17 };
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(struct onnxrun_place));
    guint found = 0;
    for (int i = 0; i < 20; i++) {
        struct onnxrun_place at = {3, 5.0 + i % 3, 45};
        if (!orch_onnxrun_place_find(places, SIDE, HEIGHT, &at))
            continue;
        found++;
        assert_true(at.x >= 0 && at.x + at.width <= SIDE && at.y >= 0 && at.y + HEIGHT <= SIDE);
        for (guint k = 0; k < places->len; k++) {
            const struct onnxrun_place *p = &g_array_index(places, struct onnxrun_place, k);
            assert_true(at.x >= p->x + 45 || p->x >= at.x + 45 || fabs(at.y - p->y) >= HEIGHT);
        }
        g_array_append_val(places, at);
    }
    assert_in_range(found, 6, 10); /* of 2 x 5 that could stand side by side */
}

static void differences_are_the_largest(void **state)
{
    (void)state;
    const float expected[] = {1, -2, 0, 100}, got[] = {1.5F, -2, 0.001F, 101};
    struct onnxrun_difference d = {0};
    orch_onnxrun_difference_add(&d, got, expected, 4, (struct onnxrun_rows){2, 1});
    assert_float_equal(d.absolute, 1, 1e-6);
    assert_float_equal(d.relative, 0.5, 1e-6);
    /* 0.5 / (1 + 0.01), 0.001 / (0 + 0.01), 1 / (100 + 0.01): the first */
    assert_float_equal(d.tolerance, 0.5F / 1.01F, 1e-6);
    assert_int_equal(d.rows, 2);
    assert_int_equal(d.same_top, 2);
    const float turned[] = {-3, -2, 0, 100};
    orch_onnxrun_difference_add(&d, turned, expected, 4, (struct onnxrun_rows){2, 1});
    assert_float_equal(d.absolute, 4, 1e-6);
    assert_int_equal(d.values, 8);
    assert_int_equal(d.rows, 4);
    assert_int_equal(d.same_top, 3);
}

/* A map of 2 classes for each of 2 priors in 3 cells: value k of prior a in cell c is at
 * (2 a + k) * 3 + c. One row differs: prior 1 in cell 2. */
static void classes_of_maps_are_channels(void **state)
{
    (void)state;
    const float expected[] = {5, 1, 5, 1, 5, 1, 2, 2, 2, 3, 3, 3};
    float got[12];
    memcpy(got, expected, sizeof got);
    got[8] = 4;
    struct onnxrun_difference d = {0};
    orch_onnxrun_difference_add(&d, got, expected, 12, (struct onnxrun_rows){2, 3});
    assert_int_equal(d.rows, 6);
    assert_int_equal(d.same_top, 5);
}

/* At the tolerance all values agree by PyTorch's rule, a little below not. */
static void the_tolerance_is_the_smallest(void **state)
{
    (void)state;
    float expected[64], got[64];
    for (int i = 0; i < 64; i++) {
        expected[i] = (float)sin(i) * (float)(i % 9);
        got[i] = expected[i] + 1e-3F * (float)cos(3 * i) * (1 + fabsf(expected[i]));
    }
    struct onnxrun_difference d = {0};
    orch_onnxrun_difference_add(&d, got, expected, 64, (struct onnxrun_rows){0, 1});
    assert_int_equal(d.rows, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double r = d.tolerance * (1 + sign * 1e-6);
        bool agree = true;
        for (int i = 0; i < 64; i++)
            agree = agree && fabs((double)got[i] - (double)expected[i]) <=
                                 r * fabs((double)expected[i]) + 0.01 * r;
        assert_true(agree == (sign > 0));
    }
}

static struct orch_weights *samples_of(const struct orch_box_batch *objects, const bool *difficult)
{
    const float inputs[3 * 1 * 2 * 2] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const struct orch_sample_inputs samples = {.kind = ORCH_SAMPLE_REAL,
                                               .count = 3,
                                               .channels = 1,
                                               .height = 2,
                                               .width = 2,
                                               .inputs = inputs,
                                               .objects = objects,
                                               .is_difficult = difficult};
    struct orch_weights *file = orch_weights_new();
    if (!orch_sample_file_add(file, &samples, NULL))
        g_clear_pointer(&file, orch_weights_free);
    return file;
}

static void objects_come_back(void **state)
{
    (void)state;
    const int64_t first[] = {0, 2, 2, 3};
    const struct orch_box boxes[] = {{0, 0, 0.5F, 0.25F}, {0.5F, 0.5F, 1, 1}, {0.25F, 0, 1, 1}};
    const int32_t labels[] = {1, 2, 1};
    const bool difficult[] = {false, true, false};
    const struct orch_box_batch batch = {3, first, boxes, labels};
    struct orch_weights *file = samples_of(&batch, difficult);
    assert_non_null(file);
    GError *error = NULL;
    struct orch_sample_objects *objects =
        orch_sample_file_objects(file, ORCH_SAMPLE_REAL, 3, &error);
    assert_null(error);
    assert_non_null(objects);
    assert_memory_equal(objects->first, first, sizeof first);
    assert_memory_equal(objects->boxes, boxes, sizeof boxes);
    assert_memory_equal(objects->labels, labels, sizeof labels);
    assert_memory_equal(objects->is_difficult, difficult, sizeof difficult);
    orch_sample_objects_free(objects);
    /* an object of an image that the file does not have */
    assert_null(orch_sample_file_objects(file, ORCH_SAMPLE_REAL, 2, &error));
    assert_non_null(error);
    g_clear_error(&error);
    assert_null(orch_sample_file_objects(file, ORCH_SAMPLE_RANDOM, 3, &error));
    assert_null(error);
    orch_weights_free(file);
}

static void no_object_is_no_array(void **state)
{
    (void)state;
    const int64_t first[] = {0, 0, 0, 0}, few[] = {0, 0};
    const struct orch_box_batch none = {3, first, NULL, NULL}, other = {1, few, NULL, NULL};
    struct orch_weights *file = samples_of(&none, NULL);
    assert_non_null(file);
    assert_null(orch_sample_file_objects(file, ORCH_SAMPLE_REAL, 3, NULL));
    orch_weights_free(file);
    assert_null(samples_of(&other, NULL));
}

static void facts_come_back(void **state)
{
    (void)state;
    char background[] = "background", cat[] = "cat";
    char *const names[] = {background, cat, NULL};
    const float mean[] = {0.485F, 0.456F, 0.406F}, std[] = {0.229F, 0.224F, 0.225F};
    struct orch_weights *file = samples_of(NULL, NULL);
    float got_mean[3], got_std[3];
    assert_false(orch_sample_file_normalisation(file, 3, got_mean, got_std));
    assert_null(orch_sample_file_classes(file));
    orch_sample_file_set_classes(file, names);
    orch_sample_file_set_normalisation(file, 3, mean, std);
    g_auto(GStrv) classes = orch_sample_file_classes(file);
    assert_string_equal(classes[1], "cat");
    assert_int_equal(g_strv_length(classes), 2);
    assert_true(orch_sample_file_normalisation(file, 3, got_mean, got_std));
    assert_memory_equal(got_mean, mean, sizeof mean);
    assert_memory_equal(got_std, std, sizeof std);
    assert_false(orch_sample_file_normalisation(file, 1, got_mean, got_std));
    orch_weights_free(file);
}

static void assert_names(const struct orch_weights *weights, const char *expected)
{
    g_auto(GStrv) names = orch_weights_class_names(weights);
    g_autofree char *joined = names ? g_strjoinv("|", names) : NULL;
    assert_int_equal(g_strcmp0(joined, expected), 0);
}

static void class_names_come_back(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   "dog",        "[\"dog\"", "{\"dog\":1}",
                                      "[]", "[\"a\", 1]", "\"dog\""};
    char *const names[] = {"background", "T-shirt/top", "\"quoted\", two\nlines", "täst", NULL};
    struct orch_weights *weights = orch_weights_new();
    assert_names(weights, NULL);
    orch_weights_set_class_names(weights, names);
    assert_names(weights, "background|T-shirt/top|\"quoted\", two\nlines|täst");
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_hash_table_insert(weights->metadata, g_strdup("classes"), g_strdup(bad[i]));
        assert_names(weights, NULL);
    }
    orch_weights_free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_do_not_cover_each_other),
        cmocka_unit_test(differences_are_the_largest),
        cmocka_unit_test(classes_of_maps_are_channels),
        cmocka_unit_test(the_tolerance_is_the_smallest),
        cmocka_unit_test(objects_come_back),
        cmocka_unit_test(no_object_is_no_array),
        cmocka_unit_test(facts_come_back),
        cmocka_unit_test(class_names_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
