/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Non-negative least squares, loss curves, isotonic fits and speed models on known laws, worked by
 * hand or typed in from SciPy; and what each refuses. All cases of the reference files are in
 * tests/reference/test_optimus_reference.c. */
#include "features/curve/laws/curve.h"
#include "features/curve/laws/isotonic.h"
#include "features/curve/laws/levmar.h"
#include "features/curve/laws/speed.h"
#include "lib/base/error.h"
#include "predictors/numbers/nnls.h"

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

/* A refusal: the code and a word of the message; the error is cleared. */
static void refused(bool is_ok, GError **error, int code, const char *word)
{
    assert_false(is_ok);
    assert_non_null(*error);
    assert_int_equal((*error)->code, code);
    if (!strstr((*error)->message, word))
        fail_msg("'%s' does not say '%s'", (*error)->message, word);
    g_clear_error(error);
}

/* ---- non-negative least squares ------------------------------------------------------------- */

/* Unconstrained the answer is (2, -1); the best with x >= 0 is (1.5, 0), by hand. */
static void test_nnls_by_hand(void **state)
{
    (void)state;
    double a[] = {1, 1, 1, 0, 0, 1}, b[] = {1, 2, -1}, x[2];
    assert_true(orch_nnls_solve(a, b, NULL, 3, 2, x, NULL));
    near(x[0], 1.5, 1e-15);
    near(x[1], 0, 0);
    double weights[] = {3, 1, 0}; /* (3 * 1 + 2) / 4; the last row says nothing */
    double column[] = {1, 1, 0};
    assert_true(orch_nnls_solve(column, b, weights, 3, 1, x, NULL));
    near(x[0], 1.25, 1e-15);
}

/* A system whose answer is checked by the conditions that only the minimum meets. */
static void test_nnls_conditions(void **state)
{
    (void)state;
    double a[] = {3, -1, 2, 0.5, 4, -1, -2, 1, 5, 1, 1, 1}, b[] = {1, -3, 2, 0.1}, x[3];
    assert_true(orch_nnls_solve(a, b, NULL, 4, 3, x, NULL));
    for (int j = 0; j < 3; j++) {
        double slope = 0;
        for (int i = 0; i < 4; i++)
            slope +=
                a[3 * i + j] * (a[3 * i] * x[0] + a[3 * i + 1] * x[1] + a[3 * i + 2] * x[2] - b[i]);
        assert_true(x[j] >= 0);
        assert_true(slope >= -1e-14);
        assert_true(x[j] == 0 || fabs(slope) < 1e-14);
    }
}

/* Case 39 of nnls_cases.json: SciPy's x, three of four at their bound. */
static void test_nnls_of_a_reference_case(void **state)
{
    (void)state;
    static const double a[] = {
        0.898254276091608,    -0.1123357092463152,  -0.03994808168773642, 0.0503749025356452,
        0.9728302938910097,   -0.34404960737051943, -1.023064326210123,   -0.8239623194735701,
        -0.5097331412912771,  0.28936062798685186,  1.1196930025894374,   -0.484782303067168,
        0.492117036168656,    0.5840521113661795,   -0.21498653163085088, 0.65120287245421,
        -0.16899280431515004, 0.3802630216218912,   -0.7788435920122139,  1.2329422168942972};
    static const double b[] = {-0.2054168905047477, -0.42203785483798917, 0.0150870134127232,
                               -0.5299378868883166, -0.3497423928063051},
                        want[] = {0.0, 0.0, 0.2853658433571229, 0.0};
    double x[4];
    assert_true(orch_nnls_solve(a, b, NULL, 5, 4, x, NULL));
    for (int j = 0; j < 4; j++)
        near(x[j], want[j], 1e-8);
}

static void test_nnls_units_and_dependent_columns(void **state)
{
    (void)state;
    /* 2 + 3 k, with the second column in units of 1e-12 and twice over, and one of zeros */
    double a[4 * 6], b[6], x[4];
    for (int i = 0; i < 6; i++) {
        double row[] = {1, 1e12 * i, 2e12 * i, 0};
        memcpy(a + 4 * i, row, sizeof row);
        b[i] = 2 + 3 * i;
    }
    assert_true(orch_nnls_solve(a, b, NULL, 6, 4, x, NULL));
    near(x[0], 2, 1e-13);
    near(1e12 * x[1] + 2e12 * x[2], 3, 1e-13);
    near(x[3], 0, 0);
    /* more columns than rows */
    double wide[] = {1, 2, 3}, one = 6;
    assert_true(orch_nnls_solve(wide, &one, NULL, 1, 3, x, NULL));
    near(x[0] + 2 * x[1] + 3 * x[2], 6, 1e-14);
    /* all of it downhill: 0 */
    double minus = -1;
    assert_true(orch_nnls_solve(wide, &minus, NULL, 1, 3, x, NULL));
    near(x[0] + x[1] + x[2], 0, 0);
}

