/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets in memory and as text: headings and rows in canonical JSON, and the digest over them.
 * Numbers have the shortest text that parses to the same value, so 0.10 and 0.1 are equal. */
#include "store/write/dataset_text.h"
#include "store/write/dataset.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/sha256.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define KIND "orch data set"
#define FORMAT 1

/* ---- in memory --------------------------------------------------------------------------------
 */

static void clear_column(gpointer data)
{
    struct orch_dataset_column *column = data;
    g_free(column->name);
    g_free(column->numbers);
    g_free(column->texts);
}

static struct orch_dataset *new_heading(const char *name, const char *target, const char *unit)
{
    struct orch_dataset *set = g_new0(struct orch_dataset, 1);
    set->name = g_strdup(name);
    set->target = g_strdup(target);
    set->unit = g_strdup(unit ? unit : "");
    set->columns = g_array_new(FALSE, TRUE, sizeof(struct orch_dataset_column));
    g_array_set_clear_func(set->columns, clear_column);
    set->about = json_object();
    set->kept = g_string_chunk_new(4096);
    return set;
}

static double *new_numbers(size_t rows)
{
    double *numbers = g_new(double, MAX(rows, 1));
    for (size_t i = 0; i < rows; i++)
        numbers[i] = (double)NAN;
    return numbers;
}

struct orch_dataset *orch_dataset_new(const char *name, const char *target, const char *unit,
                                      size_t rows)
{
    struct orch_dataset *set = new_heading(name, target, unit);
    set->rows = rows;
    set->targets = new_numbers(rows);
    return set;
}

void orch_dataset_free(struct orch_dataset *set)
{
    if (!set)
        return;
    char *const texts[] = {set->name, set->source, set->licence, set->target, set->unit};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(set->targets);
    g_array_unref(set->columns);
    json_decref(set->about);
    g_string_chunk_free(set->kept);
    g_free(set);
}

double *orch_dataset_add_numbers(struct orch_dataset *set, const char *name)
{
    struct orch_dataset_column column = {.name = g_strdup(name), .numbers = new_numbers(set->rows)};
    g_array_append_val(set->columns, column);
    return column.numbers;
}

const char **orch_dataset_add_texts(struct orch_dataset *set, const char *name)
{
    struct orch_dataset_column column = {
        .name = g_strdup(name), .is_text = true, .texts = g_new0(const char *, MAX(set->rows, 1))};
    g_array_append_val(set->columns, column);
    return column.texts;
}

const char *orch_dataset_keep(struct orch_dataset *set, const char *text)
{
    return g_string_chunk_insert_const(set->kept, text);
}

const struct orch_dataset_column *orch_dataset_column(const struct orch_dataset *set, guint column)
{
    return &g_array_index(set->columns, struct orch_dataset_column, column);
}

const struct orch_dataset_column *orch_dataset_find(const struct orch_dataset *set,
                                                    const char *name)
{
    for (guint i = 0; i < set->columns->len; i++)
        if (strcmp(orch_dataset_column(set, i)->name, name) == 0)
            return orch_dataset_column(set, i);
    return NULL;
}

/* ---- a row ------------------------------------------------------------------------------------
 */

static void append_number(GString *out, double value)
{
    char text[ORCH_REAL_CHARS];
    if (isnan(value))
        g_string_append(out, "null");
    else if (value == floor(value) && fabs(value) < 1e9) /* five times faster for whole numbers */
        g_string_append_printf(out, "%d", (int)value);
    else
        g_string_append(out, orch_real_format(value, text));
}

static bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < 0x20)
            return false;
    return true;
}

static void append_text(GString *out, const char *text)
{
    if (!text) {
        g_string_append(out, "null");
    } else if (is_plain(text)) {
        g_string_append_c(out, '"');
        g_string_append(out, text);
        g_string_append_c(out, '"');
    } else {
        g_autoptr(json_t) value = json_string(text);
        g_autofree char *escaped = value ? orch_json_canonical(value) : g_strdup("null");
        g_string_append(out, escaped);
    }
}

void orch_store_dataset_row(const struct orch_dataset *set, size_t row, GString *out)
{
    g_string_assign(out, "[");
    for (guint i = 0; i < set->columns->len; i++) {
        const struct orch_dataset_column *column = orch_dataset_column(set, i);
        if (i)
            g_string_append_c(out, ',');
        if (column->is_text)
            append_text(out, column->texts[row]);
        else
            append_number(out, column->numbers[row]);
    }
    g_string_append_c(out, ']');
}

static bool read_value(struct orch_dataset *set, const struct orch_dataset_column *column,
                       size_t row, const json_t *value)
{
    if (json_is_null(value))
        return true;
    if (column->is_text && json_is_string(value)) {
        column->texts[row] = orch_dataset_keep(set, json_string_value(value));
        return true;
    }
    if (column->is_text || !json_is_number(value))
        return false;
    column->numbers[row] = json_number_value(value);
    return isfinite(column->numbers[row]);
}

