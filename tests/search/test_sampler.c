/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samplers on functions whose minimum is known. */
#include "core/stats/front.h"
#include "features/search/samplers/sampler.h"
#include "predictors/numbers/space_process.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TRIALS 40
#define TRIALS_MOST (8 * 20) /* of a population */

/* A search so far. */
struct history {
    struct orch_space *space;
    double points[TRIALS_MOST][ORCH_SPACE_PARAMS_MAX];
    struct orch_sampled trials[TRIALS_MOST];
    size_t count;
    double cost_power;
};

static void add(struct history *history, const char *name, const char *text)
{
    if (!history->space)
        history->space = orch_space_new();
    assert_true(orch_space_add(history->space, name, text, NULL, NULL));
}

static double *next(struct history *history, orch_sampler_fn sampler, uint64_t seed)
{
    const struct orch_sampling sampling = {.space = history->space,
                                           .trials = history->trials,
                                           .count = history->count,
                                           .seed = seed,
                                           .cost_power = history->cost_power};
    double *point = history->points[history->count];
    sampler(&sampling, point);
    history->trials[history->count++] =
        (struct orch_sampled){.point = point, .state = ORCH_SAMPLED_PENDING};
    return point;
}

static void end(struct history *history, size_t index, double value)
{
    history->trials[index].state = isfinite(value) ? ORCH_SAMPLED_ENDED : ORCH_SAMPLED_FAILED;
    history->trials[index].value = value;
}

/* A valley along a in [0, 1] and b, with the minimum 0 at (0.3, 0.7). */
static double bowl(const double *at)
{
    return pow(at[0] - 0.3, 2) + 4 * pow(at[1] - 0.7, 2);
}

static double best_of(orch_sampler_fn sampler, uint64_t seed)
{
    struct history history = {0};
    add(&history, "a", "uniform(0, 1)");
    add(&history, "b", "uniform(0, 1)");
    double best = HUGE_VAL;
    for (size_t i = 0; i < TRIALS; i++) {
        double value = bowl(next(&history, sampler, seed));
        end(&history, i, value);
        best = fmin(best, value);
    }
    orch_space_free(history.space);
    return best;
}

/* Most of five seeds end so near: what random points reach in 40 trials is about 0.01. */
static void test_minimum(void **state)
{
    (void)state;
    static const struct {
        const char *sampler;
        double near;
    } rows[] = {{"gp", 1e-4}, {"auto", 1e-4}, {"tpe", 0.02}, {"sobol", 0.05}, {"random", 0.1}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        orch_sampler_fn sampler = orch_sampler_find(rows[i].sampler);
        unsigned near = 0;
        assert_non_null(sampler);
        for (uint64_t seed = 0; seed < 5; seed++)
            near += best_of(sampler, seed) < rows[i].near;
        if (near < 3)
            fail_msg("%s: %u of 5 seeds came below %g", rows[i].sampler, near, rows[i].near);
    }
}

/* The distance from the last point to the nearest earlier one. */
static double last_distance(const struct history *history)
{
    const unsigned d = history->space->params->len;
    const double *last = history->points[history->count - 1];
    double least = HUGE_VAL;
    for (size_t i = 0; i + 1 < history->count; i++) {
        double sum = 0;
        for (unsigned k = 0; k < d; k++)
            sum += pow(last[k] - history->points[i][k], 2);
        least = fmin(least, sum);
    }
    return sqrt(least);
}

/* Late points lie far from the others in parameters that do not seem to matter (0.57 on average,
 * and 0.44 where the improvement alone counts), and the minimum is found all the same. */
