/* SPDX-License-Identifier: MIT */
/* Turns values recognised by lib/wire/printed.h into points: determines metric, step and unit.
 * docs/printed-values.md documents the rules for users. */
#include "core/host/text_metrics.h"

#include "core/host/text_progress.h"
#include "core/host/text_steps.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/printed.h"
#include "lib/wire/printed_document.h"
#include "lib/wire/printed_words.h"

#include <math.h>
#include <string.h>

enum { LINE_MAX_BYTES = 65536, UNREAD_LINE_BYTES = 1024, SHOWN_BYTES_MAX = 200, RANKS_MAX = 1024 };

/* A declared metric, or one added because of `metrics: any`. */
struct found_metric {
    struct orch_metric_spec *spec;
    GRegex *pattern;   /* in regex mode; NULL: none */
    int64_t next_step; /* used if no step is printed */
    int64_t last_step; /* of its newest point; -1: none */
    double last_value;
    bool is_fleeting;  /* its newest point is one of a progress bar that is drawn again */
    GArray *steps;     /* int64_t, ascending: those of its points, for counting replaced ones */
    unsigned spelling; /* of its name as it was printed first; 0: none yet */
    bool is_merged;    /* it was printed under another one, too */
    bool is_by_step;   /* its points are counted in steps, not in epochs */
    bool is_counted;   /* its step was a fraction of an epoch once, so its points are counted */
    bool is_adopted;
};

/* The line of a stream that is not complete yet. */
struct text_line {
    GString *text;
    struct printed_document document; /* JSON over several lines */
    bool skipping;                    /* the line is too long and ignored */
    bool has_return; /* the last byte was a carriage return; "\r\n" ends a line, "\r" redraws it */
    bool has_digit;  /* of a stream that is not read */
    bool is_own;     /* likewise: a message of orch's own */
};

struct text_metrics {
    enum orch_metrics_from mode;
    enum orch_metrics_on on;
    struct intake *intake;
    GArray *metrics; /* struct found_metric */
    struct text_line lines[TEXT_STREAMS];
    const GString *line; /* that is processed now */
    bool is_redrawn;     /* it is the state of a progress bar that is drawn again */
    struct orch_printed_line printed;
    GArray *rows;                    /* struct orch_printed_value: of a box that is being printed */
    struct text_position *positions; /* one for each rank */
    unsigned position_count;
    struct text_position *position; /* of the line's rank */
    struct text_losses losses;
    struct text_progress progress;
    bool has_progress;                      /* the newest progress that was reported is known */
    struct orch_printed_line progress_line; /* of output that is not read for metrics */
};

/* Ranks print interleaved, and each has its own progress. */
static void choose_position(struct text_metrics *metrics, int rank)
{
    unsigned at = rank > 0 && rank < RANKS_MAX ? (unsigned)rank : 0;
    if (at >= metrics->position_count) {
        metrics->positions = g_renew(struct text_position, metrics->positions, at + 1);
        while (metrics->position_count <= at)
            metrics->positions[metrics->position_count++] = orch_text_position_start();
    }
    metrics->position = &metrics->positions[at];
}

