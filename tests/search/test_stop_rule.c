/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules that stop trials of a search, on curves whose answer was worked out by hand. */
#include "features/search/stop/stop_trial.h"
#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CURVES 64
#define VALUES 64

/* A search so far. */
struct search {
    struct orch_stop_rule rule;
    bool is_max;
    double values[CURVES][VALUES];
    struct orch_stop_curve curves[CURVES];
    size_t count;
};

static struct search *search_new(const char *rule, bool is_max)
{
    struct search *search = g_new0(struct search, 1);
    search->is_max = is_max;
    assert_true(orch_stop_rule_parse(rule, &search->rule, NULL, NULL));
    return search;
}

/* Adds a curve with the values that follow its count. */
static void add(struct search *search, enum orch_curve_state end, size_t count, ...)
{
    va_list args;
    va_start(args, count);
    for (size_t i = 0; i < count; i++)
        search->values[search->count][i] = va_arg(args, double);
    va_end(args);
    search->curves[search->count] =
        (struct orch_stop_curve){.values = search->values[search->count],
                                 .count = count,
                                 .end = end,
                                 .number = (unsigned)search->count + 1};
    search->count++;
}

/* The rule's answer for the curve that was added last. */
static char *ask(const struct search *search)
{
    const struct orch_stop_question question = {.rule = &search->rule,
                                                .is_max = search->is_max,
                                                .curves = search->curves,
                                                .count = search->count,
                                                .asked = search->count - 1};
    return orch_stop_trial_ask(&question);
}

static void assert_goes_on(const struct search *search)
{
    g_autofree char *why = ask(search);
    if (why)
        fail_msg("stopped: %s", why);
}

static void assert_stops(const struct search *search, const char *sentence)
{
    g_autofree char *why = ask(search);
    assert_non_null(why);
    assert_string_equal(why, sentence);
}

#define ENDED ORCH_CURVE_ENDED
#define RUNNING ORCH_CURVE_RUNNING
#define STOPPED ORCH_CURVE_STOPPED

/* ---- text ---------------------------------------------------------------------------------------
 */

static void test_defaults(void **state)
{
    (void)state;
    struct orch_stop_rule rule;
    assert_true(orch_stop_rule_parse("median", &rule, NULL, NULL));
    assert_true(rule.kind == ORCH_STOP_MEDIAN && rule.warmup == 5 && rule.startup == 5);
    assert_true(orch_stop_rule_parse(" asha( factor = 4 ) ", &rule, NULL, NULL));
    assert_true(rule.kind == ORCH_STOP_ASHA && rule.min == 0 && rule.factor == 4);
    assert_true(orch_stop_rule_parse("hyperband(min=2, max=54)", &rule, NULL, NULL));
    assert_true(rule.min == 2 && rule.max == 54 && rule.factor == 3);
    assert_true(orch_stop_rule_parse("forecast()", &rule, NULL, NULL));
    assert_true(rule.p > 0.0499 && rule.p < 0.0501 && rule.top == 1 && rule.startup == 5);
}