static void test_nnls_refuses(void **state)
{
    (void)state;
    double a[] = {1, 2}, b[] = {1, 2}, bad[] = {1, NAN}, endless[] = {HUGE_VAL, 1};
    double x[2] = {7, 7}, zero[] = {0, 0}, below[] = {1, -1};
    const struct {
        const double *a, *b, *weights;
        size_t rows;
        int cols;
        const char *word;
    } cases[] = {
        {a, b, NULL, 0, 1, "no row"},          {a, b, NULL, 2, 0, "no column"},
        {bad, b, NULL, 2, 1, "not finite"},    {a, endless, NULL, 2, 1, "not finite"},
        {a, b, below, 2, 1, "weight"},         {a, b, bad, 2, 1, "weight"},
        {a, b, zero, 2, 1, "no row with a w"}, {a, b, NULL, 2, 100000, "too many"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        bool ok = orch_nnls_solve(cases[i].a, cases[i].b, cases[i].weights, cases[i].rows,
                                  cases[i].cols, x, &error);
        refused(ok, &error, ORCH_ERROR_USAGE, cases[i].word);
    }
    assert_true(x[0] == 7 && x[1] == 7); /* untouched */
}

/* ---- bounded non-linear least squares ------------------------------------------------------- */

static void rosenbrock(const void *context, const double *x, double *r, double *j)
{
    (void)context;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    if (j)
        memcpy(j, (double[]){-20 * x[0], 10, -1, 0}, 4 * sizeof *j);
}

static void test_levmar(void **state)
{
    (void)state;
    struct orch_levmar problem = {
        .model = rosenbrock, .residuals = 2, .params = 2, .lower = {-5, -5}, .upper = {5, 5}};
    double x[] = {-1.2, 1};
    near(orch_levmar_solve(&problem, x), 0, 1e-25);
    near(x[0], 1, 1e-12);
    near(x[1], 1, 1e-12);
    problem.upper[0] = 0.5; /* then at (0.5, 0.25) */
    near(orch_levmar_solve(&problem, x), 0.25, 1e-12);
    near(x[0], 0.5, 0);
    near(x[1], 0.25, 1e-9);
}

/* ---- loss curves ---------------------------------------------------------------------------- */

#define POINTS 60
static double k_of[POINTS], loss_of[POINTS];

static double law(const double *b, double k)
{
    return 1 / (b[0] * k + b[1]) + b[2];
}

/* Losses of a law at 1, 2, ... */
static void fill(double b0, double b1, double b2)
{
    for (int i = 0; i < POINTS; i++) {
        k_of[i] = i + 1;
        loss_of[i] = law((double[]){b0, b1, b2}, i + 1);
    }
}

static struct orch_curve fitted(size_t count, struct orch_curve_options options)
{
    struct orch_curve curve;
    GError *error = NULL;
    if (!orch_curve_fit(k_of, loss_of, count, &options, &curve, &error))
        fail_msg("%s", error->message);
    return curve;
}

static void test_curve_knows_its_law(void **state)
{
    (void)state;
    static const double LAWS[][3] = {
        {0.21, 1.07, 0.07}, {0.266, 0.274, 0.117}, {0.002, 0.4, 0}, {3, 0, 0.5}, {0.1, 2, 1.9}};
    static const struct orch_curve_options WAYS[] = {
        {0},
        {.weights = ORCH_CURVE_SEGMENTS},
        {.neighbours = 1},
        {.neighbours = 3},
    };
    for (size_t l = 0; l < G_N_ELEMENTS(LAWS); l++)
        for (size_t w = 0; w < G_N_ELEMENTS(WAYS); w++) {
            fill(LAWS[l][0], LAWS[l][1], LAWS[l][2]);
            struct orch_curve curve = fitted(POINTS, WAYS[w]);
            const double tolerance = 1e-8;
            for (int i = 0; i < 3; i++)
                near(curve.b[i], LAWS[l][i], tolerance);
            assert_int_equal(curve.replaced, 0);
            assert_false(curve.is_flat);
            near(orch_curve_loss(&curve, 500), law(LAWS[l], 500), tolerance);
            near(orch_curve_limit(&curve), LAWS[l][2], tolerance);
        }
}

/* Case 4 of optimus_loss_cases_open.csv: the first 30 epochs with noise, SciPy's curve_fit without
 * weights and with the published program's. */
static void test_curve_of_a_reference_case(void **state)
{
    (void)state;
    static const double LOSS[] = {
        1.2847699437736342,  1.050119724131731,   0.8983178602763275,  0.7956369219317148,
        0.7105274622481228,  0.6488602357987516,  0.589210472416097,   0.5611426295069397,
        0.5308546322336511,  0.4982657334450751,  0.47348842768360005, 0.45134539675108126,
        0.4298001279393412,  0.42935691443792307, 0.4117215503493755,  0.405053552028234,
        0.3928380468490012,  0.38415417914353867, 0.3796020131252411,  0.36483879900740823,
        0.35956977612130764, 0.34909460865136716, 0.34527261439937856, 0.3362019132705934,
        0.33659337556412167, 0.3269342605531766,  0.3212335108757938,  0.3275807002973009,
        0.3207074805317687,  0.3163157881917024};
    static const double WANT[][3] = {{0.2579178595521494, 0.6542908778349675, 0.19307688881249832},
                                     {0.2802178155816649, 0.6309831874793744, 0.20408174801230103}};
    for (int i = 0; i < 30; i++) {
        k_of[i] = i + 1;
        loss_of[i] = LOSS[i];
    }
    for (int w = 0; w < 2; w++) {
        struct orch_curve_options options = {.weights = w ? ORCH_CURVE_SEGMENTS : ORCH_CURVE_EQUAL};
        struct orch_curve curve = fitted(30, options);
        for (int i = 0; i < 3; i++)
            near(curve.b[i], WANT[w][i], 1e-6);
        if (w == 0)
            assert_true(curve.sse <= 0.0007510335824623133 * (1 + 1e-6));
    }
}

/* orch_stages_reach of a single curve. */
static bool reaches(const struct orch_curve *curve, double loss, double *out_k, GError **error)
{
    double start = 0;
    struct orch_curve only = *curve;
    const struct orch_stages stages = {.count = 1, .starts = &start, .curves = &only};
    return orch_stages_reach(&stages, loss, out_k, error);
}

/* 1 + 3 (k + 5)^-0.5; and the optimus law as a power law of exponent 1 */
static void test_power_law(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        k_of[i] = i * 10;
        loss_of[i] = 1 + 3 * pow(i * 10 + 5, -0.5);
    }
    struct orch_curve curve = fitted(POINTS, (struct orch_curve_options){.form = ORCH_CURVE_POWER});
    near(curve.b[0], 1, 1e-6);
    near(curve.b[1], 3, 1e-6);
    near(curve.b[2], 0.5, 1e-6);
    near(curve.b[3], 5, 1e-5);
    double k;
    assert_true(reaches(&curve, 1.1, &k, NULL));
    near(k, 895, 1e-3); /* (3 / 0.1)^2 - 5 */
    double optimus = fitted(POINTS, (struct orch_curve_options){0}).sse;
    assert_true(curve.sse < 1e-6 * optimus);
    fill(0.2, 1, 0.1);
    curve = fitted(POINTS, (struct orch_curve_options){.form = ORCH_CURVE_POWER});
    near(curve.b[0], 0.1, 1e-6);
    near(curve.b[1], 5, 1e-4);
    near(curve.b[2], 1, 1e-5);
    near(curve.b[3], 5, 1e-4);
}

