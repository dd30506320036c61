/* SPDX-License-Identifier: MIT */
/* A document is rewritten as strict JSON in one pass (quotes, True, None, NaN, tuples, commas
 * before a bracket, brackets that are missing at its end), then parsed. While it is open, each line
 * must look like a part of one: a program that prints a bracket and then goes on is read line by
 * line. */
#include "lib/wire/printed_document.h"

#include "lib/base/json.h"
#include "lib/wire/printed_form.h"
#include "lib/wire/printed_name.h"
#include "lib/wire/printed_words.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { DOCUMENT_BYTES_MAX = 1 << 20, DEPTH_MAX = 32, VALUES_MAX = 1024 };

/* ---- the lines of a document -------------------------------------------------------------------
 */

/* Follows brackets and strings over a line. */
static void follow(struct printed_document *document, const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = line[i];
        if (document->quote && c == '\\')
            i++;
        else if (document->quote)
            document->quote = c == document->quote ? 0 : document->quote;
        else if (c == '"' || c == '\'')
            document->quote = c;
        else
            document->depth += strchr("{[(", c) && c ? 1 : strchr("}])", c) && c ? -1 : 0;
    }
}

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && g_ascii_isspace(*at))
        at++;
    return at;
}

/* Where a document begins that this line does not close: at a bracket before a member or the end of
 * the line. NULL: nowhere. */
static const char *find_open(const char *line, size_t length)
{
    const char *end = line + length, *first = skip_space(line, end);
    while (end > first && g_ascii_isspace(end[-1]))
        end--;
    if (first == end)
        return NULL;
    const bool is_first = *first == '{' || *first == '[';
    const char *open = is_first ? first : end - 1, *inner = skip_space(open + 1, end);
    if (*open != '{' && *open != '[')
        return NULL;
    if (!is_first && !strchr(":= ", open[-1]))
        return NULL;
    return inner == end || strchr("\"'{[", *inner) ? open : NULL;
}