static bool read_values(struct orch_dataset *set, size_t row, const json_t *values, size_t first)
{
    if (!json_is_array(values) || json_array_size(values) != set->columns->len + first)
        return false;
    for (guint i = 0; i < set->columns->len; i++)
        if (!read_value(set, orch_dataset_column(set, i), row, json_array_get(values, i + first)))
            return false;
    return true;
}

bool orch_store_dataset_read_row(struct orch_dataset *set, size_t row, const char *text,
                                 size_t length)
{
    g_autoptr(json_t) values = orch_json_parse(text, length, length, NULL);
    return values && read_values(set, row, values, 0);
}

/* ---- heading and digest -----------------------------------------------------------------------
 */

static json_t *encode_columns(const struct orch_dataset *set, bool with_labels)
{
    json_t *columns = json_array();
    for (guint i = 0; i < set->columns->len; i++) {
        const struct orch_dataset_column *column = orch_dataset_column(set, i);
        json_t *object = json_pack("{s:s, s:s}", "name", column->name, "type",
                                   column->is_text ? "text" : "number");
        if (with_labels && column->left_out)
            json_object_set_new(object, "left_out", json_true());
        json_array_append_new(columns, object);
    }
    return columns;
}

char *orch_store_dataset_heading(const struct orch_dataset *set)
{
    g_autoptr(json_t) head =
        json_pack("{s:i, s:s, s:s, s:I, s:o, s:O}", "format", FORMAT, "target", set->target, "unit",
                  set->unit, "rows", (json_int_t)set->rows, "columns", encode_columns(set, true),
                  "about", set->about);
    return orch_json_canonical(head);
}

static bool read_column(struct orch_dataset *set, const json_t *object)
{
    const char *name = orch_json_text(object, "name", NULL);
    const char *type = orch_json_text(object, "type", "");
    if (!name || (strcmp(type, "text") != 0 && strcmp(type, "number") != 0) ||
        orch_dataset_find(set, name) || strcmp(name, set->target) == 0)
        return false;
    struct orch_dataset_column column = {.name = g_strdup(name),
                                         .is_text = strcmp(type, "text") == 0,
                                         .left_out =
                                             json_is_true(json_object_get(object, "left_out"))};
    g_array_append_val(set->columns, column);
    return true;
}

static bool read_columns(struct orch_dataset *set, const json_t *head)
{
    const json_t *columns = json_object_get(head, "columns");
    gint64 rows = orch_json_int(head, "rows", -1);
    if (!json_is_array(columns) || json_array_size(columns) > ORCH_DATASET_COLUMNS_MAX ||
        rows < 0 || rows > ORCH_DATASET_ROWS_MAX || orch_json_int(head, "format", 0) != FORMAT)
        return false;
    set->rows = (size_t)rows;
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (!read_column(set, json_array_get(columns, i)))
            return false;
    return true;
}

static struct orch_dataset *decode_heading(const char *name, const json_t *head)
{
    const char *target = head ? orch_json_text(head, "target", NULL) : NULL;
    if (!target || !name)
        return NULL;
    struct orch_dataset *set = new_heading(name, target, orch_json_text(head, "unit", ""));
    if (!read_columns(set, head)) {
        orch_dataset_free(set);
        return NULL;
    }
    json_t *about = json_object_get(head, "about");
    if (json_is_object(about)) {
        json_decref(set->about);
        set->about = json_incref(about);
    }
    return set;
}

struct orch_dataset *orch_store_dataset_read_heading(const char *name, const char *text,
                                                     size_t length)
{
    g_autoptr(json_t) head = orch_json_parse(text, length, length, NULL);
    return decode_heading(name, head);
}

void orch_store_dataset_allocate(struct orch_dataset *set)
{
    set->targets = new_numbers(set->rows);
    for (guint i = 0; i < set->columns->len; i++) {
        struct orch_dataset_column *column =
            &g_array_index(set->columns, struct orch_dataset_column, i);
        if (column->is_text)
            column->texts = g_new0(const char *, MAX(set->rows, 1));
        else
            column->numbers = new_numbers(set->rows);
    }
}

static void begin_digest(const struct orch_dataset *set, struct orch_hash *hash)
{
    g_autoptr(json_t) what = json_pack(
        "{s:s, s:i, s:s, s:s, s:I, s:o}", "kind", KIND, "format", FORMAT, "target", set->target,
        "unit", set->unit, "rows", (json_int_t)set->rows, "columns", encode_columns(set, false));
    g_autofree char *line = orch_json_canonical(what);
    orch_hash_begin(hash);
    orch_hash_add(hash, line, strlen(line));
    orch_hash_add(hash, "\n", 1);
}

static void make_line(double target, const char *features, GString *out)
{
    g_string_assign(out, "[");
    append_number(out, target);
    if (features[1] != ']')
        g_string_append_c(out, ',');
    g_string_append(out, features + 1);
    g_string_append_c(out, '\n');
}

/* ---- encoding and decoding --------------------------------------------------------------------
 */

