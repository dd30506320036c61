/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the curves of some networks to that of another, on laws made up here: features are found, a
 * device that matters is told from one that does not, few networks and wrong numbers are answered.
 * And how a fit is judged and its form chosen. */
#include "features/curve/laws/curve_choose.h"
#include "features/curve/laws/curve_law.h"
#include "features/curve/laws/curve_ols.h"
#include "lib/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g, wanted %.17g", got, want);
}

enum { NETS = 5, DEVICES = 3, ROWS = NETS * DEVICES, OUTPUTS = 3 };

/* layers, log10 parameters, log10 FLOPs: they rise together, but not in step. The first is of
 * another family: few layers, many parameters. */
static const double SIZES[NETS][ORCH_LAW_FEATURES] = {
    {18, 7.05, 9.05}, {20, 5.43, 7.91}, {32, 5.67, 8.14}, {44, 5.82, 8.29}, {56, 5.93, 8.4}};
static const double NEW_SIZE[ORCH_LAW_FEATURES] = {50, 5.88, 8.35};

static double values[ROWS][OUTPUTS];
static struct orch_law_row rows[ROWS];

/* b0 = exp(-3 - 0.02 layers), b1 = 0.4, b2 = exp(2 - 0.5 log10 parameters); each with a ripple of
 * `noise` that no size explains, and times exp(shift x device) for b0. */
static struct orch_law_data family(double noise, double shift)
{
    for (int i = 0; i < ROWS; i++) {
        int net = i / DEVICES, device = i % DEVICES;
        double ripple = noise * sin(7.3 * i + 1), other = noise * cos(5.1 * i * i);
        values[i][0] = exp(-3 - 0.02 * SIZES[net][0] + ripple + shift * device);
        values[i][1] = 0.4 * exp(other);
        values[i][2] = exp(2 - 0.5 * SIZES[net][1] + ripple * other / (noise + 1e-30));
        rows[i] = (struct orch_law_row){net, device, values[i]};
    }
    return (struct orch_law_data){.networks = NETS,
                                  .devices = DEVICES,
                                  .outputs = OUTPUTS,
                                  .features = &SIZES[0][0],
                                  .rows = rows,
                                  .row_count = ROWS};
}

static struct orch_curve_law *fitted(const struct orch_law_data *data)
{
    GError *error = NULL;
    struct orch_curve_law *law = orch_law_fit(data, &error);
    if (!law)
        fail_msg("%s", error->message);
    return law;
}

static void test_law_is_found(void **state)
{
    (void)state;
    struct orch_law_data data = family(1e-3, 0);
    struct orch_curve_law *law = fitted(&data);
    near(orch_law_predict(law, 0, NEW_SIZE, -1) / exp(-3 - 0.02 * 50), 1, 0.01);
    near(orch_law_predict(law, 1, NEW_SIZE, 1) / 0.4, 1, 0.01);
    near(orch_law_predict(law, 2, NEW_SIZE, 2) / exp(2 - 0.5 * 5.88), 1, 0.01);
    assert_true(law->lines[0].is_log && law->lines[0].uses[0]);
    assert_true(law->lines[2].uses[1]);
    for (int i = 0; i < OUTPUTS; i++) {
        assert_false(law->lines[i].test.matters);
        assert_true(law->lines[i].left_out_error < 0.01);
        near(law->lines[i].device[1], 0, 0);
    }
    assert_true(law->lines[0].r2 > 0.999);
    orch_law_free(law);
}

/* Against NumPy 1.24 on the same numbers: numpy.linalg.lstsq of ln b0 on (1, layers), the
 * covariance s^2 (X'X)^-1 from the five networks' means (3 degrees of freedom), numpy.linalg.cond
 * of X, and R2 of the logarithms (of b0 itself it would be 0.99706). With all three sizes the
 * condition number is above 10^4. */