/* A normalised fit is the raw one in other units. */
static void test_normalised(void **state)
{
    (void)state;
    fill(0.21, 1.07, 0.07);
    for (int i = 0; i < POINTS; i++)
        loss_of[i] *= 8 + (i % 3) * 0.1;
    double most = 0;
    for (int i = 0; i < POINTS; i++)
        most = fmax(most, loss_of[i]);
    struct orch_curve raw = fitted(POINTS, (struct orch_curve_options){0});
    struct orch_curve share = fitted(POINTS, (struct orch_curve_options){.is_normalised = true});
    near(raw.loss_scale, 1, 0);
    near(share.loss_scale, most, 0);
    near(share.b[0] / (raw.b[0] * most), 1, 1e-8);
    near(share.b[2] * most / raw.b[2], 1, 1e-6);
    near(share.sse * most * most / raw.sse, 1, 1e-9);
    near(orch_curve_loss(&share, 77), orch_curve_loss(&raw, 77), 1e-8);
}

static void test_outliers(void **state)
{
    (void)state;
    double loss[] = {10, 8, 90, 6, 5, 0.1, 3, 2}, out[8];
    assert_int_equal(orch_curve_smooth(loss, 8, 2, out), 2);
    double dragged[8];
    assert_int_equal(orch_curve_smooth(loss, 8, 1, dragged), 4);
    double want[] = {10, 8, 7.25, 6, 5, 4, 3, 2};
    for (int i = 0; i < 8; i++)
        near(out[i], want[i], 0);
    assert_int_equal(orch_curve_smooth(loss, 8, 2, loss), 2); /* in place */
    assert_memory_equal(loss, want, sizeof want);
    assert_int_equal(orch_curve_smooth(loss, 0, 1, loss), 0);

    fill(0.21, 1.07, 0.07);
    loss_of[20] *= 5;
    loss_of[40] = 0;
    struct orch_curve raw = fitted(POINTS, (struct orch_curve_options){0});
    struct orch_curve robust = fitted(POINTS, (struct orch_curve_options){.neighbours = 2});
    double truth = law((double[]){0.21, 1.07, 0.07}, 100);
    assert_int_equal(robust.replaced, 2);
    assert_true(fabs(orch_curve_loss(&robust, 100) - truth) < 1e-3 * truth);
    assert_true(fabs(orch_curve_loss(&raw, 100) - truth) > 0.05 * truth);
}