static void test_far(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct history history = {0};
        double best = HUGE_VAL;
        for (unsigned k = 0; k < 6; k++)
            add(&history, (const char *[]){"a", "b", "c", "d", "e", "f"}[k], "uniform(0, 1)");
        for (size_t i = 0; i < TRIALS; i++) {
            double value = bowl(next(&history, orch_sampler_find("gp"), seed));
            sum += i < 20 ? 0 : last_distance(&history);
            end(&history, i, value);
            best = fmin(best, value);
        }
        assert_true(best < 1e-3);
        orch_space_free(history.space);
    }
    if (sum / (4 * 20) < 0.52)
        fail_msg("the mean distance is %g", sum / (4 * 20));
}

/* The same trials and the same seed give the same point; another seed another one. */
static void test_repeatable(void **state)
{
    (void)state;
    for (unsigned n = 0; ORCH_SAMPLER_NAMES[n]; n++) {
        orch_sampler_fn sampler = orch_sampler_find(ORCH_SAMPLER_NAMES[n]);
        struct history a = {0}, b = {0};
        for (int k = 0; k < 2; k++) {
            add(k ? &b : &a, "x", "uniform(0, 1)");
            add(k ? &b : &a, "opt", "[p, q, r]");
        }
        for (size_t i = 0; i < 15; i++) {
            double *x = next(&a, sampler, 7), *y = next(&b, sampler, 7);
            assert_memory_equal(x, y, 2 * sizeof *x);
            end(&a, i, fabs(x[0] - 0.5) + x[1]);
            end(&b, i, fabs(y[0] - 0.5) + y[1]);
        }
        b.count--;
        double *x = next(&a, sampler, 7), *y = next(&b, sampler, 8);
        assert_true(memcmp(x, y, 2 * sizeof *x) != 0);
        orch_space_free(a.space);
        orch_space_free(b.space);
    }
}

/* The first 4, 8 and 16 points have one value in each of as many parts of each range. */
static void test_start(void **state)
{
    (void)state;
    struct history history = {0};
    for (unsigned k = 0; k < 3; k++)
        add(&history, (const char *[]){"a", "b", "c"}[k], "uniform(0, 1)");
    for (unsigned n = 0; n < 16; n++)
        next(&history, orch_sampler_find("gp"), 5);
    for (unsigned n = 4; n <= 16; n *= 2)
        for (unsigned k = 0; k < 3; k++) {
            unsigned parts = 0;
            for (unsigned i = 0; i < n; i++)
                parts |= 1u << (unsigned)(history.points[i][k] * n);
            assert_int_equal(parts, (1u << n) - 1);
        }
    orch_space_free(history.space);
}

/* Points that are chosen while others run differ from these. */
static void test_pending(void **state)
{
    (void)state;
    struct history history = {0};
    add(&history, "a", "uniform(0, 1)");
    add(&history, "b", "uniform(0, 1)");
    orch_sampler_fn sampler = orch_sampler_find("gp");
    for (size_t i = 0; i < 12; i++)
        end(&history, i, bowl(next(&history, sampler, 1)));
    for (size_t i = 12; i < 20; i++) {
        const double *point = next(&history, sampler, 1);
        for (size_t j = 12; j < i; j++)
            assert_true(hypot(point[0] - history.points[j][0], point[1] - history.points[j][1]) >
                        1e-3);
    }
    orch_space_free(history.space);
}

/* Half of the space fails, the side where the model expects more: few of the later trials go there.
 */
static void test_failing(void **state)
{
    (void)state;
    struct history history = {0};
    unsigned failed = 0;
    add(&history, "a", "uniform(0, 1)");
    for (size_t i = 0; i < 30; i++) {
        double at = next(&history, orch_sampler_find("gp"), 3)[0];
        end(&history, i, at < 0.5 ? (double)NAN : at); /* falls towards the failures */
        failed += i >= 10 && at < 0.5;
    }
    if (failed > 10)
        fail_msg("%u of the last 20 trials failed", failed);
    orch_space_free(history.space);
}

/* The half of the space where a trial costs the tenfold is left when cost counts, and not when it
 * does not: both halves hold a minimum of the same value. */
