/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bayesian optimisation (Jones, Schonlau and Welch 1998) with a Gaussian process: the next point is
 * the one with the largest logarithm of the expected improvement (Ament et al. 2023) on the best
 * expected value among the points that were tried, which is what noise leaves of "the best so far"
 * while trials are few; later on the best value itself.
 * The process is one of transformed values (box_cox.h). Running trials count with the value that is
 * expected of them (kriging believer, Ginsbourger et al. 2010), so that choices at the same time
 * differ. What a point promises is lowered by how near it is to a trial that failed.
 * A process learns its lengths where most trials are, which is where values are bad. There a
 * parameter may not matter that decides near the best, and the search would go on in small steps
 * with that parameter at one end. Late points are therefore far from all others (go_far). */
#include "features/search/samplers/gp_promise.h"
#include "lib/base/random.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 120   /* points of the process: the best, and the newest of the others */
#define BEST_SHARE 0.5 /* of these, so many are the best ones */
#define SPREAD_FIRST 4 /* points before the process is asked */
#define SPREAD_EVERY 5 /* then each fifth, as many as there are parameters, at most ... */
#define SPREAD_LATE 2  /* ... so many: later on points are far from others */
#define SPREAD_MOST 12 /* in all where costs count, or as many as parameters more */
#define EVEN 512       /* candidates spread over the space */
#define NEAR_BEST 128  /* candidates near the best points */
#define CLIMBS 4       /* of the best candidates, so many are improved */
#define FAR_FROM 12    /* ended trials after which points are far from others */
#define BEST_FROM 20   /* ended trials after which the best value is to be improved on */
#define FAR_TRIES 512  /* points that are compared for it */
#define FAR_SHARE 0.33 /* of the coordinates that differ from the best candidate's */
#define FAR_LOSS 0.7   /* promise that it may cost: half of the improvement */
#define APART 0.01     /* of a range: points that run at once are so far apart in some parameter */

/* ---- the best candidate ---------------------------------------------------------------------- */

struct candidate {
    double *point;
    double promise;
};

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return (x->promise < y->promise) - (x->promise > y->promise);
}

/* Tries the other choices and the neighbouring whole numbers of a candidate. */
static void step_from(const struct orch_gp_search *search, struct candidate *candidate)
{
    const struct orch_space *space = search->sampling->space;
    g_autofree double *point = g_new(double, search->d);
    for (unsigned k = 0; k < search->d; k++) {
        const struct orch_space_param *param = orch_space_param(space, k);
        double levels = orch_space_levels(param), unit = candidate->point[k];
        if (!(levels > 0) || isnan(unit))
            continue;
        unsigned tries = param->kind == ORCH_SPACE_CHOICE ? param->choices->len : 2;
        for (unsigned t = 0; t < tries; t++) {
            memcpy(point, candidate->point, search->d * sizeof *point);
            point[k] = param->kind == ORCH_SPACE_CHOICE ? (t + 0.5) / levels
                                                        : unit + (t ? 1 : -1) / levels;
            point[k] = CLAMP(point[k], 0, 1);
            orch_space_snap(space, point);
            double reached = orch_gp_promise(search, point);
            if (reached > candidate->promise) {
                candidate->promise = reached;
                memcpy(candidate->point, point, search->d * sizeof *point);
            }
        }
    }
}

/* A point near one of the best: some of its coordinates are moved. */
static void move_near(const struct orch_gp_search *search, uint64_t *random, double *out)
{
    const struct orch_space *space = search->sampling->space;
    size_t top = MIN(search->ended_count, 5);
    memcpy(out, search->ended[orch_random_below(random, top)], search->d * sizeof *out);
    double width = pow(10, -0.5 - 2.5 * orch_random_unit(random));
    unsigned always = (unsigned)orch_random_below(random, search->d);
    for (unsigned k = 0; k < search->d; k++) {
        bool is_moved = k == always || orch_random_unit(random) < 0.5;
        if (isnan(out[k]))
            out[k] = orch_random_unit(random);
        else if (is_moved && orch_space_param(space, k)->kind == ORCH_SPACE_CHOICE)
            out[k] = orch_random_unit(random) < 0.3 ? orch_random_unit(random) : out[k];
        else if (is_moved)
            out[k] = CLAMP(out[k] + width * orch_random_normal(random), 0, 1);
    }
    orch_space_snap(space, out);
}