/* Constant losses, and losses that rise: the best fit is their mean. */
static void test_flat_curves(void **state)
{
    (void)state;
    for (int form = ORCH_CURVE_OPTIMUS; form <= ORCH_CURVE_POWER; form++) {
        struct orch_curve_options options = {.form = (enum orch_curve_form)form};
        for (int i = 0; i < POINTS; i++) {
            k_of[i] = i;
            loss_of[i] = 0.5;
        }
        struct orch_curve curve = fitted(POINTS, options);
        assert_true(curve.is_flat);
        near(orch_curve_loss(&curve, 1e6), 0.5, 1e-12);
        near(orch_curve_limit(&curve), 0.5, 1e-12);
        double k = -1;
        assert_true(reaches(&curve, 0.6, &k, NULL));
        near(k, 0, 0);
        GError *error = NULL;
        refused(reaches(&curve, 0.4, &k, &error), &error, ORCH_ERROR_NOT_FOUND, "0.5");
        for (int i = 0; i < POINTS; i++)
            loss_of[i] = 1 + i;
        curve = fitted(POINTS, options);
        assert_true(curve.is_flat);
        near(orch_curve_loss(&curve, 3), 1 + (POINTS - 1) / 2.0, 1e-9);
    }
}

static void test_reach(void **state)
{
    (void)state;
    fill(0.25, 1, 0.1);
    struct orch_curve curve = fitted(POINTS, (struct orch_curve_options){0});
    double k = -1;
    assert_true(reaches(&curve, 0.3, &k, NULL)); /* 1/0.2 = 5 = 0.25 k + 1 */
    near(k, 16, 1e-8);
    assert_true(reaches(&curve, 5, &k, NULL));
    near(k, 0, 0);
    GError *error = NULL;
    refused(reaches(&curve, 0.0999, &k, &error), &error, ORCH_ERROR_NOT_FOUND, "never");
    refused(reaches(&curve, NAN, &k, &error), &error, ORCH_ERROR_USAGE, "finite");
    near(k, 0, 0); /* untouched */
}

