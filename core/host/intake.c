/* SPDX-License-Identifier: MIT */
#include "core/host/intake.h"

#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/bounds.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 4 * ORCH_WIRE_LINE_MAX,
    POINTS_MAX = 1024,  /* single points collected before they are written */
    ADOPTED_MAX = 1000, /* maximum undeclared metrics of a trial, and artifacts */
};
static const int64_t PROGRESS_NS = 500 * 1000 * 1000;
/* Limit that protects the disk. */
static const int64_t JOURNAL_BYTES_MAX = INT64_C(8) << 30;

static void artifact_clear(void *pointer)
{
    struct intake_artifact *artifact = pointer;
    g_free(artifact->path);
}

void orch_intake_init(struct intake *intake, struct orch_manifest *manifest,
                      struct journal_out *out, int64_t start_ns, int64_t text_budget)
{
    *intake = (struct intake){
        .manifest = manifest, .out = out, .start_ns = start_ns, .text_budget = text_budget};
    intake->is_lenient = manifest->any_metric;
    intake->declared_count = manifest->metrics->len;
    intake->reported = g_hash_table_new(NULL, NULL);
    intake->printed = g_hash_table_new(NULL, NULL);
    intake->logged = g_hash_table_new(NULL, NULL);
    intake->spellings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    intake->metrics = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < manifest->metrics->len; i++) {
        struct orch_metric_spec *spec = manifest->metrics->pdata[i];
        g_hash_table_insert(intake->metrics, spec->name, spec);
    }
    intake->points = g_array_new(FALSE, FALSE, sizeof(struct orch_point));
    intake->artifacts = g_array_new(FALSE, FALSE, sizeof(struct intake_artifact));
    g_array_set_clear_func(intake->artifacts, artifact_clear);
    intake->buffer = g_malloc(BUFFER_BYTES);
}

void orch_intake_clear(struct intake *intake)
{
    if (!intake->metrics)
        return;
    g_hash_table_unref(intake->metrics);
    g_hash_table_unref(intake->reported);
    g_hash_table_unref(intake->printed);
    g_hash_table_unref(intake->logged);
    g_hash_table_unref(intake->spellings);
    g_array_unref(intake->points);
    g_array_unref(intake->artifacts);
    g_free(intake->buffer);
    g_free(intake->progress);
    g_free(intake->error_text);
    g_free(intake->problem);
    g_free(intake->first_bad);
    memset(intake, 0, sizeof *intake);
}