static void test_errors(void **state)
{
    (void)state;
    struct orch_law_data data = family(0.02, 0);
    struct orch_law_line line = {
        .is_log = true, .uses = {true}, .intercept = -3.00137681, .slopes = {-0.01988374}};
    double y[ROWS];
    for (int i = 0; i < ROWS; i++)
        y[i] = log(values[i][0]);
    orch_law_line_errors(&data, y, &line);
    near(line.intercept_se, 0.01883786, 1e-7);
    near(line.slope_se[0], 0.00051006, 1e-7);
    assert_true(isnan(line.slope_se[1]));
    near(line.condition, 94.635154, 1e-4);
    struct orch_law_line all = {.is_log = true, .uses = {true, true, true}};
    orch_law_line_errors(&data, y, &all);
    near(all.condition, 25089.5983, 0.1);
    assert_true(all.condition >= ORCH_LAW_CONDITION_MOST);
    /* two networks leave no degree of freedom for a line */
    data.networks = 2;
    data.row_count = (size_t)2 * DEVICES;
    orch_law_line_errors(&data, y, &line);
    assert_true(isnan(line.slope_se[0]) && line.condition > 1);
    struct orch_curve_law *law = NULL;
    data = family(0.02, 0);
    law = fitted(&data);
    assert_true(law->lines[0].is_log && law->lines[0].uses[0]);
    if (!law->lines[0].uses[1] && !law->lines[0].uses[2])
        near(law->lines[0].r2, 0.9976160298593435, 1e-9);
    orch_law_free(law);
}

/* scipy.optimize.curve_fit of 1/(a k + b) + c on the same 40 points. */
static void test_curve_errors(void **state)
{
    (void)state;
    double k[40], loss[40], errors[3];
    struct orch_curve curve;
    GError *error = NULL;
    for (int i = 0; i < 40; i++) {
        k[i] = i + 1;
        loss[i] = 1 / (0.05 * k[i] + 0.5) + 0.3 + 0.02 * sin(3 * k[i]);
    }
    assert_true(orch_curve_fit(k, loss, 40, NULL, &curve, &error));
    orch_curve_errors(&curve, k, loss, 40, HUGE_VAL, errors);
    near(curve.b[0], 0.05018979223, 1e-5);
    near(errors[0] / 0.001711859349, 1, 2e-3);
    near(errors[1] / 0.003279063035, 1, 2e-3);
    near(errors[2] / 0.01475849365, 1, 2e-3);
    curve.b[2] = 0; /* on its bound */
    orch_curve_errors(&curve, k, loss, 40, HUGE_VAL, errors);
    assert_true(isnan(errors[2]) && errors[0] > 0);
    orch_curve_errors(&curve, k, loss, 2, HUGE_VAL, errors);
    assert_true(isnan(errors[0]));
}

static void test_device_that_matters(void **state)
{
    (void)state;
    struct orch_law_data data = family(1e-3, 0.1);
    struct orch_curve_law *law = fitted(&data);
    const struct orch_law_test *test = &law->lines[0].test;
    assert_true(test->matters && test->p < 1e-6);
    assert_int_equal(test->df_device, DEVICES - 1);
    assert_int_equal(test->df_rest, ROWS - NETS - (DEVICES - 1));
    near(test->largest, exp(0.2) - 1, 0.01);
    near(orch_law_predict(law, 0, NEW_SIZE, 2) / orch_law_predict(law, 0, NEW_SIZE, 0), exp(0.2),
         0.01);
    assert_false(law->lines[1].test.matters);
    orch_law_free(law);
}

/* F by hand: two networks, two devices; y = 1, 3 and 5, 6 (taken as they are, b reaching 0). The
 * device means differ by 1.5; SS_device = 4 x 0.75^2 = 2.25, SS_rest = 0.25, F(1, 1) = 9. */
