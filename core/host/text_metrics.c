/* SPDX-License-Identifier: MIT */
/* Turns values recognised by lib/wire/printed.h into points: determines metric, step and unit.
 * docs/printed-values.md documents the rules for users. */
#include "core/host/text_metrics.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/printed.h"

#include <math.h>
#include <string.h>

enum { LINE_MAX_BYTES = 65536, SHOWN_BYTES_MAX = 200 };
static const double STEP_MAX = 9e15; /* above, a double does not represent every integer */

/* A declared metric, or one added because of `metrics: any`. */
struct found_metric {
    struct orch_metric_spec *spec;
    GRegex *pattern;   /* in regex mode; NULL: none */
    int64_t next_step; /* used if no step is printed */
    int64_t last_step; /* of its newest point; -1: none */
    bool is_by_step;   /* its points are counted in steps, not in epochs */
    bool is_counted;   /* its step was a fraction of an epoch once, so its points are counted */
    bool is_adopted;
};

/* Progress of the program according to its output. */
struct position {
    double epoch;        /* NaN: not printed */
    double step;         /* steps since the start; NaN: not printed */
    double inner, total; /* the step as printed, and its total; NaN: none yet */
    double inner_epoch;  /* the epoch of that step */
    double offset;       /* steps of the preceding epochs */
};

struct text_metrics {
    enum orch_metrics_from mode;
    struct intake *intake;
    GArray *metrics; /* struct found_metric */
    GString *line;
    bool skipping; /* the line is too long and ignored */
    struct orch_printed_line printed;
    struct position position;
    struct text_losses losses;
};

