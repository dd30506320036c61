/* SPDX-License-Identifier: MIT */
#include "lib/wire/printed_table.h"

#include "lib/base/unit.h"
#include "lib/wire/printed_time.h"
#include "lib/wire/printed_words.h"

#include <string.h>

enum { COLUMNS_MAX = 64, CELL_BYTES_MAX = 63 };

struct cell {
    const char *text;
    size_t length;
};

static void clear_columns(struct printed_columns *columns)
{
    g_clear_pointer(&columns->names, g_ptr_array_unref);
    g_clear_pointer(&columns->words, g_ptr_array_unref);
}

void orch_printed_table_clear(struct printed_table *table)
{
    clear_columns(&table->by_step);
    clear_columns(&table->by_name);
    if (table->section)
        g_string_free(table->section, TRUE);
    if (table->header)
        g_string_free(table->header, TRUE);
    table->section = table->header = NULL;
}

/* True for a word that counts epochs or steps. */
static bool is_counter(const char *word, size_t length)
{
    const bool is_plural = length > 1 && g_ascii_tolower(word[length - 1]) == 's';
    const unsigned classes =
        orch_printed_classes(word, length) | orch_printed_classes(word, length - is_plural);
    return classes & (WORD_EPOCH | WORD_STEP) || (classes & WORD_BATCH && length > 2);
}

/* The end of the cell that begins at `at`; `*out_next`: where the next one begins. */
static const char *cell_end(const char *at, const char *end, char mark, const char **out_next)
{
    const char *p = at;
    for (; p < end; p++) {
        bool is_gap = mark == ' ' ? *p == ' ' && p + 1 < end && p[1] == ' ' : *p == mark;
        if (is_gap)
            break;
    }
    *out_next = p < end ? p + 1 : end;
    while (mark == ' ' && *out_next < end && **out_next == ' ')
        ++*out_next;
    return p;
}

/* Splits a line into cells without the space around them. Returns their number; 0: too many. */
static unsigned split(const char *text, size_t length, char mark, struct cell cells[COLUMNS_MAX])
{
    const char *at = text, *end = text + length;
    unsigned count = 0;
    while (at < end) {
        const char *next, *stop = cell_end(at, end, mark, &next);
        const bool is_open = next == end && stop < end && mark != ' '; /* "a,b," */
        while (at < stop && g_ascii_isspace(*at))
            at++;
        while (stop > at && g_ascii_isspace(stop[-1]))
            stop--;
        if (count == COLUMNS_MAX)
            return 0;
        cells[count++] = (struct cell){at, (size_t)(stop - at)};
        at = next;
        if (is_open && count < COLUMNS_MAX)
            cells[count++] = (struct cell){end, 0};
    }
    return count;
}

static bool is_number(const struct cell *cell)
{
    const char *at = cell->text + (cell->length && strchr("+-", *cell->text));
    return at < cell->text + cell->length &&
           (g_ascii_isdigit(*at) ||
            (cell->length <= 4 &&
             (g_ascii_strncasecmp(at, "nan", 3) == 0 || g_ascii_strncasecmp(at, "inf", 3) == 0)));
}

static bool is_name(const struct cell *cell)
{
    return cell->length && cell->length <= CELL_BYTES_MAX && !is_number(cell) &&
           !memchr(cell->text, '=', cell->length) && !memchr(cell->text, ':', cell->length);
}

/* "all 128 0.7" below "Class Images mAP50", as object detectors print it. */
static bool is_class_column(const struct cell *cell)
{
    return cell->length == 5 && g_ascii_strncasecmp(cell->text, "class", 5) == 0;
}

static void start_columns(struct printed_columns *columns, char mark, unsigned indent)
{
    clear_columns(columns);
    columns->names = g_ptr_array_new_with_free_func(g_free);
    columns->words = g_ptr_array_new_with_free_func(g_free);
    columns->mark = mark;
    columns->indent = indent;
    columns->is_seen = false;
    columns->others = 0;
}

/* A header is a line of names of which the first counts, or is that of classes. */
static bool take_header(struct printed_table *table, const struct cell *cells, unsigned count,
                        char mark)
{
    const bool is_by_class = count >= 3 && mark == ' ' && is_class_column(&cells[0]);
    bool is_header = is_by_class || (count >= 2 && is_counter(cells[0].text, cells[0].length));
    for (unsigned i = 0; is_header && i < count; i++)
        is_header = is_name(&cells[i]);
    if (!is_header)
        return false;
    start_columns(&table->by_step, mark, 0);
    table->is_by_class = is_by_class;
    for (unsigned i = 0; i < count; i++) /* "Box(P", "mAP50-95)" */
        g_ptr_array_add(table->by_step.names,
                        g_strdelimit(g_strndup(cells[i].text, cells[i].length), "()", '_'));
    return true;
}