struct text_metrics *orch_text_metrics_new(const struct orch_manifest *manifest,
                                           struct intake *intake)
{
    if (manifest->kind != ORCH_PLUGIN_WRAPPED || manifest->metrics_from == ORCH_METRICS_PROTOCOL)
        return NULL;
    struct text_metrics *metrics = g_new0(struct text_metrics, 1);
    metrics->mode = manifest->metrics_from;
    metrics->intake = intake;
    metrics->metrics = g_array_new(FALSE, FALSE, sizeof(struct found_metric));
    metrics->on = manifest->metrics_on;
    for (int i = 0; i < TEXT_STREAMS; i++)
        metrics->lines[i] =
            (struct text_line){.text = g_string_new(NULL), .document.text = g_string_new(NULL)};
    metrics->rows = g_array_new(FALSE, FALSE, sizeof(struct orch_printed_value));
    choose_position(metrics, -1);
    orch_printed_line_init(&metrics->printed);
    orch_printed_line_init(&metrics->progress_line);
    orch_text_progress_init(&metrics->progress);
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
    for (guint i = 0; i < metrics->metrics->len; i++) {
        struct found_metric *metric = &g_array_index(metrics->metrics, struct found_metric, i);
        g_clear_pointer(&metric->pattern, g_regex_unref);
        g_clear_pointer(&metric->steps, g_array_unref);
    }
    g_array_unref(metrics->metrics);
    g_array_unref(metrics->rows);
    for (int i = 0; i < TEXT_STREAMS; i++) {
        g_string_free(metrics->lines[i].text, TRUE);
        g_string_free(metrics->lines[i].document.text, TRUE);
    }
    g_free(metrics->positions);
    orch_printed_line_clear(&metrics->printed);
    orch_printed_line_clear(&metrics->progress_line);
    g_free(metrics->losses.unread_first);
    g_free(metrics->losses.excess_first);
    g_free(metrics->losses.replaced_first);
    g_free(metrics->losses.single_first);
    g_free(metrics->losses.merged_first);
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

/* Notes a value that is left out because its name would be one too many. False for any other. */
static bool note_excess(struct text_metrics *metrics, const struct orch_printed_value *value)
{
    if (!orch_intake_is_full(metrics->intake) || !value->name[0])
        return false;
    if (metrics->losses.excess_values++ == 0)
        metrics->losses.excess_first = g_strdup(value->name);
    return true;
}

static void note_merged(struct text_metrics *metrics, struct found_metric *metric)
{
    metric->is_merged = true;
    if (metrics->losses.merged_names++ == 0)
        metrics->losses.merged_first = g_strdup(metric->spec->name);
}

static void note_replaced(struct text_metrics *metrics, const struct found_metric *metric,
                          int64_t step)
{
    if (metrics->losses.replaced_points++ == 0)
        metrics->losses.replaced_first =
            g_strdup_printf("%s at %" G_GINT64_FORMAT, metric->spec->name, step);
}

/* A result is one value: counts those that a later one replaces, as where a step was not declared.
 */
static void note_single(struct text_metrics *metrics, const struct found_metric *metric)
{
    if (metrics->losses.single_values++ == 0)
        metrics->losses.single_first = g_strdup(metric->spec->name);
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

/* ---- steps -------------------------------------------------------------------------------------
 */

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

/* ---- lines -------------------------------------------------------------------------------------
 */

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

static void take_printed(struct text_metrics *metrics)
{
    const struct orch_printed_line *printed = &metrics->printed;
    const bool any = metrics->intake->manifest->any_metric;
    bool is_unread = printed->is_cut || (any && printed->has_unread && !printed->is_progress);
    guint taken = 0, first = 0;
    choose_position(metrics, printed->rank);
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
        note_unread(metrics);
}

static void take_progress(struct text_metrics *metrics, const struct orch_printed_line *printed,
                          const GString *text)
{
    double done, total;
    if (printed->rank > 0 ||
        !orch_text_progress_take(&metrics->progress, printed, text->str, text->len, &done, &total))
        return;
    if (total > 0 || metrics->has_progress)
        orch_intake_progress(metrics->intake, done, total);
    metrics->has_progress = total > 0;
}

/* Takes only the progress of a line, of which no metric is read. */
static void take_progress_alone(struct text_metrics *metrics, const GString *text)
{
    if (!orch_text_progress_is_likely(text->str, text->len))
        return;
    orch_printed_line_parse(&metrics->progress_line, text->str, text->len);
    take_progress(metrics, &metrics->progress_line, text);
}

/* The rows of a box have one step, which often comes last ("total_timesteps"). */
static void take_box(struct text_metrics *metrics)
{
    if (!metrics->rows->len)
        return;
    GArray *own = metrics->printed.values;
    const struct orch_printed_line line = metrics->printed;
    metrics->printed.values = metrics->rows;
    metrics->printed.is_pure = metrics->printed.has_number = true;
    metrics->printed.is_progress = metrics->printed.is_cut = metrics->printed.has_unread = false;
    metrics->printed.rank = -1;
    take_printed(metrics);
    metrics->printed = line;
    metrics->printed.values = own;
    g_array_set_size(metrics->rows, 0);
}

static void take_text(struct text_metrics *metrics)
{
    enum { ROWS_MAX = 256 };
    struct orch_printed_line *printed = &metrics->printed;
    orch_printed_line_parse(printed, metrics->line->str, metrics->line->len);
    take_progress(metrics, printed, metrics->line);
    if (printed->is_row && metrics->rows->len + printed->values->len <= ROWS_MAX) {
        g_array_append_vals(metrics->rows, printed->values->data, printed->values->len);
        return;
    }
    take_box(metrics);
    take_printed(metrics);
}

static void take_matches(struct text_metrics *metrics, const char *line, size_t length)
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
                note_unread(metrics);
        }
        if (match)
            g_match_info_free(match);
    }
}

/* ---- input -------------------------------------------------------------------------------------
 */