static void test_cost(void **state)
{
    (void)state;
    unsigned dear[2] = {0};
    for (int counts = 0; counts < 2; counts++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct history history = {.cost_power = counts};
            add(&history, "a", "uniform(0, 1)");
            for (size_t i = 0; i < 24; i++) {
                double at = next(&history, orch_sampler_find("gp"), seed)[0];
                end(&history, i, sin(4 * M_PI * at)); /* least at 3/8 and at 7/8 */
                history.trials[i].cost = at < 0.5 ? 1 : 10;
                dear[counts] += i >= 8 && at >= 0.5;
            }
            orch_space_free(history.space);
        }
    if (dear[0] < 16 || dear[1] > dear[0] / 2)
        fail_msg("of 64 trials %u were dear, and %u where cost counts", dear[0], dear[1]);
}

/* A parameter of a condition exists where its parent says so. The better branch is found by gp;
 * tpe, which looks at each parameter by itself, leaves a branch whose first values are bad for
 * long. */
static void test_conditions(void **state)
{
    (void)state;
    static const char *const names[] = {"gp", "tpe"};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        struct history history = {0};
        unsigned good = 0;
        add(&history, "opt", "[sgd, adam]");
        add(&history, "momentum", "uniform(0, 1) if opt = sgd");
        for (size_t i = 0; i < TRIALS; i++) {
            const double *at = next(&history, orch_sampler_find(names[k]), 5);
            bool is_sgd = at[0] < 0.5;
            assert_true(is_sgd == !isnan(at[1]));
            end(&history, i, is_sgd ? fabs(at[1] - 0.9) : 0.4);
            good += i >= 20 && is_sgd;
        }
        if (k == 0 && good < 12)
            fail_msg("%s: %u of the last 20 trials took the better branch", names[k], good);
        orch_space_free(history.space);
    }
}

/* The process knows values where they were measured, and which parameter matters. */
static void test_process(void **state)
{
    (void)state;
    struct history history = {0};
    add(&history, "a", "uniform(0, 1)");
    add(&history, "b", "uniform(0, 1)");
    double points[30][2], values[30], mean, deviation, slopes[2], unused[2];
    for (size_t i = 0; i < 30; i++) {
        double *point = next(&history, orch_sampler_find("sobol"), 0);
        memcpy(points[i], point, sizeof points[i]);
        values[i] = sin(5 * points[i][0]); /* b does not matter */
    }
    struct orch_space_process *process =
        orch_space_process_fit(history.space, points[0], values, 30);
    assert_non_null(process);
    for (size_t i = 0; i < 30; i++) {
        orch_space_process_at(process, points[i], &mean, &deviation, NULL, NULL);
        assert_true(fabs(mean - values[i]) < 0.01);
        assert_true(deviation < 0.1);
    }
    /* slopes against differences */
    static const double at[] = {0.42, 0.3}, beside[] = {0.42 + 1e-5, 0.3};
    double next_mean, next_deviation, deviation_slopes[2];
    orch_space_process_at(process, at, &mean, &deviation, slopes, deviation_slopes);
    assert_true(fabs(slopes[1]) < 0.05 * fabs(slopes[0]));
    orch_space_process_at(process, beside, &next_mean, &next_deviation, NULL, unused);
    assert_true(fabs((next_mean - mean) / 1e-5 - slopes[0]) < 1e-3 * (1 + fabs(slopes[0])));
    assert_true(fabs((next_deviation - deviation) / 1e-5 - deviation_slopes[0]) <
                1e-2 * (0.1 + fabs(deviation_slopes[0])));
    /* what is believed of a point is known there afterwards, and changes no mean */
    orch_space_process_at(process, at, &mean, &deviation, NULL, NULL);
    orch_space_process_believe(process, at);
    orch_space_process_at(process, at, &next_mean, &next_deviation, NULL, NULL);
    assert_true(fabs(next_mean - mean) < 1e-6 && next_deviation <= deviation + 1e-9);
    orch_space_process_free(process);
    orch_space_free(history.space);
}

