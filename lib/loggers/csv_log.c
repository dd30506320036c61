/* SPDX-License-Identifier: MIT */
/* Tables that grow by a row: a header with the names of series, then a row for each step
 * (Lightning, Keras, Ultralytics, stable-baselines). Fields are separated by commas, semicolons or
 * tabs. Lines that begin with '#' stand before the header only.
 *
 * The step of a row is in the column that orch_log_step_rank likes best; without one it is the
 * number of the row, from 0. Every other column with numbers is a series. An empty field is none.
 */
#include "lib/loggers/log_lines.h"
#include "lib/loggers/loggers.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { LINE_BYTES_MAX = 1 << 20, COLUMNS_MAX = 4096 };

static const char SEPARATORS[] = ",;\t";

struct reader {
    struct orch_log_text in;
    char *prefix; /* of the names; NULL: none */
    char separator;
    char *header;
    GPtrArray *names;  /* of the columns, in the header; NULL: it was not read yet */
    GPtrArray *fields; /* of the row */
    int step_column;   /* -1: none */
    int64_t row, last_step;
};

/* ---- fields --------------------------------------------------------------------------- */

/* The separator that is most frequent in a line; a comma where there is none. */
static char separator_of(const char *line, size_t length)
{
    size_t counts[sizeof SEPARATORS] = {0}, best = 0;
    for (size_t i = 0; i < length; i++) {
        const char *at = line[i] ? strchr(SEPARATORS, line[i]) : NULL;
        if (at)
            counts[at - SEPARATORS]++;
    }
    for (size_t i = 1; SEPARATORS[i]; i++)
        best = counts[i] > counts[best] ? i : best;
    return SEPARATORS[best];
}

/* Splits a line, in which the fields then stand without quotes and without the space around them.
 * Nothing is copied, because this is done for every row. */
static void split(char *line, size_t length, char separator, GPtrArray *fields)
{
    char *field = line, *end = line;
    bool is_quoted = false;
    g_ptr_array_set_size(fields, 0);
    for (size_t i = 0; i <= length && fields->len < COLUMNS_MAX; i++) {
        char c = line[i];
        if (i == length || (c == separator && !is_quoted)) {
            *end = 0;
            g_ptr_array_add(fields, g_strstrip(field));
            field = end = line + i + 1;
        } else if (c == '"' && !(is_quoted && line[i + 1] == '"')) {
            is_quoted = !is_quoted;
        } else {
            i += c == '"';
            *end++ = c;
        }
    }
}

/* The column of the step; -1: none. */
static int find_step(const GPtrArray *names)
{
    int column = -1, best = -1;
    for (guint i = 0; i < names->len; i++) {
        int rank = orch_log_step_rank(names->pdata[i]);
        if (rank >= 0 && (best < 0 || rank < best)) {
            best = rank;
            column = (int)i;
        }
    }
    return column;
}

/* True for names of columns: at least two, of which no one is a number, and only the first, that of
 * an index, may be empty. */
static bool is_header(const GPtrArray *names)
{
    double number;
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        if ((!*name && i > 0) || orch_log_number(name, &number) || !g_utf8_validate(name, -1, NULL))
            return false;
    }
    return names->len >= 2;
}

/* ---- recognising ---------------------------------------------------------------------- */

/* Names of files that are logs whatever their columns are called. */
static bool is_known_name(const char *base)
{
    static const char *const names[] = {"metrics.csv", "results.csv", "progress.csv", "history.csv",
                                        "training.log"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(base, names[i]) == 0)
            return true;
    return g_str_has_suffix(base, "monitor.csv");
}

static bool knows(const char *path, const char *head, size_t length)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const char *newline = memchr(head, '\n', length);
    while (newline && *head == '#') {
        length -= (size_t)(newline + 1 - head);
        head = newline + 1;
        newline = memchr(head, '\n', length);
    }
    size_t line = newline ? (size_t)(newline - head) : 0;
    if (!line || memchr(head, 0, line))
        return false;
    g_autofree char *copy = g_strndup(head, line);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    split(copy, line, separator_of(head, line), names);
    return is_header(names) && (is_known_name(base) || find_step(names) >= 0);
}

/* ---- reading -------------------------------------------------------------------------- */

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    struct reader *reader = orch_log_text_open(sink, sizeof *reader);
    reader->step_column = -1;
    reader->fields = g_ptr_array_new();
    return reader;
}

static void close_reader(void *pointer)
{
    struct reader *reader = pointer;
    g_clear_pointer(&reader->names, g_ptr_array_unref);
    g_ptr_array_unref(reader->fields);
    g_free(reader->header);
    g_free(reader->prefix);
    orch_log_text_close(reader);
}

