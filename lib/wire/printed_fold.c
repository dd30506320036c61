/* SPDX-License-Identifier: MIT */
/* Tables are rewritten as text, so that names, numbers and units are read in one place only. */
#include "lib/wire/printed_fold.h"

#include <string.h>

enum { COLUMNS_MAX = 64, CELL_BYTES_MAX = 63 };

/* ---- signs -------------------------------------------------------------------------------------
 */

static const struct {
    const char *sign;
    char plain; /* 0: left out */
} SIGNS[] = {
    {"\xe2\x88\x92", '-'}, {"\xe2\x80\x8b", 0},   {"\xe2\x80\x87", ' '}, {"\xe2\x80\x89", ' '},
    {"\xe2\x80\xaf", ' '}, {"\xe2\x86\x92", ' '}, {"\xe2\x94\x82", '|'}, {"\xe2\x94\x83", '|'},
    {"\xe2\x95\x91", '|'}, {"\xc2\xa0", ' '},     {"\xe3\x80\x80", ' '}, {"\xe3\x80\x81", ','},
    {"\xef\xbb\xbf", 0},   {"\xef\xbd\x9c", '|'},
};

/* Full-width forms U+FF01 to U+FF5E are those of U+0021 to U+007E. */
static char full_width(const unsigned char *at)
{
    if (at[0] != 0xef || (at[1] != 0xbc && at[1] != 0xbd))
        return 0;
    int plain = at[1] == 0xbc ? at[2] - 0x81 + 0x21 : at[2] - 0x80 + 0x60;
    bool is_form = at[1] == 0xbc ? at[2] >= 0x81 && at[2] <= 0xbf : at[2] >= 0x80 && at[2] <= 0x9e;
    return is_form ? (char)plain : 0;
}

size_t orch_printed_escape_bytes(const char *at, const char *end)
{
    if (*at != '\033')
        return 0;
    const char *p = at + 1;
    if (p < end && *p == ']') { /* a title or a link, up to BEL or ESC \ */
        while (p < end && *p != '\a' && *p != '\033')
            p++;
        p += p + 1 < end && *p == '\033';
        return (size_t)(MIN(p + 1, end) - at);
    }
    if (p < end && *p == '[')
        for (p++; p < end && (unsigned char)*p < 0x40;)
            p++;
    return (size_t)(MIN(p + 1, end) - at);
}

bool orch_printed_fold_line(const char *text, size_t length, GString *out)
{
    const char *end = text + length, *at = text;
    while (at < end && !((unsigned char)*at >= 0x80 || *at == '\033'))
        at++;
    if (at == end)
        return false;
    g_string_truncate(out, 0);
    g_string_append_len(out, text, at - text);
    while (at < end) {
        size_t skip = orch_printed_escape_bytes(at, end);
        char plain = 0;
        for (size_t i = 0; !skip && (unsigned char)*at >= 0x80 && i < G_N_ELEMENTS(SIGNS); i++) {
            size_t bytes = strlen(SIGNS[i].sign);
            if ((size_t)(end - at) >= bytes && memcmp(at, SIGNS[i].sign, bytes) == 0) {
                skip = bytes;
                plain = SIGNS[i].plain;
            }
        }
        if (!skip && end - at >= 3 && (plain = full_width((const unsigned char *)at)))
            skip = 3;
        if (!skip)
            g_string_append_c(out, *at++);
        else if (plain)
            g_string_append_c(out, plain);
        at += skip;
    }
    return true;
}

/* ---- tables ------------------------------------------------------------------------------------
 */

struct cell {
    const char *text;
    size_t length;
};

void orch_printed_table_clear(struct printed_table *table)
{
    g_clear_pointer(&table->columns, g_ptr_array_unref);
    if (table->section)
        g_string_free(table->section, TRUE);
    table->section = NULL;
}