/* Only trials that ended, the best first, of equal ones the older. */
static void test_best(void **state)
{
    (void)state;
    const struct orch_sampled trials[] = {{.state = ORCH_SAMPLED_ENDED, .value = 2},
                                          {.state = ORCH_SAMPLED_PENDING},
                                          {.state = ORCH_SAMPLED_ENDED, .value = 1},
                                          {.state = ORCH_SAMPLED_FAILED},
                                          {.state = ORCH_SAMPLED_ENDED, .value = 1}};
    const struct orch_sampling sampling = {.trials = trials, .count = G_N_ELEMENTS(trials)};
    size_t n;
    const struct orch_sampled **best = orch_sampling_best(&sampling, &n);
    assert_int_equal(n, 3);
    assert_ptr_equal(best[0], &trials[2]);
    assert_ptr_equal(best[1], &trials[4]);
    assert_ptr_equal(best[2], &trials[0]);
    g_free(best);
}

/* ---- samplers for many trials, and for several objectives ----------------------------------- */

#define MANY 4000
#define GOALS 2

/* Runs a search of `d` numbers until a value is below `target` (first goal), or `most` trials have
 * ended. Returns the number of trials; `out_goals` gets GOALS numbers for each. */
static size_t run_until(const char *name, unsigned d, uint64_t seed, double target, size_t most,
                        void (*function)(const double *at, unsigned d, double *out_goals),
                        double *out_goals)
{
    struct history history = {0};
    struct orch_sampled *trials = g_new0(struct orch_sampled, most);
    double *points = g_new(double, most *d);
    size_t count = 0;
    bool is_near = false;
    for (unsigned k = 0; k < d; k++)
        add(&history, (const char *[]){"a", "b", "c", "d", "e"}[k], "uniform(0, 1)");
    while (count < most && !is_near) {
        const struct orch_sampling sampling = {.space = history.space,
                                               .trials = trials,
                                               .count = count,
                                               .seed = seed,
                                               .goals = out_goals,
                                               .goal_count = GOALS};
        double *goals = out_goals + count * GOALS;
        orch_sampler_find(name)(&sampling, points + count * d);
        function(points + count * d, d, goals);
        trials[count] = (struct orch_sampled){
            .point = points + count * d, .state = ORCH_SAMPLED_ENDED, .value = goals[0]};
        count++;
        is_near = goals[0] < target;
    }
    orch_space_free(history.space);
    g_free(trials);
    g_free(points);
    return count;
}

static void sphere(const double *at, unsigned d, double *out)
{
    out[0] = out[1] = 0;
    for (unsigned k = 0; k < d; k++)
        out[0] += pow(at[k] - 0.3, 2);
}

static void rosenbrock(const double *at, unsigned d, double *out)
{
    out[0] = out[1] = 0;
    for (unsigned k = 0; k + 1 < d; k++) {
        const double x = 4 * at[k] - 2, y = 4 * at[k + 1] - 2;
        out[0] += 100 * pow(y - x * x, 2) + pow(1 - x, 2);
    }
}

/* Deb's ZDT1: the front is b = ... = 0. */
static void two_goals(const double *at, unsigned d, double *out)
{
    double rest = 1;
    for (unsigned k = 1; k < d; k++)
        rest += 9 * at[k] / (d - 1);
    out[0] = at[0];
    out[1] = rest * (1 - sqrt(at[0] / rest));
}