/* Whether a trial has this point, or one that runs has nearly the same; one that ended counts only
 * where values repeat. */
static bool was_tried(const struct orch_gp_search *search, const double *point)
{
    const struct orch_sampling *sampling = search->sampling;
    bool is_exact = orch_space_process_noise(search->process) < 0.1;
    for (size_t i = 0; i < sampling->count; i++) {
        const struct orch_sampled *trial = &sampling->trials[i];
        double within = trial->state == ORCH_SAMPLED_PENDING ? APART : ORCH_SPACE_EQUAL;
        if ((trial->state != ORCH_SAMPLED_ENDED || is_exact) &&
            orch_space_is_same(sampling->space, trial->point, point, within))
            return true;
    }
    return false;
}

/* Replaces the best candidate by the point farthest from all that were tried, among points that
 * share most of its coordinates and promise nearly as much. */
static void go_far(const struct orch_gp_search *search, const struct candidate *best,
                   uint64_t *random, double *inout)
{
    const size_t tried = search->ended_count + search->running_count;
    g_autofree double *point = g_new(double, search->d);
    double farthest = orch_gp_nearest(search, inout, search->ended, tried);
    for (int t = 0; t < FAR_TRIES; t++) {
        memcpy(point, best->point, search->d * sizeof *point);
        for (unsigned k = 0; k < search->d; k++)
            if (isnan(point[k]) || orch_random_unit(random) < FAR_SHARE) {
                double inner = orch_random_unit(random), which = orch_random_unit(random);
                point[k] = which < 0.25 ? 0 : which < 0.5 ? 1 : inner;
            }
        orch_space_snap(search->sampling->space, point);
        double far = orch_gp_nearest(search, point, search->ended, tried);
        if (far > farthest && orch_gp_promise(search, point) >= best->promise - FAR_LOSS) {
            farthest = far;
            memcpy(inout, point, search->d * sizeof *inout);
        }
    }
}

static void choose(const struct orch_gp_search *search, double *out)
{
    const struct orch_space *space = search->sampling->space;
    const size_t count = EVEN + NEAR_BEST;
    uint64_t random = orch_sampling_random(search->sampling);
    g_autofree double *points = g_new(double, count * search->d);
    g_autofree struct candidate *candidates = g_new(struct candidate, count);
    g_autofree double *shift = g_new(double, search->d);
    for (unsigned k = 0; k < search->d; k++)
        shift[k] = orch_random_unit(&random);
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, search->d);
    for (size_t i = 0; i < count; i++) {
        double *point = points + i * search->d;
        if (i < EVEN) {
            gsl_qrng_get(sequence, point);
            for (unsigned k = 0; k < search->d; k++)
                point[k] = fmod(point[k] + shift[k], 1);
            orch_space_snap(space, point);
        } else {
            move_near(search, &random, point);
        }
        candidates[i] = (struct candidate){point, orch_gp_promise(search, point)};
    }
    gsl_qrng_free(sequence);
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < CLIMBS; i++) {
        orch_gp_climb(search, candidates[i].point, &candidates[i].promise);
        step_from(search, &candidates[i]);
        orch_gp_climb(search, candidates[i].point, &candidates[i].promise);
    }
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    size_t first = 0;
    while (first + 1 < count && was_tried(search, candidates[first].point))
        first++;
    memcpy(out, candidates[first].point, search->d * sizeof *out);
    if (search->ended_count >= FAR_FROM)
        go_far(search, &candidates[first], &random, out);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compare_newest(const void *a, const void *b)
{
    const struct orch_sampled *x = *(const struct orch_sampled *const *)a,
                              *y = *(const struct orch_sampled *const *)b;
    return (x < y) - (x > y);
}