bool orch_printed_is_counter(const char *word, size_t length)
{
    static const char *const words[] = {"epoch",  "epochs", "ep",        "round",      "episode",
                                        "step",   "steps",  "iteration", "iter",       "itr",
                                        "update", "batch",  "timestep",  "global_step"};
    char first = length ? g_ascii_tolower(*word) : 0;
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (*words[i] == first && strlen(words[i]) == length &&
            g_ascii_strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
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
        while (at < stop && g_ascii_isspace(*at))
            at++;
        while (stop > at && g_ascii_isspace(stop[-1]))
            stop--;
        if (count == COLUMNS_MAX)
            return 0;
        cells[count++] = (struct cell){at, (size_t)(stop - at)};
        at = next;
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

/* A header is a line of names of which the first counts, or is that of classes. */
static bool take_header(struct printed_table *table, const struct cell *cells, unsigned count,
                        char mark)
{
    const bool is_by_class = count >= 3 && mark == ' ' && is_class_column(&cells[0]);
    bool is_header =
        is_by_class || (count >= 2 && orch_printed_is_counter(cells[0].text, cells[0].length));
    for (unsigned i = 0; is_header && i < count; i++)
        is_header = is_name(&cells[i]);
    if (!is_header)
        return false;
    g_clear_pointer(&table->columns, g_ptr_array_unref);
    table->columns = g_ptr_array_new_with_free_func(g_free);
    table->mark = mark;
    table->is_by_class = is_by_class;
    for (unsigned i = 0; i < count; i++) /* "Box(P", "mAP50-95)" */
        g_ptr_array_add(table->columns,
                        g_strdelimit(g_strndup(cells[i].text, cells[i].length), "()", '_'));
    return true;
}

static bool take_row(const struct printed_table *table, const struct cell *cells, unsigned count,
                     GString *out)
{
    const unsigned first = table->is_by_class; /* the column of the first number */
    if (!table->columns || table->columns->len != count || (first && !is_name(&cells[0])))
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
                                   is_named ? " " : "", (char *)table->columns->pdata[i],
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
    const char *bar = memmem(text, length, "%|", 2);
    size_t before = bar ? (size_t)(bar - text) : length;
    while (bar && before && g_ascii_isdigit(text[before - 1]))
        before--;
    while (bar && before && g_ascii_isspace(text[before - 1]))
        before--;
    return bar && before && text[before - 1] == ':' ? before - 1 : length;
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

bool orch_printed_fold_row(struct printed_table *table, const char *text, size_t length,
                           GString *out, bool *out_is_boxed)
{
    struct cell cells[COLUMNS_MAX];
    while (length && g_ascii_isspace(text[length - 1]))
        length--;
    bool is_boxed = length >= 3 && text[0] == '|' && text[length - 1] == '|';
    *out_is_boxed = false;
    if (!is_boxed && table->section)
        g_string_truncate(table->section, 0);
    /* a line that begins with neither a counter nor a number is no part of a plain table */
    bool may_be_row =
        length && table->columns &&
        (g_ascii_isdigit(*text) || *text == '|' || (table->is_by_class && g_ascii_isalpha(*text)));
    size_t word = 0;
    while (word < length && (g_ascii_isalpha(text[word]) || text[word] == '_'))
        word++;
    if (!is_boxed && !may_be_row && !orch_printed_is_counter(text, word) &&
        !is_class_column(&(struct cell){text, word}))
        return false;
    char mark = is_boxed ? '|' : may_be_row && !word ? table->mark : mark_of(text, length);
    if (!mark)
        return false;
    if (mark == ' ')
        length = without_bar(text, length);
    unsigned count = split(text + is_boxed, length - 2 * (size_t)is_boxed, mark, cells);
    if (take_header(table, cells, count, mark)) {
        g_string_truncate(out, 0);
        return true;
    }
    if (take_row(table, cells, count, out))
        return true;
    *out_is_boxed = is_boxed && take_pair(table, cells, count, out);
    return *out_is_boxed;
}