/* CMA-ES is there in a tenth of the trials that random points need, or fewer. */
static void test_cmaes(void **state)
{
    (void)state;
    static const struct {
        void (*function)(const double *, unsigned, double *);
        unsigned d;
        double target;
    } rows[] = {{sphere, 4, 5e-3}, {rosenbrock, 2, 5e-3}};
    g_autofree double *goals = g_new(double, MANY *GOALS);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        size_t own = 0, random = 0;
        for (uint64_t seed = 0; seed < 3; seed++) {
            own +=
                run_until("cmaes", rows[i].d, seed, rows[i].target, MANY, rows[i].function, goals);
            random +=
                run_until("random", rows[i].d, seed, rows[i].target, MANY, rows[i].function, goals);
        }
        if (own * 10 > random)
            fail_msg("function %zu: %zu trials, and %zu at random", i, own, random);
    }
    /* to the fifth digit of each number */
    assert_true(run_until("cmaes", 4, 1, 1e-10, MANY, sphere, goals) < 600);
    /* a space with a choice is left to tpe */
    struct history a = {0}, b = {0};
    for (int k = 0; k < 2; k++) {
        add(k ? &b : &a, "x", "uniform(0, 1)");
        add(k ? &b : &a, "opt", "[p, q]");
    }
    for (size_t i = 0; i < 12; i++) {
        const double *x = next(&a, orch_sampler_find("cmaes"), 1),
                     *y = next(&b, orch_sampler_find("tpe"), 1);
        assert_memory_equal(x, y, 2 * sizeof *x);
        end(&a, i, x[0]);
        end(&b, i, x[0]);
    }
    orch_space_free(a.space);
    orch_space_free(b.space);
}

/* The hypervolume of 200 trials: NSGA-II gets more than half of what random points leave. */
static void test_nsga2(void **state)
{
    (void)state;
    static const double reference[GOALS] = {1, 4};
    static const double whole = 4 - 1.0 / 3;
    g_autofree double *goals = g_new(double, 200 * GOALS);
    for (uint64_t seed = 0; seed < 3; seed++) {
        double volume[2];
        for (int k = 0; k < 2; k++) {
            run_until(k ? "random" : "nsga2", 5, seed, -1, 200, two_goals, goals);
            volume[k] = orch_front_volume(goals, 200, GOALS, reference);
        }
        if (whole - volume[0] > (whole - volume[1]) / 2)
            fail_msg("seed %u: %g of %g, and %g at random", (unsigned)seed, volume[0], whole,
                     volume[1]);
    }
}

/* All points of the grid, then the next finer one's; of a space that has no finer one, no new
 * point. */
static void test_grid(void **state)
{
    (void)state;
    struct history history = {0}, few = {0};
    orch_sampler_fn grid = orch_sampler_find("grid");
    add(&history, "x", "uniform(0, 1)");
    add(&history, "opt", "[p, q]");
    add(&history, "m", "int(1, 3) if opt = p");
    for (size_t i = 0; i < 21; i++) {
        const double *at = next(&history, grid, 3);
        const double step = at[0] * (i < 20 ? 4 : 8);
        assert_true(fabs(step - round(step)) < 1e-9 && isnan(at[2]) == (at[1] > 0.5));
        for (size_t j = 0; j < i; j++)
            assert_false(
                orch_space_is_same(history.space, history.points[j], at, ORCH_SPACE_EQUAL));
        end(&history, i, 0);
    }
    add(&few, "k", "int(1, 2)");
    add(&few, "opt", "[p, q, r]");
    for (size_t i = 0; i < 7; i++) {
        bool is_new = true;
        const double *at = next(&few, grid, 3);
        for (size_t j = 0; j < i; j++)
            is_new = is_new && !orch_space_is_same(few.space, few.points[j], at, ORCH_SPACE_EQUAL);
        assert_true(is_new == (i < 6));
    }
    orch_space_free(history.space);
    orch_space_free(few.space);
}

/* A training whose best rate falls from step to step: what is left of a loss after one more. */
static double trained(double loss, double unit, size_t step)
{
    return loss * fmin(0.6 + 0.4 * fabs(3 * unit - 3 - log10(0.5 * pow(0.8, (double)step))), 1.1);
}

