/* SPDX-License-Identifier: MIT */
/* One table row per type; the row's reader extracts the required members and reports missing
 * ones. */
#include "lib/wire/event.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/wire/points.h"

#include <math.h>
#include <string.h>

#define broken(error, ...) (orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL, __VA_ARGS__), false)

/* ---- members of events ------------------------------------------------------------------------
 */

static bool read_name(struct orch_event *event, const char *word, GError **error)
{
    event->name = orch_json_text(event->json, "name", NULL);
    return event->name || broken(error, "%s without a name", word);
}

static bool read_text(struct orch_event *event, const char *word, GError **error)
{
    event->text = orch_json_text(event->json, "text", NULL);
    return event->text || broken(error, "%s without a text", word);
}

static bool read_output(struct orch_event *event, const char *word, GError **error)
{
    event->name = orch_json_text(event->json, "stream", "stdout");
    return read_text(event, word, error);
}

static bool read_value(const json_t *value, const char *word, const char *name, double *out,
                       GError **error)
{
    if (!value)
        return broken(error, "%s '%s' without a value", word, name);
    if (!orch_json_get_real(value, out))
        return broken(error, "%s '%s': the value is not a number", word, name);
    return true;
}

static bool read_step(const json_t *value, const char *name, int64_t *out, GError **error)
{
    double real = json_is_real(value) ? json_real_value(value) : (double)NAN;
    if (json_is_integer(value))
        *out = json_integer_value(value);
    else if (floor(real) == real && fabs(real) < 9e15)
        *out = (int64_t)real;
    else
        return broken(
            error, value ? "metric '%s': the step is not an integer" : "metric '%s' without a step",
            name);
    return true;
}

/* t_ms: absent, null, or a number. */
static bool read_time(const json_t *value, const char *name, double *out, GError **error)
{
    *out = NAN;
    if (!value || json_is_null(value) || orch_json_get_real(value, out))
        return true;
    return broken(error, "metric '%s': the time is not a number", name);
}

static bool read_point(const char *name, const json_t *step, const json_t *t_ms,
                       const json_t *value, struct orch_point *out, GError **error)
{
    out->name = name;
    return read_step(step, name, &out->step, error) && read_time(t_ms, name, &out->t_ms, error) &&
           read_value(value, "metric", name, &out->value, error);
}

static bool read_metric(struct orch_event *event, const char *word, GError **error)
{
    if (!read_name(event, word, error))
        return false;
    event->points = g_new0(struct orch_point, 1);
    event->point_count = 1;
    return read_point(event->name, json_object_get(event->json, "step"),
                      json_object_get(event->json, "t_ms"), json_object_get(event->json, "value"),
                      event->points, error);
}

static bool read_metrics(struct orch_event *event, const char *word, GError **error)
{
    const json_t *rows = json_object_get(event->json, "points");
    if (!json_is_array(rows))
        return broken(error, "event '%s' has no array 'points'", word);
    event->point_count = json_array_size(rows);
    event->points = g_new0(struct orch_point, event->point_count + 1);
    for (size_t i = 0; i < event->point_count; i++) {
        const json_t *row = json_array_get(rows, i);
        const char *name = json_string_value(json_array_get(row, 0));
        if (json_array_size(row) != 4 || !name)
            return broken(error, "point %zu of metrics is not [name, step, t_ms, value]", i + 1);
        if (!read_point(name, json_array_get(row, 1), json_array_get(row, 2),
                        json_array_get(row, 3), &event->points[i], error))
            return false;
    }
    return true;
}

static bool read_result(struct orch_event *event, const char *word, GError **error)
{
    return read_name(event, word, error) && read_value(json_object_get(event->json, "value"), word,
                                                       event->name, &event->value, error);
}

static bool read_progress(struct orch_event *event, const char *word, GError **error)
{
    const json_t *done = json_object_get(event->json, "done");
    const json_t *total = json_object_get(event->json, "total");
    if (!orch_json_get_real(done, &event->value))
        return broken(error, "%s without a number 'done'", word);
    if (total && !json_is_null(total) && !orch_json_get_real(total, &event->total))
        return broken(error, "%s: 'total' is not a number", word);
    if (!orch_json_get_real(json_object_get(event->json, "t_ms"), &event->t_ms))
        event->t_ms = (double)NAN;
    return true;
}

static bool read_artifact(struct orch_event *event, const char *word, GError **error)
{
    if (!read_name(event, word, error))
        return false;
    event->text = orch_json_text(event->json, "path", NULL);
    event->sha256 = orch_json_text(event->json, "sha256", NULL);
    event->bytes = orch_json_int(event->json, "bytes", 0);
    if (!event->text || !*event->text)
        return broken(error, "artifact '%s' without a path", event->name);
    if (event->sha256 && !orch_sha256_is_valid(event->sha256))
        return broken(error, "artifact '%s': 'sha256' is not 64 hex digits", event->name);
    return true;
}

