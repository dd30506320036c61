/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/scaling/speedup_gathered.h"

#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "features/scaling/quotient.h"
#include "lib/base/json.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* What a trial of the key `link` measured: an all-reduce alone (docs/plugins/allreduce.md). */
#define LINK_VALUE "result largest_bandwidth"

/* ---- gathering ------------------------------------------------------------------------------- */

void orch_speedup_setting_clear(gpointer pointer)
{
    struct orch_speedup_setting *s = pointer;
    g_free(s->label);
    g_free(s->words);
    g_array_unref(s->values);
    g_array_unref(s->extras);
}

static struct orch_speedup_setting *setting_of(GArray *settings, const char *label, double workers)
{
    for (guint i = 0; i < settings->len; i++) {
        struct orch_speedup_setting *s = &g_array_index(settings, struct orch_speedup_setting, i);
        if (s->workers == workers && strcmp(s->label, label) == 0)
            return s;
    }
    const struct orch_speedup_setting fresh = {
        .label = g_strdup(label),
        .workers = workers,
        .values = g_array_new(FALSE, FALSE, sizeof(double)),
        .extras = g_array_new(FALSE, FALSE, sizeof(struct orch_speedup_extras))};
    g_array_append_val(settings, fresh);
    return &g_array_index(settings, struct orch_speedup_setting, settings->len - 1);
}

static bool read_value(const struct orch_trials *trials, struct orch_report_trial *trial,
                       const GPtrArray *wanted, struct orch_speedup_gathered *g, double *out,
                       GError **error)
{
    const char *better = NULL, *unit = NULL;
    *out = (double)NAN;
    if (!wanted->len)
        return true;
    if (!orch_trial_number(trials, trial, wanted->pdata[0], out, &better, &unit, error))
        return false;
    if (g && isfinite(*out)) {
        g->better = better ? better : g->better;
        g->unit = unit ? unit : g->unit;
    }
    return true;
}

/* True for a run whose workers had more threads than processors (docs/plugins/scaling.md): such
 * times are those of the scheduler, so they are no claim about scaling unless the item asks. */
static bool is_oversubscribed(const struct orch_section_context *a,
                              const struct orch_trials *trials, struct orch_report_trial *trial)
{
    static const char name[] = "oversubscribed";
    g_autoptr(json_t) spec = json_string("result oversubscribed");
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(spec);
    double value;
    return !orch_item_flag(a->item->spec, name) && orch_trial_has(trials, trial, name) &&
           read_value(trials, trial, wanted, NULL, &value, NULL) && value > 0;
}

/* Adds the values of a trial. */
static bool add_values(struct orch_section_context *a, const struct orch_trials *trials,
                       struct orch_report_trial *trial, struct orch_speedup_gathered *g,
                       struct orch_speedup_setting *s, double value, GError **error)
{
    struct orch_speedup_extras extras;
    for (enum orch_speedup_extra i = 0; i < ORCH_SPEEDUP_EXTRAS; i++) {
        g_autoptr(GPtrArray) wanted =
            orch_item_values_parse(json_object_get(a->item->spec, ORCH_SPEEDUP_EXTRA_KEYS[i]));
        if (!read_value(trials, trial, wanted, NULL, &extras.of[i], error))
            return false;
    }
    if (!isfinite(value))
        return true;
    g_array_append_val(s->extras, extras);
    g_array_append_val(s->values, value);
    s->is_disturbed |= trials->section && orch_unit_is_timing(g->unit, NULL) &&
                       orch_trial_is_disturbed(trials, trial);
    return true;
}

bool orch_speedup_add(struct orch_section_context *a, const struct orch_trials *trials,
                      struct orch_report_trial *trial, const GPtrArray *by,
                      struct orch_speedup_gathered *g, GError **error)
{
    const char *axis = json_string_value(json_object_get(a->item->spec, "workers"));
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    const char *name = ((const struct orch_item_value *)wanted->pdata[0])->name;
    g_autofree char *workers = orch_trial_value(trials, trial, axis ? axis : "workers");
    g_autofree char *label = orch_trial_label(trials, trial, by);
    double value;
    if (!workers || !orch_trial_has(trials, trial, name))
        return true;
    orch_section_trial(a->section, trials, trial);
    if (!read_value(trials, trial, wanted, g, &value, error))
        return false;
    struct orch_speedup_setting *s =
        setting_of(g->settings, by->len && label ? label : "all", g_ascii_strtod(workers, NULL));
    if (!s->words)
        s->words = by->len ? orch_answer_setting(trials, trial, by) : g_strdup("");
    if (!is_oversubscribed(a, trials, trial))
        return add_values(a, trials, trial, g, s, value, error);
    g->oversubscribed_count++;
    return true;
}