static void test_wrong_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *what;
    } cases[] = {
        {"", 0, "'' is no rule that stops trials"},
        {"meadian(warmup=5)", 0, "'meadian' is no rule that stops trials"},
        {"median(warm=5)", 7, "median has no argument 'warm'"},
        {"median(warmup)", 13, "'=' is missing after 'warmup'"},
        {"median(warmup=)", 14, "'warmup': expected a number, found ''"},
        {"median(warmup=1.5)", 14, "'warmup': expected a whole number, found '1.5'"},
        {"median(startup=0)", 15, "'startup': 0 is not between 1 and 1e+09"},
        {"median(warmup=1, warmup=2)", 17, "argument 'warmup' occurs twice"},
        {"median(warmup=1", 15, "')' is missing"},
        {"median(warmup=1) now", 17, "unexpected text after the rule: 'now'"},
        {"asha(min=1,)", 11, "asha: an argument is missing"},
        {"asha(factor=1)", 12, "'factor': 1 is not between 2 and 1e+09"},
        {"asha(min=nan)", 9, "'min': expected a number, found 'nan'"},
        {"hyperband(min=27)", 0, "'max' (27) is not above 'min' (27)"},
        {"forecast(p=0)", 11, "'p': 0 is not between 1e-06 and 0.5"},
        {"forecast(p=1e)", 11, "'p': expected a number, found '1e'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_stop_rule rule = {.p = 7};
        g_autoptr(GError) error = NULL;
        size_t at = 99;
        assert_false(orch_stop_rule_parse(cases[i].text, &rule, &at, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
        g_autofree char *what = orch_error_what(error);
        assert_string_equal(what, cases[i].what);
        assert_int_equal(at, cases[i].at);
        assert_true(rule.p == 7); /* untouched */
    }
}

/* ---- summaries ----------------------------------------------------------------------------------
 */

static void test_summaries(void **state)
{
    (void)state;
    static const double values[] = {3, NAN, 1, 2};
    static const double wanted[][4] = {[ORCH_STOP_LAST] = {3, NAN, 1, 2},
                                       [ORCH_STOP_FIRST] = {3, 3, 3, 3},
                                       [ORCH_STOP_MEAN] = {3, 3, 2, 2},
                                       [ORCH_STOP_MIN] = {3, 3, 1, 1},
                                       [ORCH_STOP_MAX] = {3, 3, 3, 3}};
    for (unsigned s = ORCH_STOP_LAST; s <= ORCH_STOP_MAX; s++) {
        struct orch_stop_sum sum = {0};
        for (unsigned i = 0; i < 4; i++) {
            double out = orch_stop_summary_add((enum orch_stop_summary)s, &sum, values[i]);
            assert_true(isnan(wanted[s][i]) ? isnan(out) : out == wanted[s][i]);
        }
    }
}

/* ---- medians ------------------------------------------------------------------------------------
 */

/* The values at 3 of the three that ended are 5, 4 and 1, their running averages there 2, 3 and 4.
 * A rule that took the last values would answer differently. */
static struct search *three_ended(const char *rule, bool is_max)
{
    struct search *search = search_new(rule, is_max);
    double sign = is_max ? -1 : 1;
    add(search, ENDED, 4, sign * 0.0, sign * 1.0, sign * 5.0, sign * 9.0);
    add(search, ENDED, 4, sign * 3.0, sign * 2.0, sign * 4.0, sign * 0.0);
    add(search, ENDED, 4, sign * 6.0, sign * 5.0, sign * 1.0, sign * 0.0);
    return search;
}

static void test_median(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("median(warmup=1, startup=3)", false);
    add(search, RUNNING, 3, 4.5, 4.25, 8.0);
    assert_stops(search, "4.25 after 3 values; the median of 3 ended trials is 4");
    search->values[3][1] = 4; /* the best so far ties */
    assert_goes_on(search);
    search->values[3][1] = 4.25;
    search->curves[3].count = 1; /* warm-up */
    assert_goes_on(search);
}

static void test_vizier(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("vizier(warmup=1, startup=3)", false);
    add(search, RUNNING, 3, 3.5, 3.25, 8.0);
    assert_stops(search, "3.25 after 3 values; the median of the averages of 3 ended trials is 3");
    search->values[3][1] = 3;
    assert_goes_on(search);
}

static void test_median_of_maximised(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("median(warmup=1, startup=3)", true);
    add(search, RUNNING, 3, -4.5, -4.25, -8.0);
    assert_stops(search, "-4.25 after 3 values; the median of 3 ended trials is -4");
    search->values[3][0] = -3.5;
    assert_goes_on(search);
}

/* Only trials that ended well count, where they have values. */
static void test_median_counts_what_ended(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("median(warmup=1, startup=3)", false);
    search->curves[2].end = STOPPED;
    add(search, RUNNING, 3, 4.75, 4.625, 8.0);
    assert_goes_on(search); /* two have ended */
    search->rule.startup = 2;
    assert_stops(search, "4.625 after 3 values; the median of 2 ended trials is 4.5");
    search->curves[2].end = RUNNING;
    assert_stops(search, "4.625 after 3 values; the median of 2 ended trials is 4.5");
    search->curves[0].count = 2; /* ended before value 3 */
    search->values[1][2] = 4.6;
    assert_stops(search, "4.625 after 3 values; the median of 1 ended trial is 4.6");
}

static void test_median_of_nan(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("median(warmup=1, startup=3)", false);
    add(search, RUNNING, 3, 0.0, 0.0, (double)NAN);
    assert_stops(search, "nan after 3 values; the median of 3 ended trials is 4");
    search->values[2][2] = NAN; /* worse than any number: the median of 4, 5, NaN */
    assert_stops(search, "nan after 3 values; the median of 3 ended trials is 5");
    search->values[3][2] = 4.5;
    assert_goes_on(search);
    search->values[1][2] = NAN;
    search->values[3][2] = NAN; /* not worse than a median that is NaN, too */
    assert_goes_on(search);
}

static int compare_reals(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rules as they are published, for a metric that is maximised, over searches with one trial at
 * a time: whether trial `i` is stopped at its value `n`, of those before it that ended. */
static bool is_stopped_as_published(double (*curves)[VALUES], const bool *ended, size_t i, size_t n,
                                    bool of_averages)
{
    double others[CURVES], best = -HUGE_VAL;
    size_t count = 0;
    for (size_t k = 0; k < i; k++) {
        double sum = 0;
        for (size_t m = 0; m < n; m++)
            sum += curves[k][m];
        if (ended[k])
            others[count++] = of_averages ? sum / (double)n : curves[k][n - 1];
    }
    for (size_t m = 0; m < n; m++)
        best = fmax(best, curves[i][m]);
    qsort(others, count, sizeof *others, compare_reals);
    return n > 5 && count >= 5 &&
           best < (others[(count - 1) / 2] + others[count / 2]) / 2; /* warmup=5, startup=5 */
}

/* A trial per curve: shows it to the rule and to the published one; they agree at each value. */
static unsigned count_stopped(const char *rule, double (*curves)[VALUES], size_t trials,
                              size_t length)
{
    g_autofree struct search *search = search_new(rule, true);
    bool ended[CURVES] = {false};
    unsigned stopped = 0;
    for (size_t i = 0; i < trials; i++) {
        bool is_over = false;
        add(search, RUNNING, 0);
        memcpy(search->values[i], curves[i], length * sizeof(double));
        for (size_t n = 1; n < length && !is_over; n++) {
            search->curves[i].count = n;
            g_autofree char *why = ask(search);
            is_over = why;
            assert_int_equal(is_over,
                             is_stopped_as_published(curves, ended, i, n,
                                                     search->rule.kind == ORCH_STOP_VIZIER));
        }
        stopped += is_over;
        ended[i] = !is_over;
        search->curves[i].end = is_over ? STOPPED : ENDED;
        search->curves[i].count = is_over ? search->curves[i].count : length;
    }
    return stopped;
}

/* 40 trials whose accuracy rises to a level of their own, each at a pace of its own. The running
 * averages lag behind such a curve, so that Vizier's rule stops few; the median of the values
 * stops about half. */
static void test_rising_curves(void **state)
{
    (void)state;
    enum { SEARCHES = 20, TRIALS = 40, LENGTH = 20 };
    static double curves[CURVES][VALUES];
    unsigned by_values = 0, by_averages = 0;
    for (uint64_t seed = 0; seed < SEARCHES; seed++) {
        uint64_t random = orch_random_stream(seed, 0);
        for (size_t i = 0; i < TRIALS; i++) {
            double level = 0.5 + 0.45 * orch_random_unit(&random);
            double pace = 2 + 6 * orch_random_unit(&random);
            for (size_t n = 0; n < LENGTH; n++)
                curves[i][n] =
                    level * (1 - exp(-(double)(n + 1) / pace)) + 0.01 * orch_random_unit(&random);
        }
        by_values += count_stopped("median", curves, TRIALS, LENGTH);
        by_averages += count_stopped("vizier", curves, TRIALS, LENGTH);
    }
    assert_in_range(by_values, SEARCHES * TRIALS / 2, SEARCHES * TRIALS * 7 / 8);
    assert_in_range(by_averages, SEARCHES, SEARCHES * TRIALS / 3);
}

/* ---- successive halving -------------------------------------------------------------------------
 */

static void test_asha(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(min=2, factor=3)", false);
    add(search, RUNNING, 2, 9.0, 5.0); /* alone: it is the best */
    assert_goes_on(search);
    add(search, STOPPED, 2, 1.0, 6.0); /* stopped and running ones count where they have come */
    add(search, ENDED, 9, 1.0, 7.0, 1., 1., 1., 1., 1., 1., 1.);
    add(search, ENDED, 1, 0.0); /* did not come to value 2 */
    add(search, RUNNING, 2, 0.0, 5.5);
    assert_stops(search, "5.5 after 2 values; 1 of 4 trials are better, the best 1 go on");
    search->values[4][1] = 5; /* a tie */
    assert_goes_on(search);
    search->values[4][1] = 5.5;
    add(search, RUNNING, 2, 0.0, 5.75);
    assert_stops(search, "5.75 after 2 values; 2 of 5 trials are better, the best 1 go on");
    add(search, RUNNING, 2, 0.0, 5.25); /* the sixth: two go on */
    assert_goes_on(search);
}

/* At the value at which others ended nothing is left to save. */
static void test_last_value(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(min=2, factor=3)", false);
    add(search, ENDED, 2, 1.0, 1.0);
    add(search, RUNNING, 2, 1.0, 2.0);
    assert_goes_on(search);
    search->curves[0].count = 3;
    assert_stops(search, "2 after 2 values; 1 of 2 trials are better, the best 1 go on");
    search->curves[0].count = 2;
    search->curves[0].end = STOPPED;
    assert_stops(search, "2 after 2 values; 1 of 2 trials are better, the best 1 go on");
}

/* Values 2, 6, 18 are judged, those between are not. */
static void test_asha_rungs(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(min=2, factor=3)", true);
    add(search, ENDED, 0);
    add(search, RUNNING, 0);
    for (size_t i = 0; i < 20; i++) {
        search->values[0][i] = 1;
        search->values[1][i] = 0.5;
    }
    search->curves[0].count = 20;
    for (size_t n = 1; n <= 20; n++) {
        search->curves[1].count = n;
        g_autofree char *why = ask(search);
        assert_int_equal(why != NULL, n == 2 || n == 6 || n == 18);
    }
    search->values[1][5] = NAN;
    search->curves[1].count = 6;
    assert_stops(search, "nan after 6 values; 1 of 2 trials are better, the best 1 go on");
}

/* Of 49 trials with max 27 and factor 3, 27 begin at 1, 12 at 3, 6 at 9, and 4 are not stopped. */
static void test_hyperband_deals(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("hyperband(min=1, max=27, factor=3)", false);
    unsigned stopped[28] = {0}, never = 0, early = 0;
    add(search, RUNNING, 0);
    add(search, RUNNING, 0);
    for (size_t i = 0; i < 30; i++)
        search->values[1][i] = 1;
    for (unsigned number = 1; number <= 49; number++) {
        size_t n = 0;
        char *why = NULL;
        for (n = 1; n <= 28 && !why; n++) {
            search->curves[0].number = search->curves[1].number = number;
            search->curves[0].count = 28;
            search->curves[1].count = n;
            why = ask(search);
        }
        never += !why;
        if (why)
            stopped[n - 1]++;
        early += why && n - 1 == 1 && number <= 10;
        g_free(why);
    }
    assert_int_equal(stopped[1], 27);
    assert_int_equal(stopped[3], 12);
    assert_int_equal(stopped[9], 6);
    assert_int_equal(never, 4);
    assert_in_range(early, 5, 6); /* they are spread: 27/49 of the first ten */
}

/* Trials are judged among those of their bracket. */
static void test_hyperband_brackets(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("hyperband(min=1, max=3, factor=3)", false);
    add(search, ENDED, 3, 0.0, 0.0, 0.0); /* numbers 1, 2, 4, ...: of 5, 3 are in bracket 1 */
    add(search, RUNNING, 1, 1.0);
    unsigned others = 0;
    for (unsigned number = 2; number <= 5; number++) {
        search->curves[1].number = number;
        g_autofree char *why = ask(search);
        others += why != NULL;
        if (why)
            assert_string_equal(why, "1 after 1 value; 1 of 2 trials of bracket 1 are better, the "
                                     "best 1 go on");
    }
    assert_int_equal(others, 2);
}

/* ---- promotion ----------------------------------------------------------------------------------
 */

#define NONE ((size_t)-1)

/* Asserts which trial goes on, and why. */
static void assert_promotes(const struct search *search, size_t index, const char *sentence)
{
    const struct orch_stop_question question = {.rule = &search->rule,
                                                .is_max = search->is_max,
                                                .curves = search->curves,
                                                .count = search->count};
    size_t found = NONE;
    g_autofree char *why = orch_stop_trial_promote(&question, &found);
    assert_int_equal(found, index);
    assert_string_equal(why ? why : "none", sentence);
}

/* The second trial was stopped as the worse one of two; of six it is one of the best two. */
static void test_promotion(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(min=1, factor=3)", false);
    add(search, ENDED, 9, 5.0, 4., 3., 3., 3., 3., 3., 3., 1.);
    add(search, STOPPED, 1, 6.0);
    add(search, STOPPED, 2, 7.0, 0.0); /* value 2 is no rung */
    add(search, STOPPED, 1, 8.0);
    add(search, STOPPED, 1, 9.0);
    assert_promotes(search, NONE, "none"); /* of five, one goes on */
    add(search, RUNNING, 1, 5.5);
    assert_promotes(search, NONE, "none"); /* it is the second of six */
    search->values[5][0] = 9;
    assert_promotes(search, 1, "6 after 1 value; 1 of 6 trials are better, the best 2 go on");
    search->curves[1].promoted_at = 1; /* once from each rung */
    assert_promotes(search, NONE, "none");
    search->curves[1].promoted_at = 0;
    search->curves[0].count = 1; /* what others ended with */
    assert_promotes(search, NONE, "none");
}

/* The first value at which the rule stops a trial that is worse than the other one, which ended
 * after `length` values; 0: none does. */
static size_t first_stop(const char *rule, enum orch_curve_state end, size_t length)
{
    g_autofree struct search *search = search_new(rule, true);
    add(search, end, 0);
    add(search, RUNNING, 0);
    for (size_t i = 0; i < length; i++)
        search->values[0][i] = 1;
    search->curves[0].count = length;
    for (size_t n = 1; n < length; n++) {
        search->curves[1].count = n;
        g_autofree char *why = ask(search);
        if (why)
            return n;
    }
    return 0;
}

/* Without `min` the first check is at a twelfth of the values of the trials that ended. */
static void test_asha_default_min(void **state)
{
    (void)state;
    static const struct {
        size_t length, first;
    } rows[] = {{2, 1}, {12, 1}, {17, 1}, {18, 2}, {24, 2}, {48, 4}, {60, 5}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        assert_int_equal(first_stop("asha", ENDED, rows[i].length), rows[i].first);
        assert_int_equal(first_stop("asha(min=1)", ENDED, rows[i].length), 1);
    }
    /* unknown: no trial has ended */
    assert_int_equal(first_stop("asha", RUNNING, 48), 0);
    assert_int_equal(first_stop("asha", STOPPED, 48), 0);
    assert_int_equal(first_stop("asha(min=1)", RUNNING, 48), 1);
    /* a trial that diverged may have ended too early; of the others the median counts */
    g_autofree struct search *search = search_new("asha", false);
    add(search, ENDED, 3, 1.0, 1.0, (double)NAN);
    search->curves[0].has_diverged = true;
    add(search, ENDED, 0);
    add(search, ENDED, 0);
    add(search, ENDED, 0);
    add(search, RUNNING, 2, 9.0, 9.0);
    search->curves[1].count = search->curves[2].count = 24;
    search->curves[3].count = 60;
    assert_stops(search, "9 after 2 values; 4 of 5 trials are better, the best 1 go on");
    search->curves[2].count = 60;
    assert_goes_on(search);
    for (size_t i = 0; i < 4; i++)
        search->curves[i].has_diverged = true;
    assert_goes_on(search);
    const struct orch_stop_question question = {
        .rule = &search->rule, .curves = search->curves, .count = search->count};
    bool is_in_part;
    g_autofree char *why = orch_stop_trial_nothing(&question, &is_in_part);
    assert_string_equal(why, "the rule needs a trial that ended well");
}

/* A trial that was stopped at the first check goes on from there. */
static void test_promotion_by_default_min(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(factor=2)", false);
    add(search, RUNNING, 0);
    search->curves[0].count = 24;
    add(search, STOPPED, 2, 6.0, -1.0);
    add(search, STOPPED, 2, 7.0, 8.0);
    add(search, STOPPED, 2, 7.0, 9.0);
    assert_promotes(search, NONE, "none"); /* no trial has ended */
    search->curves[0].end = ENDED;
    assert_promotes(search, 1, "-1 after 2 values; 0 of 4 trials are better, the best 2 go on");
    search->curves[0].count = 36; /* checked at value 3, to which none of them came */
    assert_promotes(search, NONE, "none");
}

/* Higher rungs first: there is more known of those, and less to do. */
static void test_promotion_of_rungs(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("asha(min=1, factor=2)", true);
    add(search, ENDED, 8, 5., 5., 5., 5., 5., 5., 5., 5.);
    add(search, STOPPED, 3, 4., 4., 4.); /* rung 2 */
    add(search, STOPPED, 1, 4.5);
    add(search, STOPPED, 2, 3., 3.);
    assert_promotes(search, 2, "4.5 after 1 value; 1 of 4 trials are better, the best 2 go on");
    add(search, RUNNING, 2, 1., 1.);
    assert_promotes(search, 1, "4 after 2 values; 1 of 4 trials are better, the best 2 go on");
    /* it went on from rung 1 before, not from this one */
    search->curves[1].promoted_at = 1;
    assert_promotes(search, 1, "4 after 2 values; 1 of 4 trials are better, the best 2 go on");
    search->curves[1].promoted_at = 2;
    assert_promotes(search, 2, "4.5 after 1 value; 1 of 5 trials are better, the best 2 go on");
    search->values[1][1] = NAN;
    search->curves[1].promoted_at = 0;
    search->curves[2].end = RUNNING;
    assert_promotes(search, 3, "3 after 2 values; 1 of 4 trials are better, the best 2 go on");
    search->curves[3].promoted_at = SIZE_MAX; /* NaN is not among the best, of however many */
    assert_promotes(search, NONE, "none");
}

static void test_promotion_in_brackets(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("hyperband(min=1, max=3, factor=3)", false);
    for (unsigned i = 0; i < 7; i++)
        add(search, STOPPED, 1, (double)i);
    unsigned numbers[7], count = 0; /* those of bracket 1 */
    for (unsigned i = 0; count < 7; i++)
        if (orch_stop_bracket_of(&search->rule, i + 1) == 1)
            numbers[count++] = i + 1;
    for (unsigned i = 0; i < 7; i++)
        search->curves[i].number = numbers[i];
    assert_promotes(search, 0,
                    "0 after 1 value; 0 of 7 trials of bracket 1 are better, the best 2 "
                    "go on");
    for (unsigned i = 0; i < 5; i++) /* two are left, of which none goes on */
        search->curves[i].number = numbers[0] == 1 ? 2 : 1;
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(orch_stop_bracket_of(&search->rule, search->curves[i].number), 0);
    assert_promotes(search, NONE, "none");
}

/* The other rules compare a trial with what ended, and stop it for good. */
static void test_no_promotion(void **state)
{
    (void)state;
    g_autofree struct search *search = three_ended("median(warmup=1, startup=3)", false);
    add(search, STOPPED, 3, -9.0, -9.0, -9.0);
    assert_promotes(search, NONE, "none");
}

/* ---- forecast -----------------------------------------------------------------------------------
 */

/* Six curves of four values. The last is 2 * the first + 1, but for a residual of +-0.1. */
static struct search *six_lines(bool is_max, const char *rule)
{
    static const double starts[] = {1, 2, 3, 4, 5, 6}, residuals[] = {.1, -.1, -.1, .1, .1, -.1};
    struct search *search = search_new(rule, is_max);
    double sign = is_max ? -1 : 1;
    for (unsigned i = 0; i < 6; i++)
        add(search, ENDED, 4, sign * starts[i], sign * 50.0, sign * 50.0,
            sign * (2 * starts[i] + 1 + residuals[i]));
    return search;
}

/* By numpy: slope 1.99429, intercept 1.02, residual deviation 0.12189; at 1.5 the prediction is
 * 4.01143 with the error 0.14398. The best so far is 3.1: t = 6.330 with 4 degrees of freedom,
 * one-sided 0.159 %. Four values have 3 looks (at 1, 2, 3). In logarithms it would be 0.30 %. */
static void test_forecast(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01)");
    add(search, RUNNING, 1, 1.5);
    assert_stops(search,
                 "1.5 after 1 value; the chance to end with 3.1 or better is 0.16 %, judged by 6 "
                 "trials that ended");
    search->rule.p = 0.0046; /* a third of it is less than 0.16 %, all of it is more */
    assert_goes_on(search);
    search->rule.p = 0.0050;
    assert_stops(search,
                 "1.5 after 1 value; the chance to end with 3.1 or better is 0.16 %, judged by 6 "
                 "trials that ended");
    search->values[6][0] = 1.1; /* 3.23 is expected */
    assert_goes_on(search);
}

/* Costs that put a trial on the front, and their shares. */
static GArray *give_wanted(void *ctx)
{
    GArray *wanted = g_array_new(FALSE, FALSE, sizeof(struct orch_stop_wanted));
    g_array_append_vals(wanted, ctx, 2);
    return wanted;
}

static GArray *give_nothing(void *ctx)
{
    (void)ctx;
    return NULL;
}

static char *ask_of_front(const struct search *search, GArray *(*find)(void *ctx),
                          struct orch_stop_wanted *wanted)
{
    const struct orch_stop_front front = {find, wanted};
    const struct orch_stop_question question = {.rule = &search->rule,
                                                .is_max = search->is_max,
                                                .has_front = true,
                                                .front = find ? &front : NULL,
                                                .curves = search->curves,
                                                .count = search->count,
                                                .asked = search->count - 1};
    return orch_stop_trial_ask(&question);
}

/* The same trial, of several metrics: the chance is the mean over what the others may be. 0.16 %
 * for 3.1; where any cost would do, 100 %. */
static void test_forecast_of_the_front(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01)");
    struct orch_stop_wanted same[] = {{3.1, 0.4}, {3.1, 0.6}},
                            sure[] = {{3.1, 0.99}, {HUGE_VAL, 0.01}},
                            half[] = {{3.1, 0.5}, {-1000, 0.5}};
    add(search, RUNNING, 1, 1.5);
    g_autofree char *why = ask_of_front(search, give_wanted, same);
    assert_string_equal(why,
                        "1.5 after 1 value; the chance to end on the front is 0.16 %, judged by 6 "
                        "trials that ended");
    assert_null(ask_of_front(search, give_wanted, sure));
    g_autofree char *less = ask_of_front(search, give_wanted, half);
    assert_string_equal(less,
                        "1.5 after 1 value; the chance to end on the front is 0.08 %, judged by 6 "
                        "trials that ended");
    assert_null(ask_of_front(search, give_nothing, NULL));
    assert_null(ask_of_front(search, NULL, NULL));
}

static void test_forecast_of_maximised(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(true, "forecast(p=0.01)");
    add(search, RUNNING, 1, -1.5);
    assert_stops(search,
                 "-1.5 after 1 value; the chance to end with -3.1 or better is 0.16 %, judged by "
                 "6 trials that ended");
    search->values[6][0] = -1;
    assert_goes_on(search);
    search->values[6][0] = 1; /* better than all */
    assert_goes_on(search);
}

/* The second best result is 4.9, which a trial at 1.5 is likely to reach. */
static void test_forecast_of_the_best_two(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01, top=2)");
    add(search, RUNNING, 1, 1.5);
    assert_goes_on(search);
    search->values[6][0] = 3;
    g_autofree char *why = ask(search);
    assert_non_null(why);
    assert_non_null(strstr(why, "the chance to end with 4.9 or better"));
}