static void test_f_by_hand(void **state)
{
    (void)state;
    static const double y[4][1] = {{0}, {2}, {4}, {5}};
    struct orch_law_row four[4];
    for (int i = 0; i < 4; i++)
        four[i] = (struct orch_law_row){i / 2, i % 2, y[i]};
    struct orch_law_data data = {.networks = 2,
                                 .devices = 2,
                                 .outputs = 1,
                                 .features = &SIZES[0][0],
                                 .rows = four,
                                 .row_count = 4};
    struct orch_curve_law *law = fitted(&data);
    assert_false(law->lines[0].is_log);
    near(law->lines[0].test.f, 9, 1e-9);
    near(law->lines[0].test.p, 0.204832764699, 1e-9); /* 1 - 2/pi atan(3) */
    near(law->lines[0].test.largest, 1.5 / 2.75, 1e-9);
    orch_law_free(law);
}

/* b0 that no size explains: among the sets of features one fits the networks best by chance. The
 * error that is printed is that of networks which had no part in the choice of features. */
static void test_left_out_error_is_nested(void **state)
{
    (void)state;
    static const double b0[NETS] = {0.031, 0.052, 0.024, 0.047, 0.038};
    struct orch_law_row one_each[NETS];
    struct orch_law_data data = {.networks = NETS, .devices = 1, .outputs = 1};
    data.features = &SIZES[0][0];
    for (int i = 0; i < NETS; i++)
        one_each[i] = (struct orch_law_row){i, 0, &b0[i]};
    data.rows = one_each;
    data.row_count = NETS;
    struct orch_curve_law *law = fitted(&data);
    double sum = 0;
    for (int left = 0; left < NETS; left++) {
        struct orch_law_row rest[NETS];
        double sizes[NETS][ORCH_LAW_FEATURES];
        struct orch_law_data others = {.networks = NETS - 1, .devices = 1, .outputs = 1};
        for (int i = 0, at = 0; i < NETS; i++) {
            if (i == left)
                continue;
            memcpy(sizes[at], SIZES[i], sizeof *sizes);
            rest[at] = (struct orch_law_row){at, 0, &b0[i]};
            at++;
        }
        others.features = &sizes[0][0];
        others.rows = rest;
        others.row_count = NETS - 1;
        struct orch_curve_law *without = fitted(&others);
        sum += fabs(orch_law_predict(without, 0, SIZES[left], 0) - b0[left]) / b0[left];
        orch_law_free(without);
    }
    near(law->lines[0].left_out_error, sum / NETS, 1e-12);
    orch_law_free(law);
}

static void test_r2_needs_observations(void **state)
{
    (void)state;
    struct orch_law_line line = {.uses = {true, false, true}};
    assert_int_equal(orch_law_coefficients(&line), 3);
    assert_false(orch_law_r2_counts(4, 3)); /* one degree of freedom */
    assert_false(orch_law_r2_counts(5, 3));
    assert_true(orch_law_r2_counts(6, 3));
    assert_true(orch_law_r2_counts(4, 2));
}

static void test_few_networks(void **state)
{
    (void)state;
    struct orch_law_data data = family(0, 0);
    data.networks = 1;
    data.row_count = DEVICES;
    struct orch_curve_law *law = fitted(&data);
    near(orch_law_predict(law, 0, NEW_SIZE, -1), values[0][0], 1e-12);
    assert_true(isnan(law->lines[0].left_out_error));
    /* all devices agree exactly: F is 0 / 0 */
    assert_true(isnan(law->lines[0].test.f) && isnan(law->lines[0].test.p));
    orch_law_free(law);
    data.devices = 1;
    data.row_count = 1;
    law = fitted(&data);
    assert_true(isnan(law->lines[0].test.p) && !law->lines[0].test.matters);
    orch_law_free(law);
    /* a device of which nothing is known, and one row a network: nothing to test, no crash */
    data = family(0, 0);
    data.devices = DEVICES + 1;
    for (int i = 0; i < NETS; i++)
        rows[i] = rows[i * DEVICES];
    data.row_count = NETS;
    law = fitted(&data);
    assert_false(law->lines[0].test.matters);
    near(orch_law_predict(law, 0, NEW_SIZE, 3) / exp(-4), 1, 1e-6);
    orch_law_free(law);
}

