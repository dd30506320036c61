/* SPDX-License-Identifier: MIT */
/* CSV tables: one pass over the text creates a flat array of fields with their positions. Fields
 * are unquoted in place in a copy, so a table needs one allocation for its text. */
#include "lib/base/csv.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Limited because the check for duplicate names compares all pairs of columns. */
#define COLUMNS_MAX 4096

struct field {
    const char *text;
    int line, column;
};

struct orch_csv {
    char *name;
    char *text;           /* the copy that fields point into */
    GArray *fields;       /* struct field, header first, `width` per record */
    size_t width;         /* number of columns; 0 before the header is read */
    const char **columns; /* names of the header, NULL-terminated */
    char separator;       /* between fields */
    GStringChunk *set;    /* texts of replaced fields; NULL: none */
};

void orch_csv_free(struct orch_csv *csv)
{
    if (!csv)
        return;
    g_free(csv->name);
    g_free(csv->text);
    g_free(csv->columns);
    if (csv->set)
        g_string_chunk_free(csv->set);
    if (csv->fields)
        g_array_free(csv->fields, TRUE);
    g_free(csv);
}

/* Position of the reader. `write` is never beyond `read`, because unquoting shortens the text. */
struct cursor {
    char *read, *write, *end, *line_start;
    int line;
    char separator; /* between fields */
    const char *name;
};

static bool fail_at(const struct cursor *at, int column, const char *hint, GError **error,
                    const char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s\n  at: %s:%d:%d", what, at->name, at->line,
                   column);
    return false;
}

static int column_of(const struct cursor *at, const char *place)
{
    return (int)(place - at->line_start) + 1;
}

/* A CR counts as part of a line end before an LF or at the end of the text only. */
static bool is_line_end(const struct cursor *at)
{
    return *at->read == '\r' && (at->read + 1 == at->end || at->read[1] == '\n');
}

/* Reads a quoted field, from its opening quote to the position after its closing quote. */
static bool read_quoted(struct cursor *at, GError **error)
{
    const struct cursor start = *at;
    at->read++;
    for (;;) {
        if (at->read == at->end)
            return fail_at(&start, column_of(&start, start.read),
                           "close the field with '\"'; a quote inside is written twice", error,
                           "a quoted field does not end");
        if (*at->read == '"') {
            if (at->read + 1 == at->end || at->read[1] != '"')
                break;
            at->read++;
        } else if (*at->read == '\n') {
            at->line++;
            at->line_start = at->read + 1;
        }
        *at->write++ = *at->read++;
    }
    at->read++;
    if (at->read < at->end && *at->read != at->separator && *at->read != '\n' && !is_line_end(at))
        return fail_at(at, column_of(at, at->read),
                       "put the whole field in quotes; a quote inside is written twice", error,
                       "text follows a closing quote");
    return true;
}

static void read_plain(struct cursor *at)
{
    while (at->read < at->end && *at->read != at->separator && *at->read != '\n' &&
           !is_line_end(at))
        *at->write++ = *at->read++;
}

/* Reads one field with the separator or line end after it. `*out_last`: it is the record's last. */
static bool read_field(struct cursor *at, struct field *out, bool *out_last, GError **error)
{
    at->write = at->read;
    *out = (struct field){at->write, at->line, column_of(at, at->read)};
    if (at->read < at->end && *at->read == '"') {
        if (!read_quoted(at, error))
            return false;
    } else {
        read_plain(at);
    }
    char *stop = at->write;
    if (at->read < at->end && *at->read == '\r')
        at->read++;
    *out_last = at->read == at->end || *at->read == '\n';
    if (at->read < at->end) {
        if (*at->read == '\n') {
            at->line++;
            at->line_start = at->read + 1;
        }
        at->read++;
    }
    *stop = '\0'; /* the separator, the line end or the NUL after the text */
    return true;
}

