/* SPDX-License-Identifier: MIT */
/* Turns values recognised by lib/wire/printed.h into points: determines metric, step and unit.
 * docs/printed-values.md documents the rules for users. */
#include "core/host/text_values.h"

#include "lib/base/text.h"
#include "lib/wire/printed_words.h"

#include <math.h>
#include <string.h>

enum { SHOWN_BYTES_MAX = 200, RANKS_MAX = 1024 };

void orch_text_choose_position(struct text_metrics *metrics, int rank)
{
    unsigned at = rank > 0 && rank < RANKS_MAX ? (unsigned)rank : 0;
    if (at >= metrics->position_count) {
        metrics->positions = g_renew(struct text_position, metrics->positions, at + 1);
        while (metrics->position_count <= at)
            metrics->positions[metrics->position_count++] = orch_text_position_start();
    }
    metrics->position = &metrics->positions[at];
}

/* ---- losses ---------------------------------------------------------------------------- */

/* The line in a form safe to display. Caller frees. */
static char *shown_line(const struct text_metrics *metrics)
{
    g_auto(GStrv) lines = orch_text_last_lines(metrics->line->str, 1, SHOWN_BYTES_MAX);
    return g_strdup(lines[0] ? g_strchug(lines[0]) : "");
}

void orch_text_note_unread(struct text_metrics *metrics)
{
    if (metrics->losses.counts[ORCH_LOSS_UNREAD]++ == 0)
        metrics->losses.first[ORCH_LOSS_UNREAD] = shown_line(metrics);
}

/* Notes a value that is left out because its name would be one too many. False for any other. */
static bool note_excess(struct text_metrics *metrics, const struct orch_printed_value *value)
{
    if (!orch_intake_is_full(metrics->intake) || !value->name[0])
        return false;
    if (metrics->losses.counts[ORCH_LOSS_EXCESS]++ == 0)
        metrics->losses.first[ORCH_LOSS_EXCESS] = g_strdup(value->name);
    return true;
}

static void note_merged(struct text_metrics *metrics, struct found_metric *metric)
{
    metric->is_merged = true;
    if (metrics->losses.counts[ORCH_LOSS_MERGED]++ == 0)
        metrics->losses.first[ORCH_LOSS_MERGED] = g_strdup(metric->spec->name);
}

static void note_replaced(struct text_metrics *metrics, const struct found_metric *metric,
                          int64_t step)
{
    if (metrics->losses.counts[ORCH_LOSS_REPLACED]++ == 0)
        metrics->losses.first[ORCH_LOSS_REPLACED] =
            g_strdup_printf("%s at %" G_GINT64_FORMAT, metric->spec->name, step);
}

/* A result is one value: counts those that a later one replaces, as where a step was not declared.
 */
static void note_single(struct text_metrics *metrics, const struct found_metric *metric)
{
    if (metrics->losses.counts[ORCH_LOSS_SINGLE]++ == 0)
        metrics->losses.first[ORCH_LOSS_SINGLE] = g_strdup(metric->spec->name);
}

/* ---- metrics --------------------------------------------------------------------------- */

static struct found_metric *find(struct text_metrics *metrics, const char *name)
{
    for (guint i = 0; i < metrics->metrics->len; i++) {
        struct found_metric *metric = &g_array_index(metrics->metrics, struct found_metric, i);
        if (strcmp(metric->spec->name, name) == 0)
            return metric;
    }
    return NULL;
}

/* True if the manifest declares it, in which case even "epoch" is a metric. */
static bool is_declared(struct text_metrics *metrics, const char *name)
{
    const struct found_metric *metric = find(metrics, name);
    return metric && !metric->is_adopted;
}

static bool is_declared_name(void *ctx, const char *name)
{
    return is_declared(ctx, name);
}

/* Finds a declared metric by the whole name, or by the last word of a longer one ("Average loss:
 * 0.3" for loss). */
static struct found_metric *find_declared(struct text_metrics *metrics,
                                          const struct orch_printed_value *value)
{
    struct found_metric *found = find(metrics, value->name);
    if (found || metrics->intake->manifest->any_metric)
        return found;
    return find(metrics, value->last);
}

/* Writes the name of a metric's series: the values of another rank than the first have one of their
 * own, loss_rank1. */