/* The least loss after twenty steps of each of eight members; alone: each keeps its own rate. */
static double least_of_population(uint64_t seed, bool alone)
{
    struct history history = {0};
    double least = HUGE_VAL, losses[TRIALS_MOST];
    unsigned members[TRIALS_MOST];
    size_t steps[TRIALS_MOST], moved = 0;
    add(&history, "lr", "loguniform(0.001, 1)");
    while (history.count < TRIALS_MOST) {
        const size_t i = history.count;
        const struct orch_sampling sampling = {
            .space = history.space, .trials = history.trials, .count = i, .seed = seed};
        double *at = history.points[i];
        gssize parent;
        members[i] = orch_sample_population(&sampling, members, 8, at, &parent);
        assert_int_equal(members[i], i % 8 + 1);
        assert_int_equal(parent < 0, i < 8);
        moved += parent >= 0 && members[parent] != members[i];
        if (alone && i >= 8)
            at[0] = history.points[parent = (gssize)i - 8][0];
        steps[i] = parent < 0 ? 0 : steps[parent] + 1;
        assert_int_equal(steps[i], i / 8);
        losses[i] = trained(parent < 0 ? 1 : losses[parent], at[0], steps[i]);
        least = fmin(least, losses[i]);
        history.trials[history.count++].point = at;
        end(&history, i, losses[i]);
    }
    assert_int_equal(moved, alone ? moved : 38); /* the two worst of each round but the first */
    orch_space_free(history.space);
    return least;
}

/* Members go on from the best, and follow a rate that no fixed one can. A member whose trial runs
 * gets no second one; one whose trial failed goes on from the best. */
static void test_population(void **state)
{
    (void)state;
    double log_gain = 0;
    for (uint64_t seed = 0; seed < 20; seed++)
        log_gain += log(least_of_population(seed, true) / least_of_population(seed, false)) / 20;
    assert_true(log_gain > log(5)); /* 15.8 */

    const double points[4][1] = {{0.1}, {0.3}, {0.5}, {0.7}};
    struct orch_sampled trials[6];
    struct orch_space *space = orch_space_new();
    const unsigned members[6] = {1, 2, 3, 4, 1, 2};
    double at[1];
    gssize parent;
    assert_true(orch_space_add(space, "x", "uniform(0, 1)", NULL, NULL));
    for (size_t i = 0; i < 6; i++)
        trials[i] = (struct orch_sampled){
            .point = points[i % 4], .value = 4 - (double)i, .state = ORCH_SAMPLED_ENDED};
    trials[4].state = ORCH_SAMPLED_PENDING;
    trials[5].state = ORCH_SAMPLED_FAILED;
    struct orch_sampling sampling = {.space = space, .trials = trials, .count = 5};
    assert_int_equal(orch_sample_population(&sampling, members, 4, at, &parent), 2);
    assert_true(parent == 1 && at[0] == 0.3);
    sampling.count = 6;
    assert_int_equal(orch_sample_population(&sampling, members, 4, at, &parent), 2);
    assert_true(parent == 3 && at[0] != 0.7);
    sampling.count = 4;
    for (size_t i = 0; i < 4; i++)
        trials[i].state = ORCH_SAMPLED_PENDING;
    assert_int_equal(orch_sample_population(&sampling, members, 4, at, &parent), 0);
    orch_space_free(space);
}

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; ORCH_SAMPLER_NAMES[i]; i++)
        assert_non_null(orch_sampler_find(ORCH_SAMPLER_NAMES[i]));
    assert_null(orch_sampler_find("genetic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_process),
        cmocka_unit_test(test_far),        cmocka_unit_test(test_minimum),
        cmocka_unit_test(test_repeatable), cmocka_unit_test(test_start),
        cmocka_unit_test(test_pending),    cmocka_unit_test(test_failing),
        cmocka_unit_test(test_conditions), cmocka_unit_test(test_cost),
        cmocka_unit_test(test_best),       cmocka_unit_test(test_cmaes),
        cmocka_unit_test(test_nsga2),      cmocka_unit_test(test_grid),
        cmocka_unit_test(test_population),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