static json_t *export_heading(const struct orch_dataset *set)
{
    g_autofree char *inner = orch_store_dataset_heading(set);
    json_t *head = orch_json_parse(inner, strlen(inner), strlen(inner), NULL);
    json_object_set_new(head, "kind", json_string(KIND));
    json_object_set_new(head, "name", json_string(set->name));
    json_object_set_new(head, "source", orch_json_text_or_null(set->source));
    json_object_set_new(head, "licence", orch_json_text_or_null(set->licence));
    json_object_set_new(head, "sha256", json_string(set->sha256));
    return head;
}

/* Adds the line of every row to the digest, and to `out` unless it is NULL. */
static void walk_rows(struct orch_dataset *set, GString *out)
{
    g_autoptr(GString) features = g_string_new(NULL), line = g_string_new(NULL);
    struct orch_hash hash;
    begin_digest(set, &hash);
    for (size_t i = 0; i < set->rows; i++) {
        orch_store_dataset_row(set, i, features);
        make_line(set->targets[i], features->str, line);
        orch_hash_add(&hash, line->str, line->len);
        if (out)
            g_string_append_len(out, line->str, (gssize)line->len);
    }
    orch_hash_end_text(&hash, set->sha256);
}

void orch_store_dataset_digest(struct orch_dataset *set)
{
    walk_rows(set, NULL);
}

GString *orch_dataset_encode(struct orch_dataset *set)
{
    GString *out = g_string_new(NULL);
    walk_rows(set, out);
    g_autoptr(json_t) head = export_heading(set);
    g_autofree char *first = orch_json_canonical(head);
    g_string_prepend_c(out, '\n');
    g_string_prepend(out, first);
    return out;
}

static bool fail_line(const char *name, size_t line, GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "repeat 'orch measurements export'",
                   "%s\n  at: %s:%zu", what, name, line);
    return false;
}

/* Returns the next line and advances `*text`, or NULL when there is none. */
static const char *next_line(const char **text, const char *end, size_t *out_length)
{
    const char *start = *text;
    const char *stop = start < end ? memchr(start, '\n', (size_t)(end - start)) : NULL;
    if (!stop)
        return NULL;
    *out_length = (size_t)(stop - start);
    *text = stop + 1;
    return start;
}

static bool decode_rows(struct orch_dataset *set, const char *name, const char *text,
                        const char *end, GError **error)
{
    orch_store_dataset_allocate(set);
    for (size_t row = 0; row < set->rows; row++) {
        size_t length = 0;
        const char *line = next_line(&text, end, &length);
        g_autoptr(json_t) values = line ? orch_json_parse(line, length, length, NULL) : NULL;
        const json_t *target = json_array_get(values, 0);
        if (!json_is_number(target) || !read_values(set, row, values, 1))
            return fail_line(name, row + 2, error,
                             line ? "not a row of this data set" : "the file ends too early");
        set->targets[row] = json_number_value(target);
    }
    return text == end || fail_line(name, set->rows + 2, error, "text follows the last row");
}

/* Verifies the digest of the parsed set rather than of the bytes, because that is the digest that a
 * store computes. */
static bool check_digest(struct orch_dataset *set, const char *name, GError **error)
{
    char named[ORCH_SHA256_CHARS];
    memcpy(named, set->sha256, sizeof named);
    orch_store_dataset_digest(set);
    return strcmp(named, set->sha256) == 0 ||
           fail_line(name, 1, error, "its rows do not match its digest");
}

struct orch_dataset *orch_dataset_decode(const char *name, const char *text, size_t length,
                                         GError **error)
{
    const char *end = text + length;
    size_t head_length = 0;
    const char *line = next_line(&text, end, &head_length);
    g_autoptr(json_t) head = line ? orch_json_parse(line, head_length, head_length, NULL) : NULL;
    const char *set_name = head ? orch_json_text(head, "name", NULL) : NULL;
    const char *sha256 = head ? orch_json_text(head, "sha256", "") : "";
    struct orch_dataset *set = NULL;
    if (head && strcmp(orch_json_text(head, "kind", ""), KIND) == 0 &&
        orch_json_int(head, "format", 0) > FORMAT) {
        fail_line(name, 1, error, "the data set has a newer format: update orch");
        return NULL;
    }
    /* bounds the number of rows by the bytes that are left: a row has at least two, and a line
     * end */
    if (head && strcmp(orch_json_text(head, "kind", ""), KIND) == 0 && set_name &&
        orch_name_is_valid(set_name, true) && orch_sha256_is_valid(sha256) &&
        orch_json_int(head, "rows", 0) <= (gint64)((end - text) / 3))
        set = decode_heading(set_name, head);
    if (!set) {
        fail_line(name, 1, error, "not the header of a data set");
        return NULL;
    }
    g_strlcpy(set->sha256, sha256, sizeof set->sha256);
    set->source = g_strdup(orch_json_text(head, "source", NULL));
    set->licence = g_strdup(orch_json_text(head, "licence", NULL));
    if (decode_rows(set, name, text, end, error) && check_digest(set, name, error))
        return set;
    orch_dataset_free(set);
    return NULL;
}