static void test_curve_refuses(void **state)
{
    (void)state;
    double k[] = {1, 2, 3, 4}, loss[] = {4, 3, 2, 1}, zero[4] = {0};
    double gap[] = {4, NAN, 2, 1}, below[] = {4, 3, -2, 1}, back[] = {1, 3, 2, 4};
    double same[] = {1, 1, 1, 1}, minus[] = {-1, 2, 3, 4};
    struct orch_curve_options power = {.form = ORCH_CURVE_POWER};
    const struct {
        const double *k, *loss;
        size_t count;
        const struct orch_curve_options *options;
        const char *word;
    } cases[] = {
        {k, loss, 0, NULL, "no points"},    {k, loss, 1, NULL, "at least 3 steps, found 1"},
        {k, loss, 2, NULL, "found 2"},      {k, loss, 3, &power, "at least 4"},
        {k, gap, 4, NULL, "point 2"},       {k, below, 4, NULL, "point 3"},
        {gap, loss, 4, NULL, "point 2"},    {back, loss, 4, NULL, "earlier"},
        {minus, loss, 4, NULL, "negative"}, {same, loss, 4, NULL, "found 1"},
        {k, zero, 4, NULL, "0 throughout"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_curve curve;
        GError *error = NULL;
        refused(orch_curve_fit(cases[i].k, cases[i].loss, cases[i].count, cases[i].options, &curve,
                               &error),
                &error, ORCH_ERROR_USAGE, cases[i].word);
    }
}

/* No near parameters beat the fit. The noise is a fixed sequence. */
static void test_noisy_fit_is_a_minimum(void **state)
{
    (void)state;
    static const double SIGMA[] = {1, 0.25, 0.0625};
    for (int weighted = 0; weighted < 2; weighted++) {
        fill(0.2559, 0.6693, 0.1929);
        for (int i = 0; i < POINTS; i++)
            loss_of[i] *= 1 + 0.03 * sin(12.9898 * i) * cos(78.233 * i);
        struct orch_curve_options options = {.weights =
                                                 weighted ? ORCH_CURVE_SEGMENTS : ORCH_CURVE_EQUAL};
        struct orch_curve curve = fitted(POINTS, options);
        double sums[7] = {0};
        for (int t = 0; t < 7; t++) { /* itself, and each parameter a little less and more */
            double b[3] = {curve.b[0], curve.b[1], curve.b[2]};
            if (t > 0)
                b[(t - 1) / 2] *= t % 2 ? 0.999 : 1.001;
            for (int i = 0; i < POINTS; i++) {
                double miss = law(b, k_of[i]) - loss_of[i];
                miss /= weighted ? SIGMA[i * 3 / POINTS] : 1;
                sums[t] += miss * miss;
            }
            assert_true(sums[t] >= sums[0]);
        }
        near(curve.sse / sums[0], 1, 1e-9);
    }
}

/* ---- stages --------------------------------------------------------------------------------- */

static double staged_law(double k)
{
    if (k < 30)
        return 1 / (0.2 * k + 0.5) + 0.6;
    return k < 50 ? 1 / (0.5 * (k - 30) + 5) + 0.1 : 0.05;
}

static void test_stages(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        k_of[i] = i;
        loss_of[i] = staged_law(i);
    }
    double drops[] = {30, 50, 90};
    GError *error = NULL;
    struct orch_stages *stages = orch_stages_fit(k_of, loss_of, POINTS, drops, 3, NULL, &error);
    assert_non_null(stages);
    assert_int_equal(stages->count, 3); /* the last drop lies beyond the points */
    for (int i = 0; i < POINTS; i++)
        near(orch_stages_loss(stages, i), loss_of[i], 1e-9);
    near(stages->curves[1].b[0], 0.5, 1e-7);
    near(stages->curves[1].b[1], 5, 1e-6);
    assert_true(stages->curves[2].is_flat);
    double k;
    assert_true(orch_stages_reach(stages, 0.85, &k, NULL)); /* 1/0.25 = 4 = 0.2 k + 0.5 */
    near(k, 17.5, 1e-7);
    /* the first stage would reach 0.65 at 97.5; the second begins below it */
    assert_true(orch_stages_reach(stages, 0.65, &k, NULL));
    near(k, 30, 0);
    assert_true(orch_stages_reach(stages, 0.06, &k, NULL));
    near(k, 50, 0);
    refused(orch_stages_reach(stages, 0.01, &k, &error), &error, ORCH_ERROR_NOT_FOUND, "never");
    orch_stages_free(stages);

    /* the last stage has just begun: held at what was seen */
    stages = orch_stages_fit(k_of, loss_of, 32, drops, 3, NULL, NULL);
    assert_int_equal(stages->count, 2);
    assert_true(stages->curves[1].is_flat);
    near(orch_stages_loss(stages, 40), (loss_of[30] + loss_of[31]) / 2, 1e-12);
    orch_stages_free(stages);

    double empty[] = {10.2, 10.8}, unsorted[] = {30, 20};
    stages = orch_stages_fit(k_of, loss_of, POINTS, empty, 2, NULL, &error);
    refused(stages, &error, ORCH_ERROR_USAGE, "no loss was recorded");
    stages = orch_stages_fit(k_of, loss_of, POINTS, unsorted, 2, NULL, &error);
    refused(stages, &error, ORCH_ERROR_USAGE, "ascending");
    stages = orch_stages_fit(k_of, loss_of, 0, drops, 2, NULL, &error);
    refused(stages, &error, ORCH_ERROR_USAGE, "no points");
    orch_stages_free(NULL);
}

/* ---- accuracy on loss ----------------------------------------------------------------------- */