static void name_series(const struct text_metrics *metrics, const char *name,
                        char out[ORCH_PRINTED_NAME_CHARS + 16])
{
    int rank = metrics->printed.rank;
    g_strlcpy(out, name, ORCH_PRINTED_NAME_CHARS);
    if (rank > 0 && *name)
        g_snprintf(out + strlen(out), 16, "_rank%d", MIN(rank, 99999));
}

/* Like find_declared; with `metrics: any` adds unknown names. */
static struct found_metric *find_or_adopt(struct text_metrics *metrics,
                                          const struct orch_printed_value *value)
{
    if (!metrics->intake->manifest->any_metric)
        return find_declared(metrics, value);
    char name[ORCH_PRINTED_NAME_CHARS + 16];
    name_series(metrics, value->name, name);
    struct found_metric *found = find(metrics, name);
    if (found)
        return found;
    bool stands_alone = value->is_sure || metrics->printed.is_pure;
    const char *chosen = stands_alone                              ? value->name
                         : orch_printed_name_is_usual(value->last) ? value->short_name
                                                                   : "";
    name_series(metrics, chosen, name);
    if ((found = find(metrics, name)))
        return found;
    struct orch_metric_spec *spec = *name ? orch_intake_adopt(metrics->intake, name) : NULL;
    if (!spec)
        return NULL;
    struct found_metric adopted = {.spec = spec, .last_step = -1, .is_adopted = true};
    g_array_append_val(metrics->metrics, adopted);
    return &g_array_index(metrics->metrics, struct found_metric, metrics->metrics->len - 1);
}

/* Converts the value to the metric's unit. False if the units are not convertible. */
static bool convert(struct found_metric *metric, const struct orch_printed_value *value,
                    double *out)
{
    const char *unit = metric->spec->unit ? metric->spec->unit : "";
    *out = value->value;
    if (!isnan(value->printed_percent)) {
        if (strcmp(unit, "%") == 0)
            *out = value->printed_percent;
        return strcmp(unit, "%") == 0 || !*unit;
    }
    if (!value->unit[0] || (!*unit && (!metric->is_adopted || metric->last_step >= 0)))
        return true;
    if (!*unit) { /* the first value of a new metric determines its unit */
        unit = orch_unit_common(value->unit);
        g_free(metric->spec->unit);
        metric->spec->unit = g_strdup(unit);
    }
    return orch_unit_convert(value->unit, unit, out);
}

/* ---- steps ----------------------------------------------------------------------------- */

/* The step of a value: printed in its line, else the program's progress, else a counter. */
static int64_t step_of(const struct text_metrics *metrics, struct found_metric *metric,
                       const struct line_steps *line_step)
{
    const struct text_position *p = metrics->position;
    metric->is_by_step = metric->is_by_step || line_step->has_step;
    metric->is_counted = metric->is_counted || (line_step->is_fraction && !line_step->has_step);
    bool by_step = !isnan(p->step) && (metric->is_by_step || isnan(p->epoch));
    if (metric->is_counted || (!by_step && isnan(p->epoch)))
        return metric->next_step;
    return (int64_t)(by_step ? p->step : p->epoch);
}

static void report(struct text_metrics *metrics, struct found_metric *metric, int64_t step,
                   double value)
{
    metric->next_step = step + 1;
    metric->last_step = step;
    metric->last_value = value;
    orch_intake_value(metrics->intake, metric->spec, step, value);
}

/* ---- values of a line ------------------------------------------------------------------ */

static bool take_value(struct text_metrics *metrics, const struct orch_printed_value *value,
                       const struct line_steps *line_step)
{
    struct found_metric *metric = find_or_adopt(metrics, value);
    double number;
    if (!metric || !convert(metric, value, &number))
        return false;
    if (orch_intake_is_reported(metrics->intake, metric->spec))
        return true;
    int64_t step = step_of(metrics, metric, line_step);
    bool is_new = orch_text_steps_add(&metric->steps, step);
    bool is_same =
        metric->last_step == step && (metric->is_fleeting || metric->last_value == number);
    if (!is_new && !is_same)
        note_replaced(metrics, metric, step);
    else if (!is_same && !metric->spec->step_unit && metric->last_step >= 0 &&
             !metric->is_fleeting && metric->last_value != number)
        note_single(metrics, metric);
    metric->is_fleeting = metrics->printed.is_progress || metrics->is_redrawn;
    if (!metric->spelling)
        metric->spelling = value->spelling;
    else if (value->spelling && metric->spelling != value->spelling && metric->is_adopted &&
             !metric->is_merged)
        note_merged(metrics, metric);
    report(metrics, metric, step, number);
    return true;
}