static bool fail_utf8(struct cursor *at, const char *odd, GError **error)
{
    for (char *c = at->read; c < odd; c++) {
        at->line += *c == '\n';
        at->line_start = *c == '\n' ? c + 1 : at->line_start;
    }
    return fail_at(at, column_of(at, odd), "save the table as UTF-8 ('iconv -t UTF-8')", error,
                   "table is not UTF-8");
}

static bool skip_empty_lines(struct cursor *at)
{
    for (;;) {
        char *next = at->read;
        if (next < at->end && *next == '\r')
            next++;
        if (next == at->end)
            return false;
        if (*next != '\n')
            return true;
        at->read = at->line_start = next + 1;
        at->line++;
    }
}

static bool check_width(struct orch_csv *csv, const struct cursor *at, size_t first, GError **error)
{
    size_t count = csv->fields->len - first;
    if (csv->width == 0)
        csv->width = count;
    if (count == csv->width)
        return true;
    /* the first excess field, or the last one of a short record */
    size_t odd = count > csv->width ? first + csv->width : csv->fields->len - 1;
    const struct field *field = &g_array_index(csv->fields, struct field, odd);
    struct cursor place = *at;
    place.line = field->line;
    g_autofree char *what =
        g_strdup_printf("record has %zu fields, the header has %zu", count, csv->width);
    return fail_at(&place, field->column,
                   "write a comma between fields, and quotes around a field that has a comma",
                   error, what);
}

static bool read_records(struct orch_csv *csv, struct cursor *at, GError **error)
{
    while (skip_empty_lines(at)) {
        size_t first = csv->fields->len;
        for (bool last = false; !last;) {
            struct field field;
            if (!read_field(at, &field, &last, error))
                return false;
            g_array_append_val(csv->fields, field);
        }
        if (!check_width(csv, at, first, error))
            return false;
    }
    return csv->width > 0 ||
           fail_at(at, 1, "the first line must name the columns", error, "table is empty");
}

static bool index_columns(struct orch_csv *csv, GError **error)
{
    if (csv->width > COLUMNS_MAX) {
        const struct field *field = &g_array_index(csv->fields, struct field, COLUMNS_MAX);
        orch_error_set(error, ORCH_ERROR_RECIPE, "remove columns that are not needed",
                       "the header has %zu columns, but at most %d are allowed\n  at: %s:%d:%d",
                       csv->width, COLUMNS_MAX, csv->name, field->line, field->column);
        return false;
    }
    csv->columns = g_new0(const char *, csv->width + 1);
    for (size_t i = 0; i < csv->width; i++) {
        const struct field *field = &g_array_index(csv->fields, struct field, i);
        int other = i ? orch_csv_find(csv, field->text) : -1;
        if (other >= 0) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "rename or remove one of the two columns",
                           "column '%s' occurs twice in the header\n  at: %s:%d:%d", field->text,
                           csv->name, field->line, field->column);
            return false;
        }
        csv->columns[i] = field->text;
    }
    return true;
}

/* ---- separators --------------------------------------------------------------------------------
 */

/* Counts a byte in the line at `text`, outside quotes. */
static size_t count_in_line(const char *text, char wanted)
{
    size_t count = 0;
    bool quoted = false;
    for (; *text && (quoted || *text != '\n'); text++) {
        quoted = quoted != (*text == '"');
        count += !quoted && *text == wanted;
    }
    return count;
}

/* Skips the line "sep=;", in which spreadsheets name the separator of the rest. Returns the
 * separator, or 0 when there is no such line. */
static char skip_sep_line(struct cursor *at)
{
    size_t length = strcspn(at->read, "\r\n");
    if (length != strlen("sep=,") || g_ascii_strncasecmp(at->read, "sep=", 4) != 0 ||
        !strchr(",;\t|", at->read[4]))
        return 0;
    char separator = at->read[4];
    at->read += length;
    at->read += *at->read == '\r';
    at->read += *at->read == '\n';
    at->line_start = at->read;
    at->line++;
    return separator;
}