/* A parameter that reaches 0 is taken as it is, and no prediction is below 0. */
static void test_never_negative(void **state)
{
    (void)state;
    struct orch_law_data data = family(0, 0);
    for (int i = 0; i < ROWS; i++)
        values[i][0] = 0.01 * (56 - SIZES[i / DEVICES][0]);
    struct orch_curve_law *law = fitted(&data);
    const double far[] = {110, 6.2, 8.7};
    assert_false(law->lines[0].is_log);
    near(orch_law_predict(law, 0, NEW_SIZE, -1), 0.06, 1e-9);
    near(orch_law_predict(law, 0, far, -1), 0, 0);
    orch_law_free(law);
}

static void test_law_refuses(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_law_data data = family(0, 0);
    data.row_count = 0;
    assert_null(orch_law_fit(&data, &error));
    assert_int_equal(error->code, ORCH_ERROR_USAGE);
    g_clear_error(&error);
    data = family(0, 0);
    values[3][1] = (double)NAN;
    assert_null(orch_law_fit(&data, &error));
    assert_non_null(strstr(error->message, "finite"));
    g_clear_error(&error);
    data = family(0, 0);
    rows[4].network = NETS;
    assert_null(orch_law_fit(&data, NULL));
    rows[4].network = -1;
    assert_null(orch_law_fit(&data, NULL));
}

/* ---- judging and choosing --------------------------------------------------------------------
 */

enum { POINTS = 80 };
static double k_of[POINTS], loss_of[POINTS];

static void fill(double exponent, double noise)
{
    for (int i = 0; i < POINTS; i++) {
        k_of[i] = i + 1;
        loss_of[i] = 0.3 + 3 * pow(i + 3, -exponent) * (1 + noise * sin(i * i));
    }
}

static struct orch_stages *chosen(const struct orch_curve_options *options)
{
    struct orch_stages *stages = orch_stages_choose(k_of, loss_of, POINTS, NULL, 0, options, NULL);
    assert_non_null(stages);
    return stages;
}

/* Four points would fit the four parameters of the power form exactly. */
static void test_too_few_points_for_power(void **state)
{
    (void)state;
    fill(1.9, 0);
    struct orch_stages *few = orch_stages_choose(k_of, loss_of, 4, NULL, 0, NULL, NULL);
    assert_non_null(few);
    assert_int_equal(few->curves[0].form, ORCH_CURVE_OPTIMUS);
    orch_stages_free(few);
}

static void test_choice_of_form(void **state)
{
    (void)state;
    const struct {
        double exponent, noise;
        enum orch_curve_form form;
    } cases[] = {
        {1, 0, ORCH_CURVE_OPTIMUS}, {1, 0.05, ORCH_CURVE_OPTIMUS}, {0.3, 0.01, ORCH_CURVE_POWER}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        fill(cases[i].exponent, cases[i].noise);
        struct orch_stages *stages = chosen(NULL);
        assert_int_equal(stages->curves[0].form, cases[i].form);
        orch_stages_free(stages);
    }
}