/* Whether the value of a line is one of a metric. */
static bool is_measured(struct text_metrics *metrics, const struct orch_printed_value *value,
                        const struct line_steps *line_step)
{
    if (value->kind == ORCH_PRINTED_VALUE || is_declared(metrics, value->name))
        return true;
    /* a fractional epoch is recorded as a metric, and points are counted */
    return metrics->intake->manifest->any_metric && value->kind == ORCH_PRINTED_EPOCH &&
           (line_step->is_fraction || find(metrics, value->name));
}

/* Takes the values [first, end) of a line, which belong to one step. Returns how many were taken;
 * `*inout_is_unread`: a number was not understood. */
static guint take_values(struct text_metrics *metrics, guint first, guint end,
                         bool *inout_is_unread)
{
    struct orch_printed_line *printed = &metrics->printed;
    const bool any = metrics->intake->manifest->any_metric;
    struct line_steps line_step =
        orch_text_steps_take(metrics->position, printed, first, end, is_declared_name, metrics);
    guint taken = line_step.has_epoch + line_step.has_step;
    for (guint i = first; i < end; i++) {
        struct orch_printed_value value =
            g_array_index(printed->values, struct orch_printed_value, i);
        if (value.kind == ORCH_PRINTED_UNREAD)
            *inout_is_unread = *inout_is_unread || any || find_declared(metrics, &value);
        if (value.kind == ORCH_PRINTED_STEP && any && floor(value.value) < value.value)
            *inout_is_unread = true; /* "step: 2.5" */
        if (value.kind == ORCH_PRINTED_UNREAD || !is_measured(metrics, &value, &line_step))
            continue;
        const bool is_taken = take_value(metrics, &value, &line_step);
        taken += is_taken;
        const bool is_lost = !is_taken && (any || find_declared(metrics, &value));
        const bool is_excess = is_lost && note_excess(metrics, &value);
        taken += is_excess;
        *inout_is_unread = *inout_is_unread || (is_lost && !is_excess);
    }
    return taken;
}

void orch_text_take_printed(struct text_metrics *metrics)
{
    const struct orch_printed_line *printed = &metrics->printed;
    const bool any = metrics->intake->manifest->any_metric;
    bool is_unread = printed->is_cut || (any && printed->has_unread && !printed->is_progress);
    guint taken = 0, first = 0;
    orch_text_choose_position(metrics, printed->rank);
    for (guint i = 0; i <= printed->values->len; i++) {
        const bool is_end =
            i == printed->values->len ||
            g_array_index(printed->values, struct orch_printed_value, i).kind == ORCH_PRINTED_NEXT;
        if (!is_end)
            continue;
        taken += take_values(metrics, first, i, &is_unread);
        first = i + 1;
    }
    if (is_unread || (any && printed->has_number && !taken && !printed->is_progress))
        orch_text_note_unread(metrics);
}

void orch_text_take_matches(struct text_metrics *metrics, const char *line, size_t length)
{
    for (guint i = 0; i < metrics->metrics->len; i++) {
        struct found_metric *metric = &g_array_index(metrics->metrics, struct found_metric, i);
        GMatchInfo *match = NULL;
        if (metric->pattern && !orch_intake_is_reported(metrics->intake, metric->spec) &&
            g_regex_match_full(metric->pattern, line, (gssize)length, 0, 0, &match, NULL)) {
            g_autofree char *text = g_match_info_fetch(match, 1);
            struct orch_printed_value value = {.printed_percent = NAN};
            const char *end = text ? text + strlen(text) : NULL;
            double number;
            if (text && orch_printed_number(text, end, &value.value, value.unit) == end &&
                convert(metric, &value, &number))
                report(metrics, metric, metric->next_step, number);
            else
                orch_text_note_unread(metrics);
        }
        if (match)
            g_match_info_free(match);
    }
}