static void broken(struct intake *intake, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void broken(struct intake *intake, const char *format, ...)
{
    if (intake->problem)
        return;
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (!intake->is_lenient) {
        intake->problem = text;
    } else if (intake->bad_count++ == 0) {
        intake->first_bad = text;
    } else {
        g_free(text);
    }
}

/* Rounded to microseconds, so that the text has at most three decimals. */
static double now_ms(const struct intake *intake)
{
    return (double)((orch_mono_ns() - intake->start_ns) / 1000) / 1e3;
}

/* ---- names ---------------------------------------------------------------------------- */

/* Reports "undeclared metric 'los' (did you mean 'loss'?)". */
static void undeclared(struct intake *intake, const char *what, const char *name,
                       const GPtrArray *rows)
{
    if (intake->manifest->any_metric && rows == intake->manifest->metrics) {
        g_autofree char *shown = g_utf8_make_valid(name, (gssize)strnlen(name, 100));
        broken(intake, "%s '%s': %s", what, shown,
               orch_label_is_valid(name) ? "a run can have at most 1,000 metrics and results"
                                         : "this name is not valid (at most 200 bytes, no blanks, "
                                           "quotes, brackets, = < > !)");
        return;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++)
        g_ptr_array_add(names,
                        *(char **)rows->pdata[i]); /* the name is the first member of a row */
    g_ptr_array_add(names, NULL);
    g_autofree char *cut = g_strndup(name, 100);
    g_autofree char *valid = g_utf8_make_valid(cut, -1);
    g_autofree char *hint = orch_suggest_hint(valid, (const char *const *)names->pdata);
    if (hint)
        broken(intake, "undeclared %s '%s' (%s)", what, valid, hint);
    else
        broken(intake, "undeclared %s '%s': the plugin declares %s", what, valid,
               rows->len ? "others" : "none");
}

bool orch_intake_is_full(const struct intake *intake)
{
    return intake->manifest->any_metric && intake->manifest->metrics->len >= ADOPTED_MAX;
}

struct orch_metric_spec *orch_intake_adopt(struct intake *intake, const char *name)
{
    struct orch_metric_spec *spec = g_hash_table_lookup(intake->metrics, name);
    if (spec || !intake->manifest->any_metric || orch_intake_is_full(intake) ||
        !orch_label_is_valid(name))
        return spec;
    struct orch_metric_spec *adopted = orch_manifest_add_metric(intake->manifest, name);
    adopted->step_unit = g_strdup("step");
    g_hash_table_insert(intake->metrics, adopted->name, adopted);
    return adopted;
}

static const struct orch_metric_spec *find_metric(struct intake *intake, const char *what,
                                                  const char *name)
{
    const struct orch_metric_spec *spec = orch_intake_adopt(intake, name);
    if (!spec)
        undeclared(intake, what, name, intake->manifest->metrics);
    return spec;
}

/* ---- metrics -------------------------------------------------------------------------- */

static bool journal_has_room(struct intake *intake)
{
    if (intake->out->bytes < JOURNAL_BYTES_MAX)
        return true;
    broken(intake, "the trial reported more than 8 GiB: report fewer points");
    return false;
}

static void settle_points(struct intake *intake)
{
    if (intake->points->len == 0)
        return;
    orch_event_encode_points(intake->out->pending,
                             (struct orch_point *)(void *)intake->points->data,
                             intake->points->len);
    g_array_set_size(intake->points, 0);
    orch_journal_out_touch(intake->out);
}

/* Writes a mark: points of a metric from `step` on that stand before it do not count. */
static void mark_points(struct intake *intake, const struct orch_metric_spec *spec, int64_t step)
{
    settle_points(intake);
    g_autoptr(json_t) mark = json_pack("{s:s s:s}", "event", "reported", "name", spec->name);
    if (step != INT64_MIN)
        json_object_set_new(mark, "from", json_integer(step));
    orch_journal_out_add(intake->out, mark);
}

/* Notes that the program sends points of a metric. Of one that was found in its output or in a file
 * before, the journal says where those points end. */
static void note_reported(struct intake *intake, const struct orch_metric_spec *spec)
{
    bool was_logged = g_hash_table_remove(intake->logged, spec);
    bool is_new = g_hash_table_add(intake->reported, (gpointer)(uintptr_t)spec);
    if (was_logged || (is_new && g_hash_table_contains(intake->printed, spec)))
        mark_points(intake, spec, INT64_MIN);
}

static bool point_is_valid(struct intake *intake, const struct orch_point *point)
{
    const struct orch_metric_spec *spec = find_metric(intake, "metric", point->name);
    if (!spec)
        return false;
    note_reported(intake, spec);
    struct orch_point untimed = *point; /* a time out of bounds is replaced */
    untimed.t_ms = NAN;
    g_autofree char *fault = orch_bound_point_fault(&untimed);
    if (!fault)
        return true;
    broken(intake, "%s", fault);
    return false;
}

/* Validates names, steps and times of an event; *out_timed: every point has a time. */
static bool points_are_valid(struct intake *intake, const struct orch_event *event, bool *out_timed)
{
    const char *last = NULL;
    *out_timed = true;
    for (size_t i = 0; i < event->point_count; i++) {
        const struct orch_point *point = &event->points[i];
        bool is_known =
            point->name == last && orch_bound_holds(ORCH_BOUNDED_STEP, (double)point->step);
        if (!is_known && !point_is_valid(intake, point))
            return false;
        last = point->name;
        *out_timed = *out_timed && orch_bound_holds(ORCH_BOUNDED_T_MS, point->t_ms);
    }
    return journal_has_room(intake);
}

static void tell_value(struct intake *intake, const char *metric, int64_t step, double value)
{
    if (intake->on_value)
        intake->on_value(intake->value_ctx, metric, step, value);
}

static void add_point(struct intake *intake, struct orch_point point)
{
    if (!orch_bound_holds(ORCH_BOUNDED_T_MS, point.t_ms))
        point.t_ms = now_ms(intake);
    g_array_append_val(intake->points, point);
    tell_value(intake, point.name, point.step, point.value);
    intake->point_count++;
    if (intake->points->len >= POINTS_MAX)
        settle_points(intake);
    else if (intake->out->pending_ns == 0)
        intake->out->pending_ns = orch_mono_ns(); /* ensures that it is written in time */
}

static void take_metrics(struct intake *intake, const struct orch_event *event, const char *line,
                         size_t length)
{
    bool timed = false;
    if (intake->is_lenient ? !journal_has_room(intake) : !points_are_valid(intake, event, &timed))
        return;
    if (!event->json && timed) { /* already in the journal's format: copied unchanged */
        settle_points(intake);
        g_string_append_len(intake->out->pending, line, (gssize)length);
        g_string_append_c(intake->out->pending, '\n');
        intake->point_count += (int64_t)event->point_count;
        orch_journal_out_touch(intake->out);
        for (size_t i = 0; i < event->point_count; i++)
            tell_value(intake, event->points[i].name, event->points[i].step,
                       event->points[i].value);
        return;
    }
    for (size_t i = 0; i < event->point_count; i++) {
        struct orch_point point = event->points[i];
        if (intake->is_lenient && !point_is_valid(intake, &point))
            continue;
        const struct orch_metric_spec *spec = g_hash_table_lookup(intake->metrics, point.name);
        point.name = spec->name; /* outlives the event */
        add_point(intake, point);
    }
}

static void add_result(struct intake *intake, const char *name, double value)
{
    settle_points(intake);
    g_autoptr(json_t) object =
        json_pack("{s:s s:s s:o}", "event", "result", "name", name, "value", orch_json_real(value));
    orch_journal_out_add(intake->out, object);
    tell_value(intake, name, 0, value);
}

bool orch_intake_is_reported(const struct intake *intake, const struct orch_metric_spec *spec)
{
    return g_hash_table_contains(intake->reported, spec) ||
           g_hash_table_contains(intake->spellings, spec->name);
}

char *orch_intake_skipped_text(const struct intake *intake)
{
    return intake->bad_count
               ? g_strdup_printf("%" G_GINT64_FORMAT " of its events %s left out; the first: %s",
                                 intake->bad_count, intake->bad_count == 1 ? "was" : "were",
                                 intake->first_bad)
               : NULL;
}

void orch_intake_value(struct intake *intake, const struct orch_metric_spec *spec, int64_t step,
                       double value)
{
    if (intake->problem || !journal_has_room(intake))
        return;
    g_hash_table_add(intake->printed, (gpointer)(uintptr_t)spec);
    if (spec->step_unit)
        add_point(intake, (struct orch_point){spec->name, step, NAN, value});
    else
        add_result(intake, spec->name, value);
}

/* "train/Loss" is printed as train_loss: the same series, which counts once. The caller frees. */
static char *spelling_of(const char *name)
{
    return g_strdelimit(g_ascii_strdown(name, -1), "/.-:", '_');
}

bool orch_intake_has_spelling(const struct intake *intake, const char *name)
{
    g_autofree char *spelling = spelling_of(name);
    return g_hash_table_contains(intake->spellings, spelling);
}

static void note_spelling(struct intake *intake, const char *name)
{
    char *spelling = spelling_of(name);
    const struct orch_metric_spec *printed = g_hash_table_lookup(intake->metrics, spelling);
    if (printed && g_hash_table_contains(intake->printed, printed) &&
        !g_hash_table_contains(intake->reported, printed))
        mark_points(intake, printed, INT64_MIN);
    g_hash_table_add(intake->spellings, spelling);
}

bool orch_intake_begin_logged(struct intake *intake, const struct orch_metric_spec *spec)
{
    if (g_hash_table_contains(intake->reported, spec))
        return false;
    note_reported(intake, spec);
    g_hash_table_add(intake->logged, (gpointer)(uintptr_t)spec);
    note_spelling(intake, spec->name);
    return true;
}

bool orch_intake_logged(struct intake *intake, const struct orch_metric_spec *spec, int64_t step,
                        double t_ms, double value)
{
    if (!g_hash_table_contains(intake->logged, spec))
        return false;
    if (orch_bound_holds(ORCH_BOUNDED_STEP, (double)step) && journal_has_room(intake))
        add_point(intake, (struct orch_point){spec->name, step, t_ms, value});
    return true;
}

void orch_intake_purge_logged(struct intake *intake, const struct orch_metric_spec *spec,
                              int64_t step)
{
    if (g_hash_table_contains(intake->logged, spec))
        mark_points(intake, spec, step);
}

void orch_intake_result_logged(struct intake *intake, const struct orch_metric_spec *spec,
                               double value)
{
    if (journal_has_room(intake))
        add_result(intake, spec->name, value);
}

/* ---- the other events ----------------------------------------------------------------- */

/* Records notes, logs and phases within their budget. */
static void take_words(struct intake *intake, const struct orch_event *event, size_t length)
{
    if ((int64_t)length > intake->text_budget) {
        intake->dropped_count++;
        intake->dropped_bytes += (int64_t)length;
        return;
    }
    intake->text_budget -= (int64_t)length;
    settle_points(intake);
    orch_journal_out_add(intake->out, event->json);
}

/* Adds the time of arrival, unless the event has a time. */
static void take_progress(struct intake *intake, const struct orch_event *event, const char *line,
                          size_t length)
{
    const char *brace = memchr(line, '{', length);
    size_t rest = length - (size_t)(brace - line) - 1;
    bool is_short = length < ORCH_WIRE_LINE_MAX / 2;
    g_free(intake->progress);
    if (is_short && !json_object_get(event->json, "t_ms"))
        intake->progress =
            g_strdup_printf("{\"t_ms\":%.3f,%.*s", now_ms(intake), (int)rest, brace + 1);
    else
        intake->progress = g_strndup(line, length);
}

void orch_intake_progress(struct intake *intake, double done, double total)
{
    char text[3][G_ASCII_DTOSTR_BUF_SIZE];
    if (!isfinite(done) || !isfinite(total))
        return;
    g_free(intake->progress);
    intake->progress =
        g_strdup_printf("{\"t_ms\":%s,\"event\":\"progress\",\"done\":%s,\"total\":%s}",
                        g_ascii_formatd(text[0], sizeof text[0], "%.3f", now_ms(intake)),
                        g_ascii_formatd(text[1], sizeof text[1], "%.9g", done),
                        g_ascii_formatd(text[2], sizeof text[2], "%.9g", total));
}

/* Finds a declared artifact, or adds one for a program whose names are its own; NULL when neither
 * is possible. */
static const struct orch_artifact_spec *adopt_artifact(struct intake *intake, const char *name)
{
    GPtrArray *artifacts = intake->manifest->artifacts;
    const struct orch_artifact_spec *spec = orch_manifest_artifact(intake->manifest, name);
    if (spec)
        return spec;
    if (!intake->manifest->any_metric)
        undeclared(intake, "artifact", name, artifacts);
    else if (!orch_artifact_name_is_valid(name))
        broken(intake, "artifact '%.100s': the name is not valid", name);
    else if (artifacts->len >= ADOPTED_MAX)
        broken(intake, "artifact '%s': a run can have at most %d artifacts", name, ADOPTED_MAX);
    else
        spec = orch_manifest_add_artifact(intake->manifest, name);
    return spec;
}

bool orch_intake_artifact_logged(struct intake *intake, const char *name, const char *path)
{
    bool fits = intake->manifest->any_metric && orch_artifact_name_is_valid(name) &&
                !orch_manifest_artifact(intake->manifest, name) &&
                intake->manifest->artifacts->len < ADOPTED_MAX;
    if (!fits)
        return false;
    struct intake_artifact artifact = {orch_manifest_add_artifact(intake->manifest, name), true,
                                       g_strdup(path)};
    g_array_append_val(intake->artifacts, artifact);
    return true;
}

static void take_artifact(struct intake *intake, const struct orch_event *event)
{
    if (intake->on_artifact) {
        settle_points(intake);
        intake->on_artifact(intake->ctx, event->name, event->text);
        return;
    }
    bool is_declared = orch_manifest_artifact(intake->manifest, event->name) != NULL;
    const struct orch_artifact_spec *spec = adopt_artifact(intake, event->name);
    if (!spec)
        return;
    for (guint i = 0; i < intake->artifacts->len; i++) {
        struct intake_artifact *there =
            &g_array_index(intake->artifacts, struct intake_artifact, i);
        if (there->spec == spec) {
            g_free(there->path);
            there->path = g_strdup(event->text);
            return;
        }
    }
    struct intake_artifact artifact = {spec, !is_declared, g_strdup(event->text)};
    g_array_append_val(intake->artifacts, artifact);
}

static void take_done(struct intake *intake, const struct orch_event *event)
{
    if (intake->has_done) {
        broken(intake, "'done' came twice");
        return;
    }
    intake->has_done = true;
    intake->done = event->verdict;
    const char *text = orch_json_text(event->json, "text", NULL);
    if (text) {
        g_free(intake->error_text);
        intake->error_text = g_strdup(text);
    }
}

static void take_event(struct intake *intake, const struct orch_event *event, const char *line,
                       size_t length)
{
    switch (event->kind) {
    case ORCH_EVENT_METRICS:
        take_metrics(intake, event, line, length);
        break;
    case ORCH_EVENT_RESULT:
        if (find_metric(intake, "result", event->name))
            add_result(intake, event->name, event->value);
        break;
    case ORCH_EVENT_PROGRESS:
        take_progress(intake, event, line, length);
        break;
    case ORCH_EVENT_ERROR:
        g_free(intake->error_text);
        intake->error_text = g_strdup(event->text);
        take_words(intake, event, length);
        break;
    case ORCH_EVENT_PHASE:
    case ORCH_EVENT_NOTE:
    case ORCH_EVENT_LOG:
    case ORCH_EVENT_RUN:
        take_words(intake, event, length);
        break;
    case ORCH_EVENT_OUTPUT:
        if (intake->on_output)
            intake->on_output(intake->ctx, event->name, event->text);
        else
            intake->unknown_count++;
        break;
    case ORCH_EVENT_ARTIFACT:
        take_artifact(intake, event);
        break;
    case ORCH_EVENT_DONE:
        take_done(intake, event);
        break;
    case ORCH_EVENT_START:
    case ORCH_EVENT_END:
    case ORCH_EVENT_REPORTED:
        broken(intake, "only orch itself may send the event '%s'",
               orch_json_text(event->json, "event", ""));
        break;
    default:
        intake->unknown_count++;
    }
}

/* ---- lines ---------------------------------------------------------------------------- */

void orch_intake_line(struct intake *intake, const char *line, size_t length)
{
    if (length && line[length - 1] == '\r')
        length--;
    if (intake->problem || length == 0)
        return;
    struct orch_event event;
    g_autoptr(GError) error = NULL;
    if (length >= ORCH_WIRE_LINE_MAX) {
        broken(intake, "a line of events is longer than %d bytes", ORCH_WIRE_LINE_MAX);
    } else if (!orch_event_decode(line, length, &event, &error)) {
        broken(intake, "%s", error->message);
    } else {
        take_event(intake, &event, line, length);
        orch_event_clear(&event);
    }
}

static void take_lines(struct intake *intake)
{
    const char *newline;
    while ((newline = memchr(intake->buffer + intake->begin, '\n', intake->end - intake->begin))) {
        const char *line = intake->buffer + intake->begin;
        intake->begin += (size_t)(newline - line) + 1;
        orch_intake_line(intake, line, (size_t)(newline - line));
    }
    size_t left = intake->end - intake->begin;
    bool is_long = left >= ORCH_WIRE_LINE_MAX;
    if (is_long)
        broken(intake, "a line of events is longer than %d bytes", ORCH_WIRE_LINE_MAX);
    if (intake->problem || is_long)
        left = 0;
    memmove(intake->buffer, intake->buffer + intake->begin, left);
    intake->begin = 0;
    intake->end = left;
}

bool orch_intake_read(struct intake *intake, int fd)
{
    ssize_t n = read(fd, intake->buffer + intake->end, BUFFER_BYTES - intake->end);
    if (n < 0)
        return errno == EAGAIN;
    intake->end += (size_t)n;
    take_lines(intake);
    return n > 0;
}

void orch_intake_finish(struct intake *intake)
{
    if (intake->end > intake->begin)
        broken(intake, "the last line of the program's events has no line end");
    intake->progress_ns = 0; /* write the last progress immediately */
    orch_intake_settle(intake);
}

int64_t orch_intake_due(const struct intake *intake)
{
    if (!intake->progress)
        return INT64_MAX;
    return intake->progress_ns ? intake->progress_ns + PROGRESS_NS : 0;
}

void orch_intake_settle(struct intake *intake)
{
    settle_points(intake);
    int64_t now = orch_mono_ns();
    if (orch_intake_due(intake) > now)
        return;
    g_string_append(intake->out->pending, intake->progress);
    g_string_append_c(intake->out->pending, '\n');
    g_free(intake->progress);
    intake->progress = NULL;
    intake->progress_ns = now;
    orch_journal_out_touch(intake->out);
}