/* Takes the lines of what began as a document and is none, one by one. */
static void take_lines(struct text_metrics *metrics, GString *text)
{
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    g_string_truncate(text, 0);
    for (char **at = lines; *at; at++) {
        g_autoptr(GString) line = g_string_new(*at);
        metrics->line = line;
        if (line->len)
            take_text(metrics);
    }
}

/* Takes a line, or keeps it as one of a document. */
static void take_or_keep(struct text_metrics *metrics, struct text_line *line)
{
    GString *document = line->document.text;
    switch (orch_printed_document_add(&line->document, line->text->str, line->text->len)) {
    case PRINTED_DOCUMENT_NONE:
        if (line->text->len)
            take_text(metrics);
        return;
    case PRINTED_DOCUMENT_OPEN:
        return;
    case PRINTED_DOCUMENT_WHOLE:
        metrics->line = document;
        take_text(metrics);
        g_string_truncate(document, 0);
        return;
    default:
        take_lines(metrics, document);
    }
}

static void take_line(struct text_metrics *metrics, struct text_line *line, bool is_redrawn)
{
    metrics->line = line->text;
    metrics->is_redrawn = is_redrawn;
    if (line->skipping) {
        note_unread(metrics); /* shown by its beginning */
    } else if (line->text->len && metrics->mode == ORCH_METRICS_REGEX) {
        take_matches(metrics, line->text->str, line->text->len);
        take_progress_alone(metrics, line->text);
    } else if (metrics->mode != ORCH_METRICS_REGEX) {
        take_or_keep(metrics, line);
    }
    g_string_truncate(line->text, 0);
    line->skipping = false;
}

/* Carriage returns and backspaces also end a line, because progress bars are redrawn with them. */
static size_t line_part(const char *bytes, size_t length)
{
    size_t part = 0;
    while (part < length && bytes[part] != '\n' && bytes[part] != '\r' && bytes[part] != '\b')
        part++;
    return part;
}

static bool reads(const struct text_metrics *metrics, enum text_stream stream)
{
    return metrics->on == ORCH_METRICS_ON_BOTH ||
           (metrics->on == ORCH_METRICS_ON_STDERR) == (stream == TEXT_STDERR);
}

/* Takes output of a stream that is not read: counts lines with digits, and follows progress bars,
 * which programs draw on standard error. */
static void take_unheard(struct text_metrics *metrics, struct text_line *line, const char *bytes,
                         size_t length)
{
    for (size_t i = 0; i < length; i++) {
        line->has_digit = line->has_digit || g_ascii_isdigit(bytes[i]);
        line->is_own = line->is_own || strcmp(line->text->str, "orch:") == 0;
        if (bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == '\b') {
            take_progress_alone(metrics, line->text);
            g_string_truncate(line->text, 0);
        } else if (line->text->len < UNREAD_LINE_BYTES) {
            g_string_append_c(line->text, bytes[i]);
        }
        if (bytes[i] != '\n')
            continue;
        metrics->losses.unheard_lines += line->has_digit && !line->is_own;
        line->has_digit = line->is_own = false;
    }
}

void orch_text_metrics_feed(struct text_metrics *metrics, enum text_stream stream,
                            const char *bytes, size_t length)
{
    if (!metrics || !length)
        return;
    struct text_line *line = &metrics->lines[stream];
    if (!reads(metrics, stream)) {
        if (stream == TEXT_STDERR)
            take_unheard(metrics, line, bytes, length);
        return;
    }
    for (const char *end = bytes + length; bytes < end; bytes++) {
        if (line->has_return) {
            line->has_return = false;
            take_line(metrics, line, *bytes != '\n');
            if (*bytes == '\n')
                continue;
        }
        size_t part = line_part(bytes, (size_t)(end - bytes));
        if (line->text->len + part > LINE_MAX_BYTES)
            line->skipping = true;
        if (!line->skipping)
            g_string_append_len(line->text, bytes, (gssize)part);
        if (part == (size_t)(end - bytes))
            return;
        const char ending = bytes[part];
        bytes += part;
        if (ending == '\r')
            line->has_return = true;
        else
            take_line(metrics, line, ending == '\b');
    }
}

void orch_text_metrics_finish(struct text_metrics *metrics)
{
    for (int i = 0; metrics && i < TEXT_STREAMS; i++) {
        struct text_line *line = &metrics->lines[i];
        if (!reads(metrics, (enum text_stream)i))
            continue;
        take_line(metrics, line, false);
        metrics->line = line->document.text;
        if (line->document.text->len) /* it was cut off */
            take_text(metrics);
    }
    if (metrics)
        take_box(metrics);
}
