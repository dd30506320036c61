/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pair of settings with three seeds each has 2 degrees of freedom, so no difference survives a
 * correction for the 36 pairs of nine settings. The residuals of all settings together have many
 * more, as long as the scatter is alike:
 *
 *   one way           y_ij = setting_i + e_ij                 N - k degrees of freedom
 *   settings by seeds y_ij = setting_i + seed_j + e_ij        (k - 1)(n - 1)
 *
 * The second is used when all settings of the pool have the same seeds, since these shift all
 * settings alike. Seeds shared by some settings only are not taken out: that makes the test
 * careful, not bold.
 *
 * The scatter of shares depends on their mean (0.99 scatters less than 0.5), so they are analysed
 * by arcsin(sqrt(x)) (Anscombe 1948), which is finite at 0 and 1, where the logit is not; positive
 * losses, times and rates by their logarithm. What is tested is the difference of the means of the
 * transformed values, of which the residuals are. It is shown as that of the means in the metric's
 * unit; each end of the interval moves both settings by half, so that no share leaves its range.
 * Where the two have opposite signs, which takes a skewed sample, nothing is claimed.
 *
 * Bartlett's test (1937) checks whether the scatter is alike. It is the most powerful one for
 * normal residuals, and also rejects long tails, which only costs power here. With three runs each
 * the tests of Levene, Brown and Forsythe hardly ever reject (their level of 5 % becomes less than
 * 0.5 %), and the usual bounds for the ratio of the largest to the smallest variance are exceeded
 * by equal settings. Where it rejects, the setting whose scatter is least likely leaves the pool
 * until the rest is alike. The scatter is compared before and after the seeds are taken out: what a
 * noisy setting adds to a seed's shift is taken from the quiet ones, whose residuals then scatter
 * like its own. A run that ended at the same wrong value three times does not narrow the
 * intervals of the others that way.
 *
 * References: Tukey 1953, Kramer 1956 (unequal n); Hayter 1984 (the level holds then, too). */
#include "features/compare/pooled.h"

#include "core/stats/seeds.h"
#include "features/compare/studentized_range.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Above this p the scatter counts as equal. With few runs the test has little power, so the level
 * is higher than that of a claim. */
#define EQUAL_LEVEL 0.1
#define EXCESS_LEVEL 0.1 /* of the F test of a pair's own scatter against the pool's */
#define SETTINGS_LEAST 3

/* ---- the scale ------------------------------------------------------------------------------- */

static double on_scale(const struct orch_metric_kind *kind, double value)
{
    switch (kind->scale) {
    case ORCH_SCALE_LOG:
        return log(value);
    case ORCH_SCALE_LOGIT:
        return asin(sqrt(value / kind->top));
    case ORCH_SCALE_PLAIN:
        break;
    }
    return value;
}

/* The inverse of on_scale. */
static double from_scale(const struct orch_metric_kind *kind, double value)
{
    switch (kind->scale) {
    case ORCH_SCALE_LOG:
        return exp(value);
    case ORCH_SCALE_LOGIT:
        return kind->top * pow(sin(value), 2);
    case ORCH_SCALE_PLAIN:
        break;
    }
    return value;
}

/* The plain value of a place on the scale that was moved, at most to an end of a share's range. */
static double moved(const struct orch_metric_kind *kind, double at, double by)
{
    double there = at + by;
    return from_scale(kind, kind->scale == ORCH_SCALE_LOGIT ? CLAMP(there, 0, M_PI_2) : there);
}

/* ---- the pool -------------------------------------------------------------------------------- */

/* The values of all settings, and what is computed of those in the pool. */
struct table {
    const GArray *const *means;
    size_t count;
    double *squares; /* [i]: variance of a setting's residuals; they have n_i - 1 degrees */
};

static const struct orch_seed_mean *mean_at(const GArray *means, guint i)
{
    return &g_array_index(means, struct orch_seed_mean, i);
}

static double value_of(const struct orch_pooled *p, const GArray *means, guint i)
{
    return on_scale(&p->kind, mean_at(means, i)->value);
}

static double average_of(const struct orch_pooled *p, const GArray *means)
{
    double sum = 0;
    for (guint i = 0; i < means->len; i++)
        sum += value_of(p, means, i);
    return sum / means->len;
}

/* Returns the first setting of the pool, or NULL. */
static const GArray *first_of(const struct orch_pooled *p, const struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (p->has[i])
            return t->means[i];
    return NULL;
}

static bool same_seeds(const GArray *a, const GArray *b)
{
    for (guint i = 0; a->len == b->len && i < a->len; i++)
        if (!mean_at(a, i)->seed || !orch_seed_mean_find(b, mean_at(a, i)->seed))
            return false;
    return a->len == b->len;
}

/* Returns how far each seed shifts the settings of the pool, by the order of the first one. The
 * caller frees; NULL: their seeds differ. */