static void test_isotonic(void **state)
{
    (void)state;
    /* rising, by hand: 1, (3 + 2)/2, 4 and ties averaged */
    double x[] = {3, 1, 2, 4, 4}, y[] = {2, 1, 3, 3, 5};
    struct orch_isotonic *fit = orch_isotonic_fit(x, y, 5, true, NULL);
    double want_x[] = {1, 2, 3, 4}, want_y[] = {1, 2.5, 2.5, 4};
    assert_int_equal(fit->count, 4);
    for (int i = 0; i < 4; i++) {
        near(fit->x[i], want_x[i], 0);
        near(fit->y[i], want_y[i], 1e-15);
    }
    double at;
    assert_true(orch_isotonic_cross(fit, 1.75, &at, NULL));
    near(at, 1.5, 1e-15);
    assert_true(orch_isotonic_cross(fit, 3.25, &at, NULL));
    near(at, 3.5, 1e-15);
    orch_isotonic_free(fit);
    /* one block out of five */
    double down[] = {5, 4, 3, 2, 1}, steps[] = {1, 2, 3, 4, 5};
    fit = orch_isotonic_fit(steps, down, 5, true, NULL);
    for (int i = 0; i < 5; i++)
        near(fit->y[i], 3, 1e-15);
    orch_isotonic_free(fit);
}

static void test_accuracy_crosses(void **state)
{
    (void)state;
    /* accuracy falls with loss; the pair at 0.4 and 0.3 is out of order and pooled to 0.905 */
    double loss[] = {1, 0.6, 0.4, 0.3, 0.2, 0.1}, accuracy[] = {0.6, 0.8, 0.91, 0.90, 0.92, 0.94};
    struct orch_isotonic *fit = orch_isotonic_fit(loss, accuracy, 6, false, NULL);
    near(fit->y[2], 0.905, 1e-12);
    near(fit->y[3], 0.905, 1e-12);
    double at = -1;
    assert_true(orch_isotonic_cross(fit, 0.92, &at, NULL));
    near(at, 0.2, 1e-12);
    assert_true(orch_isotonic_cross(fit, 0.7, &at, NULL));
    near(at, 0.8, 1e-12);
    assert_true(orch_isotonic_cross(fit, 0.5, &at, NULL)); /* all are above: the outermost */
    near(at, 1, 0);
    GError *error = NULL;
    refused(orch_isotonic_cross(fit, 0.95, &at, &error), &error, ORCH_ERROR_NOT_FOUND, "0.94");
    refused(orch_isotonic_cross(fit, NAN, &at, &error), &error, ORCH_ERROR_USAGE, "finite");
    near(at, 1, 0);
    orch_isotonic_free(fit);
    refused(orch_isotonic_fit(loss, accuracy, 0, false, &error), &error, ORCH_ERROR_USAGE,
            "at least one point");
    accuracy[2] = NAN;
    refused(orch_isotonic_fit(loss, accuracy, 6, false, &error), &error, ORCH_ERROR_USAGE,
            "finite numbers");
    fit = orch_isotonic_fit(loss, accuracy, 1, false, NULL);
    near(fit->y[0], 0.6, 0);
    assert_true(orch_isotonic_cross(fit, 0.5, &at, NULL));
    near(at, 1, 0);
    orch_isotonic_free(fit);
    orch_isotonic_free(NULL);
}

/* ---- speed ---------------------------------------------------------------------------------- */

static double async_law(double p, double w)
{
    return w / (2.83 + 3.92 * w / p + 0.11 * p);
}

static double sync_law(double p, double w)
{
    return 1 / (1.02 * 256 / w + 2.78 + 4.92 * w / p + 0.02 * p);
}

static size_t measure(struct orch_speed_point *points, const int (*places)[2], size_t count,
                      double (*speed)(double, double))
{
    for (size_t i = 0; i < count; i++)
        points[i] = (struct orch_speed_point){places[i][0], places[i][1],
                                              speed(places[i][0], places[i][1])};
    return count;
}

static const int PLACES[][2] = {{1, 12}, {2, 14}, {4, 3}, {5, 18}, {8, 4}, {12, 18}, {15, 11}};

/* The laws are those that the paper fits to ResNet-50, as they are cited. */
static void test_speed_knows_its_law(void **state)
{
    (void)state;
    static const double ASYNC[] = {2.83, 3.92, 0, 0.11}, SYNC[] = {1.02, 2.78, 4.92, 0, 0.02};
    for (int mode = 0; mode < ORCH_SPEED_MODE_COUNT; mode++)
        for (int relative = 0; relative < 2; relative++) {
            double (*speed_at)(double, double) = mode == ORCH_SPEED_SYNC ? sync_law : async_law;
            const double *theta = mode == ORCH_SPEED_SYNC ? SYNC : ASYNC;
            struct orch_speed_point points[7];
            measure(points, PLACES, 7, speed_at);
            struct orch_speed_options options = {
                .mode = (enum orch_speed_mode)mode, .total_batch = 256, .is_relative = relative};
            struct orch_speed *speed = orch_speed_fit(points, 7, &options, NULL);
            assert_non_null(speed);
            for (int t = 0; t < orch_speed_terms(options.mode); t++)
                near(orch_speed_theta(speed)[t], theta[t], 1e-9);
            for (int i = 0; i < 7; i++)
                near(orch_speed_model(speed, points[i].servers, points[i].workers),
                     points[i].steps_per_s, 1e-9);
            assert_null(orch_speed_warning(speed));
            assert_true(orch_speed_is_determined(speed, 20, 1));
            near(orch_speed_model(speed, 20, 7), speed_at(20, 7), 1e-9);
            orch_speed_free(speed);
        }
}