/* A stopped curve is no result, however good its last value is, and no row of the regression. */
static void test_forecast_leaves_stopped_ones_out(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01)");
    add(search, STOPPED, 2, 9.0, -100.0);
    add(search, RUNNING, 1, 1.5);
    assert_stops(search,
                 "1.5 after 1 value; the chance to end with 3.1 or better is 0.16 %, judged by 6 "
                 "trials that ended");
}

static void test_forecast_needs_curves(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01)");
    search->curves[4].end = search->curves[5].end = STOPPED; /* four are too few */
    add(search, RUNNING, 1, 40.0);
    assert_goes_on(search);
    search->curves[4].end = search->curves[5].end = ENDED;
    g_autofree char *why = ask(search);
    assert_non_null(why);
    search->curves[2].count = 3; /* lengths that differ */
    assert_goes_on(search);
}

static void test_forecast_of_nan(void **state)
{
    (void)state;
    g_autofree struct search *search = six_lines(false, "forecast(p=0.01)");
    add(search, RUNNING, 2, 1.5, (double)NAN);
    assert_stops(search, "nan after 2 values; the best so far is 3.1");
    search->values[1][3] = NAN; /* a result that is not a number is no best one */
    add(search, RUNNING, 1, 1.1);
    assert_goes_on(search);
}