bool orch_speedup_add_links(struct orch_section_context *a, struct orch_speedup_gathered *g,
                            GError **error)
{
    static const char key[] = "link";
    if (!json_object_get(a->item->spec, key))
        return true;
    g_autoptr(json_t) spec = json_copy(a->item->spec), value = json_string(LINK_VALUE);
    json_object_del(spec, "where");
    struct orch_report_item item = *a->item;
    item.spec = spec;
    struct orch_trials *trials = orch_trials_of_item(a->plan, &item, key, error);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(value);
    bool ok = trials != NULL;
    for (guint i = 0; ok && i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        g_autofree char *workers = orch_trial_value(trials, trial, "workers");
        struct orch_speedup_link link = {.workers = workers ? g_ascii_strtod(workers, NULL) : 0};
        if (!trial->run)
            continue;
        ok = read_value(trials, trial, wanted, NULL, &link.gb_per_s, error);
        orch_section_trial(a->section, trials, trial);
        if (ok && isfinite(link.gb_per_s))
            g_array_append_val(g->links, link);
    }
    if (ok)
        orch_section_add_missing_trials(a, trials);
    orch_trials_free(trials);
    return ok;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The mean over the trials with as many workers, else over all. NaN without trials. */
static double link_of(const struct orch_speedup_gathered *g, double workers)
{
    double sums[2] = {0};
    unsigned counts[2] = {0};
    for (guint i = 0; i < g->links->len; i++) {
        const struct orch_speedup_link *link =
            &g_array_index(g->links, struct orch_speedup_link, i);
        const bool is_other = link->workers != workers;
        sums[is_other] += link->gb_per_s;
        counts[is_other]++;
    }
    const unsigned k = counts[0] == 0;
    return counts[k] ? sums[k] / counts[k] : (double)NAN;
}

/* One worker of the same group; NULL: not measured. */
const struct orch_speedup_setting *orch_speedup_base(const GArray *settings, const char *label)
{
    for (guint i = 0; i < settings->len; i++) {
        const struct orch_speedup_setting *s =
            &g_array_index(settings, struct orch_speedup_setting, i);
        if (s->workers == 1 && strcmp(s->label, label) == 0 && s->values->len)
            return s;
    }
    return NULL;
}

static const double *values_of(const struct orch_speedup_setting *s)
{
    return (const double *)(void *)s->values->data;
}

static double mean_of(const struct orch_speedup_setting *s)
{
    return orch_stat_of(values_of(s), s->values->len).mean;
}

/* Returns whether other programs disturbed either the setting or its base, but not both. */
bool orch_speedup_is_uneven(const struct orch_speedup_gathered *g,
                            const struct orch_speedup_setting *s)
{
    const struct orch_speedup_setting *base = orch_speedup_base(g->settings, s->label);
    return base && s->values->len && base->is_disturbed != s->is_disturbed;
}

/* The mean over the runs that measured it; NaN: none did. */
static double mean_extra(const struct orch_speedup_setting *s, enum orch_speedup_extra which)
{
    double sum = 0;
    unsigned count = 0;
    for (guint i = 0; i < s->extras->len; i++) {
        const double value = g_array_index(s->extras, struct orch_speedup_extras, i).of[which];
        sum += isfinite(value) ? value : 0;
        count += isfinite(value);
    }
    return count ? sum / count : (double)NAN;
}

/* Without a base, or with one that was measured under another load, no column has a number. */
struct orch_speedup_numbers orch_speedup_numbers_of(const struct orch_speedup_gathered *g,
                                                    const struct orch_speedup_setting *s)
{
    const struct orch_speedup_setting *base = orch_speedup_base(g->settings, s->label);
    struct orch_speedup_numbers row = {
        .workers = s->workers,
        .value = mean_of(s),
        .alone = base && !orch_speedup_is_uneven(g, s) ? mean_of(base) : (double)NAN,
        .link = link_of(g, s->workers),
        .is_less_better = g_strcmp0(g->better, "max") != 0,
        .times_steps = g->times_steps,
    };
    for (enum orch_speedup_extra i = 0; i < ORCH_SPEEDUP_EXTRAS; i++)
        row.extra[i] = mean_extra(s, i);
    return row;
}

/* Whether the column is computed from alone / value, and not from value / alone. */
static bool falls_with_value(const struct orch_speedup_column *column,
                             struct orch_speedup_numbers row)
{
    const double number = column->compute(&row);
    row.value *= 2;
    return column->compute(&row) < number;
}

/* A column's number in each run that has all of its timers (double). The caller unrefs. */
static GArray *of_runs(const struct orch_speedup_setting *s, struct orch_speedup_numbers row,
                       const struct orch_speedup_column *column)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; s->values->len == s->extras->len && i < s->extras->len; i++) {
        memcpy(row.extra, g_array_index(s->extras, struct orch_speedup_extras, i).of,
               sizeof row.extra);
        row.value = values_of(s)[i];
        const double value = column->compute(&row);
        if (isfinite(value))
            g_array_append_val(out, value);
    }
    return out;
}

