/* SPDX-License-Identifier: MIT */
#include "core/host/text_metrics.h"

#include "core/host/text_values.h"
#include "lib/base/text.h"

#include <string.h>

enum { LINE_MAX_BYTES = 65536, UNREAD_LINE_BYTES = 1024 };

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
    orch_text_choose_position(metrics, -1);
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
    orch_text_losses_clear(&metrics->losses);
    g_free(metrics);
}

const struct orch_text_losses *orch_text_metrics_losses(const struct text_metrics *metrics)
{
    static const struct orch_text_losses none;
    return metrics ? &metrics->losses : &none;
}

/* ---- lines ----------------------------------------------------------------------------- */

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
    orch_text_take_printed(metrics);
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
    orch_text_take_printed(metrics);
}

/* ---- input ----------------------------------------------------------------------------- */

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
        orch_text_note_unread(metrics); /* shown by its beginning */
    } else if (line->text->len && metrics->mode == ORCH_METRICS_REGEX) {
        orch_text_take_matches(metrics, line->text->str, line->text->len);
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
    static const bool READS[][TEXT_STREAMS] = {
        [ORCH_METRICS_ON_STDOUT] = {[TEXT_STDOUT] = true},
        [ORCH_METRICS_ON_STDERR] = {[TEXT_STDERR] = true},
        [ORCH_METRICS_ON_BOTH] = {true, true},
        [ORCH_METRICS_ON_LINES] = {[TEXT_STDOUT] = true},
        [ORCH_METRICS_ON_NONE] = {false},
    };
    return READS[metrics->on][stream];
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
        metrics->losses.counts[ORCH_LOSS_UNHEARD] += line->has_digit && !line->is_own;
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