/* Case 2 of optimus_speed_cases_open.csv: ten noisy points, SciPy's t. */
static void test_speed_of_a_noisy_case(void **state)
{
    (void)state;
    static const struct orch_speed_point points[] = {
        {1, 9, 0.5514669695801276},  {3, 1, 0.48674248832113587}, {4, 3, 1.1334753628945988},
        {6, 1, 0.6073523838464265},  {6, 14, 2.6135465074397235}, {7, 5, 1.9779914535419316},
        {9, 20, 3.9506589040483377}, {15, 15, 4.088351988259642}, {18, 10, 4.4388856610556715},
        {20, 14, 5.155601096861058}};
    static const double theta[] = {1.3684683706124579, 1.6500057396282586, 0.008501727813111894,
                                   0.005120113657386594};
    struct orch_speed_options options = {.mode = ORCH_SPEED_ASYNC};
    struct orch_speed *speed = orch_speed_fit(points, G_N_ELEMENTS(points), &options, NULL);
    for (int t = 0; t < 4; t++)
        near(orch_speed_theta(speed)[t], theta[t], 1e-10);
    near(orch_speed_model(speed, 6, 15), 2.6540549190917195, 1e-10);
    orch_speed_free(speed);
}

/* Repeated measurements at one (p, w) count as one, at their mean. */
static void test_repeats_are_averaged(void **state)
{
    (void)state;
    struct orch_speed_point points[9];
    measure(points, PLACES, 7, async_law);
    points[7] = points[8] = points[2];
    points[7].steps_per_s *= 1.5; /* of three runs at (4, 3), one was odd */
    struct orch_speed_options options = {.mode = ORCH_SPEED_ASYNC};
    struct orch_speed *repeated = orch_speed_fit(points, 9, &options, NULL);
    points[2].steps_per_s = async_law(4, 3) * 3.5 / 3;
    struct orch_speed *mean = orch_speed_fit(points, 7, &options, NULL);
    for (int t = 0; t < orch_speed_terms(ORCH_SPEED_ASYNC); t++)
        near(orch_speed_theta(repeated)[t], orch_speed_theta(mean)[t], 1e-12);
    assert_true(fabs(orch_speed_model(mean, 4, 3) - async_law(4, 3)) > 1e-3);
    orch_speed_free(repeated);
    orch_speed_free(mean);
}

static void test_identifiability(void **state)
{
    (void)state;
    static const int SAME[][2] = {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {8, 8}, {10, 10}};
    static const int TWO[][2] = {{2, 1}, {2, 2}, {2, 4}, {2, 8}, {2, 16}};
    static const int FOUR[][2] = {{1, 4}, {2, 4}, {4, 4}, {8, 4}, {16, 4}};
    struct orch_speed_point points[6];
    struct orch_speed_options options = {.mode = ORCH_SPEED_SYNC, .total_batch = 256};
    measure(points, SAME, 6, sync_law);
    struct orch_speed *speed = orch_speed_fit(points, 6, &options, NULL);
    assert_non_null(strstr(orch_speed_warning(speed), "w/p"));
    assert_true(orch_speed_is_determined(speed, 7, 7)); /* on the line, known all the same */
    near(orch_speed_model(speed, 7, 7), sync_law(7, 7), 1e-9);
    assert_false(orch_speed_is_determined(speed, 7, 3));
    orch_speed_free(speed);

    measure(points, TWO, 5, sync_law);
    speed = orch_speed_fit(points, 5, &options, NULL);
    assert_non_null(strstr(orch_speed_warning(speed), "servers (p) are the same"));
    near(orch_speed_model(speed, 2, 12), sync_law(2, 12), 1e-9);
    assert_true(orch_speed_is_determined(speed, 2, 12));
    assert_false(orch_speed_is_determined(speed, 4, 12));
    orch_speed_free(speed);

    measure(points, FOUR, 5, async_law);
    options.mode = ORCH_SPEED_ASYNC;
    speed = orch_speed_fit(points, 5, &options, NULL);
    assert_non_null(strstr(orch_speed_warning(speed), "workers (w) are the same"));
    orch_speed_free(speed);
}