static bool take_row(const struct printed_table *table, const struct cell *cells, unsigned count,
                     GString *out)
{
    const GPtrArray *names = table->by_step.names;
    const unsigned first = table->is_by_class; /* the column of the first number */
    const unsigned index = names && !first && count == names->len + 1; /* of a data frame */
    cells += index;
    count -= index;
    if (!names || names->len != count || (first && !is_name(&cells[0])))
        return false;
    for (unsigned i = first; i < count; i++)
        if (cells[i].length && !is_number(&cells[i]))
            return false;
    const bool is_named =
        first && !(cells[0].length == 3 && g_ascii_strncasecmp(cells[0].text, "all", 3) == 0);
    g_string_truncate(out, 0);
    for (unsigned i = first; i < count; i++)
        if (cells[i].length)
            g_string_append_printf(out, "%s%.*s%s%s: %.*s", out->len ? " | " : "",
                                   is_named ? (int)cells[0].length : 0, cells[0].text,
                                   is_named ? " " : "", (char *)names->pdata[i],
                                   (int)cells[i].length, cells[i].text);
    return true;
}

/* "| name | value |", and "| rollout/ | |" before names of that section. */
static bool take_pair(struct printed_table *table, const struct cell *cells, unsigned count,
                      GString *out)
{
    if (count != 2 || !is_name(&cells[0]))
        return false;
    bool is_section = !cells[1].length && cells[0].text[cells[0].length - 1] == '/';
    if (!table->section)
        table->section = g_string_new(NULL);
    g_string_truncate(out, 0);
    if (is_section) {
        g_string_truncate(table->section, 0);
        g_string_append_len(table->section, cells[0].text, (gssize)cells[0].length);
        return true;
    }
    if (!is_number(&cells[1]))
        return cells[1].length == 0;
    g_string_append_printf(out, "%s%.*s: %.*s", table->section->str, (int)cells[0].length,
                           cells[0].text, (int)cells[1].length, cells[1].text);
    return true;
}

/* The length without a progress bar at the end of a row: "640: 100%|####| 8/8 [00:03<00:00]". */
static size_t without_bar(const char *text, size_t length)
{
    for (const char *p = memchr(text, '%', length); p;
         p = memchr(p + 1, '%', (size_t)(text + length - p - 1))) {
        size_t before = (size_t)(p - text);
        while (before && g_ascii_isdigit(text[before - 1]))
            before--;
        while (before && g_ascii_isspace(text[before - 1]))
            before--;
        if (before && text[before - 1] == ':')
            return before - 1;
    }
    return length;
}

/* What separates the columns of a line that is no box; 0: it has none. */
static char mark_of(const char *text, size_t length)
{
    if (memchr(text, '\t', length))
        return '\t';
    if (memmem(text, length, "  ", 2))
        return ' ';
    return memchr(text, ',', length) ? ',' : 0;
}

/* ---- rows that a name tells apart ----------------------------------------------------------- */

/* Appends text as one word of a name. */
static void append_word(GString *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const bool is_part = g_ascii_isalnum(c) || (unsigned char)c >= 0x80;
        if (is_part)
            g_string_append_c(out, c);
        else if (out->len && out->str[out->len - 1] != '_')
            g_string_append_c(out, '_');
    }
    while (out->len && out->str[out->len - 1] == '_')
        g_string_truncate(out, out->len - 1);
}

/* Appends "column_label: value", or "label_column" where the column begins with no letter. */
static void append_cell(GString *out, const GString *label, const char *column,
                        const struct cell *value)
{
    const bool is_turned = !g_ascii_isalpha(*column);
    const char *first = is_turned ? label->str : column, *second = is_turned ? column : label->str;
    g_string_append_printf(out, "%s%s%s%s: %.*s", out->len ? " | " : "", first,
                           *first && *second ? "_" : "", second, (int)value->length, value->text);
}

static bool is_unit(const struct cell *cell)
{
    char rate[ORCH_UNIT_CHARS];
    return orch_unit_find(cell->text, cell->length) ||
           orch_unit_read_rate(cell->text, cell->length, rate);
}

