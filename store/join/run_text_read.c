/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parses a run's text, which is untrusted. Every line is validated before the first point is
 * returned, so a caller that writes the points into a store cannot fail halfway. The points are
 * parsed twice rather than kept, because those of a text of 256 MiB would take a gigabyte.
 */
#include "store/join/run_text_fields.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/number.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct reader {
    json_t *head;
    void *rows[RUN_TEXT_LISTS];
    struct orch_named_real *results;
    GArray *metrics;  /* struct orch_metric_row: those of results, then of points */
    GPtrArray *lines; /* json_t *: the lines of the metrics */

    const char *at, *end;
    int64_t line;      /* number of the line at `at` */
    const char *first; /* the text after the first line */
    guint next_metric; /* index into `lines` */
    const char *metric;
    int64_t left; /* remaining points of the metric */
};

static bool fail(const struct reader *reader, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static bool fail(const struct reader *reader, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *raw = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *what = g_utf8_make_valid(raw, -1); /* untrusted, or cut within a character */
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "not the text of a run: line %" G_GINT64_FORMAT ": %s", reader->line, what);
    return false;
}

/* ---- the first line --------------------------------------------------------------- */

static bool get_int(const json_t *value, int64_t least, int64_t most, int64_t *out)
{
    *out = json_integer_value(value);
    return json_is_integer(value) && *out >= least && *out <= most;
}

static bool get_real(const json_t *value, double *out)
{
    *out = (double)NAN;
    return json_is_null(value) || (orch_json_get_real(value, out) && !isnan(*out));
}

static bool read_field(enum store_value type, const json_t *value, void *at)
{
    int64_t number;
    guint64 seed;
    bool ok = true;
    switch (type) {
    case STORE_VALUE_INT64:
        return get_int(value, INT64_MIN, INT64_MAX, at);
    case STORE_VALUE_INT:
        ok = get_int(value, INT_MIN, INT_MAX, &number);
        *(int *)at = (int)number;
        return ok;
    case STORE_VALUE_EXIT:
        ok = get_int(value, INT_MIN, INT_MAX, &number);
        *(int *)at = json_is_null(value) ? -1 : (int)number;
        return ok || json_is_null(value);
    case STORE_VALUE_BOOL:
        *(bool *)at = json_is_true(value);
        return json_is_boolean(value);
    case STORE_VALUE_SEED:
        ok = json_is_string(value) && orch_json_get_u64(value, &seed);
        *(uint64_t *)at = ok ? seed : 0;
        return ok;
    case STORE_VALUE_REAL:
        return get_real(value, at);
    case STORE_VALUE_TEXT:
        *(const char **)at = json_string_value(value);
        return json_is_string(value) || json_is_null(value);
    default:
        *(const char **)at = json_string_value(value);
        return json_is_string(value);
    }
}

/* Reads exactly these members. The object must have `others` more, which the caller reads. */
static bool read_fields(const struct reader *reader, const struct store_member *fields,
                        const json_t *object, size_t others, const char *where, void *base,
                        GError **error)
{
    size_t count = 0;
    if (!json_is_object(object))
        return fail(reader, error, "%s is not an object", where);
    for (; fields[count].name; count++) {
        const json_t *value = json_object_get(object, fields[count].name);
        if (!value)
            return fail(reader, error, "%s has no '%s'", where, fields[count].name);
        if (!read_field(fields[count].kind, value, (char *)base + fields[count].offset))
            return fail(reader, error, "%s: '%s' is of the wrong type or out of range", where,
                        fields[count].name);
    }
    return json_object_size(object) == count + others ||
           fail(reader, error, "%s has members that this version does not know", where);
}

static bool read_list(struct reader *reader, int list, size_t *out_count, GError **error)
{
    const struct store_row_kind *shape = orch_run_text_list(list);
    const json_t *rows = json_object_get(reader->head, shape->plural);
    size_t count = json_array_size(rows);
    if (!json_is_array(rows) || count > RUN_TEXT_ROWS_MAX)
        return fail(reader, error, "'%s' is not a list, or is longer than %d", shape->plural,
                    RUN_TEXT_ROWS_MAX);
    char *base = reader->rows[list] = g_malloc0_n(count + 1, shape->row_bytes);
    for (size_t i = 0; i < count; i++)
        if (!read_fields(reader, shape->members, json_array_get(rows, i), 0, shape->plural,
                         base + i * shape->row_bytes, error))
            return false;
    *out_count = count;
    /* the first member of a row is its name; forecasts can share a fingerprint */
    for (size_t i = 1; list != RUN_TEXT_FORECASTS && i < count; i++)
        if (strcmp(*(const char **)(base + (i - 1) * shape->row_bytes),
                   *(const char **)(base + i * shape->row_bytes)) >= 0)
            return fail(reader, error, "the names of '%s' are not in ascending order",
                        shape->plural);
    return true;
}