/* Curves that are all the same now say nothing about another. */
static void test_forecast_without_spread(void **state)
{
    (void)state;
    g_autofree struct search *search = search_new("forecast(p=0.5)", false);
    for (unsigned i = 0; i < 6; i++)
        add(search, ENDED, 3, 1.0, 1.0, 1.0);
    add(search, RUNNING, 1, 5.0);
    assert_goes_on(search);
    search->values[6][0] = 1; /* equal to the best */
    assert_goes_on(search);
}

/* On curves with a known law, value n = end + noise / n: of the trials that would have been the
 * best, at most a share of p is stopped (400 searches, about 900 such trials: 0.05 + 0.02), and
 * many others are. */
static void test_forecast_rate(void **state)
{
    (void)state;
    uint64_t random = orch_random_stream(5, 0);
    size_t bests = 0, wrong = 0, stopped = 0, trials = 0;
    for (unsigned repeat = 0; repeat < 400; repeat++) {
        g_autofree struct search *search = search_new("forecast(p=0.05)", false);
        double best = HUGE_VAL;
        for (unsigned i = 0; i < 30; i++) {
            double end = orch_random_unit(&random), value = end;
            add(search, RUNNING, 0);
            struct orch_stop_curve *own = &search->curves[i];
            g_autofree char *why = NULL;
            while (own->count < 16 && !why) {
                double noise = orch_random_unit(&random) + orch_random_unit(&random) - 1;
                size_t n = ++own->count;
                value = n == 16 ? end : end + noise / (double)n;
                search->values[i][n - 1] = value;
                why = n < 16 ? ask(search) : NULL;
            }
            own->end = why ? STOPPED : ENDED;
            bests += isfinite(best) && end <= best;
            wrong += isfinite(best) && end <= best && why;
            stopped += why != NULL;
            trials++;
            best = why ? best : fmin(best, end);
        }
    }
    assert_true(bests > 800);
    assert_true((double)wrong <= 0.07 * (double)bests);
    assert_true((double)stopped > 0.4 * (double)trials);
}

