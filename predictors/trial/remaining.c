/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/trial/remaining.h"

#include "lib/base/interval.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define WINDOW 0.5 /* share of the work done */
#define BLOCKS_MAX 12
#define POINTS_A_BLOCK 2
#define STEPS_MIN 16
#define STEPS_MAX 512
#define EWMA 0.35
#define DRIFT_MOST 0.25 /* maximum trend, as a share of tau */
#define DRIFT_CLEAR 3.0 /* standard errors for a significant trend */
/* Standard deviation from causes outside the job (other programs, clock changes), as a share. */
#define LEAST_SD 0.01
/* Standard deviation of the log of the pace while there are too few blocks. */
#define FIRST_SD 0.35

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Time at which `done` was reached, interpolated linearly. */
static double time_at(const struct orch_progress_point *points, size_t count, double done)
{
    size_t low = 0, high = count - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (points[middle].done <= done)
            low = middle;
        else
            high = middle;
    }
    double step = points[high].done - points[low].done;
    double share = step > 0 ? (done - points[low].done) / step : 1;
    return points[low].t_s + CLAMP(share, 0, 1) * (points[high].t_s - points[low].t_s);
}

struct window {
    double pace[BLOCKS_MAX]; /* seconds per unit, oldest first */
    int blocks;
    double width; /* units per block */
};

/* Divides the newest part into blocks of equal progress; fewer blocks if there are few points. */
static void cut(const struct orch_progress_point *points, size_t count, struct window *out)
{
    double last = points[count - 1].done;
    double from = last - WINDOW * (last - points[0].done);
    size_t inside = 0;
    for (size_t i = count; i > 0 && points[i - 1].done >= from; i--)
        inside++;
    if (inside < 2 * POINTS_A_BLOCK) { /* too few points to exclude a warm-up */
        from = points[0].done;
        inside = count;
    }
    out->blocks = (int)CLAMP(inside / POINTS_A_BLOCK, 1, BLOCKS_MAX);
    out->width = (last - from) / out->blocks;
    for (int b = 0; b < out->blocks; b++) {
        double begin = time_at(points, count, from + b * out->width);
        double end = b + 1 == out->blocks ? points[count - 1].t_s
                                          : time_at(points, count, from + (b + 1) * out->width);
        out->pace[b] = fmax(end - begin, 1e-12) / out->width;
    }
}

/* ---- estimates ---------------------------------------------------------------------------------
 */

static double mean_of(const double *pace, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += pace[i];
    return sum / count;
}

static double median_of(const double *pace, int count)
{
    return orch_reals_median_of(pace, (size_t)count);
}

static double ewma_of(const double *pace, int count)
{
    double value = pace[0];
    for (int i = 1; i < count; i++)
        value += EWMA * (pace[i] - value);
    return value;
}

static const struct estimate {
    const char *name;
    double (*of)(const double *pace, int count);
} ESTIMATES[] = {{"mean", mean_of}, {"median", median_of}, {"ewma", ewma_of}};

/* Sum of squared relative errors when each block is predicted from the preceding ones. */
static double error_of(const struct estimate *estimate, const struct window *w)
{
    double sum = 0;
    for (int b = 2; b < w->blocks; b++) {
        double off = estimate->of(w->pace, b) / w->pace[b] - 1;
        sum += off * off;
    }
    return sum;
}

/* Chooses the mean unless another estimator is clearly better, as the mean gives unbiased sums. */
static const struct estimate *choose(const struct window *w)
{
    const struct estimate *best = &ESTIMATES[0];
    double least = 0.8 * error_of(best, w);
    for (size_t i = 1; w->blocks >= 5 && i < G_N_ELEMENTS(ESTIMATES); i++) {
        double error = error_of(&ESTIMATES[i], w);
        if (error < least) {
            least = error;
            best = &ESTIMATES[i];
        }
    }
    return best;
}

/* ---- spread ------------------------------------------------------------------------------------
 */

struct trend {
    double slope, slope_error; /* change of the pace per block, and its standard error */
};

static struct trend trend_of(const struct window *w)
{
    struct trend t = {0};
    int n = w->blocks;
    double middle = (n - 1) / 2.0, mean = mean_of(w->pace, n), xx = 0, xy = 0, rr = 0;
    for (int b = 0; b < n; b++) {
        xx += (b - middle) * (b - middle);
        xy += (b - middle) * (w->pace[b] - mean);
    }
    t.slope = n > 2 ? xy / xx : 0;
    for (int b = 0; b < n; b++) {
        double off = w->pace[b] - mean - t.slope * (b - middle);
        rr += off * off;
    }
    t.slope_error = n > 2 ? sqrt(rr / (n - 2) / xx) : 0;
    return t;
}

/* Half width of the interval for the future mean pace, from groups of `together` blocks. Group
 * means vary like future ones, regardless of correlation within a group. */