/* The interval of a column that each trial timed. A bandwidth falls with its time: its ends are
 * those of the time, and it is unbounded where the time may be 0. */
static struct orch_spread timed_spread(const struct orch_speedup_setting *s,
                                       struct orch_speedup_numbers row,
                                       const struct orch_speedup_column *column,
                                       struct orch_spread spread)
{
    const struct orch_speedup_column *timed =
        column->is_per_time ? orch_speedup_column("communication") : column;
    row.alone = (double)NAN; /* what needs it is no mean over trials */
    g_autoptr(GArray) values = of_runs(s, row, timed);
    const struct orch_stat stat = orch_stat_of((const double *)(void *)values->data, values->len);
    if (values->len < 2 || isnan(spread.centre))
        return spread;
    spread.stat.count = values->len;
    spread.form = ORCH_SPREAD_INTERVAL;
    spread.low = stat.mean - stat.half;
    spread.high = stat.mean + stat.half;
    if (!column->is_per_time)
        return spread;
    const double ends[] = {spread.high, spread.low};
    double *const out[] = {&spread.low, &spread.high};
    row.times_steps = false;
    row.extra[ORCH_SPEEDUP_WAIT] = 0;
    const enum orch_speedup_extra of =
        isnan(row.extra[ORCH_SPEEDUP_TRANSFER]) ? ORCH_SPEEDUP_EXPOSED : ORCH_SPEEDUP_TRANSFER;
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
        row.extra[of] = ends[i];
        *out[i] = ends[i] > 0 ? column->compute(&row) : HUGE_VAL;
    }
    return spread;
}

struct orch_spread orch_speedup_spread(const struct orch_speedup_gathered *g,
                                       const struct orch_speedup_setting *s,
                                       const struct orch_speedup_column *column)
{
    const struct orch_speedup_setting *base = orch_speedup_base(g->settings, s->label);
    struct orch_speedup_numbers row = orch_speedup_numbers_of(g, s);
    const double number = column->compute(&row), none = (double)NAN;
    struct orch_spread spread = {
        .stat = {.mean = number, .sd = none, .half = none, .min = number, .max = number},
        .centre = number,
        .low = none,
        .high = none};
    if (column->is_timed || column->is_per_time)
        return timed_spread(s, row, column, spread);
    if (!column->is_quotient || !base || base == s || isnan(number))
        return spread;
    /* A quotient of a noisy numerator is bounded where its inverse is not. */
    const bool is_inverse = falls_with_value(column, row);
    const struct orch_speedup_setting *under = is_inverse ? s : base, *over = is_inverse ? base : s;
    const struct orch_quotient q = orch_quotient_of_samples(values_of(under), under->values->len,
                                                            values_of(over), over->values->len);
    row.value = is_inverse ? row.alone / q.value.low : q.value.low * row.alone;
    const double one = column->compute(&row);
    row.value = is_inverse ? row.alone / q.value.high : q.value.high * row.alone;
    const double other = column->compute(&row);
    spread.stat.count = q.count;
    if (q.count < 2)
        return spread;
    const bool is_bounded = isfinite(one) && isfinite(other) && fmin(one, other) <= number &&
                            number <= fmax(one, other);
    spread.form = ORCH_SPREAD_INTERVAL;
    spread.low = is_bounded ? fmin(one, other) : -HUGE_VAL;
    spread.high = is_bounded ? fmax(one, other) : HUGE_VAL;
    return spread;
}