static double *seed_shifts(const struct orch_pooled *p, const struct table *t, const GArray *first)
{
    if (!first)
        return NULL;
    for (size_t i = 0; i < t->count; i++)
        if (p->has[i] && !same_seeds(first, t->means[i]))
            return NULL;
    double *shifts = g_new0(double, first->len);
    for (size_t i = 0; i < t->count; i++) {
        double average = p->has[i] ? average_of(p, t->means[i]) : 0;
        for (guint j = 0; p->has[i] && j < first->len; j++) {
            const struct orch_seed_mean *m =
                orch_seed_mean_find(t->means[i], mean_at(first, j)->seed);
            shifts[j] += (on_scale(&p->kind, m->value) - average) / (double)p->settings;
        }
    }
    return shifts;
}

static double shift_of(const GArray *first, const double *shifts, uint64_t seed)
{
    for (guint j = 0; shifts && j < first->len; j++)
        if (mean_at(first, j)->seed == seed)
            return shifts[j];
    return 0;
}

/* Fills in `squares`, sd and degrees of the settings in the pool. */
static void estimate(struct orch_pooled *p, const struct table *t, bool takes_seeds_out)
{
    const GArray *first = first_of(p, t);
    g_autofree double *shifts = takes_seeds_out ? seed_shifts(p, t, first) : NULL;
    double k = (double)p->settings, share = shifts ? 1 - 1 / k : 1, sum = 0, degrees = 0;
    p->by_seed = shifts != NULL;
    for (size_t i = 0; i < t->count; i++) {
        if (!p->has[i])
            continue;
        double average = average_of(p, t->means[i]), squares = 0, n = t->means[i]->len;
        for (guint j = 0; j < t->means[i]->len; j++)
            squares += pow(value_of(p, t->means[i], j) - average -
                               shift_of(first, shifts, mean_at(t->means[i], j)->seed),
                           2);
        t->squares[i] = squares / ((n - 1) * share);
        sum += squares;
        degrees += (n - 1) * share;
    }
    p->degrees = degrees;
    p->sd = sqrt(sum / degrees);
}

/* Returns the p of Bartlett's test. 0: a setting has no scatter at all. */
static double bartlett_p(const struct orch_pooled *p, const struct table *t)
{
    double total = 0, logs = 0, inverse = 0, pooled = 0, k = (double)p->settings;
    for (size_t i = 0; i < t->count; i++) {
        double degrees = p->has[i] ? t->means[i]->len - 1.0 : 0;
        if (!p->has[i])
            continue;
        if (!(t->squares[i] > 0))
            return 0;
        total += degrees;
        inverse += 1 / degrees;
        pooled += degrees * t->squares[i];
        logs += degrees * log(t->squares[i]);
    }
    double statistic = total * log(pooled / total) - logs;
    return gsl_cdf_chisq_Q(fmax(0, statistic) / (1 + (inverse - 1 / total) / (3 * (k - 1))), k - 1);
}

/* Removes the setting whose scatter is least likely among the others. */
static void remove_least_likely(struct orch_pooled *p, const struct table *t)
{
    double least = INFINITY;
    size_t worst = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!p->has[i])
            continue;
        double degrees = t->means[i]->len - 1.0;
        double x = p->sd > 0 ? degrees * t->squares[i] / (p->sd * p->sd) : 0;
        double likely = fmin(gsl_cdf_chisq_P(x, degrees), gsl_cdf_chisq_Q(x, degrees));
        if (likely < least) {
            least = likely;
            worst = i;
        }
    }
    p->has[worst] = false;
    p->settings--;
}

/* Returns whether a setting has a scatter: several runs, all finite, not all equal. */
static bool has_scatter(const GArray *means)
{
    g_autoptr(GArray) values = orch_seed_values(means);
    struct orch_stat stat = orch_stat_of((const double *)(void *)values->data, values->len);
    return stat.count > 1 && isfinite(stat.sd) && stat.max > stat.min;
}

/* Finds the scale that suits all values, and the settings that can be in a pool. */
static void begin(struct orch_pooled *p, const struct table *t, const char *name, const char *unit)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(double));
    for (size_t i = 0; i < t->count; i++) {
        bool usable = has_scatter(t->means[i]);
        p->has[i] = usable;
        p->settings += usable;
        for (guint j = 0; usable && j < t->means[i]->len; j++)
            g_array_append_val(all, mean_at(t->means[i], j)->value);
    }
    p->kind = orch_metric_kind_for(name, unit, (const double *)(void *)all->data, all->len);
}

struct orch_pooled orch_pooled_of(const GArray *const *means, size_t count, const char *name,
                                  const char *unit)
{
    struct orch_pooled pooled = {.given = count, .sd = NAN, .equal_p = NAN};
    struct table table = {means, count, g_new0(double, count + 1)};
    pooled.has = g_new0(bool, count + 1);
    begin(&pooled, &table, name, unit);
    for (; pooled.settings >= SETTINGS_LEAST; remove_least_likely(&pooled, &table)) {
        estimate(&pooled, &table, false);
        double before = bartlett_p(&pooled, &table);
        if (before < EQUAL_LEVEL)
            continue;
        estimate(&pooled, &table, true);
        pooled.equal_p = fmin(before, bartlett_p(&pooled, &table));
        if (pooled.equal_p >= EQUAL_LEVEL)
            break;
    }
    if (pooled.settings < SETTINGS_LEAST)
        pooled.settings = 0;
    g_free(table.squares);
    return pooled;
}

