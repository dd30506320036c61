/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test behind "best": the studentized range against SciPy's (stats.studentized_range.ppf and
 * .sf of 1.16, which agree with the tables of Harter 1960), and how often a ranking of made sweeps
 * claims a difference that is there, and one that is not. */
#include "features/compare/pooled.h"
#include "features/compare/ranking.h"
#include "features/compare/studentized_range.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_table(void **state)
{
    (void)state;
    static const struct {
        double tail;
        size_t count;
        double degrees, q;
    } rows[] = {
        {0.05, 3, 10, 3.876777},  {0.05, 9, 18, 4.955209},  {0.05, 9, 16, 5.031007},
        {0.05, 3, 2, 8.330783},   {0.05, 2, 1, 17.969287},  {0.01, 5, 20, 5.293253},
        {0.05, 20, 40, 5.357512}, {0.05, 36, 72, 5.661208}, {0.05, 100, 200, 6.199338},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        double q = orch_studentized_range_limit(rows[i].tail, rows[i].count, rows[i].degrees);
        double tail = orch_studentized_range_tail(rows[i].q, rows[i].count, rows[i].degrees);
        assert_true(fabs(q - rows[i].q) < 1e-4 * rows[i].q);
        assert_true(fabs(tail - rows[i].tail) < 1e-5);
    }
    /* two settings: the t test, q = t sqrt(2) */
    assert_true(fabs(orch_studentized_range_limit(0.05, 2, 4) - 2.776445105 * sqrt(2)) < 1e-5);
    assert_true(isnan(orch_studentized_range_tail(3, 1, 10)));
    assert_true(isnan(orch_studentized_range_tail(3, 3, 0)));
    assert_true(isnan(orch_studentized_range_tail(NAN, 3, 10)));
    assert_true(orch_studentized_range_tail(0, 3, 10) == 1);
    assert_true(orch_studentized_range_tail(INFINITY, 3, 10) == 0);
}

/* ---- made sweeps --------------------------------------------------------------------------------
 */

#define SETTINGS 9
#define SEEDS 3
#define SWEEPS 200

/* A sweep: the i-th setting's mean is `means[i]`, its runs scatter by `sds[i]`, and each seed
 * shifts all settings by `seed_sd`. */
struct sweep {
    double means[SETTINGS], sds[SETTINGS], seed_sd;
    bool has_seeds;
    const char *name;
};

static GRand *dice;