/* The regression on layers and device against one worked out by hand, and an exact law. */
static void test_plain_regression(void **state)
{
    (void)state;
    static const double sizes[3][ORCH_LAW_FEATURES] = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
    static const double ys[] = {1, 2, 4};
    struct orch_law_row three[] = {{0, 0, &ys[0]}, {1, 0, &ys[1]}, {2, 0, &ys[2]}};
    struct orch_law_data data = {3, 1, 1, &sizes[0][0], three, 3};
    struct orch_curve_ols *plain = orch_curve_ols_fit(&data);
    assert_int_equal(plain->terms, 2);
    near(plain->lines[0].per_layer.value, 1.5, 1e-12);
    near(plain->lines[0].per_layer.error, sqrt(1.0 / 12), 1e-12);
    near(plain->lines[0].constant.value, -2.0 / 3, 1e-12);
    near(plain->lines[0].constant.error, sqrt(1.0 / 6 * 7 / 3), 1e-12);
    near(plain->lines[0].r2, 1 - (1.0 / 6) / (14.0 / 3), 1e-12);
    near(orch_curve_ols_predict(plain, 0, 0.1, 0), 0, 0); /* -0.52 is no parameter of a curve */
    orch_curve_ols_free(plain);
    double exact[6];
    struct orch_law_row six[6];
    for (int i = 0; i < 6; i++) { /* devices 1 and 2 of 3: device 0 has no row */
        exact[i] = 1 + 2 * sizes[i / 2][0] + 5 * (i % 2);
        six[i] = (struct orch_law_row){i / 2, 1 + i % 2, &exact[i]};
    }
    data = (struct orch_law_data){3, 3, 1, &sizes[0][0], six, 6};
    plain = orch_curve_ols_fit(&data);
    assert_int_equal(plain->base, 1);
    assert_int_equal(plain->terms, 3);
    near(plain->lines[0].device[2].value, 5, 1e-12);
    near(plain->lines[0].r2, 1, 1e-12);
    near(orch_curve_ols_predict(plain, 0, 50, 2), 106, 1e-9);
    near(orch_curve_ols_predict(plain, 0, 50, 0), 101, 1e-9); /* no row: as on the base device */
    orch_curve_ols_free(plain);
    /* as many rows as terms: no standard error; fewer: no regression; one network: no layers */
    data = (struct orch_law_data){3, 1, 1, &sizes[0][0], three, 2};
    plain = orch_curve_ols_fit(&data);
    assert_true(isnan(plain->lines[0].per_layer.error));
    orch_curve_ols_free(plain);
    data.row_count = 1;
    plain = orch_curve_ols_fit(&data);
    assert_false(plain->has_layers);
    near(orch_curve_ols_predict(plain, 0, 50, 0), 1, 1e-12);
    orch_curve_ols_free(plain);
    three[1].device = 1;
    data = (struct orch_law_data){3, 2, 1, &sizes[0][0], three, 2};
    assert_null(orch_curve_ols_fit(&data));
}

static void test_goodness_by_hand(void **state)
{
    (void)state;
    struct orch_curve flat = {.form = ORCH_CURVE_OPTIMUS, .b = {0, 0.5, 0}, .loss_scale = 1};
    double start = 0, k[] = {1, 2, 3}, loss[] = {1, 2, 4}, same[] = {2, 2, 2};
    struct orch_stages stages = {.count = 1, .starts = &start, .curves = &flat}; /* 2 everywhere */
    struct orch_goodness good = orch_stages_goodness(&stages, k, loss, 3, 0);
    near(good.relative_error, (1 + 0 + 0.5) / 3, 1e-12);
    near(good.r2, 1 - 5 / (14.0 / 3), 1e-12);
    good = orch_stages_goodness(&stages, k, loss, 3, 2);
    assert_int_equal(good.points, 2);
    near(good.relative_error, 0.25, 1e-12);
    good = orch_stages_goodness(&stages, k, same, 3, 0);
    assert_true(isnan(good.r2));
    good = orch_stages_goodness(&stages, k, loss, 3, 9);
    assert_true(isnan(good.relative_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_left_out_error_is_nested),
        cmocka_unit_test(test_r2_needs_observations),
        cmocka_unit_test(test_law_is_found),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_curve_errors),
        cmocka_unit_test(test_device_that_matters),
        cmocka_unit_test(test_f_by_hand),
        cmocka_unit_test(test_few_networks),
        cmocka_unit_test(test_never_negative),
        cmocka_unit_test(test_law_refuses),
        cmocka_unit_test(test_choice_of_form),
        cmocka_unit_test(test_too_few_points_for_power),
        cmocka_unit_test(test_goodness_by_hand),
        cmocka_unit_test(test_plain_regression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