static bool read_id(struct orch_event *event, const char *word, GError **error)
{
    const json_t *id = json_object_get(event->json, "id");
    if (!json_is_integer(id))
        return broken(error, "event '%s' has no integer 'id'", word);
    event->id = json_integer_value(id);
    event->text = orch_json_text(event->json, "text", NULL);
    return true;
}

static bool read_done(struct orch_event *event, const char *word, GError **error)
{
    static const unsigned allowed = 1u << ORCH_VERDICT_OK | 1u << ORCH_VERDICT_FAILED |
                                    1u << ORCH_VERDICT_SKIPPED | 1u << ORCH_VERDICT_DIVERGED |
                                    1u << ORCH_VERDICT_CANCELLED;
    event->verdict_word = orch_json_text(event->json, "status", NULL);
    if (!event->verdict_word)
        return broken(error, "%s without a status", word);
    event->verdict = orch_verdict_parse(event->verdict_word);
    if (!(1u << event->verdict & allowed))
        return broken(error,
                      "'done' has status '%s': expected ok, failed, skipped, diverged or cancelled",
                      event->verdict_word);
    return true;
}

static bool read_end(struct orch_event *event, const char *word, GError **error)
{
    event->verdict_word = orch_json_text(event->json, "verdict", NULL);
    event->verdict = orch_verdict_parse(event->verdict_word);
    event->text = orch_json_text(event->json, "reason", NULL);
    return event->verdict_word || broken(error, "%s without a verdict", word);
}

static bool read_nothing(struct orch_event *event, const char *word, GError **error)
{
    (void)event, (void)word, (void)error;
    return true;
}

static const struct event_row {
    const char *word;
    enum orch_event_kind kind;
    bool (*read)(struct orch_event *event, const char *word, GError **error);
} ROWS[] = {
    {"metric", ORCH_EVENT_METRICS, read_metric},
    {"metrics", ORCH_EVENT_METRICS, read_metrics},
    {"result", ORCH_EVENT_RESULT, read_result},
    {"progress", ORCH_EVENT_PROGRESS, read_progress},
    {"phase", ORCH_EVENT_PHASE, read_name},
    {"artifact", ORCH_EVENT_ARTIFACT, read_artifact},
    {"note", ORCH_EVENT_NOTE, read_text},
    {"log", ORCH_EVENT_LOG, read_text},
    {"error", ORCH_EVENT_ERROR, read_text},
    {"run", ORCH_EVENT_RUN, read_nothing},
    {"output", ORCH_EVENT_OUTPUT, read_output},
    {"reported", ORCH_EVENT_REPORTED, read_name},
    {"manifest", ORCH_EVENT_MANIFEST, read_nothing},
    {"checked", ORCH_EVENT_CHECKED, read_id},
    {"cost", ORCH_EVENT_COST, read_id},
    {"done", ORCH_EVENT_DONE, read_done},
    {"start", ORCH_EVENT_START, read_nothing},
    {"end", ORCH_EVENT_END, read_end},
};

static bool decode_object(struct orch_event *event, GError **error)
{
    const char *word = orch_json_text(event->json, "event", NULL);
    if (!json_is_object(event->json) || !word)
        return broken(error, "the line is not an object with a text 'event'");
    event->kind = ORCH_EVENT_UNKNOWN;
    for (unsigned i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        if (strcmp(ROWS[i].word, word) == 0) {
            event->kind = ROWS[i].kind;
            return ROWS[i].read(event, word, error);
        }
    }
    return true;
}

bool orch_event_decode(const char *line, size_t length, struct orch_event *out, GError **error)
{
    struct orch_event event = {0};
    if (!orch_points_decode(line, length, &event)) {
        if (!g_utf8_validate_len(line, length, NULL))
            return broken(error, "the line is not valid UTF-8");
        event.json = orch_json_parse(line, length, ORCH_WIRE_LINE_MAX, error);
        if (!event.json)
            return false;
        if (!decode_object(&event, error)) {
            orch_event_clear(&event);
            return false;
        }
    }
    *out = event;
    return true;
}

void orch_event_clear(struct orch_event *event)
{
    json_decref(event->json);
    g_free(event->points);
    g_free(event->names);
    memset(event, 0, sizeof *event);
}

void orch_event_encode_json(GString *out, const json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_ENCODE_ANY);
    g_string_append(out, text ? text : "null");
    g_string_append_c(out, '\n');
    free(text);
}
