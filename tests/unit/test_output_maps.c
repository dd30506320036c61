/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs of detectors: which priors they belong to, and rows made of maps. */
#include "lib/net/net.h"
#include "plugins/common/boxes/output_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { OUTPUTS_MAX = 2 * ORCH_PRIOR_MAPS_MAX };

/* The specification of a network's priors. */
static bool find_spec(const char *name, int side, int classes, struct orch_prior_spec *out,
                      GError **error)
{
    struct orch_output_shape shapes[OUTPUTS_MAX];
    struct orch_net *net = orch_net_make(
        &(struct orch_net_options){.name = name, .height = side, .width = side, .classes = classes},
        NULL);
    const int count = orch_net_output_count(net);
    for (int i = 0; i < count; i++) {
        const struct orch_net_shape shape = orch_net_output(net, i)->out;
        shapes[i] = (struct orch_output_shape){shape.c, shape.h, shape.w};
    }
    orch_net_free(net);
    return orch_prior_spec_of_outputs(side, shapes, count, classes, out, error);
}

static void test_every_detector_has_priors(void **state)
{
    (void)state;
    static const struct {
        const char *net;
        int side;
        int64_t priors;
    } cases[] = {
        {"mobilenet-v1-ssd", 300, 3000},
        {"mobilenet-v1-ssd", 128, 6 * (64 + 16 + 4 + 1 + 1 + 1)},
        {"ssd_mobilenet_v1", 300, 1917}, /* TensorFlow's count: 3 a cell on the first map */
        {"ssd-small", 96, 6 * (144 + 36 + 9)},
        {"ssd-small", 160, 6 * (400 + 100 + 25)}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_prior_spec spec;
        GError *error = NULL;
        if (!find_spec(cases[i].net, cases[i].side, 5, &spec, &error))
            fail_msg("%s: %s", cases[i].net, error->message);
        struct orch_priors *priors = orch_priors_new(&spec, &error);
        assert_non_null(priors);
        assert_int_equal(priors->count, cases[i].priors);
        orch_priors_free(priors);
    }
    struct orch_prior_spec spec;
    assert_true(find_spec("mobilenet-v1-ssd", 300, 21, &spec, NULL));
    const struct orch_prior_spec known = orch_prior_spec_mobilenet_v1_ssd();
    assert_memory_equal(&spec, &known, sizeof spec);
}

static void test_others_are_refused(void **state)
{
    (void)state;
    struct orch_prior_spec spec;
    static const struct orch_output_shape good[2] = {{24, 4, 4}, {18, 4, 4}};
    const struct orch_output_shape bad[][2] = {
        {{23, 4, 4}, {18, 4, 4}}, {{24, 4, 4}, {12, 4, 4}},         {{24, 4, 4}, {18, 2, 2}},
        {{24, 4, 2}, {18, 4, 2}}, {{4 * 40, 4, 4}, {3 * 40, 4, 4}}, {{0, 4, 4}, {0, 4, 4}}};
    assert_true(orch_prior_spec_of_outputs(64, good, 2, 3, &spec, NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_false(orch_prior_spec_of_outputs(64, bad[i], 2, 3, &spec, &error));
        assert_non_null(strstr(error->message, "are not those of a detector of 3 classes"));
    }
    assert_false(orch_prior_spec_of_outputs(64, good, 1, 3, &spec, NULL));
    assert_false(find_spec("resnet18", 224, 10, &spec, NULL));
}

/* Value v of prior a of cell (y, x) of map m has a number of its own, which says all five. */
static float number(int64_t image, int m, int a, int v, int64_t y, int64_t x)
{
    return (float)((((((image * 3 + m) * 7 + a) * 5 + v) * 9 + y) * 9) + x);
}

static void test_rows_are_in_the_order_of_priors(void **state)
{
    (void)state;
    enum { IMAGES = 2, VALUES = 5 };
    struct orch_prior_spec spec;
    assert_true(find_spec("ssd-small", 64, VALUES, &spec, NULL));
    struct orch_priors *priors = orch_priors_new(&spec, NULL);
    float *maps[3], *again[3];
    for (int m = 0; m < 3; m++) {
        const int64_t cells = spec.maps[m].cells;
        int64_t at = 0;
        maps[m] = g_new(float, IMAGES * 6 * VALUES * cells * cells);
        again[m] = g_new(float, IMAGES * 6 * VALUES * cells * cells);
        for (int64_t i = 0; i < IMAGES; i++)
            for (int c = 0; c < 6 * VALUES; c++)
                for (int64_t cell = 0; cell < cells * cells; cell++)
                    maps[m][at++] =
                        number(i, m, c / VALUES, c % VALUES, cell / cells, cell % cells);
    }
    g_autofree float *rows = g_new(float, IMAGES * priors->count * VALUES);
    orch_maps_gather(&spec, (const float *const *)maps, IMAGES, VALUES, rows);
    int64_t row = 0;
    for (int64_t i = 0; i < IMAGES; i++)
        for (int m = 0; m < 3; m++)
            for (int64_t cell = 0; cell < (int64_t)spec.maps[m].cells * spec.maps[m].cells; cell++)
                for (int a = 0; a < 6; a++, row++)
                    for (int v = 0; v < VALUES; v++)
                        assert_true(rows[row * VALUES + v] == number(i, m, a, v,
                                                                     cell / spec.maps[m].cells,
                                                                     cell % spec.maps[m].cells));
    assert_int_equal(row, IMAGES * priors->count);
    orch_maps_scatter(&spec, rows, IMAGES, VALUES, again);
    for (int m = 0; m < 3; m++) {
        const size_t cells = (size_t)spec.maps[m].cells * (size_t)spec.maps[m].cells;
        assert_memory_equal(maps[m], again[m], sizeof(float) * IMAGES * 6 * VALUES * cells);
        g_free(maps[m]);
        g_free(again[m]);
    }
    /* the first prior of the second row of cells lies below the first */
    const struct orch_prior_box *first = &priors->centred[0], *below = &priors->centred[8 * 6];
    assert_true(below->cx == first->cx && below->cy > first->cy);
    orch_priors_free(priors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_detector_has_priors),
        cmocka_unit_test(test_others_are_refused),
        cmocka_unit_test(test_rows_are_in_the_order_of_priors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