static void test_time_to_accuracy(void **state)
{
    (void)state;
    struct orch_speed_point points[7];
    measure(points, PLACES, 7, sync_law);
    struct orch_speed_options options = {.mode = ORCH_SPEED_SYNC, .total_batch = 256};
    struct orch_speed *speed = orch_speed_fit(points, 7, &options, NULL);
    fill(0.25, 1, 0.1);
    struct orch_stages *curve = orch_stages_fit(k_of, loss_of, POINTS, NULL, 0, NULL, NULL);
    double loss[] = {0.5, 0.3, 0.2}, accuracy[] = {0.7, 0.9, 0.95};
    struct orch_isotonic *fit = orch_isotonic_fit(loss, accuracy, 3, false, NULL);
    /* 90 % at loss 0.3, at epoch 16, of 195 steps each */
    double at = 0, epochs = 0;
    assert_true(orch_isotonic_cross(fit, 0.9, &at, NULL));
    near(at, 0.3, 1e-12);
    assert_true(orch_stages_reach(curve, at, &epochs, NULL));
    near(epochs, 16, 1e-8);
    near(epochs * 195 / orch_speed_model(speed, 2, 6), 3120 / sync_law(2, 6), 1e-3);
    GError *error = NULL;
    refused(orch_isotonic_cross(fit, 0.99, &at, &error), &error, ORCH_ERROR_NOT_FOUND, "0.95");
    refused(orch_stages_reach(curve, 0.05, &epochs, &error), &error, ORCH_ERROR_NOT_FOUND,
            "never reached");
    orch_isotonic_free(fit);
    orch_stages_free(curve);
    orch_speed_free(speed);
}

static void test_speed_refuses(void **state)
{
    (void)state;
    struct orch_speed_options async = {.mode = ORCH_SPEED_ASYNC}, sync = {.mode = ORCH_SPEED_SYNC};
    struct orch_speed_point points[7];
    measure(points, PLACES, 7, async_law);
    GError *error = NULL;
    refused(orch_speed_fit(points, 0, &async, &error), &error, ORCH_ERROR_USAGE,
            "needs at least one measurement");
    refused(orch_speed_fit(points, 1, &async, &error), &error, ORCH_ERROR_USAGE,
            "at least 4 different pairs of servers and workers, found 1");
    refused(orch_speed_fit(points, 7, &sync, &error), &error, ORCH_ERROR_USAGE, "batch");
    sync.total_batch = 256;
    refused(orch_speed_fit(points, 4, &sync, &error), &error, ORCH_ERROR_USAGE, "at least 5");
    struct orch_speed_point same[4] = {points[0], points[1], points[1], points[2]};
    refused(orch_speed_fit(same, 4, &async, &error), &error, ORCH_ERROR_USAGE, "found 3");
    static const double BAD[] = {0, -1, NAN, HUGE_VAL};
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        points[3].steps_per_s = BAD[i];
        refused(orch_speed_fit(points, 7, &async, &error), &error, ORCH_ERROR_USAGE,
                "measurement 4");
    }
    points[3] = (struct orch_speed_point){0, 3, 1};
    refused(orch_speed_fit(points, 7, &async, &error), &error, ORCH_ERROR_USAGE, "0 servers");
    orch_speed_free(NULL);
    assert_string_equal(orch_speed_term_name(ORCH_SPEED_SYNC, 0), "M/w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nnls_by_hand),
        cmocka_unit_test(test_nnls_conditions),
        cmocka_unit_test(test_nnls_of_a_reference_case),
        cmocka_unit_test(test_nnls_units_and_dependent_columns),
        cmocka_unit_test(test_nnls_refuses),
        cmocka_unit_test(test_levmar),
        cmocka_unit_test(test_curve_knows_its_law),
        cmocka_unit_test(test_curve_of_a_reference_case),
        cmocka_unit_test(test_power_law),
        cmocka_unit_test(test_normalised),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_flat_curves),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_curve_refuses),
        cmocka_unit_test(test_noisy_fit_is_a_minimum),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_isotonic),
        cmocka_unit_test(test_accuracy_crosses),
        cmocka_unit_test(test_speed_knows_its_law),
        cmocka_unit_test(test_speed_of_a_noisy_case),
        cmocka_unit_test(test_repeats_are_averaged),
        cmocka_unit_test(test_identifiability),
        cmocka_unit_test(test_time_to_accuracy),
        cmocka_unit_test(test_speed_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