/* Adds the name of a column, which another one may have already. */
static void add_column(GPtrArray *names, const char *text, size_t length)
{
    GString *name = g_string_new(NULL);
    append_word(name, text, length);
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], name->str) == 0 && name->len) {
            g_string_append_printf(name, "_%u", names->len + 1);
            break;
        }
    g_ptr_array_add(names, g_string_free(name, FALSE));
}

/* A line of names may be the header of a table that its rows confirm. */
static void note_header(struct printed_columns *columns, const struct cell *cells, unsigned count,
                        char mark, unsigned indent)
{
    bool is_header = count >= 2;
    unsigned words = 0;
    for (unsigned i = 0; is_header && i < count; i++) {
        is_header = (is_name(&cells[i]) || (!cells[i].length && mark == '|')) &&
                    !memchr(cells[i].text, ',', cells[i].length);
        for (size_t k = 0; k < cells[i].length; k++)
            words += cells[i].text[k] == ' ';
    }
    if (!is_header || (mark == ' ' ? count + words : count) < 3)
        return;
    start_columns(columns, mark, indent);
    for (unsigned i = 0; i < count; i++) {
        add_column(columns->names, cells[i].text, cells[i].length);
        g_autofree char *cell = g_strndup(cells[i].text, cells[i].length);
        g_auto(GStrv) parts = g_strsplit(cell, " ", -1);
        for (char **part = parts; *part; part++)
            add_column(columns->words, *part, strlen(*part));
    }
}

/* Of "| category | AP | category | AP |" the number of columns that are repeated; 0: none are. */
static unsigned repeated(const struct printed_columns *columns)
{
    const char *first = columns->names->pdata[0];
    for (guint i = 1; i < columns->names->len; i++) {
        const char *name = columns->names->pdata[i];
        if (g_str_has_prefix(name, first) && name[strlen(first)] == '_' && i > 1)
            return i;
    }
    return 0;
}

/* Appends the texts of cells, but units, to the label of a row. */
static void append_label(GString *label, const struct cell *cells, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (cells[i].length && !is_number(&cells[i]) && !is_unit(&cells[i])) {
            if (label->len)
                g_string_append_c(label, '_');
            append_word(label, cells[i].text, cells[i].length);
        }
}

/* True for a table of a model's layers: "| Name | Type | Params |", "| Layer (type) | Param # |".
 */
static bool is_of_layers(const struct printed_columns *columns)
{
    bool has_layers = false, has_counts = false;
    for (guint i = 0; i < columns->names->len; i++) {
        const char *name = columns->names->pdata[i];
        has_layers = has_layers || g_ascii_strcasecmp(name, "type") == 0 ||
                     g_ascii_strncasecmp(name, "layer", strlen("layer")) == 0;
        has_counts = has_counts || g_ascii_strncasecmp(name, "param", strlen("param")) == 0;
    }
    return has_layers && has_counts;
}

/* A row of cells between marks: its texts are the label of its numbers. */
static bool take_marked_row(struct printed_columns *columns, const struct cell *cells,
                            unsigned count, GString *out)
{
    if (!columns->names || columns->names->len != count)
        return false;
    const unsigned period = repeated(columns), width = period ? period : count;
    g_string_truncate(out, 0);
    if (is_of_layers(columns))
        return true;
    for (unsigned first = 0; first < count; first += width) {
        g_autoptr(GString) label = g_string_new(NULL);
        const unsigned end = MIN(first + width, count);
        append_label(label, &cells[first], end - first);
        for (unsigned i = first; i < end; i++) {
            const char *column = columns->names->pdata[i - first];
            if (is_number(&cells[i]) && *column)
                append_cell(out, label, column, &cells[i]);
        }
    }
    return out->len > 0;
}

/* The cells of a row between blanks: words, then numbers with their units and brackets. Returns how
 * many numbers there are; 0: it is no such row. `*out_label`: the words before them. */
static unsigned split_numbers(const char *text, size_t length, struct cell numbers[COLUMNS_MAX],
                              struct cell *out_label, struct cell *out_rest)
{
    const char *at = text, *end = text + length;
    unsigned count = 0;
    *out_label = *out_rest = (struct cell){text, 0};
    while (at < end) {
        while (at < end && *at == ' ')
            at++;
        const char *word = at;
        while (at < end && *at != ' ')
            at++;
        const struct cell cell = {word, (size_t)(at - word)};
        struct cell *last = count ? &numbers[count - 1] : out_label;
        if (!cell.length)
            break;
        if (is_number(&cell)) {
            if (count == COLUMNS_MAX)
                return 0;
            numbers[count++] = cell;
        } else if (!count || is_unit(&cell) || *word == '(') {
            last->length = (size_t)(at - last->text);
        } else if (*word != '*' && *word != '.') { /* not the stars of R */
            *out_rest = (struct cell){word, (size_t)(end - word)};
            return memchr(word, '=', (size_t)(end - word)) ? count : 0;
        }
    }
    return count;
}