static bool read_lists(struct reader *reader, struct orch_run_text *out, GError **error)
{
    struct orch_record *record = &out->record;
    size_t counts[RUN_TEXT_LISTS];
    for (int i = 0; i < RUN_TEXT_LISTS; i++)
        if (!read_list(reader, i, &counts[i], error))
            return false;
    record->params = reader->rows[STORE_PARAMS];
    record->param_count = counts[STORE_PARAMS];
    record->inputs = reader->rows[STORE_INPUTS];
    record->input_count = counts[STORE_INPUTS];
    record->artifacts = reader->rows[STORE_ARTIFACTS];
    record->artifact_count = counts[STORE_ARTIFACTS];
    out->forecasts = reader->rows[RUN_TEXT_FORECASTS];
    out->forecast_count = counts[RUN_TEXT_FORECASTS];
    for (size_t i = 0; i < out->forecast_count; i++)
        out->forecasts[i].run = record->key;
    const struct store_result *results = reader->rows[STORE_RESULTS];
    size_t count = counts[STORE_RESULTS];
    reader->results = g_new0(struct orch_named_real, count + 1);
    for (size_t i = 0; i < count; i++) {
        reader->results[i] = (struct orch_named_real){results[i].name, results[i].value};
        struct orch_metric_row row = {results[i].name, results[i].unit, results[i].better};
        g_array_append_val(reader->metrics, row);
    }
    record->results = reader->results;
    record->result_count = count;
    return true;
}

/* Returns the line at `at` without its end, and advances. NULL when there is no complete line. */
static const char *take_line(struct reader *reader, size_t *out_length)
{
    const char *line = reader->at;
    const char *end = memchr(line, '\n', (size_t)(reader->end - line));
    if (!end)
        return NULL;
    *out_length = (size_t)(end - line);
    reader->at = end + 1;
    reader->line++;
    return line;
}

static json_t *read_line_json(struct reader *reader, size_t most, GError **error)
{
    size_t length = 0;
    GError *problem = NULL;
    const char *line = take_line(reader, &length);
    if (!line) {
        fail(reader, error, "the text is truncated");
        return NULL;
    }
    json_t *value = orch_json_parse(line, length, most, &problem);
    if (value)
        return value;
    reader->line--;
    fail(reader, error, "%s", problem->message);
    g_clear_error(&problem);
    return NULL;
}

static bool read_head(struct reader *reader, struct orch_run_text *out, GError **error)
{
    reader->head = read_line_json(reader, RUN_TEXT_HEAD_MAX, error);
    if (!reader->head)
        return false;
    reader->line = 1;
    if (strcmp(orch_json_text(reader->head, "format", ""), RUN_TEXT_FORMAT) != 0)
        return fail(reader, error, "the format is not '" RUN_TEXT_FORMAT "'");
    const char *digest = orch_json_text(reader->head, "digest", "");
    if (!orch_sha256_is_valid(digest))
        return fail(reader, error, "the digest is missing");
    g_strlcpy(out->digest, digest, sizeof out->digest);
    /* the other members are format, digest and the lists */
    return read_fields(reader, run_text_record, reader->head, 2 + RUN_TEXT_LISTS, "the head",
                       &out->record, error) &&
           read_lists(reader, out, error);
}

/* ---- points ----------------------------------------------------------------------- */

static const char *read_step(const char *at, const char *end, int64_t *out)
{
    const char *after = orch_number_read_int(at, end, out);
    if (after)
        return after;
    char digits[24]; /* fallback for the few integers of 19 digits */
    size_t length = 0;
    while (at + length < end && length + 1 < sizeof digits &&
           (g_ascii_isdigit(at[length]) || (length == 0 && *at == '-')))
        length++;
    memcpy(digits, at, length);
    digits[length] = 0;
    gint64 value;
    if (digits[*digits == '-'] == '0' ||
        !g_ascii_string_to_signed(digits, 10, INT64_MIN, INT64_MAX, &value, NULL))
        return NULL;
    *out = value;
    return at + length;
}

static const char *read_real(const char *at, const char *end, double *out)
{
    static const struct {
        const char *text;
        size_t length;
        double value;
    } words[] = {{"null", 4, NAN}, {"\"inf\"", 5, INFINITY}, {"\"-inf\"", 6, -INFINITY}};
    if (at < end && (*at == '"' || *at == 'n')) {
        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
            if ((size_t)(end - at) > words[i].length &&
                memcmp(at, words[i].text, words[i].length) == 0) {
                *out = words[i].value;
                return at + words[i].length;
            }
        }
        return NULL;
    }
    return orch_number_read(at, end, out);
}

static const char *expect(const char *at, const char *end, char c)
{
    return at && at < end && *at == c ? at + 1 : NULL;
}

/* Parses "[step,t_ms,value]\n" at `at`; NULL when there is none. */
static const char *read_point(const char *at, const char *end, struct orch_point *out)
{
    if ((at = expect(at, end, '[')) && (at = read_step(at, end, &out->step)) &&
        (at = expect(at, end, ',')) && (at = read_real(at, end, &out->t_ms)) &&
        (at = expect(at, end, ',')) && (at = read_real(at, end, &out->value)) &&
        (at = expect(at, end, ']')))
        return expect(at, end, '\n');
    return NULL;
}