/* The step of a row: in its column, else that of the row before it, else its number. */
static int64_t step_of(struct reader *reader, const GPtrArray *fields)
{
    double step;
    if (reader->step_column < 0)
        return reader->row;
    if (reader->step_column < (int)fields->len &&
        orch_log_number(fields->pdata[reader->step_column], &step) && fabs(step) < 1e15)
        reader->last_step = (int64_t)floor(step);
    return reader->last_step;
}

static void take_point(struct reader *reader, const char *name, int64_t step, double value)
{
    g_autofree char *longer = reader->prefix ? g_strconcat(reader->prefix, name, NULL) : NULL;
    reader->in.sink->point(reader->in.sink->ctx, longer ? longer : name, step, NAN, value);
}

static void take_row(struct reader *reader, const GPtrArray *fields)
{
    int64_t step = step_of(reader, fields);
    double value;
    for (guint i = 0; i < MIN(fields->len, reader->names->len); i++) {
        const char *name = reader->names->pdata[i];
        if ((int)i != reader->step_column && *name && orch_log_number(fields->pdata[i], &value))
            take_point(reader, name, step, value);
    }
    reader->row++;
}

static const char *take_header(struct reader *reader, const char *line, size_t length)
{
    reader->separator = separator_of(line, length);
    reader->header = g_strndup(line, length);
    reader->names = g_ptr_array_new();
    split(reader->header, length, reader->separator, reader->names);
    reader->step_column = find_step(reader->names);
    return is_header(reader->names) ? NULL : "its first line has no column names";
}

/* Takes the complete line. Returns NULL, or why nothing more is read. */
static const char *take_line(struct reader *reader)
{
    const GString *line = reader->in.text;
    size_t length = line->len;
    if (length && line->str[length - 1] == '\r')
        length--;
    if (!length || (!reader->names && line->str[0] == '#'))
        return NULL;
    if (!reader->names)
        return take_header(reader, line->str, length);
    split(line->str, length, reader->separator, reader->fields);
    take_row(reader, reader->fields);
    return NULL;
}

/* A line end inside quotes belongs to a field. */
static bool is_open(const GString *line)
{
    const char *at = line->str, *end = line->str + line->len;
    bool is_quoted = false;
    for (; (at = memchr(at, '"', (size_t)(end - at))); at++)
        is_quoted = !is_quoted;
    return is_quoted;
}

static const char *end_line(void *pointer)
{
    struct reader *reader = pointer;
    if (is_open(reader->in.text)) {
        g_string_append_c(reader->in.text, '\n');
        return NULL;
    }
    const char *why = take_line(reader);
    g_string_truncate(reader->in.text, 0);
    return why;
}

static const char *feed(void *pointer, const uint8_t *bytes, size_t length)
{
    struct reader *reader = pointer;
    return orch_log_feed_lines(reader->in.text, bytes, length, LINE_BYTES_MAX,
                               "a line is longer than 1 MiB", end_line, reader);
}

static const char *finish(void *pointer)
{
    struct reader *reader = pointer;
    bool is_cut = is_open(reader->in.text);
    const char *why = is_cut ? "a quoted field at its end is cut off" : take_line(reader);
    g_string_truncate(reader->in.text, 0);
    return why;
}

/* ---- DVCLive ----------------------------------------------------------------------------------
 * FOLDER/plots/metrics/NAME.tsv: a table for each metric, whose column has the last word of a name
 * with '/', which is a path of folders.
 */

static const char DVCLIVE_TABLES[] = "/plots/metrics/";

static bool knows_dvclive(const char *path, const char *head, size_t length)
{
    return strstr(path, DVCLIVE_TABLES) && (!length || knows("/metrics.csv", head, length));
}

static char *dvclive_place(const char *path)
{
    const char *at = strstr(path, DVCLIVE_TABLES);
    return at ? g_strndup(path, (gsize)(at - path)) : g_strdup(path);
}

static void *open_dvclive(const struct orch_log_sink *sink, const char *path)
{
    struct reader *reader = open_reader(sink, path);
    const char *at = strstr(path, DVCLIVE_TABLES), *slash = strrchr(path, '/');
    const char *name = at ? at + strlen(DVCLIVE_TABLES) : slash;
    if (slash && slash > name)
        reader->prefix = g_strndup(name, (gsize)(slash + 1 - name));
    return reader;
}

const struct orch_logger ORCH_LOGGER_DVCLIVE = {
    .name = "dvclive",
    .ends = (const char *const[]){".tsv", NULL},
    .knows = knows_dvclive,
    .place = dvclive_place,
    .open = open_dvclive,
    .feed = feed,
    .finish = finish,
    .close = close_reader,
    .is_rewritten = true,
};

const struct orch_logger ORCH_LOGGER_CSV = {
    .name = "csv",
    .stand_in = "/metrics.csv",
    .ends = (const char *const[]){".csv", ".tsv", ".log", NULL},
    .knows = knows,
    .open = open_reader,
    .feed = feed,
    .finish = finish,
    .close = close_reader,
    .is_rewritten = true,
};