/* True for a line that may continue a document. */
static bool may_continue(const char *line, size_t length)
{
    static const char *const words[] = {"true", "false", "null", "True",     "False", "None",
                                        "NaN",  "nan",   "inf",  "Infinity", "array", "tensor"};
    const char *end = line + length, *at = skip_space(line, end);
    if (at == end || strchr("\"'{}[](),", *at) || g_ascii_isdigit(*at) || *at == '-')
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if ((size_t)(end - at) >= strlen(words[i]) && memcmp(at, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

enum printed_document_state orch_printed_document_add(struct printed_document *document,
                                                      const char *line, size_t length)
{
    const bool is_open = document->text->len;
    const char *open = is_open ? line : find_open(line, length);
    if (!open)
        return PRINTED_DOCUMENT_NONE;
    if (!is_open)
        document->depth = document->quote = 0;
    const bool is_part = !is_open || document->quote || may_continue(line, length);
    follow(document, open, length - (size_t)(open - line));
    if (!is_open && document->depth <= 0)
        return PRINTED_DOCUMENT_NONE; /* in one line */
    g_string_append_len(document->text, line, (gssize)length);
    g_string_append_c(document->text, '\n');
    if (!is_part || document->text->len > DOCUMENT_BYTES_MAX)
        return PRINTED_DOCUMENT_LINES;
    return document->depth > 0 ? PRINTED_DOCUMENT_OPEN : PRINTED_DOCUMENT_WHOLE;
}

const char *orch_printed_document_find(const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *at = text; at < end; at++) {
        if (*at != '{' && *at != '[')
            continue;
        const char *inner = skip_space(at + 1, end);
        if (inner < end && (strchr("\"'{", *inner) || (*at == '{' && *inner == '}')))
            return at;
        if (inner < end && *inner == '[' && inner > at + 1)
            return at;
    }
    return NULL;
}

/* ---- as strict JSON ----------------------------------------------------------------------------
 */

struct strict {
    GString *out;
    char open[DEPTH_MAX]; /* the brackets that are open */
    int depth;
    size_t good;    /* bytes of `out` up to the last whole member */
    int good_depth; /* brackets that are open there */
};

static void mark_good(struct strict *s)
{
    s->good = s->out->len;
    s->good_depth = s->depth;
}

/* Copies a string with double quotes. Returns the position after it; NULL: it is not closed. */
static const char *copy_string(struct strict *s, const char *at, const char *end)
{
    const char quote = *at++;
    g_string_append_c(s->out, '"');
    for (; at < end && *at != quote; at++) {
        if (*at == '\\' && at + 1 < end && at[1] == '\'')
            at++;
        else if (*at == '\\' && at + 1 < end)
            g_string_append_c(s->out, *at++);
        else if (*at == '"')
            g_string_append_c(s->out, '\\');
        g_string_append_c(s->out, (unsigned char)*at < 0x20 ? ' ' : *at);
    }
    g_string_append_c(s->out, '"');
    return at < end ? at + 1 : NULL;
}

/* Copies a number or a word. */
static const char *copy_word(struct strict *s, const char *at, const char *end)
{
    static const char *const words[][2] = {{"True", "true"}, {"False", "false"}, {"None", "null"},
                                           {"true", "true"}, {"false", "false"}, {"null", "null"}};
    const char *first = at;
    while (at < end && !g_ascii_isspace(*at) && !strchr("{}[](),:\"'", *at))
        at++;
    const size_t length = (size_t)(at - first);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strlen(words[i][0]) == length && memcmp(words[i][0], first, length) == 0) {
            g_string_append(s->out, words[i][1]);
            return at;
        }
    /* every number is a text, so that "NaN", "1." and integers of any size are */
    g_string_append_c(s->out, '"');
    g_string_append_len(s->out, first, (gssize)length);
    g_string_append_c(s->out, '"');
    return length ? at : NULL;
}

static const char *copy_bracket(struct strict *s, const char *at)
{
    const bool is_object = *at == '{' || *at == '}';
    if (strchr("{[(", *at)) {
        if (s->depth == DEPTH_MAX)
            return NULL;
        s->open[s->depth++] = *at;
        g_string_append_c(s->out, is_object ? '{' : '[');
        mark_good(s);
        return at + 1;
    }
    const char wanted = *at == '}' ? '{' : *at == ']' ? '[' : '(';
    if (!s->depth || s->open[s->depth - 1] != wanted)
        return NULL;
    if (s->out->str[s->out->len - 1] == ',')
        g_string_truncate(s->out, s->out->len - 1);
    g_string_append_c(s->out, is_object ? '}' : ']');
    s->depth--;
    mark_good(s);
    return at + 1;
}

/* Rewrites a document. False if it cannot be one; brackets that are open at the end are closed. */
static bool make_strict(struct strict *s, const char *at, const char *end)
{
    bool is_done = false;
    while (at && at < end && !is_done) {
        const char c = *at;
        const char last = s->out->len ? s->out->str[s->out->len - 1] : 0;
        if (c == '\n' && last && !strchr("{[,:", last))
            mark_good(s);
        if (g_ascii_isspace(c)) {
            at++;
        } else if (c == ',' || c == ':') {
            if (c == ',')
                mark_good(s);
            g_string_append_c(s->out, c);
            at++;
        } else if (c && strchr("{}[]()", c)) {
            at = copy_bracket(s, at);
            is_done = at && s->depth == 0;
        } else {
            at = c == '"' || c == '\'' ? copy_string(s, at, end) : copy_word(s, at, end);
        }
    }
    if (is_done)
        return skip_space(at, end) == end;
    g_string_truncate(s->out, s->good);
    while (s->good_depth)
        g_string_append_c(s->out, s->open[--s->good_depth] == '{' ? '}' : ']');
    return at && s->out->len;
}

/* ---- values ------------------------------------------------------------------------------------
 */

struct walk {
    struct orch_printed_line *out;
    bool has_records; /* an array of objects with a step was read */
};

static bool read_number(const json_t *value, struct orch_printed_value *out)
{
    const char *text = json_string_value(value);
    if (!text)
        return orch_json_get_real(value, &out->value);
    const char *end = text + strlen(text);
    if (orch_printed_number(text, end, &out->value, out->unit) != end || end == text)
        return false;
    if (strcmp(out->unit, "%") == 0) {
        char unit[ORCH_UNIT_CHARS];
        orch_printed_number(text, end - 1, &out->printed_percent, unit);
        out->unit[0] = 0;
    }
    return true;
}

/* What the last word of a member's name counts: "train/epoch". */
static enum orch_printed_kind kind_of(const char *key)
{
    const char *slash = strrchr(key, '/'), *last = slash ? slash + 1 : key;
    const unsigned classes = orch_printed_classes(last, strlen(last));
    return classes & WORD_EPOCH  ? ORCH_PRINTED_EPOCH
           : classes & WORD_STEP ? ORCH_PRINTED_STEP
                                 : ORCH_PRINTED_VALUE;
}

static void add_value(struct walk *w, const struct orch_printed_value *value)
{
    if (w->out->values->len >= VALUES_MAX)
        w->out->is_cut = true;
    else
        g_array_append_val(w->out->values, *value);
}

static void read_any(struct walk *w, const json_t *value, const char *name, const char *key,
                     bool may_count, int depth);

/* True for an object with a member that counts, as a list of points has them. */
static bool is_record(const json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        struct orch_printed_value found = {.value = NAN};
        if (kind_of(key) != ORCH_PRINTED_VALUE && read_number(value, &found))
            return true;
    }
    return false;
}