/* Sets the separator. Tabs are recognised where the header has no comma. Semicolons and '|' are
 * refused: their programs write decimal commas, and 1,5 might be read as two numbers, or as 15. */
static bool find_separator(struct cursor *at, GError **error)
{
    static const char others[] = "\t;|";
    char named = skip_sep_line(at);
    at->separator = named ? named : ',';
    for (const char *other = others; !named && *other && at->separator == ','; other++)
        if (!count_in_line(at->read, ',') && count_in_line(at->read, *other))
            at->separator = *other;
    if (at->separator == ',' || at->separator == '\t')
        return true;
    if (at->separator == '|')
        return fail_at(at, 1, "save with commas: pandas.read_csv(FILE, sep='|').to_csv(...)", error,
                       "columns are separated by vertical bars, not by commas");
    return fail_at(
        at, 1,
        "save the table with commas: pandas.read_csv(FILE, sep=';', decimal=',').to_csv(...)",
        error, "columns are separated by semicolons, not by commas");
}

struct orch_csv *orch_csv_parse(const char *name, const char *text, size_t length, GError **error)
{
    struct orch_csv *csv = g_new0(struct orch_csv, 1);
    csv->name = g_strdup(name);
    csv->text = g_malloc(length + 1);
    memcpy(csv->text, text, length);
    csv->text[length] = '\0';
    csv->fields = g_array_new(FALSE, FALSE, sizeof(struct field));
    struct cursor at = {.read = csv->text, .end = csv->text + length, .line = 1, .name = csv->name};
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        at.read += 3;
    at.line_start = at.read;
    bool good;
    const char *odd = NULL;
    const bool is_utf16 =
        length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    if (is_utf16)
        good = fail_at(&at, 1, "convert the table: iconv -f UTF-16 -t UTF-8", error,
                       "table is UTF-16 ('Unicode text'), not UTF-8");
    else if (memchr(text, '\0', length))
        good = fail_at(&at, 1, "save the table as text (UTF-8)", error,
                       "table holds a NUL byte: it is not text");
    else if (!g_utf8_validate_len(csv->text, length, &odd))
        good = fail_utf8(&at, odd, error);
    else
        good = find_separator(&at, error) && read_records(csv, &at, error) &&
               index_columns(csv, error);
    csv->separator = at.separator;
    if (good)
        return csv;
    orch_csv_free(csv);
    return NULL;
}

struct orch_csv *orch_csv_read_max(const char *path, size_t bytes_max, GError **error)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, bytes_max, &text, &length, error))
        return NULL;
    return orch_csv_parse(path, text, length, error);
}

struct orch_csv *orch_csv_read(const char *path, GError **error)
{
    return orch_csv_read_max(path, ORCH_CSV_BYTES_MAX, error);
}

size_t orch_csv_rows(const struct orch_csv *csv)
{
    return csv->fields->len / csv->width - 1;
}

char orch_csv_separator(const struct orch_csv *csv)
{
    return csv->separator;
}

/* True if the text is a number once each `sign` (bytes) is `plain`. */
static bool is_number_with(const char *text, const char *sign, const char *plain)
{
    double value;
    g_autoptr(GString) changed = g_string_new(text);
    return g_string_replace(changed, sign, plain, 0) && orch_real_parse(changed->str, &value);
}