/* ---- where a rule can stop nothing --------------------------------------------------------------
 */

static void test_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        unsigned trials;
        size_t values, last_values; /* of each trial, and of the last one */
        const char *why;
        bool is_in_part;
    } rows[] = {
        {"median", 40, 1, 1, "the trials have only one value each", false},
        {"median", 40, 6, 6,
         "the rule needs more than 6 values of a trial, but no trial has more than 6", false},
        {"vizier", 40, 7, 7, "", false},
        {"median", 5, 20, 20, "the rule needs more than 5 trials that ended, but the search had 5",
         false},
        {"median(startup=1)", 1, 20, 20,
         "the rule needs more than 1 trial that ended, but the search had 1", false},
        {"median", 6, 20, 20, "", false},
        {"asha(min=9)", 40, 9, 9,
         "the rule needs more than 9 values of a trial, but no trial has more than 9", false},
        {"asha(min=9)", 40, 10, 10, "", false},
        {"asha", 1, 10, 10, "the search has only one trial", false},
        {"asha", 2, 2, 2, "", false},
        {"forecast", 40, 10, 13,
         "'forecast' needs trials of about the same length, but these have 10 to 13 values", false},
        {"forecast", 40, 10, 12, "", false},
        {"forecast", 5, 10, 10,
         "the rule needs more than 5 trials that ended, but the search had 5", false},
        {"hyperband", 49, 27, 27, "", false},
        {"hyperband", 49, 9, 9,
         "bracket 1 needs trials with more than 9 values, but has trials of at most 9 values",
         true},
        {"hyperband(min=9)", 49, 9, 9,
         "bracket 1 needs trials with more than 9 values, but has trials of at most 9 values",
         false},
        {"hyperband", 2, 27, 27,
         "bracket 3 needs trials with more than 1 value, but has one trial; bracket 2 needs "
         "trials with more than 3 values, but has one trial; bracket 1 needs trials with more than "
         "9 values, but has no trial",
         false},
        {"asha", 0, 0, 0, "", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree struct search *search = search_new(rows[i].rule, false);
        for (unsigned k = 0; k < rows[i].trials; k++) {
            add(search, ENDED, 0);
            search->curves[k].count =
                k + 1 == rows[i].trials ? rows[i].last_values : rows[i].values;
        }
        const struct orch_stop_question question = {
            .rule = &search->rule, .curves = search->curves, .count = search->count};
        bool is_in_part;
        g_autofree char *why = orch_stop_trial_nothing(&question, &is_in_part);
        assert_string_equal(why ? why : "", rows[i].why);
        assert_int_equal(is_in_part, rows[i].is_in_part && why);
    }
}

