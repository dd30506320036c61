/* SPDX-License-Identifier: MIT */
#include "lib/wire/points.h"

#include "lib/wire/number.h"

#include <math.h>
#include <string.h>

static const char HEAD[] = "{\"event\":\"metrics\",\"points\":[";
static const char TAIL[] = "]}";
enum {
    HEAD_BYTES = sizeof HEAD - 1,
    TAIL_BYTES = sizeof TAIL - 1,
    POINT_BYTES_MIN = 13, /* ["a",0,0,0], */
    KNOWN_NAMES = 8,
};

/* Names seen in this line. Points of the same metric share one pointer, so that readers can compare
 * pointers before texts. */
struct known_names {
    const char *name[KNOWN_NAMES];
    size_t length[KNOWN_NAMES];
    unsigned count, next;
};

static const char *share_name(struct known_names *known, const char *name, size_t length)
{
    for (unsigned i = 0; i < known->count; i++)
        if (known->length[i] == length && memcmp(known->name[i], name, length) == 0)
            return known->name[i];
    known->name[known->next] = name;
    known->length[known->next] = length;
    known->next = (known->next + 1) % KNOWN_NAMES;
    known->count = MIN(known->count + 1, (unsigned)KNOWN_NAMES);
    return name;
}

/* True for a character that JSON writes as it is, in ASCII. */
static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

/* Reads "name" in plain ASCII; its closing quote is replaced by a NUL. */
static char *read_name(char *p, const char *end, struct known_names *known, const char **out)
{
    if (p >= end || *p++ != '"')
        return NULL;
    char *first = p;
    while (p < end && is_plain(*p))
        p++;
    if (p >= end || *p != '"' || p == first)
        return NULL;
    *p = 0;
    *out = share_name(known, first, (size_t)(p - first));
    return p + 1;
}

/* Parses "nan", "inf" and "-inf", for which JSON has no numbers. */
static const char *read_word(const char *p, const char *end, double *out)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } words[] = {{"\"nan\"", 5, NAN}, {"\"inf\"", 5, INFINITY}, {"\"-inf\"", 6, -INFINITY}};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        if ((size_t)(end - p) > words[i].length && memcmp(p, words[i].text, words[i].length) == 0) {
            *out = words[i].value;
            return p + words[i].length;
        }
    }
    return NULL;
}

static const char *read_value(const char *p, const char *end, double *out)
{
    return p < end && *p == '"' ? read_word(p, end, out) : orch_number_read(p, end, out);
}

static const char *read_time(const char *p, const char *end, double *out)
{
    if (end - p > 4 && memcmp(p, "null", 4) == 0) {
        *out = NAN;
        return p + 4;
    }
    return orch_number_read(p, end, out);
}

/* ["name",step,t_ms,value] */
static char *read_point(char *text, char *end, struct known_names *known, struct orch_point *out)
{
    if (text >= end || *text != '[')
        return NULL;
    char *after_name = read_name(text + 1, end, known, &out->name);
    if (!after_name || after_name >= end || *after_name != ',')
        return NULL;
    const char *p = orch_number_read_int(after_name + 1, end, &out->step);
    if (!p || *p != ',' || !(p = read_time(p + 1, end, &out->t_ms)))
        return NULL;
    if (*p != ',' || !(p = read_value(p + 1, end, &out->value)) || *p != ']')
        return NULL;
    return text + (p + 1 - text);
}

bool orch_points_decode(const char *line, size_t length, struct orch_event *out)
{
    while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
        length--;
    if (length < HEAD_BYTES + TAIL_BYTES || length > ORCH_WIRE_LINE_MAX ||
        memcmp(line, HEAD, HEAD_BYTES) != 0)
        return false;
    size_t body = length - HEAD_BYTES;
    char *copy = g_malloc(body + 1);
    memcpy(copy, line + HEAD_BYTES, body);
    copy[body] = 0;
    char *p = copy, *end = copy + body;
    size_t room = body / POINT_BYTES_MIN + 1, count = 0;
    struct orch_point *points = g_new(struct orch_point, room);
    struct known_names known = {.count = 0};
    while (p && count < room && (p = read_point(p, end, &known, &points[count]))) {
        count++;
        if (p >= end || *p != ',')
            break;
        p++;
    }
    if (!p || count == 0 || (size_t)(end - p) != TAIL_BYTES || memcmp(p, TAIL, TAIL_BYTES) != 0) {
        g_free(points);
        g_free(copy);
        return false;
    }
    out->kind = ORCH_EVENT_METRICS;
    out->points = points;
    out->point_count = count;
    out->names = copy;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static bool name_is_plain(const char *name)
{
    while (is_plain(*name))
        name++;
    return !*name;
}

/* Appends a name as a JSON string. */
static void append_name(GString *out, const char *name)
{
    if (name_is_plain(name)) {
        g_string_append_c(out, '"');
        g_string_append(out, name);
        g_string_append_c(out, '"');
        return;
    }
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    json_t *value = json_string(valid);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    g_string_append(out, text);
    free(text);
    json_decref(value);
}

static char *write_value(char *p, double value)
{
    if (isfinite(value))
        return orch_number_write(p, value);
    const char *word = isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"";
    return g_stpcpy(p, word);
}

static void append_point(GString *out, const struct orch_point *point)
{
    g_string_append_c(out, '[');
    append_name(out, point->name);
    char text[3 * ORCH_NUMBER_CHARS + 8];
    char *p = text;
    *p++ = ',';
    p = orch_number_write_int(p, point->step);
    *p++ = ',';
    p = isfinite(point->t_ms) ? orch_number_write(p, point->t_ms) : g_stpcpy(p, "null");
    *p++ = ',';
    p = write_value(p, point->value);
    *p++ = ']';
    g_string_append_len(out, text, p - text);
}

void orch_event_encode_points(GString *out, const struct orch_point *points, size_t count)
{
    gsize line = out->len;
    for (size_t i = 0; i < count; i++) {
        gsize before = out->len;
        if (before == line)
            g_string_append_len(out, HEAD, HEAD_BYTES);
        else
            g_string_append_c(out, ',');
        append_point(out, &points[i]);
        if (out->len - line + TAIL_BYTES + 1 <= ORCH_WIRE_LINE_MAX)
            continue;
        g_string_truncate(out, before); /* this point starts the next line */
        if (before > line) {
            g_string_append(out, "]}\n");
            line = out->len;
            i--;
        }
    }
    if (out->len > line)
        g_string_append(out, "]}\n");
}