void orch_pooled_clear(struct orch_pooled *pooled)
{
    g_clear_pointer(&pooled->has, g_free);
    pooled->settings = 0;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

double orch_pooled_limit(const struct orch_pooled *p)
{
    return orch_studentized_range_limit(ORCH_NOISE_LEVEL, p->given, p->degrees);
}

static double plain_mean(const GArray *means)
{
    g_autoptr(GArray) values = orch_seed_values(means);
    return orch_stat_of((const double *)(void *)values->data, values->len).mean;
}

/* The scatter of a pair's own seeds. */
struct own {
    double variance, degrees;
};

static struct own own_scatter(const struct orch_pooled *p, const GArray *a, const GArray *b)
{
    g_autofree double *x = g_new(double, a->len + 1), *y = g_new(double, b->len + 1);
    for (guint i = 0; i < a->len; i++)
        x[i] = value_of(p, a, i);
    for (guint i = 0; i < b->len; i++)
        y[i] = value_of(p, b, i);
    if (p->by_seed) {
        for (guint i = 0; i < a->len; i++)
            x[i] -= on_scale(&p->kind, orch_seed_mean_find(b, mean_at(a, i)->seed)->value);
        double sd = orch_stat_of(x, a->len).sd;
        return (struct own){sd * sd / 2, a->len - 1.0};
    }
    double sx = orch_stat_of(x, a->len).sd, sy = orch_stat_of(y, b->len).sd;
    double degrees = a->len + b->len - 2.0;
    return (struct own){((a->len - 1) * sx * sx + (b->len - 1) * sy * sy) / degrees, degrees};
}

/* The scatter that a pair is tested with. Bartlett's test overlooks much with three seeds a
 * setting. So a pair that scatters more than the pool counts by its own scatter, and by that
 * scatter's degrees of freedom where the excess is no chance (as in the test of Games and Howell
 * 1976). */
static struct own scatter_of(const struct orch_pooled *p, const GArray *a, const GArray *b)
{
    struct own pool = {p->sd * p->sd, p->degrees}, own = own_scatter(p, a, b);
    if (own.variance <= pool.variance)
        return pool;
    double excess = gsl_cdf_fdist_Q(own.variance / pool.variance, own.degrees, pool.degrees);
    return (struct own){own.variance, excess < EXCESS_LEVEL ? own.degrees : pool.degrees};
}

struct orch_difference orch_pooled_difference(const struct orch_pooled *p, const GArray *a,
                                              const GArray *b, double limit)
{
    const double mid = plain_mean(b) - plain_mean(a);
    const double x = average_of(p, a), y = average_of(p, b);
    struct own scatter = scatter_of(p, a, b);
    if (scatter.degrees < p->degrees)
        limit = orch_studentized_range_limit(ORCH_NOISE_LEVEL, p->given, scatter.degrees);
    double error = sqrt(scatter.variance * (1.0 / a->len + 1.0 / b->len));
    double half = limit * error / M_SQRT2, t = fabs(y - x) / error, part = half / 2;
    struct orch_difference d = {
        .mean.mid = mid,
        .mean.low = fmin(mid, moved(&p->kind, y, -part) - moved(&p->kind, x, part)),
        .mean.high = fmax(mid, moved(&p->kind, y, part) - moved(&p->kind, x, -part)),
        .count_a = a->len,
        .count_b = b->len,
        .is_paired = p->by_seed,
        .is_pooled = true,
        .p = 2 * gsl_cdf_tdist_Q(t, scatter.degrees)};
    d.p_corrected = fmax(d.p, orch_studentized_range_tail(t * M_SQRT2, p->given, scatter.degrees));
    if (mid * (y - x) <= 0 && d.p_corrected < ORCH_NOISE_LEVEL)
        d.p_corrected = 1;
    d.is_more_than_noise = d.p_corrected < ORCH_NOISE_LEVEL;
    return d;
}

static const char *scale_text(const struct orch_metric_kind *kind)
{
    static const char *const texts[] = {
        [ORCH_SCALE_PLAIN] = "",
        [ORCH_SCALE_LOG] = ". Values are compared on a logarithmic scale",
        [ORCH_SCALE_LOGIT] = ". Shares, such as accuracies, are tested as arcsin(sqrt(share)), and "
                             "the intervals are turned back into shares"};
    return texts[kind->scale];
}

char *orch_pooled_text(const struct orch_pooled *p)
{
    return g_strdup_printf(
        "corrected for all %zu pairs of %zu settings by Tukey's range test. The noise (the spread "
        "of the repeats) is estimated from %zu settings together, with %.0f degrees of freedom%s%s",
        p->given * (p->given - 1) / 2, p->given, p->settings, p->degrees,
        p->by_seed ? ". What a seed changes in all settings is subtracted before the test" : "",
        scale_text(&p->kind));
}