/* ---- any input ----------------------------------------------------------------------------------
 */

/* No rule crashes, and none stops the trial that is better than all others at each value. */
/* What a stopped curve lacks is the median of what those changed that ended, since they were as
 * long; shorter ones, stopped ones and those that diverged say nothing. */
static void test_change_left(void **state)
{
    (void)state;
    struct search *search = search_new("asha", false);
    add(search, ORCH_CURVE_STOPPED, 2, 9.0, 5.0);
    assert_true(orch_stop_change_left(search->curves, 1, 0) == 0);
    add(search, ORCH_CURVE_ENDED, 4, 8.0, 4.0, 2.0, 1.0);
    add(search, ORCH_CURVE_ENDED, 4, 8.0, 3.0, 3.0, 2.0);
    add(search, ORCH_CURVE_ENDED, 4, 9.0, 9.0, 3.0, 2.0);
    add(search, ORCH_CURVE_ENDED, 1, 1.0);
    add(search, ORCH_CURVE_STOPPED, 3, 9.0, 9.0, 0.0);
    add(search, ORCH_CURVE_ENDED, 3, 9.0, 1.0, 80.0);
    search->curves[6].has_diverged = true;
    assert_true(orch_stop_change_left(search->curves, search->count, 0) == -3);
    assert_true(orch_stop_change_left(search->curves, search->count, 5) == -1);
    g_free(search);
}