static double half_by_groups(const struct window *w, const struct trend *t, bool drifts, double tau,
                             double left, int together)
{
    int groups = w->blocks / together, first = w->blocks - groups * together;
    double mean[BLOCKS_MAX], all = 0, squares = 0, middle = (w->blocks - 1) / 2.0;
    for (int g = 0; g < groups; g++) {
        mean[g] = 0;
        for (int b = first + g * together; b < first + (g + 1) * together; b++)
            mean[g] += (w->pace[b] - (drifts ? t->slope * (b - middle) : 0)) / together;
        all += mean[g] / groups;
    }
    for (int g = 0; g < groups; g++)
        squares += (mean[g] - all) * (mean[g] - all);
    double sd = sqrt(squares / (groups - 1)) / tau;
    double ahead = fmax(left / (w->width * together), 0.2);
    return gsl_cdf_tdist_Pinv(0.95, groups - 1) * sd * sqrt(1 / ahead + 1.0 / groups);
}

/* The same from the single steps of the window and their autocorrelation (first order): used
 * because there are many steps even if there are few groups. */
static double half_by_steps(const struct orch_progress_point *points, size_t count,
                            const struct window *w, double left)
{
    double from = points[count - 1].done - w->width * w->blocks - 1e-9, mean = 0, rr = 0, lag = 0;
    double pace[STEPS_MAX];
    int n = 0;
    for (size_t i = count - 1; i > 0 && points[i - 1].done >= from && n < STEPS_MAX; i--) {
        double step = points[i].done - points[i - 1].done;
        if (step > 0)
            pace[n++] = (points[i].t_s - points[i - 1].t_s) / step;
    }
    if (n < STEPS_MIN)
        return 0;
    for (int i = 0; i < n; i++)
        mean += pace[i] / n;
    for (int i = 0; i < n; i++) {
        rr += (pace[i] - mean) * (pace[i] - mean);
        lag += i ? (pace[i] - mean) * (pace[i - 1] - mean) : 0;
    }
    if (!(rr > 0))
        return 0;
    double r = lag / rr;
    r = CLAMP(r + (1 + 4 * r) / n, 0, 0.98); /* Kendall's bias correction */
    double together = (1 + r) / (1 - r), units = w->width * w->blocks / n;
    double groups = fmax(n / together, 2), ahead = fmax(left / units / together, 0.2);
    double sd = sqrt(rr / (n - 1)) / mean;
    return gsl_cdf_tdist_Pinv(0.95, fmax(groups - 1, 2)) * sd * sqrt(1 / ahead + 1 / groups);
}

/* Uses the widest interval over group sizes, as correlated steps show only in longer groups. */
static double half_of(const struct window *w, const struct trend *t, bool drifts, double tau,
                      double left)
{
    double half = w->blocks < 3 ? ORCH_NORMAL_90 * FIRST_SD : 0;
    for (int together = 1;
         w->blocks >= 3 && together <= 3 && w->blocks / together >= 4 - (together == 1); together++)
        half = fmax(half, half_by_groups(w, t, drifts, tau, left, together));
    return hypot(half, ORCH_NORMAL_90 * LEAST_SD);
}

static bool usable(const struct orch_progress_point *points, size_t count, double total)
{
    return count >= 2 && points[count - 1].done > points[0].done &&
           points[count - 1].t_s > points[0].t_s && total > points[count - 1].done &&
           isfinite(total);
}

/* Expected relative change of tau until the end. */
static double drift_of(const struct window *w, const struct trend *t, double tau, double left)
{
    if (w->blocks < 6 || fabs(t->slope) < DRIFT_CLEAR * t->slope_error)
        return 0;
    /* from the middle of the window to the middle of the remaining work */
    double ahead = (w->blocks / 2.0) + left / w->width / 2;
    return CLAMP(t->slope * ahead / tau, -DRIFT_MOST, DRIFT_MOST);
}

bool orch_remaining(const struct orch_progress_point *points, size_t count, double total,
                    double now_s, struct orch_remaining *out)
{
    struct window w;
    if (!usable(points, count, total))
        return false;
    cut(points, count, &w);
    const struct estimate *estimate = choose(&w);
    struct trend t = trend_of(&w);
    double tau = estimate->of(w.pace, w.blocks), left = total - points[count - 1].done;
    double drift = drift_of(&w, &t, tau, left);
    double since = fmax(0, now_s - points[count - 1].t_s), full = left * tau * (1 + drift);
    double half = half_of(&w, &t, drift != 0, tau, left);
    half = fmax(half, half_by_steps(points, count, &w, left)) + fabs(drift) / 2;
    *out = (struct orch_remaining){.tau_s = tau, .estimate = estimate->name, .drift = drift};
    out->left_s.mid = fmax(0, full - since);
    out->left_s.low = fmax(0, full * exp(-half) - since);
    out->left_s.high = fmax(out->left_s.mid, full * exp(half) - since);
    return true;
}