/* Appends members behind the columns, "bytes_per_second=3.8G/s", with the row's label. */
static void append_members(GString *out, const GString *label, const struct cell *rest)
{
    g_autofree char *text = g_strndup(rest->text, rest->length);
    g_auto(GStrv) members = g_strsplit(text, " ", COLUMNS_MAX);
    for (char **member = members; *member; member++) {
        const char *equals = strchr(*member, '=');
        if (equals)
            g_string_append_printf(out, " | %.*s_%s%s", (int)(equals - *member), *member,
                                   label->str, equals);
    }
}

/* "Fix/Get/4  55 ns  56 ns  12919383" below "Benchmark  Time  CPU  Iterations". */
static bool take_spaced_row(struct printed_columns *columns, const struct cell *tag,
                            const char *text, size_t length, unsigned indent, GString *out)
{
    struct cell numbers[COLUMNS_MAX], label_cell, rest;
    if (!columns->names || columns->mark != ' ')
        return false;
    const unsigned count = split_numbers(text, length, numbers, &label_cell, &rest);
    if (count < 2)
        return false;
    const bool has_column = label_cell.length && columns->indent < indent + label_cell.length;
    const bool has_index =
        !label_cell.length && count == columns->names->len + 1 && count != columns->words->len;
    const unsigned width = count - has_index + has_column;
    const GPtrArray *names = columns->names->len == width ? columns->names : columns->words;
    if (names->len != width)
        return false;
    const struct cell *label_of = has_index ? &numbers[0] : tag->length ? tag : &label_cell;
    g_autoptr(GString) label = g_string_new(NULL);
    append_word(label, label_of->text, label_of->length);
    g_string_truncate(out, 0);
    for (unsigned i = has_index; i < count; i++)
        append_cell(out, label, names->pdata[i - has_index + has_column], &numbers[i]);
    append_members(out, label, &rest);
    return true;
}

/* ---- lines ----------------------------------------------------------------------------- */

/* "----", "|:---|---:|", "+----+": between a header and its rows. */
static bool is_rule(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr("-=+|: ", text[i]) || !text[i])
            return false;
    return length >= 3;
}

/* Takes the columns of the header above from the groups of a rule: "---  ------  -----". */
static void take_rule(struct printed_table *table, const char *text, size_t length, unsigned indent)
{
    struct cell groups[COLUMNS_MAX];
    const unsigned count =
        table->header && table->header->len ? split(text, length, ' ', groups) : 0;
    if (count < 2 || memchr(text, '|', length) || memchr(text, '+', length))
        return;
    start_columns(&table->by_name, ' ', indent);
    const size_t whole = table->header->len;
    for (unsigned i = 0; i < count; i++) {
        const size_t first = MIN((size_t)(groups[i].text - text) + indent, whole);
        const size_t bytes = MIN(groups[i].length, whole - first);
        g_autofree char *cell = g_strstrip(g_strndup(table->header->str + first, bytes));
        const char *name = strcmp(cell, "#") == 0   ? "step" /* spaCy */
                           : strcmp(cell, "E") == 0 ? "epoch"
                                                    : cell;
        add_column(table->by_name.names, name, strlen(name));
    }
}

/* Notes a line that is no row: the next one may be a rule below it, and a table ends some lines
 * after its last row. */
static void note_other(struct printed_table *table, const char *text, size_t length,
                       unsigned indent)
{
    enum { OTHERS_MAX = 3 };
    struct printed_columns *columns = &table->by_name;
    if (!table->header)
        table->header = g_string_new(NULL);
    for (unsigned i = 0; i < indent; i++)
        g_string_append_c(table->header, ' ');
    g_string_append_len(table->header, text, (gssize)length);
    if (columns->names && ++columns->others > (columns->is_seen ? OTHERS_MAX : 2))
        clear_columns(columns);
}

/* The number of a stream that iperf prints in brackets in front of a row, "[  5]": the text behind
 * it; `text` if there is none. */