static void test_random_curves(void **state)
{
    (void)state;
    static const char *const rules[] = {"median(warmup=0, startup=1)",
                                        "vizier(warmup=0)",
                                        "asha(factor=2)",
                                        "asha(min=1)",
                                        "hyperband(max=9)",
                                        "forecast(p=0.5)"};
    static const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL, 0, 1e300, -1e300, 1, 1e-300};
    uint64_t random = orch_random_stream(1, 0);
    for (unsigned repeat = 0; repeat < 4000; repeat++) {
        g_autofree struct search *search =
            search_new(rules[repeat % G_N_ELEMENTS(rules)], repeat % 2);
        size_t count = 1 + orch_random_below(&random, 12);
        for (size_t i = 0; i < count; i++) {
            add(search, (enum orch_curve_state)orch_random_below(&random, 3), 0);
            search->curves[i].count = orch_random_below(&random, 10);
            for (size_t k = 0; k < 10; k++)
                search->values[i][k] = orch_random_below(&random, 4)
                                           ? orch_random_unit(&random)
                                           : odd[orch_random_below(&random, G_N_ELEMENTS(odd))];
        }
        g_free(ask(search));
        for (size_t k = 0; k < 10; k++)
            search->values[count - 1][k] = search->is_max ? HUGE_VAL : -HUGE_VAL;
        assert_goes_on(search);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_wrong_texts),
        cmocka_unit_test(test_summaries),
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_median_of_maximised),
        cmocka_unit_test(test_median_counts_what_ended),
        cmocka_unit_test(test_vizier),
        cmocka_unit_test(test_rising_curves),
        cmocka_unit_test(test_median_of_nan),
        cmocka_unit_test(test_asha),
        cmocka_unit_test(test_last_value),
        cmocka_unit_test(test_asha_rungs),
        cmocka_unit_test(test_asha_default_min),
        cmocka_unit_test(test_promotion_by_default_min),
        cmocka_unit_test(test_hyperband_deals),
        cmocka_unit_test(test_hyperband_brackets),
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_promotion_of_rungs),
        cmocka_unit_test(test_promotion_in_brackets),
        cmocka_unit_test(test_no_promotion),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_forecast_of_the_front),
        cmocka_unit_test(test_forecast_of_maximised),
        cmocka_unit_test(test_forecast_of_the_best_two),
        cmocka_unit_test(test_forecast_leaves_stopped_ones_out),
        cmocka_unit_test(test_forecast_needs_curves),
        cmocka_unit_test(test_forecast_of_nan),
        cmocka_unit_test(test_forecast_without_spread),
        cmocka_unit_test(test_forecast_rate),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_change_left),
        cmocka_unit_test(test_random_curves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
