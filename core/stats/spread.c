/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Student's interval of three accuracies may run from -0.11 to 1.15, because there are few values
 * and accuracies end at 0 and 1. Fewer than five runs are therefore shown by their lowest and
 * highest value. The interval of more runs is computed on a scale on which the metric is
 * unbounded:
 *
 *   g(mean) +- t(0.975; n - 1) g'(mean) s / sqrt(n), transformed back by the inverse of g,
 *
 * with g = ln for values above 0 and g = logit for shares. That is the delta method, as in the
 * logit interval of a proportion (Agresti 2013, section 1.4; Lumley's svyciprop). Applying g to
 * each value instead would lose runs with an accuracy of exactly 1, and the centre would not be
 * the mean.
 *
 * Times have long tails, because some runs are disturbed by another program. From three runs on,
 * times whose sample skewness is above 1 ("highly skewed": Bulmer 1979, chapter 4) are shown by
 * median and range. */
#include "core/stats/spread.h"

#include "core/stats/numbers.h"
#include "lib/base/reals.h"
#include "lib/base/unit.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SKEWNESS_MOST 1.0
#define TAIL_LEAST 1.2 /* highest run / median; a smaller tail is ignored */

/* ---- kinds of metrics ------------------------------------------------------------------------ */

/* Units, and words of metric names ("top5" in val_top5). Units of time and rate, and bytes, need
 * no row. */
static const struct {
    const char *word;
    bool is_unit;
    enum orch_metric_scale scale;
    double top;
} KINDS[] = {
    {"0..1", true, ORCH_SCALE_LOGIT, 1},        {"share", true, ORCH_SCALE_LOGIT, 1},
    {"fraction", true, ORCH_SCALE_LOGIT, 1},    {"%", true, ORCH_SCALE_LOGIT, 100},
    {"0..100", true, ORCH_SCALE_LOGIT, 100},    {"accuracy", false, ORCH_SCALE_LOGIT, 1},
    {"acc", false, ORCH_SCALE_LOGIT, 1},        {"top1", false, ORCH_SCALE_LOGIT, 1},
    {"top5", false, ORCH_SCALE_LOGIT, 1},       {"error", false, ORCH_SCALE_LOGIT, 1},
    {"precision", false, ORCH_SCALE_LOGIT, 1},  {"recall", false, ORCH_SCALE_LOGIT, 1},
    {"f1", false, ORCH_SCALE_LOGIT, 1},         {"auc", false, ORCH_SCALE_LOGIT, 1},
    {"auroc", false, ORCH_SCALE_LOGIT, 1},      {"iou", false, ORCH_SCALE_LOGIT, 1},
    {"miou", false, ORCH_SCALE_LOGIT, 1},       {"dice", false, ORCH_SCALE_LOGIT, 1},
    {"map", false, ORCH_SCALE_LOGIT, 1},        {"share", false, ORCH_SCALE_LOGIT, 1},
    {"fraction", false, ORCH_SCALE_LOGIT, 1},   {"solved", false, ORCH_SCALE_LOGIT, 1},
    {"reached", false, ORCH_SCALE_LOGIT, 1},    {"loss", false, ORCH_SCALE_LOG, NAN},
    {"perplexity", false, ORCH_SCALE_LOG, NAN}, {"ppl", false, ORCH_SCALE_LOG, NAN},
    {"nll", false, ORCH_SCALE_LOG, NAN},        {"mse", false, ORCH_SCALE_LOG, NAN},
    {"rmse", false, ORCH_SCALE_LOG, NAN},       {"mae", false, ORCH_SCALE_LOG, NAN},
};

static bool is_word_of(const char *word, const char *name)
{
    g_auto(GStrv) words = g_strsplit_set(name, "_./- ", -1);
    for (int i = 0; words[i]; i++)
        if (g_ascii_strcasecmp(words[i], word) == 0)
            return true;
    return false;
}

struct orch_metric_kind orch_metric_kind_of(const char *name, const char *unit)
{
    bool is_rate, is_timing = orch_unit_is_timing(unit, &is_rate);
    bool has_unit = unit && *unit;
    if (is_timing)
        return (struct orch_metric_kind){ORCH_SCALE_LOG, NAN, !is_rate, 0};
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (KINDS[i].is_unit ? g_strcmp0(unit, KINDS[i].word) == 0
                             : !has_unit && name && is_word_of(KINDS[i].word, name))
            return (struct orch_metric_kind){KINDS[i].scale, KINDS[i].top, false, 0};
    return (struct orch_metric_kind){ORCH_SCALE_PLAIN, NAN, false, 0};
}

/* ---- intervals ------------------------------------------------------------------------------- */

/* Returns the metric's scale, or the plain scale when stat->min to stat->max does not fit it. */
static enum orch_metric_scale scale_for(const struct orch_metric_kind *kind,
                                        const struct orch_stat *stat)
{
    if (kind->scale == ORCH_SCALE_LOG && stat->min > kind->bottom)
        return ORCH_SCALE_LOG;
    if (kind->scale == ORCH_SCALE_LOGIT && stat->min >= kind->bottom && stat->max <= kind->top)
        return ORCH_SCALE_LOGIT;
    return ORCH_SCALE_PLAIN;
}

/* Fills in the interval. `half` is the half width on the plain scale. */
static void fill_interval(struct orch_spread *spread, const struct orch_metric_kind *kind,
                          double half)
{
    const struct orch_stat *stat = &spread->stat;
    const double mean = stat->mean, above = mean - kind->bottom, span = kind->top - kind->bottom,
                 share = above / span;
    spread->low = mean - half;
    spread->high = mean + half;
    switch (scale_for(kind, stat)) {
    case ORCH_SCALE_PLAIN:
        break;
    case ORCH_SCALE_LOG:
        spread->low = kind->bottom + above * exp(-half / above);
        spread->high = kind->bottom + above * exp(half / above);
        break;
    case ORCH_SCALE_LOGIT:
        if (!(half > 0)) /* all values are equal, perhaps all 0 or all 1 */
            break;
        double logit = log(share / (1 - share)), step = half / span / (share * (1 - share));
        spread->low = kind->bottom + span / (1 + exp(step - logit));
        spread->high = kind->bottom + span / (1 + exp(-step - logit));
        break;
    }
}

/* Without a declared unit, larger values show that a share is in per cent. */
static void top_of_values(struct orch_metric_kind *kind, const struct orch_stat *stat)
{
    if (kind->scale == ORCH_SCALE_LOGIT && kind->top < stat->max && stat->max <= 100)
        kind->top = 100;
}

struct orch_metric_kind orch_metric_kind_for(const char *name, const char *unit,
                                             const double *values, size_t count)
{
    struct orch_metric_kind kind = orch_metric_kind_of(name, unit);
    struct orch_stat stat = orch_stat_of(values, count);
    top_of_values(&kind, &stat);
    kind.scale = scale_for(&kind, &stat);
    return kind;
}

/* Returns the sample skewness: the third standardised moment, with n in the denominator of sd. */
static double skewness_of(const double *values, size_t count, const struct orch_stat *stat)
{
    double cubes = 0, n = (double)stat->count, sd = stat->sd * sqrt((n - 1) / n);
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            cubes += pow((values[i] - stat->mean) / sd, 3);
    return sd > 0 ? cubes / n : 0;
}

/* Sets mean and deviation, without limits, and adapts the kind to the values. Returns false when
 * the values are too few for limits. */
static bool begin_spread(const double *values, size_t count, struct orch_metric_kind *kind,
                         struct orch_spread *out)
{
    *out = (struct orch_spread){
        .stat = orch_stat_of(values, count), .low = (double)NAN, .high = (double)NAN};
    out->centre = out->stat.mean;
    if (out->stat.count < 2 || !isfinite(out->stat.sd))
        return false;
    top_of_values(kind, &out->stat);
    return true;
}

/* Cuts the interval at bounds that hold for all values. A loss of 0 among the values has no
 * logarithm, so the plain interval would go on below it. */
static void cut_at(struct orch_spread *spread, double min, double max)
{
    if (spread->stat.min >= min)
        spread->low = fmax(spread->low, min);
    if (spread->stat.max <= max)
        spread->high = fmin(spread->high, max);
}

static bool are_kept(const struct orch_bounds *bounds, const struct orch_stat *stat)
{
    return isfinite(bounds->max - bounds->min) && bounds->min < bounds->max &&
           stat->min >= bounds->min && stat->max <= bounds->max;
}

struct orch_spread orch_spread_of(const double *values, size_t count, const char *name,
                                  const char *unit)
{
    return orch_spread_within(values, count, name, unit, NULL);
}

struct orch_spread orch_spread_within(const double *values, size_t count, const char *name,
                                      const char *unit, const struct orch_bounds *bounds)
{
    struct orch_metric_kind kind = orch_metric_kind_of(name, unit);
    struct orch_spread spread;
    if (!begin_spread(values, count, &kind, &spread))
        return spread;
    if (bounds && are_kept(bounds, &spread.stat))
        kind = (struct orch_metric_kind){ORCH_SCALE_LOGIT, bounds->max, kind.is_time, bounds->min};
    const struct orch_stat *stat = &spread.stat;
    double median = orch_reals_median_of(values, count);
    bool is_skewed = kind.is_time && stat->count >= 3 && stat->max > TAIL_LEAST * median &&
                     skewness_of(values, count, stat) > SKEWNESS_MOST;
    if (is_skewed || stat->count < ORCH_INTERVAL_RUNS) {
        spread.form = is_skewed ? ORCH_SPREAD_MEDIAN : ORCH_SPREAD_RUNS;
        spread.centre = is_skewed ? median : stat->mean;
        spread.low = stat->min;
        spread.high = stat->max;
        return spread;
    }
    spread.form = ORCH_SPREAD_INTERVAL;
    fill_interval(&spread, &kind, stat->half);
    if (kind.scale == ORCH_SCALE_LOG)
        cut_at(&spread, kind.bottom, (double)NAN);
    if (bounds)
        cut_at(&spread, bounds->min, bounds->max);
    return spread;
}

struct orch_spread orch_spread_of_next(const double *values, size_t count, const char *name,
                                       const char *unit)
{
    struct orch_metric_kind kind = orch_metric_kind_of(name, unit);
    struct orch_spread spread;
    if (!begin_spread(values, count, &kind, &spread))
        return spread;
    const struct orch_stat *stat = &spread.stat;
    spread.form = ORCH_SPREAD_INTERVAL;
    fill_interval(&spread, &kind,
                  stat->half * sqrt((double)stat->count + 1)); /* t s sqrt(1 + 1/n) */
    return spread;
}

/* ---- as text --------------------------------------------------------------------------------- */

char *orch_spread_legend(const bool forms[ORCH_SPREAD_FORMS])
{
    static const char *const texts[ORCH_SPREAD_FORMS] = {
        [ORCH_SPREAD_INTERVAL] = "a value like 0.5 [0.4, 0.6] is a mean and its 95 % interval",
        [ORCH_SPREAD_RUNS] =
            "a value like 0.5 (0.4..0.6) is a mean, with the lowest and the highest run",
        [ORCH_SPREAD_MEDIAN] =
            "a value like median 5 (4..9) is a median, with the lowest and the highest run"};
    GString *text = g_string_new(NULL);
    for (int form = 0; form < ORCH_SPREAD_FORMS; form++)
        if (forms[form] && texts[form])
            g_string_append_printf(text, "%s%s", text->len ? "; " : "", texts[form]);
    return g_string_free(text, !text->len); /* NULL without text */
}

const char *orch_spread_form_name(enum orch_spread_form form)
{
    static const char *const names[ORCH_SPREAD_FORMS] = {NULL, "runs", "interval",
                                                         "median and range"};
    return names[form];
}

/* Formats centre, low and high. */
static void format_three(const struct orch_spread *spread, char **texts)
{
    const double values[] = {spread->centre, spread->low, spread->high};
    double range = spread->high - spread->low;
    if (spread->form == ORCH_SPREAD_INTERVAL)
        orch_numbers_format_like(range, values, texts, 3);
    else
        orch_runs_format(range, values, texts, 3);
}

char *orch_spread_format(const struct orch_spread *spread)
{
    if (isnan(spread->centre))
        return g_strdup("-");
    if (spread->form == ORCH_SPREAD_NONE || !(spread->high > spread->low))
        return orch_number_format(spread->centre);
    if (isinf(spread->high - spread->low)) {
        g_autofree char *centre = orch_number_format(spread->centre);
        return g_strdup_printf("%s [unbounded]", centre);
    }
    char *texts[3];
    format_three(spread, texts);
    char *out =
        spread->form == ORCH_SPREAD_INTERVAL
            ? g_strdup_printf("%s [%s, %s]", texts[0], texts[1], texts[2])
            : g_strdup_printf("%s%s (%s..%s)", spread->form == ORCH_SPREAD_MEDIAN ? "median " : "",
                              texts[0], texts[1], texts[2]);
    for (int i = 0; i < 3; i++)
        g_free(texts[i]);
    return out;
}