static void read_object(struct walk *w, const json_t *object, const char *above, bool may_count,
                        int depth)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        char name[ORCH_PRINTED_NAME_CHARS];
        g_strlcpy(name, above, sizeof name);
        if (orch_printed_name_append(name, key, strlen(key)))
            read_any(w, value, name, key, may_count, depth + 1);
        else
            w->out->has_unread = true;
    }
}

/* What tells an object of an array from others: a member that names it, or its place. */
static void name_element(const json_t *element, size_t place, size_t count,
                         char name[ORCH_PRINTED_NAME_CHARS])
{
    static const char *const members[] = {"name", "jobname",   "label",   "id",   "metric",
                                          "test", "benchmark", "command", "model"};
    char number[24];
    for (size_t i = 0; i < G_N_ELEMENTS(members) && json_is_object(element); i++) {
        const char *text = json_string_value(json_object_get(element, members[i]));
        if (text && *text && orch_printed_name_append(name, text, MIN(strlen(text), 60)))
            return;
    }
    g_snprintf(number, sizeof number, "%zu", place);
    if (count > 1)
        orch_printed_name_append(name, number, strlen(number));
}

static void read_array(struct walk *w, const json_t *array, const char *name, int depth)
{
    const size_t count = json_array_size(array);
    const bool has_records = is_record(json_array_get(array, 0));
    w->has_records = w->has_records || has_records;
    for (size_t i = 0; i < count; i++) {
        const json_t *element = json_array_get(array, i);
        char own[ORCH_PRINTED_NAME_CHARS];
        g_strlcpy(own, name, sizeof own);
        if (has_records && json_is_object(element)) {
            add_value(w, &(struct orch_printed_value){.kind = ORCH_PRINTED_NEXT});
            read_object(w, element, name, true, depth);
        } else if (json_is_object(element)) {
            name_element(element, i, count, own);
            read_object(w, element, own, false, depth);
        }
    }
}

/* A number, or an array of one number. Of several numbers it is not known which one is meant. */
static void read_value(struct walk *w, const json_t *value, const char *name, const char *key,
                       bool may_count)
{
    struct orch_printed_value found = {
        .value = NAN, .total = NAN, .printed_percent = NAN, .is_sure = true};
    const bool is_several = json_array_size(value) > 1;
    while (json_is_array(value))
        value = json_array_get(value, 0);
    if (!value || !read_number(value, &found) || orch_printed_is_time_left(name, found.unit))
        return;
    w->out->has_number = true;
    found.spelling = orch_printed_name_hash(0, key, strlen(key));
    found.kind = is_several ? ORCH_PRINTED_UNREAD : may_count ? kind_of(key) : ORCH_PRINTED_VALUE;
    if (may_count && orch_printed_classes(key, strlen(key)) & WORD_RANK) {
        if (found.value >= 0 && found.value < 1e5)
            w->out->rank = (int)found.value;
        return;
    }
    g_strlcpy(found.name, name, sizeof found.name);
    if (!orch_printed_name_append(found.last, key, strlen(key)) ||
        (!orch_printed_name_is_valid(name) && found.kind == ORCH_PRINTED_VALUE))
        w->out->has_unread = true;
    else
        add_value(w, &found);
}

static void read_any(struct walk *w, const json_t *value, const char *name, const char *key,
                     bool may_count, int depth)
{
    if (depth > DEPTH_MAX)
        w->out->has_unread = true;
    else if (json_is_object(value))
        read_object(w, value, name, false, depth);
    else if (json_is_object(json_array_get(value, 0)))
        read_array(w, value, name, depth);
    else
        read_value(w, value, name, key, may_count);
}

bool orch_printed_document_read(struct orch_printed_line *out, const char *text, size_t length)
{
    struct strict s = {.out = g_string_sized_new(length + 16)};
    const bool is_strict = make_strict(&s, text, text + length);
    g_autofree char *json = g_string_free(s.out, FALSE);
    g_autoptr(json_t) value = is_strict ? json_loads(json, JSON_ALLOW_NUL, NULL) : NULL;
    struct walk w = {.out = out};
    if (json_is_object(value))
        read_object(&w, value, "", true, 0);
    else if (json_is_object(json_array_get(value, 0)))
        read_array(&w, value, "", 0);
    else
        return false;
    return true;
}