/* The ended trials that the process gets, the best first. Caller frees. */
static const struct orch_sampled **choose_rows(const struct orch_sampling *sampling, size_t *out_n)
{
    const struct orch_sampled **rows = orch_sampling_best(sampling, out_n);
    if (*out_n > ROWS_MAX) {
        size_t best = (size_t)(BEST_SHARE * ROWS_MAX);
        qsort(rows + best, *out_n - best, sizeof *rows, compare_newest);
        *out_n = ROWS_MAX;
    }
    return rows;
}

/* Whether the next point fills the space evenly, whatever the process expects: the first ones, and
 * then every fifth, which finds what the process does not expect, as far points do later. */
static bool is_spread(const struct orch_sampling *sampling, size_t ended)
{
    const size_t parameters = sampling->space->params->len;
    const size_t last = SPREAD_FIRST + SPREAD_EVERY * MIN(parameters, SPREAD_LATE);
    if (sampling->cost_power > 0) /* what is dear is learned at the start */
        return ended < MIN(SPREAD_FIRST + parameters, SPREAD_MOST);
    return ended < SPREAD_FIRST || (sampling->count < last && sampling->count % SPREAD_EVERY == 0);
}

static void look_for(const struct orch_sampling *sampling, struct orch_gp_search *search,
                     double *out)
{
    for (size_t i = 0; i < sampling->count; i++) {
        const struct orch_sampled *trial = &sampling->trials[i];
        if (trial->state == ORCH_SAMPLED_FAILED)
            search->failed[search->failed_count++] = trial->point;
    }
    search->best = HUGE_VAL;
    for (size_t i = 0; i < search->ended_count; i++) {
        double mean, deviation;
        orch_space_process_at(search->process, search->ended[i], &mean, &deviation, NULL, NULL);
        search->best = fmin(search->best, mean);
    }
    if (search->ended_count >= BEST_FROM)
        search->best = orch_space_process_least(search->process);
    for (size_t i = 0; i < sampling->count; i++) {
        const double *point = sampling->trials[i].point;
        double mean, deviation;
        if (sampling->trials[i].state != ORCH_SAMPLED_PENDING)
            continue;
        orch_space_process_at(search->process, point, &mean, &deviation, NULL, NULL);
        orch_space_process_believe(search->process, point);
        search->best = fmin(search->best, mean);
        search->ended[search->ended_count + search->running_count++] = point;
    }
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    choose(search, out);
    gsl_set_error_handler(handler);
}

void orch_sample_gp(const struct orch_sampling *sampling, double *out)
{
    unsigned d = sampling->space->params->len;
    size_t n;
    g_autofree const struct orch_sampled **rows = choose_rows(sampling, &n);
    if (is_spread(sampling, n)) {
        orch_sample_latin(sampling, out);
        return;
    }
    g_autofree double *points = g_new(double, n *d);
    g_autofree double *values = g_new(double, n);
    g_autofree const double **ended = g_new(const double *, n + sampling->count);
    g_autofree const double **failed = g_new(const double *, sampling->count + 1);
    for (size_t i = 0; i < n; i++) {
        memcpy(points + i * d, rows[i]->point, d * sizeof *points);
        values[i] = rows[i]->value;
        ended[i] = rows[i]->point;
    }
    struct orch_space_process *process = orch_box_cox_fit(sampling->space, points, values, n);
    if (!process) {
        orch_sample_tpe(sampling, out);
        return;
    }
    struct orch_gp_search search = {.sampling = sampling,
                                    .process = process,
                                    .d = d,
                                    .failed = failed,
                                    .ended = ended,
                                    .ended_count = n};
    orch_gp_fit_cost(&search);
    look_for(sampling, &search, out);
    orch_space_process_free(search.cost);
    orch_space_process_free(process);
}