static bool read_metric(struct reader *reader, GError **error)
{
    json_t *line = read_line_json(reader, RUN_TEXT_METRIC_MAX, error);
    if (!line)
        return false;
    g_ptr_array_add(reader->lines, line);
    reader->line--;
    struct orch_metric_row row = {orch_json_text(line, "metric", NULL),
                                  orch_json_text(line, "unit", NULL),
                                  orch_json_text(line, "better", NULL)};
    if (!row.name || !row.unit || !row.better || json_object_size(line) != 4 ||
        !get_int(json_object_get(line, "points"), 1, ORCH_RUN_TEXT_MAX, &reader->left))
        return fail(reader, error, "expected the first line of a metric");
    if (reader->lines->len > RUN_TEXT_METRICS_MAX)
        return fail(reader, error, "more than %d metrics", RUN_TEXT_METRICS_MAX);
    if (reader->metric && strcmp(reader->metric, row.name) >= 0)
        return fail(reader, error, "the names of the metrics are not in ascending order");
    g_array_append_val(reader->metrics, row);
    reader->metric = row.name;
    reader->line++;
    return true;
}

/* Validates all lines after the first, so that they can be read again without checks. */
static bool check_points(struct reader *reader, GError **error)
{
    while (reader->at < reader->end) {
        if (!read_metric(reader, error))
            return false;
        struct orch_point point;
        int64_t last = 0;
        for (int64_t i = 0; i < reader->left; i++) {
            const char *after = read_point(reader->at, reader->end, &point);
            if (!after)
                return fail(reader, error, "expected a point [step,t_ms,value] of metric '%.100s'",
                            reader->metric);
            if (i && point.step <= last)
                return fail(reader, error,
                            "the steps of metric '%.100s' are not in ascending order",
                            reader->metric);
            last = point.step;
            reader->at = after;
            reader->line++;
        }
    }
    return true;
}

/* Checks that each name has one unit and one direction, and drops repeated names. */
static bool check_metrics(struct reader *reader, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GArray *kept = g_array_new(FALSE, FALSE, sizeof(struct orch_metric_row));
    bool ok = true;
    for (guint i = 0; ok && i < reader->metrics->len; i++) {
        struct orch_metric_row *row = &g_array_index(reader->metrics, struct orch_metric_row, i);
        const struct orch_metric_row *known = g_hash_table_lookup(seen, row->name);
        ok = !known ||
             (strcmp(known->unit, row->unit) == 0 && strcmp(known->better, row->better) == 0);
        if (!ok)
            fail(reader, error, "metric '%.100s' has two units, or two directions (up, down)",
                 row->name);
        if (known)
            continue;
        g_hash_table_insert(seen, (char *)(uintptr_t)row->name, row);
        g_array_append_val(kept, *row);
    }
    g_hash_table_remove_all(seen);
    g_array_unref(reader->metrics);
    reader->metrics = kept;
    return ok;
}

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct reader *reader = ctx;
    if (!reader->left) {
        if (reader->next_metric >= reader->lines->len)
            return false;
        const json_t *line = reader->lines->pdata[reader->next_metric++];
        reader->metric = orch_json_text(line, "metric", "");
        reader->left = orch_json_int(line, "points", 0);
        reader->at = (const char *)memchr(reader->at, '\n', (size_t)(reader->end - reader->at)) + 1;
    }
    out->name = reader->metric;
    reader->at = read_point(reader->at, reader->end, out);
    reader->left--;
    return true;
}

/* ---- entry points ----------------------------------------------------------------- */

static void free_json(gpointer value)
{
    json_decref(value);
}

struct orch_run_text *orch_run_text_decode(const char *text, size_t length, GError **error)
{
    struct orch_run_text *out = g_new0(struct orch_run_text, 1);
    struct reader *reader = out->kept = g_new0(struct reader, 1);
    *reader = (struct reader){
        .at = text,
        .end = text + length,
        .line = 1,
        .metrics = g_array_new(FALSE, FALSE, sizeof(struct orch_metric_row)),
        .lines = g_ptr_array_new_with_free_func(free_json),
    };
    bool ok = length <= ORCH_RUN_TEXT_MAX || fail(reader, error, "the text is over 256 MiB");
    ok = ok && read_head(reader, out, error);
    if (ok) {
        reader->line = 2;
        reader->first = reader->at;
        ok = check_points(reader, error) && check_metrics(reader, error);
    }
    if (!ok) {
        orch_run_text_free(out);
        return NULL;
    }
    reader->at = reader->first;
    reader->left = 0;
    out->record.metrics = (const struct orch_metric_row *)(const void *)reader->metrics->data;
    out->record.metric_count = reader->metrics->len;
    out->record.next_point = next_point;
    out->record.next_ctx = reader;
    return out;
}

void orch_run_text_free(struct orch_run_text *run)
{
    if (!run)
        return;
    struct reader *reader = run->kept;
    json_decref(reader->head);
    for (int i = 0; i < RUN_TEXT_LISTS; i++)
        g_free(reader->rows[i]);
    g_free(reader->results);
    g_array_unref(reader->metrics);
    g_ptr_array_unref(reader->lines);
    g_free(reader);
    g_free(run);
}