static double normal(void)
{
    double u = 1 - g_rand_double(dice), v = g_rand_double(dice);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

static void draw(const struct sweep *sweep, GArray **settings)
{
    double luck[SEEDS];
    for (int j = 0; j < SEEDS; j++)
        luck[j] = sweep->seed_sd * normal();
    for (int i = 0; i < SETTINGS; i++) {
        settings[i] = g_array_new(FALSE, FALSE, sizeof(struct orch_seed_mean));
        for (int j = 0; j < SEEDS; j++) {
            uint64_t seed = sweep->has_seeds ? (uint64_t)j + 1 : (uint64_t)(i * SEEDS + j) + 1;
            double value = sweep->means[i] + luck[j] + sweep->sds[i] * normal();
            if (sweep->name)
                value = fmin(1, fmax(0, value));
            struct orch_seed_mean mean = {seed, value, 1};
            g_array_append_val(settings[i], mean);
        }
    }
}

static double sum_of(const GArray *means)
{
    double sum = 0;
    for (guint i = 0; i < means->len; i++)
        sum += g_array_index(means, struct orch_seed_mean, i).value;
    return sum;
}

static int compare_sums(const void *a, const void *b)
{
    double x = sum_of(*(GArray *const *)a), y = sum_of(*(GArray *const *)b);
    return (x < y) - (x > y);
}

/* Returns the share of sweeps in which at least `least` settings are called worse. */
static double share_of_claims(const struct sweep *sweep, size_t least, int sweeps)
{
    int claims = 0;
    for (int n = 0; n < sweeps; n++) {
        GArray *settings[SETTINGS];
        struct orch_difference margins[SETTINGS];
        g_autofree char *method = NULL;
        const struct orch_best_metric metric = {sweep->name, NULL, true};
        draw(sweep, settings);
        qsort(settings, SETTINGS, sizeof *settings, compare_sums);
        claims += orch_best_margins(settings, NULL, SETTINGS, &metric, margins, &method) >= least;
        for (int i = 0; i < SETTINGS; i++)
            g_array_unref(settings[i]);
    }
    return (double)claims / sweeps;
}

/* Nine equal settings: at most 5 % of the sweeps claim any difference; three standard errors of
 * 200 sweeps are 4.6 %. With shared seeds, without, and with accuracies near 1. */
static void test_no_difference(void **state)
{
    (void)state;
    static const struct sweep sweeps[] = {
        {.sds = {1, 1, 1, 1, 1, 1, 1, 1, 1}, .seed_sd = 2, .has_seeds = true},
        {.sds = {1, 1, 1, 1, 1, 1, 1, 1, 1}},
        {.means = {.97, .97, .97, .97, .97, .97, .97, .97, .97},
         .sds = {.02, .02, .02, .02, .02, .02, .02, .02, .02},
         .name = "accuracy"},
    };
    dice = g_rand_new_with_seed(31);
    for (size_t i = 0; i < G_N_ELEMENTS(sweeps); i++) {
        double share = share_of_claims(&sweeps[i], 1, SWEEPS);
        print_message("no difference, sweep %zu: claimed in %.1f %%\n", i, 100 * share);
        assert_true(share < 0.05 + 0.046);
    }
    g_rand_free(dice);
}

/* One or two settings scatter three times as much as the others. Three runs do not always show
 * that, so the level is not kept: 7 to 16 % were measured. The bound
 * only keeps it from becoming worse. */
static void test_unequal_scatter(void **state)
{
    (void)state;
    static const struct sweep sweeps[] = {
        {.sds = {3, 3, 1, 1, 1, 1, 1, 1, 1}},
        {.sds = {3, 3, 1, 1, 1, 1, 1, 1, 1}, .seed_sd = 2, .has_seeds = true},
        {.sds = {3, 1, 1, 1, 1, 1, 1, 1, 1}},
    };
    dice = g_rand_new_with_seed(32);
    for (size_t i = 0; i < G_N_ELEMENTS(sweeps); i++) {
        double share = share_of_claims(&sweeps[i], 1, SWEEPS);
        print_message("unequal scatter, sweep %zu: claimed in %.1f %%\n", i, 100 * share);
        assert_true(share < 0.22);
    }
    g_rand_free(dice);
}

/* The sweep that the README proposes: three rates by three sizes, three repeats, accuracies from
 * 0.70 to 0.96 that scatter by 0.02. */
static void test_differences_are_found(void **state)
{
    (void)state;
    static const struct sweep sweep = {.means = {.70, .74, .78, .80, .84, .88, .90, .93, .96},
                                       .sds = {.02, .02, .02, .02, .02, .02, .02, .01, .01},
                                       .name = "accuracy"};
    struct sweep seeded = sweep;
    seeded.has_seeds = true;
    seeded.seed_sd = 0.01;
    dice = g_rand_new_with_seed(33);
    double found = share_of_claims(&sweep, 5, 40), found_seeded = share_of_claims(&seeded, 5, 40);
    print_message("five of eight found in %.0f %% and %.0f %%\n", 100 * found, 100 * found_seeded);
    assert_true(found > 0.9 && found_seeded > 0.9);
    g_rand_free(dice);
}

/* ---- the pool -----------------------------------------------------------------------------------
 */

static GArray *setting(const double *values, const uint64_t *seeds)
{
    GArray *means = g_array_new(FALSE, FALSE, sizeof(struct orch_seed_mean));
    for (int i = 0; i < SEEDS; i++) {
        struct orch_seed_mean mean = {seeds[i], values[i], 1};
        g_array_append_val(means, mean);
    }
    return means;
}

/* A setting that ended at chance in each run, and one with an infinite loss, are left out; the
 * others are pooled. */
static void test_pool(void **state)
{
    (void)state;
    static const double values[][SEEDS] = {
        {.95, .96, .94}, {.90, .92, .91}, {.88, .86, .87}, {.1, .1, .1}, {.5, INFINITY, .6}};
    static const uint64_t seeds[] = {1, 2, 3}, others[] = {4, 5, 6};
    GArray *all[5];
    for (int i = 0; i < 5; i++)
        all[i] = setting(values[i], seeds);
    const GArray *const *means = (const GArray *const *)(void *)all;
    struct orch_pooled pooled = orch_pooled_of(means, 5, "accuracy", NULL);
    assert_int_equal(pooled.settings, 3);
    assert_true(pooled.has[0] && pooled.has[1] && pooled.has[2] && !pooled.has[3] &&
                !pooled.has[4]);
    assert_true(pooled.by_seed && fabs(pooled.degrees - 4) < 1e-9);
    orch_pooled_clear(&pooled);

    g_array_unref(all[1]);
    all[1] = setting(values[1], others);
    pooled = orch_pooled_of(means, 3, "accuracy", NULL);
    assert_true(!pooled.by_seed && fabs(pooled.degrees - 6) < 1e-9);
    orch_pooled_clear(&pooled);
    for (int i = 0; i < 5; i++)
        g_array_unref(all[i]);
}

struct tukey_case {
    const char *unit;
    double values[3][SEEDS];
    double mid, p; /* of the third against the first */
};

/* One-way layouts against SciPy's stats.tukey_hsd of the three samples (and R's TukeyHSD of the
 * first), of times that of their logarithms. The last one's means have another order than those of
 * its logarithms. */
static void test_tukey(void **state)
{
    (void)state;
    static const struct tukey_case cases[] = {
        {NULL, {{24.5, 23.5, 26.4}, {28.4, 34.2, 29.5}, {26.1, 28.3, 24.3}}, 1.4333333, 0.7346793},
        {"s", {{24.5, 23.5, 26.4}, {28.4, 34.2, 29.5}, {26.1, 28.3, 24.3}}, 1.4333333, 0.6858963},
        {"s", {{30, 4, 5}, {6, 7, 50}, {12, 9, 14}}, -1.3333333, 0.9167138},
    };
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        const struct tukey_case *c = &cases[k];
        GArray *all[3];
        for (uint64_t i = 0; i < 3; i++)
            all[i] = setting(c->values[i], (const uint64_t[]){3 * i + 1, 3 * i + 2, 3 * i + 3});
        struct orch_pooled pooled =
            orch_pooled_of((const GArray *const *)(void *)all, 3, "points", c->unit);
        struct orch_difference d =
            orch_pooled_difference(&pooled, all[0], all[2], orch_pooled_limit(&pooled));
        assert_true(fabs(d.mean.mid - c->mid) < 1e-6);
        assert_true(fabs(d.p_corrected - c->p) < 1e-4);
        assert_true(d.mean.low < 0 && d.mean.high > 0 && !d.is_more_than_noise);
        assert_true(k || fabs(d.mean.low - -4.29289) < 1e-3);
        orch_pooled_clear(&pooled);
        for (int i = 0; i < 3; i++)
            g_array_unref(all[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),           cmocka_unit_test(test_pool),
        cmocka_unit_test(test_tukey),           cmocka_unit_test(test_no_difference),
        cmocka_unit_test(test_unequal_scatter), cmocka_unit_test(test_differences_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