const char *orch_csv_number_hint(const char *text)
{
    static const struct {
        const char *sign, *plain, *hint;
    } rows[] = {
        {",", ".", "write a decimal point (pandas.read_csv(FILE, decimal=',').to_csv(...))"},
        {"\xc2\xa0", "", "remove the no-break space (U+00A0) from the number"},
        {"\xe2\x80\xaf", "", "remove the narrow no-break space (U+202F) from the number"},
        {"\xe2\x88\x92", "-", "write a plain hyphen for the minus sign (U+2212)"},
        {" ", "", "remove the space from the number"},
        {"'", "", "remove the apostrophes from the number"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (is_number_with(text, rows[i].sign, rows[i].plain))
            return rows[i].hint;
    return NULL;
}

int orch_csv_columns(const struct orch_csv *csv)
{
    return (int)csv->width;
}

const char *orch_csv_name(const struct orch_csv *csv, int column)
{
    return csv->columns[column];
}

int orch_csv_find(const struct orch_csv *csv, const char *column)
{
    for (int i = 0; csv->columns[i]; i++)
        if (strcmp(csv->columns[i], column) == 0)
            return i;
    return -1;
}

bool orch_csv_column(const struct orch_csv *csv, const char *column, int *out_index, GError **error)
{
    int index = orch_csv_find(csv, column);
    if (index < 0) {
        const char *near = orch_suggest(column, csv->columns);
        g_autofree char *hint =
            near ? g_strdup_printf("the header has '%s': rename it to '%s'", near, column)
                 : g_strdup_printf("add a column '%s' to the header and to every record", column);
        orch_error_set(error, ORCH_ERROR_RECIPE, hint, "table has no column '%s'\n  at: %s:%d:1",
                       column, csv->name, g_array_index(csv->fields, struct field, 0).line);
        return false;
    }
    *out_index = index;
    return true;
}

static const struct field *field_at(const struct orch_csv *csv, size_t row, int column)
{
    return &g_array_index(csv->fields, struct field, (row + 1) * csv->width + (size_t)column);
}

int orch_csv_line(const struct orch_csv *csv, size_t row)
{
    return field_at(csv, row, 0)->line;
}

const char *orch_csv_text(const struct orch_csv *csv, size_t row, int column)
{
    return field_at(csv, row, column)->text;
}

void orch_csv_set_real(struct orch_csv *csv, size_t row, int column, double value)
{
    char text[ORCH_REAL_CHARS];
    struct field *field =
        &g_array_index(csv->fields, struct field, (row + 1) * csv->width + (size_t)column);
    if (!csv->set)
        csv->set = g_string_chunk_new(1024);
    field->text = g_string_chunk_insert(csv->set, orch_real_format(value, text));
}

static bool G_GNUC_PRINTF(5, 0)
    fail_field(const struct orch_csv *csv, const struct field *field, const char *hint,
               GError **error, const char *format, va_list arguments)
{
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s\n  at: %s:%d:%d", what, csv->name,
                   field->line, field->column);
    return false;
}

bool orch_csv_fail(const struct orch_csv *csv, size_t row, int column, const char *hint,
                   GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_field(csv, field_at(csv, row, column), hint, error, format, arguments);
    va_end(arguments);
    return false;
}

bool orch_csv_fail_header(const struct orch_csv *csv, int column, const char *hint, GError **error,
                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail_field(csv, &g_array_index(csv->fields, struct field, (guint)column), hint, error, format,
               arguments);
    va_end(arguments);
    return false;
}

bool orch_csv_real(const struct orch_csv *csv, size_t row, int column, double *out, GError **error)
{
    const char *text = orch_csv_text(csv, row, column);
    const char *hint = orch_csv_number_hint(text);
    if (!orch_real_parse(text, out))
        return orch_csv_fail(csv, row, column, hint ? hint : "write a number such as 12 or 0.62",
                             error, "'%s' in column '%s' is not a number", text,
                             csv->columns[column]);
    return true;
}

bool orch_csv_int(const struct orch_csv *csv, size_t row, int column, int64_t *out, GError **error)
{
    const char *text = orch_csv_text(csv, row, column);
    double value;
    /* above 2^53 a double does not represent every integer */
    if (orch_int_parse(text, out))
        return true;
    if (orch_real_parse(text, &value) && floor(value) == value &&
        fabs(value) < 9007199254740992.0) {
        *out = (int64_t)value;
        return true;
    }
    return orch_csv_fail(csv, row, column, "write a whole number such as 128", error,
                         "'%s' in column '%s' is not a whole number", text, csv->columns[column]);
}
