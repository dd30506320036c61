/* SPDX-License-Identifier: MIT */
/* Two forms of JSON. Lines: an object in each line, with a member for each series and one for the
 * step (mmengine, detectron2, stable-baselines, own loops). Documents, which are written anew as a
 * whole: trainer_state.json of Hugging Face, whose `log_history` is a list of such objects, and
 * objects of results without steps (all_results.json, metrics.json).
 *
 * A line of numbers with the names of the line before it is read without jansson, which takes four
 * times as long.
 *
 * Texts, lists and booleans are no series. */
#include "lib/loggers/log_lines.h"
#include "lib/loggers/log_values.h"

#include "lib/base/json.h"
#include "lib/wire/number.h"

#include <math.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1 << 20, DOCUMENT_BYTES_MAX = 64 << 20 };

struct reader {
    struct orch_log_text in;
    int64_t row, last_step;
    bool has_step; /* a line had one */
    json_t *form;  /* the last line that jansson read; NULL when it was not simple */
    const char *step;
    GArray *values; /* double: those of a line of that form */
};

/* ---- objects -------------------------------------------------------------------------- */

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

/* Notes the step of a line; NAN: it has none, and belongs to the step before it. */
static void take_step(struct reader *reader, double step)
{
    if (isfinite(step) && fabs(step) < 1e15) {
        reader->has_step = true;
        reader->last_step = (int64_t)floor(step);
    } else if (!reader->has_step) {
        reader->last_step = reader->row;
    }
    reader->row++;
}

/* Takes the object of a line. */
static void take_row(struct reader *reader, json_t *object)
{
    const char *name = step_name(object);
    take_step(reader, name ? json_number_value(json_object_get(object, name)) : (double)NAN);
    const struct orch_log_row row = {reader->in.sink, &reader->last_step, (double)NAN, false};
    orch_log_take_numbers(&row, object, name);
}

/* ---- lines of one form ---------------------------------------------------------------- */

/* Keeps a line as the form of the next ones, when it has numbers alone, and names that JSON does
 * not escape. */
static void note_form(struct reader *reader, json_t *object)
{
    const char *name;
    json_t *value;
    json_decref(reader->form);
    reader->form = NULL;
    json_object_foreach(object, name, value)
    {
        if (!json_is_number(value) || strpbrk(name, "\"\\"))
            return;
    }
    reader->form = json_incref(object);
    reader->step = step_name(object);
}

static const char *pass_blanks(const char *p)
{
    return p + strspn(p, " \t\r");
}

/* Reads the values of a line with the names of the form. False when it is another one. */
static bool read_form(struct reader *reader, double *out_step)
{
    const char *p = reader->in.text->str, *end = p + reader->in.text->len, *name;
    json_t *value;
    g_array_set_size(reader->values, 0);
    json_object_foreach(reader->form, name, value)
    {
        size_t length = strlen(name);
        double number;
        if (*p != (reader->values->len ? ',' : '{') || *(p = pass_blanks(p + 1)) != '"' ||
            strncmp(p + 1, name, length) != 0 || p[length + 1] != '"' ||
            *(p = pass_blanks(p + length + 2)) != ':' ||
            !(p = orch_number_read(pass_blanks(p + 1), end, &number)))
            return false;
        if (name == reader->step)
            *out_step = number;
        g_array_append_val(reader->values, number);
        p = pass_blanks(p);
    }
    return reader->values->len && *p == '}' && pass_blanks(p + 1) == end;
}

/* Takes a line with the names of the last one. False when it has others. */
static bool take_form(struct reader *reader)
{
    const struct orch_log_sink *sink = reader->in.sink;
    const char *name;
    json_t *value;
    double step = (double)NAN;
    guint i = 0;
    if (!read_form(reader, &step))
        return false;
    take_step(reader, step);
    json_object_foreach(reader->form, name, value)
    {
        double number = g_array_index(reader->values, double, i++);
        if (name != reader->step)
            sink->point(sink->ctx, name, reader->last_step, (double)NAN, number);
    }
    return true;
}

/* ---- recognising ---------------------------------------------------------------------- */

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

/* ---- reading -------------------------------------------------------------------------- */

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    struct reader *reader = orch_log_text_open(sink, sizeof *reader);
    reader->values = g_array_new(FALSE, FALSE, sizeof(double));
    return reader;
}

static void close_reader(void *pointer)
{
    struct reader *reader = pointer;
    json_decref(reader->form);
    g_array_unref(reader->values);
    orch_log_text_close(reader);
}

/* Takes the complete line; one that is no object is passed over. */
static const char *take_line(void *pointer)
{
    struct reader *reader = pointer;
    const GString *line = reader->in.text;
    json_t *object = take_form(reader) ? NULL : orch_log_json(line->str, line->len, LINE_BYTES_MAX);
    if (json_is_object(object)) {
        take_row(reader, object);
        note_form(reader, object);
    }
    json_decref(object);
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
    .stand_in = "/metrics.jsonl",
    .ends = (const char *const[]){".jsonl", ".ndjson", ".json", ".log", ".txt", NULL},
    .knows = knows_lines,
    .open = open_reader,
    .feed = feed_lines,
    .finish = finish_lines,
    .close = close_reader,
    .is_rewritten = true,
};

const struct orch_logger ORCH_LOGGER_JSON = {
    .name = "json",
    .stand_in = "/metrics.json",
    .ends = (const char *const[]){"/trainer_state.json", "/all_results.json", "/train_results.json",
                                  "/eval_results.json", "/metrics.json", "/results.json",
                                  "/summary.json", NULL},
    .knows = knows_document,
    .open = open_reader,
    .feed = feed_document,
    .finish = finish_document,
    .close = close_reader,
    .is_rewritten = true,
    .is_document = true,
};