static const char *skip_tag(const char *text, const char *end, struct cell *out_tag)
{
    enum { TAG_BYTES_MAX = 8 };
    const char *close = text < end && *text == '['
                            ? memchr(text, ']', MIN((size_t)(end - text), TAG_BYTES_MAX))
                            : NULL;
    *out_tag = (struct cell){text, 0};
    if (!close || close + 1 >= end)
        return text;
    for (text++; *text == ' ';)
        text++;
    *out_tag = (struct cell){text, (size_t)(close - text)};
    for (text = close + 1; text < end && *text == ' ';)
        text++;
    return text;
}

/* The time in front of a row, as sysstat prints it, is no column. */
static const char *skip_stamp(const char *text, const char *end)
{
    const char *behind = orch_printed_time_end(text, end);
    while (behind && behind < end && *behind == ' ')
        behind++;
    return behind && behind < end ? behind : text;
}

/* A row or a header of any table but those by step and by class. */
static bool take_by_name(struct printed_table *table, const char *text, size_t length,
                         unsigned indent, bool is_boxed, GString *out)
{
    struct cell cells[COLUMNS_MAX];
    struct printed_columns *columns = &table->by_name;
    const char *end = text + length;
    struct cell tag = {text, 0};
    text = is_boxed ? text : skip_tag(skip_stamp(text, end), end, &tag);
    length = (size_t)(end - text);
    const char mark = is_boxed ? '|' : columns->names ? columns->mark : mark_of(text, length);
    const char own_mark = is_boxed ? '|' : mark_of(text, length);
    if (!mark && !own_mark)
        return false;
    unsigned count = split(text + is_boxed, length - 2 * (size_t)is_boxed, mark, cells);
    if (mark == '\t' && count == 2 && is_name(&cells[0]) && is_number(&cells[1])) {
        g_string_printf(out, "%.*s: %.*s", (int)cells[0].length, cells[0].text,
                        (int)cells[1].length, cells[1].text);
        return true;
    }
    if (mark == ' ' ? take_spaced_row(columns, &tag, text, length, indent, out)
                    : take_marked_row(columns, cells, count, out)) {
        columns->is_seen = true;
        columns->others = 0;
        return true;
    }
    if (!own_mark)
        return false;
    count = split(text + is_boxed, length - 2 * (size_t)is_boxed, own_mark, cells);
    note_header(columns, cells, count, own_mark, indent);
    return false;
}

/* A header or a row of a table by step or by class, or a row of a box of names and values. */
static bool take_by_step(struct printed_table *table, const char *text, size_t length,
                         bool is_boxed, GString *out, bool *out_is_boxed)
{
    struct cell cells[COLUMNS_MAX];
    /* a line that begins with neither a counter nor a number is no part of a table by step */
    const bool may_be_row =
        table->by_step.names &&
        (g_ascii_isdigit(*text) || *text == '|' || (table->is_by_class && g_ascii_isalpha(*text)));
    size_t word = 0;
    while (word < length && (g_ascii_isalpha(text[word]) || text[word] == '_'))
        word++;
    const char mark = is_boxed              ? '|'
                      : may_be_row && !word ? table->by_step.mark
                                            : mark_of(text, length);
    if (!mark || !(is_boxed || may_be_row || is_counter(text, word) ||
                   is_class_column(&(struct cell){text, word})))
        return false;
    length = mark == ' ' ? without_bar(text, length) : length;
    const unsigned count = split(text + is_boxed, length - 2 * (size_t)is_boxed, mark, cells);
    if (take_header(table, cells, count, mark)) {
        g_string_truncate(out, 0);
        return true;
    }
    if (take_row(table, cells, count, out))
        return true;
    *out_is_boxed = is_boxed && take_pair(table, cells, count, out);
    return *out_is_boxed;
}

bool orch_printed_table_row(struct printed_table *table, const char *text, size_t length,
                            unsigned indent, GString *out, bool *out_is_boxed)
{
    while (length && g_ascii_isspace(text[length - 1]))
        length--;
    const bool is_boxed = length >= 3 && text[0] == '|' && text[length - 1] == '|';
    *out_is_boxed = false;
    if (!is_boxed && table->section)
        g_string_truncate(table->section, 0);
    if (!length)
        return false;
    if (is_rule(text, length)) {
        take_rule(table, text, length, indent);
        g_string_truncate(out, 0);
        return true;
    }
    if (table->header)
        g_string_truncate(table->header, 0);
    if (take_by_step(table, text, length, is_boxed, out, out_is_boxed) ||
        take_by_name(table, text, length, indent, is_boxed, out))
        return true;
    note_other(table, text, length, indent);
    return false;
}