struct text_metrics *orch_text_metrics_new(const struct orch_manifest *manifest,
                                           struct intake *intake)
{
    if (manifest->kind != ORCH_PLUGIN_WRAPPED || manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return NULL;
    struct text_metrics *metrics = g_new0(struct text_metrics, 1);
    metrics->mode = manifest->metrics_from;
    metrics->intake = intake;
    metrics->metrics = g_array_new(FALSE, FALSE, sizeof(struct found_metric));
    metrics->line = g_string_new(NULL);
    metrics->position = (struct position){NAN, NAN, NAN, NAN, NAN, 0};
    orch_printed_line_init(&metrics->printed);
    for (guint i = 0; i < manifest->metrics->len; i++) {
        struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        struct found_metric found = {.spec = spec, .last_step = -1};
        if (metrics->mode == ORCH_METRICS_REGEX && spec->pattern)
            found.pattern = g_regex_new(spec->pattern, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
        g_array_append_val(metrics->metrics, found);
    }
    return metrics;
}

void orch_text_metrics_free(struct text_metrics *metrics)
{
    if (!metrics)
        return;
    for (guint i = 0; i < metrics->metrics->len; i++)
        g_clear_pointer(&g_array_index(metrics->metrics, struct found_metric, i).pattern,
                        g_regex_unref);
    g_array_unref(metrics->metrics);
    g_string_free(metrics->line, TRUE);
    orch_printed_line_clear(&metrics->printed);
    g_free(metrics->losses.unread_first);
    g_free(metrics->losses.replaced_first);
    g_free(metrics);
}

const struct text_losses *orch_text_metrics_losses(const struct text_metrics *metrics)
{
    static const struct text_losses none;
    return metrics ? &metrics->losses : &none;
}

/* ---- losses ------------------------------------------------------------------------------------
 */

/* The line in a form safe to display. Caller frees. */
static char *shown_line(const struct text_metrics *metrics)
{
    g_auto(GStrv) lines = orch_text_last_lines(metrics->line->str, 1, SHOWN_BYTES_MAX);
    return g_strdup(lines[0] ? g_strchug(lines[0]) : "");
}

static void note_unread(struct text_metrics *metrics)
{
    if (metrics->losses.unread_lines++ == 0)
        metrics->losses.unread_first = shown_line(metrics);
}

static void note_replaced(struct text_metrics *metrics, const struct found_metric *metric,
                          int64_t step)
{
    if (metrics->losses.replaced_points++ == 0)
        metrics->losses.replaced_first =
            g_strdup_printf("%s at %" G_GINT64_FORMAT, metric->spec->name, step);
}

/* ---- metrics -----------------------------------------------------------------------------------
 */

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

/* Like find_declared; with `metrics: any` adds unknown names. */
static struct found_metric *find_or_adopt(struct text_metrics *metrics,
                                          const struct orch_printed_value *value)
{
    struct found_metric *found = find_declared(metrics, value);
    if (found || !metrics->intake->manifest->any_metric)
        return found;
    bool stands_alone = value->is_sure || metrics->printed.is_pure;
    const char *name = stands_alone                              ? value->name
                       : orch_printed_name_is_usual(value->last) ? value->last
                                                                 : "";
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
        return true;
    }
    if (!value->unit[0] || (!*unit && (!metric->is_adopted || metric->last_step >= 0)))
        return true;
    if (!*unit) { /* the first value of a new metric determines its unit */
        unit = orch_printed_unit_common(value->unit);
        g_free(metric->spec->unit);
        metric->spec->unit = g_strdup(unit);
    }
    return orch_printed_unit_convert(value->unit, unit, out);
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static bool is_step(double value)
{
    return value >= 0 && value < STEP_MAX && floor(value) == value;
}

/* Converts a step count that restarts in each epoch to one that continues; a continuous count is
 * kept. If the first epoch printed is a later one, as after a resume, the preceding epochs are
 * added, unless the count includes them. */
static void move_step(struct position *p, double inner, double total, double epochs)
{
    bool is_first = isnan(p->inner);
    double before = is_first ? p->epoch - 1 : p->epoch - p->inner_epoch;
    if (is_first && before > 0 && total > 0) {
        bool is_through = epochs > 0 && inner * epochs > before * total;
        p->offset = is_through ? 0 : before * total;
    } else if (!is_first && inner <= p->inner && before > 0) {
        p->offset += p->total > 0 ? p->total * before : p->inner;
    }
    p->inner = inner;
    p->total = total;
    p->inner_epoch = p->epoch;
    p->step = p->offset + inner;
    if (!is_step(p->step))
        p->step = inner;
}

/* The steps printed in a line. */
struct line_steps {
    bool has_epoch, has_step, is_fraction;
    double fraction; /* the epoch if it is not an integer */
};

static struct line_steps take_steps(struct text_metrics *metrics)
{
    struct position *p = &metrics->position;
    struct line_steps line_step = {.fraction = NAN};
    double inner = NAN, total = NAN, epochs = NAN;
    for (guint i = 0; i < metrics->printed.values->len; i++) {
        const struct orch_printed_value *value =
            &g_array_index(metrics->printed.values, struct orch_printed_value, i);
        bool counts = value->kind == ORCH_PRINTED_EPOCH || value->kind == ORCH_PRINTED_STEP;
        if (!counts || is_declared(metrics, value->name)) /* a declared name always is a metric */
            continue;
        if (value->kind == ORCH_PRINTED_EPOCH && is_step(value->value)) {
            p->epoch = value->value;
            epochs = value->total;
            line_step.has_epoch = true;
        } else if (value->kind == ORCH_PRINTED_EPOCH) {
            line_step.is_fraction = value->value > 0;
            line_step.fraction = value->value;
        } else if (is_step(value->value)) {
            inner = value->value;
            total = value->total;
            line_step.has_step = true;
        }
    }
    if (line_step.has_step)
        move_step(p, inner, total, epochs);
    return line_step;
}

/* The step of a value: printed in its line, else the program's progress, else a counter. */
static int64_t step_of(const struct text_metrics *metrics, struct found_metric *metric,
                       const struct line_steps *line_step)
{
    const struct position *p = &metrics->position;
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
    orch_intake_value(metrics->intake, metric->spec, step, value);
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static bool take_value(struct text_metrics *metrics, const struct orch_printed_value *value,
                       const struct line_steps *line_step)
{
    struct found_metric *metric = find_or_adopt(metrics, value);
    double number;
    if (!metric || !convert(metric, value, &number))
        return false;
    int64_t step = step_of(metrics, metric, line_step);
    bool is_again = metric->last_step == step && metric->spec->step_unit && !line_step->has_epoch &&
                    !line_step->has_step && !metrics->printed.is_progress;
    if (is_again)
        note_replaced(metrics, metric, step);
    report(metrics, metric, step, number);
    return true;
}

static void take_printed(struct text_metrics *metrics)
{
    const struct orch_printed_line *printed = &metrics->printed;
    bool any = metrics->intake->manifest->any_metric, is_unread = false;
    struct line_steps line_step = take_steps(metrics);
    guint taken = line_step.has_epoch + line_step.has_step;
    for (guint i = 0; i < printed->values->len; i++) {
        struct orch_printed_value value =
            g_array_index(printed->values, struct orch_printed_value, i);
        if (value.kind == ORCH_PRINTED_UNREAD) {
            is_unread = is_unread || any || find_declared(metrics, &value);
            continue;
        }
        bool counts = value.kind != ORCH_PRINTED_VALUE && !is_declared(metrics, value.name);
        bool is_kept = any && value.kind == ORCH_PRINTED_EPOCH &&
                       (line_step.is_fraction || find(metrics, value.name));
        if (counts && !is_kept)
            continue; /* a fractional epoch is recorded as a metric, and points are counted */
        bool is_taken = take_value(metrics, &value, &line_step);
        taken += is_taken;
        is_unread =
            is_unread || (!is_taken && ((any && value.is_sure) || find_declared(metrics, &value)));
    }
    if (is_unread || (any && printed->has_number && !taken && !printed->is_progress))
        note_unread(metrics);
}

static void take_matches(struct text_metrics *metrics, const char *line, size_t length)
{
    for (guint i = 0; i < metrics->metrics->len; i++) {
        struct found_metric *metric = &g_array_index(metrics->metrics, struct found_metric, i);
        GMatchInfo *match = NULL;
        if (metric->pattern &&
            g_regex_match_full(metric->pattern, line, (gssize)length, 0, 0, &match, NULL)) {
            g_autofree char *text = g_match_info_fetch(match, 1);
            struct orch_printed_value value = {.printed_percent = NAN};
            const char *end = text ? text + strlen(text) : NULL;
            double number;
            if (text && orch_printed_number(text, end, &value.value, value.unit) == end &&
                convert(metric, &value, &number))
                report(metrics, metric, metric->next_step, number);
            else
                note_unread(metrics);
        }
        if (match)
            g_match_info_free(match);
    }
}

/* ---- input -------------------------------------------------------------------------------------
 */

static void take_line(struct text_metrics *metrics)
{
    GString *line = metrics->line;
    if (!metrics->skipping && line->len) {
        if (metrics->mode == ORCH_METRICS_REGEX) {
            take_matches(metrics, line->str, line->len);
        } else {
            orch_printed_line_parse(&metrics->printed, line->str, line->len);
            take_printed(metrics);
        }
    }
    g_string_truncate(line, 0);
    metrics->skipping = false;
}

/* Carriage returns and backspaces also end a line, because progress bars are redrawn with them. */
static size_t line_part(const char *bytes, size_t length)
{
    size_t part = 0;
    while (part < length && bytes[part] != '\n' && bytes[part] != '\r' && bytes[part] != '\b')
        part++;
    return part;
}

void orch_text_metrics_feed(struct text_metrics *metrics, const char *bytes, size_t length)
{
    while (metrics && length) {
        size_t part = line_part(bytes, length);
        if (metrics->line->len + part > LINE_MAX_BYTES)
            metrics->skipping = true;
        if (!metrics->skipping)
            g_string_append_len(metrics->line, bytes, (gssize)part);
        if (part == length)
            return;
        take_line(metrics);
        bytes += part + 1;
        length -= part + 1;
    }
}

void orch_text_metrics_finish(struct text_metrics *metrics)
{
    if (metrics)
        take_line(metrics);
}
