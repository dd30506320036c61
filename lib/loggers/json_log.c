/* SPDX-License-Identifier: MIT */
/* Two forms of JSON. Lines: an object in each line, with a member for each series and one for the
 * step (mmengine, detectron2, stable-baselines, own loops). Documents, which are written anew as a
 * whole: trainer_state.json of Hugging Face, whose `log_history` is a list of such objects, and
 * objects of results without steps (all_results.json, metrics.json).
 *
 * Texts, lists and booleans are no series. */
#include "lib/loggers/log_lines.h"
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"

#include <math.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1 << 20, DOCUMENT_BYTES_MAX = 64 << 20 };

struct reader {
    struct orch_log_text in;
    int64_t row, last_step;
    bool has_step; /* a line had one */
};

/* ---- objects ----------------------------------------------------------------------------------
 */

/* The name of the member that is the step; NULL: none. */
static const char *step_name(json_t *object)
{
    const char *name, *found = NULL;
    int best = -1;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        int rank = json_is_number(value) ? orch_log_step_rank(name) : -1;
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            found = name;
        }
    }
    return found;
}

/* Takes the object of a line. One without a step belongs to the step before it. */
static void take_row(struct reader *reader, json_t *object)
{
    const char *name = step_name(object);
    double step = name ? json_number_value(json_object_get(object, name)) : (double)NAN;
    if (isfinite(step) && fabs(step) < 1e15) {
        reader->has_step = true;
        reader->last_step = (int64_t)floor(step);
    } else if (!reader->has_step) {
        reader->last_step = reader->row;
    }
    const struct orch_log_row row = {reader->in.sink, &reader->last_step, (double)NAN, false};
    orch_log_take_numbers(&row, object, name);
    reader->row++;
}

/* ---- recognising ------------------------------------------------------------------------------
 */

/* A log has a step in one of its first lines; the first line, which may describe the run, need not
 * have one. A file of this name needs none. */
static bool knows_lines(const char *path, const char *head, size_t length)
{
    bool is_known = false, is_named = g_str_has_suffix(path, "/metrics.jsonl");
    if (!length || *head != '{')
        return false;
    for (const char *end = head + length, *newline; head < end && !is_known; head = newline + 1) {
        newline = memchr(head, '\n', (size_t)(end - head));
        if (!newline)
            return false;
        g_autoptr(json_t) object = orch_log_json(head, (size_t)(newline - head), LINE_BYTES_MAX);
        if (!json_is_object(object))
            return false;
        is_known = is_named || (step_name(object) && json_object_size(object) > 1);
    }
    return is_known;
}

static bool knows_document(const char *path, const char *head, size_t length)
{
    (void)path;
    return length && (g_ascii_isspace(*head) || *head == '{');
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    return orch_log_text_open(sink, sizeof(struct reader));
}

/* Takes the complete line; one that is no object is passed over. */
static const char *take_line(void *pointer)
{
    struct reader *reader = pointer;
    g_autoptr(json_t) object =
        orch_log_json(reader->in.text->str, reader->in.text->len, LINE_BYTES_MAX);
    if (json_is_object(object))
        take_row(reader, object);
    g_string_truncate(reader->in.text, 0);
    return NULL;
}

static const char *feed_lines(void *pointer, const uint8_t *bytes, size_t length)
{
    struct reader *reader = pointer;
    return orch_log_feed_lines(reader->in.text, bytes, length, LINE_BYTES_MAX,
                               "a line is longer than 1 MiB", take_line, reader);
}

static const char *finish_lines(void *pointer)
{
    struct reader *reader = pointer;
    bool has_text = reader->in.text->len > 0;
    int64_t row = reader->row;
    take_line(reader);
    return has_text && reader->row == row ? "its last line is cut off" : NULL;
}

static const char *feed_document(void *reader, const uint8_t *bytes, size_t length)
{
    return orch_log_text_add(reader, bytes, length, DOCUMENT_BYTES_MAX, "it is larger than 64 MiB");
}

static const char *finish_document(void *pointer)
{
    struct reader *reader = pointer;
    g_autoptr(json_t) whole =
        orch_log_json(reader->in.text->str, reader->in.text->len, DOCUMENT_BYTES_MAX);
    const json_t *history = json_object_get(whole, "log_history");
    g_string_truncate(reader->in.text, 0);
    if (!json_is_object(whole))
        return "it is not a JSON object, or cut off";
    for (size_t i = 0; i < json_array_size(history); i++)
        if (json_is_object(json_array_get(history, i)))
            take_row(reader, json_array_get(history, i));
    const struct orch_log_row results = {reader->in.sink, NULL, (double)NAN, false};
    if (!history)
        orch_log_take_numbers(&results, whole, "step");
    return NULL;
}

const struct orch_logger ORCH_LOGGER_JSON_LINES = {
    .name = "json lines",
    .files =
        "metrics.jsonl; *.jsonl, *.ndjson, *.json, *.log, *.txt with a member 'step', 'epoch', ...",
    .makers = "mmengine, detectron2, stable-baselines, own loops",
    .stand_in = "/metrics.jsonl",
    .ends = (const char *const[]){".jsonl", ".ndjson", ".json", ".log", ".txt", NULL},
    .knows = knows_lines,
    .open = open_reader,
    .feed = feed_lines,
    .finish = finish_lines,
    .close = orch_log_text_close,
    .is_rewritten = true,
};

const struct orch_logger ORCH_LOGGER_JSON = {
    .name = "json",
    .files = "trainer_state.json, all_results.json, train_results.json, eval_results.json, "
             "metrics.json, results.json, summary.json",
    .makers = "Hugging Face, DVC",
    .stand_in = "/metrics.json",
    .ends = (const char *const[]){"/trainer_state.json", "/all_results.json", "/train_results.json",
                                  "/eval_results.json", "/metrics.json", "/results.json",
                                  "/summary.json", NULL},
    .knows = knows_document,
    .open = open_reader,
    .feed = feed_document,
    .finish = finish_document,
    .close = orch_log_text_close,
    .is_rewritten = true,
    .is_document = true,
};
