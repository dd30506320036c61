/* SPDX-License-Identifier: MIT */
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *orch_real_format(double value, char out[ORCH_REAL_CHARS])
{
    if (isnan(value))
        return strcpy(out, "nan");
    if (isinf(value))
        return strcpy(out, value < 0 ? "-inf" : "inf");
    static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_ascii_formatd(out, ORCH_REAL_CHARS, formats[i], value);
        if (g_ascii_strtod(out, NULL) == value)
            break;
    }
    return out;
}

bool orch_real_parse(const char *text, double *out)
{
    if (!(g_ascii_isdigit(text[0]) || text[0] == '-' || text[0] == '+' || text[0] == '.') ||
        strpbrk(text, "xXpPnNiI"))
        return false;
    char *end = NULL;
    errno = 0;
    double value = g_ascii_strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        return false;
    *out = value;
    return true;
}

bool orch_percent_parse(const char *text, double *out_number, double *out_share)
{
    size_t length = strlen(text);
    if (!length || text[length - 1] != '%')
        return false;
    g_autofree char *digits = g_strchomp(g_strndup(text, length - 1));
    g_autofree char *moved = g_strconcat(digits, "e-2", NULL); /* 91.2 / 100 is not 0.912 */
    double number, share;
    if (!orch_real_parse(digits, &number))
        return false;
    *out_share = orch_real_parse(moved, &share) ? share : number / 100;
    *out_number = number;
    return true;
}

bool orch_int_parse(const char *text, int64_t *out)
{
    char digits[32];
    size_t length = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '_' && p > text && g_ascii_isdigit(p[-1]) && g_ascii_isdigit(p[1]))
            continue;
        if (length + 1 >= sizeof digits)
            return false;
        digits[length++] = *p;
    }
    digits[length] = 0;
    if (!(g_ascii_isdigit(digits[0]) ||
          ((digits[0] == '-' || digits[0] == '+') && g_ascii_isdigit(digits[1]))))
        return false;
    char *end = NULL;
    errno = 0;
    int64_t value = g_ascii_strtoll(digits, &end, 10);
    if (!*end && errno == 0) {
        *out = value;
        return true;
    }
    double real;
    if (errno == 0 && orch_real_parse(digits, &real) && floor(real) == real &&
        fabs(real) <= 9007199254740992.0) {
        *out = (int64_t)real;
        return true;
    }
    return false;
}

/* Optimal string alignment distance; MAX for words of MAX bytes or more. */
static unsigned distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    size_t n = strlen(a), m = strlen(b);
    if (n >= MAX || m >= MAX)
        return MAX;
    unsigned rows[3][MAX + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = MIN(best, above[j] + 1);
            best = MIN(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, above2[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

/* Whether `initials` are the first letters of the words of `name`: 'lr' of 'learning_rate'. */
static bool are_initials(const char *initials, const char *name)
{
    size_t count = 0;
    for (const char *word = name; word; count++) {
        if (!*word || initials[count] != *word)
            return false;
        word = strchr(word, '_');
        word = word ? word + 1 : NULL;
    }
    return count > 1 && !initials[count];
}

static const char *find_by_initials(const char *word, const char *const *candidates)
{
    for (; candidates && *candidates; candidates++)
        if (are_initials(*candidates, word) || are_initials(word, *candidates))
            return *candidates;
    return NULL;
}

const char *orch_suggest(const char *word, const char *const *candidates)
{
    const char *best = NULL, *const *all = candidates;
    unsigned best_distance = MAX(1, (unsigned)strlen(word) / 3 + (strlen(word) > 3)) + 1;
    for (; candidates && *candidates; candidates++) {
        unsigned d = distance(word, *candidates);
        if (!d && strcmp(word, *candidates) == 0)
            continue;
        if (d > 1 && strlen(word) > 3 && g_str_has_prefix(*candidates, word))
            d = 1; /* 'A100-SXM' begins 'A100-SXM4-40GB', which is nearer than 'P100-SXM2' */
        /* a prefix relation counts as near: 'learning_rate', 'learning' */
        if (d >= best_distance && strlen(word) >= 3 &&
            (g_str_has_prefix(*candidates, word) || g_str_has_prefix(word, *candidates)) && !best)
            d = best_distance - 1;
        if (d < best_distance) {
            best_distance = d;
            best = *candidates;
        }
    }
    return best ? best : find_by_initials(word, all);
}

#define SUGGESTION "did you mean '"

char *orch_suggest_hint(const char *word, const char *const *candidates)
{
    const char *near = orch_suggest(word, candidates);
    return near ? g_strdup_printf(SUGGESTION "%s'?", near) : NULL;
}

bool orch_is_suggestion(const char *hint)
{
    return g_str_has_prefix(hint, SUGGESTION);
}

char *orch_name_key(const char *name)
{
    GString *key = g_string_new(NULL);
    for (; *name; name++)
        if (!strchr(" -_./()", *name))
            g_string_append_c(key, g_ascii_tolower(*name));
    return g_string_free(key, FALSE);
}

bool orch_name_is_same(const char *a, const char *b)
{
    if (!a || !b)
        return false;
    g_autofree char *one = orch_name_key(a);
    g_autofree char *other = orch_name_key(b);
    return strcmp(one, other) == 0;
}

bool orch_texts_have(const GPtrArray *texts, const char *text)
{
    return g_ptr_array_find_with_equal_func((GPtrArray *)(uintptr_t)texts, text, g_str_equal, NULL);
}

void orch_texts_add_once(GPtrArray *texts, const char *text)
{
    if (!orch_texts_have(texts, text))
        g_ptr_array_add(texts, g_strdup(text));
}

bool orch_name_is_valid(const char *name, bool dash_allowed)
{
    if (!name || !g_ascii_islower(name[0]) || strlen(name) > 63)
        return false;
    for (const char *p = name; *p; p++)
        if (!(g_ascii_islower(*p) || g_ascii_isdigit(*p) || *p == '_' ||
              (dash_allowed && *p == '-')))
            return false;
    return true;
}

size_t orch_setting_name_bytes(const char *text)
{
    enum { SETTING_BYTES_MAX = 100 };
    const char *p = text;
    while (*p && p - text < SETTING_BYTES_MAX) {
        gunichar c = g_utf8_get_char_validated(p, -1);
        bool is_invalid = c == (gunichar)-1 || c == (gunichar)-2;
        bool is_first = !is_invalid && (g_unichar_isalpha(c) || c == '_');
        bool is_more =
            !is_invalid && p > text &&
            (g_unichar_isalnum(c) || g_unichar_ismark(c) || (c < 128 && strchr("_.-/@+", (int)c)));
        if (!is_first && !is_more)
            break;
        p = g_utf8_next_char(p);
    }
    return (size_t)(p - text);
}

bool orch_setting_name_is_valid(const char *name)
{
    return name && *name && !name[orch_setting_name_bytes(name)];
}

bool orch_label_is_valid(const char *name)
{
    enum { LABEL_BYTES_MAX = 200 };
    if (!name || !*name || strnlen(name, LABEL_BYTES_MAX + 1) > LABEL_BYTES_MAX ||
        !g_utf8_validate(name, -1, NULL))
        return false;
    for (const char *p = name; *p; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (g_unichar_isspace(c) || !g_unichar_isprint(c) ||
            (c < 128 && strchr("\"'`()=<>!~;|&?\\^", (int)c)))
            return false;
    }
    return true;
}

const char *orch_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

char *orch_duration_format(double seconds)
{
    if (seconds >= 0.95e-6 && seconds < 0.95e-3)
        return g_strdup_printf("%.3g us", seconds * 1e6);
    if (seconds > 0 && seconds < 0.9995)
        return g_strdup_printf(seconds < 0.00995 ? "%.1f ms" : "%.0f ms", seconds * 1e3);
    if (seconds < 9.95)
        return g_strdup_printf("%.1f s", seconds);
    if (!(seconds < 3.2e12)) /* 100,000 years, or NaN */
        return g_strdup_printf("%.3g s", seconds);
    int64_t s = (int64_t)(seconds + 0.5);
    if (s < 60)
        return g_strdup_printf("%d s", (int)s);
    if (s < 3600)
        return g_strdup_printf("%d min %d s", (int)(s / 60), (int)(s % 60));
    if (s < 86400)
        return g_strdup_printf("%d h %d min", (int)(s / 3600), (int)(s % 3600 / 60));
    return g_strdup_printf("%d d %d h", (int)(s / 86400), (int)(s % 86400 / 3600));
}

char *orch_money_format(double usd)
{
    if (!(usd >= 0))
        return g_strdup("-");
    if (usd == 0)
        return g_strdup("$0.00");
    if (usd >= 1e9)
        return g_strdup_printf("$%.3g", usd);
    return usd < 0.1 ? g_strdup_printf("$%.2g", usd) : g_strdup_printf("$%.2f", usd);
}

char *orch_bytes_format(int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    unsigned unit = 0;
    while (fabs(value) >= 1024 && unit + 1 < G_N_ELEMENTS(units)) {
        value /= 1024;
        unit++;
    }
    return unit ? g_strdup_printf("%.1f %s", value, units[unit])
                : g_strdup_printf("%d B", (int)bytes);
}

char *orch_time_format(int64_t utc_ns, bool for_machines)
{
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_utc(utc_ns / 1000000000);
    if (!when)
        return g_strdup("?");
    if (!for_machines)
        return g_date_time_format(when, "%Y-%m-%d %H:%M:%S");
    g_autofree char *start = g_date_time_format(when, "%Y-%m-%dT%H:%M:%S");
    return g_strdup_printf("%s.%09dZ", start, (int)(utc_ns % 1000000000));
}

void orch_csv_append(GString *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        g_string_append(out, text);
        return;
    }
    g_string_append_c(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *text);
    }
    g_string_append_c(out, '"');
}

/* Ranges of controls, text direction marks and invisible characters, which can make a name look
 * like another one. First and last of each range. */
static const gunichar HIDDEN[][2] = {
    {0x00, 0x08},       {0x0b, 0x1f},     {0x7f, 0x9f}, /* C0 but tab and newline, DEL, C1 */
    {0xad, 0xad},       {0x61c, 0x61c},                 /* soft hyphen; Arabic letter mark */
    {0x180e, 0x180e},   {0x200b, 0x200f},               /* zero width, left-to-right mark, ... */
    {0x2028, 0x202e},   {0x2060, 0x206f}, /* line separators, embeddings, overrides, isolates */
    {0xfeff, 0xfeff},   {0xfff9, 0xfffb}, /* byte order mark; annotations */
    {0xe0000, 0xe0fff},                   /* tags and variation selectors */
};

bool orch_text_is_hidden(gunichar c)
{
    for (size_t i = 0; i < G_N_ELEMENTS(HIDDEN); i++)
        if (c >= HIDDEN[i][0] && c <= HIDDEN[i][1])
            return true;
    return false;
}

/* Decodes the character at `at`; returns 0 if it is truncated or invalid UTF-8. */
static size_t decode(const char *at, gunichar *out)
{
    unsigned char first = (unsigned char)at[0];
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    *out = length == 1 ? first : length ? first & (0x7f >> length) : 0;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
        *out = *out << 6 | ((unsigned char)at[i] & 0x3f);
    }
    return length;
}

size_t orch_text_control_bytes(const char *at)
{
    unsigned char first = (unsigned char)at[0];
    gunichar c;
    if ((first >= ' ' && first < 0x7f) || !first || first == '\n' || first == '\t')
        return 0;
    size_t length = decode(at, &c);
    return length && orch_text_is_hidden(c) ? length : 0;
}

char *orch_text_plain(char *text)
{
    for (char *at = text; at && *at; at++) {
        size_t bytes = orch_text_control_bytes(at);
        if (bytes)
            memset(at, '?', bytes);
    }
    return text;
}

char *orch_text_line(char *text)
{
    return text ? g_strdelimit(orch_text_plain(text), "\n\t", ' ') : NULL;
}

/* Formats the line from `begin` to `end` for display. Caller frees. */
static char *shown_line(const char *begin, const char *end, size_t bytes_max)
{
    g_autofree char *line = orch_text_line(g_utf8_make_valid(begin, end - begin));
    size_t keep = strlen(g_strchomp(line));
    if (keep <= bytes_max)
        return g_steal_pointer(&line);
    for (keep = bytes_max; keep && (line[keep] & 0xc0) == 0x80;) /* not within a character */
        keep--;
    line[keep] = 0;
    return g_strconcat(line, "...", NULL);
}

char **orch_text_last_lines(const char *text, unsigned count, size_t bytes_max)
{
    char **lines = g_new0(char *, count + 1);
    const char *end = text ? text + strlen(text) : NULL;
    unsigned first = count;
    while (first && end && end > text) {
        const char *begin = end;
        while (begin > text && begin[-1] != '\n' && begin[-1] != '\r')
            begin--;
        const char *word = begin;
        while (word < end && g_ascii_isspace(*word))
            word++;
        if (word < end)
            lines[--first] = shown_line(begin, end, bytes_max);
        end = begin > text ? begin - 1 : text;
    }
    memmove(lines, lines + first, (count - first + 1) * sizeof *lines);
    return lines;
}

char *orch_text_ascii(const char *text, size_t bytes_max)
{
    enum { DIGITS = 8, SUFFIX = DIGITS + 2 };
    if (g_str_is_ascii(text))
        return g_strndup(text, bytes_max);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *ascii = g_str_to_ascii(valid, "C"); /* a letter without a form becomes '?' */
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    const size_t keep = bytes_max > SUFFIX ? bytes_max - SUFFIX : 0;
    return g_strdup_printf("%.*s_x%.*s", (int)MIN(keep, strlen(ascii)), ascii, DIGITS, sum);
}

/* "make[1]: *** [Makefile:4: run] Error 1", "Try 'seq --help' for more information." */
static bool passes_on(const char *line)
{
    static const char *const begins[] = {"make: ***",       "gmake: ***",
                                         "make: Target ",   "ninja: build stopped",
                                         "error: Recipe `", "Command exited with non-zero status"};
    for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
        if (g_str_has_prefix(line, begins[i]))
            return true;
    if (g_str_has_prefix(line, "srun: error: ")) /* others say why: "Out Of Memory" */
        return strstr(line, "Exited with exit code") || strstr(line, "Terminating") ||
               strstr(line, "Terminated");
    if (g_str_has_prefix(line, "Try '"))
        return strstr(line, "--help");
    return g_str_has_prefix(line, "make[") && strstr(line, "]: ***");
}

char *orch_text_telling_line(const char *text, size_t bytes_max)
{
    enum { LOOKED_AT = 10 };
    g_auto(GStrv) lines = orch_text_last_lines(text, LOOKED_AT, bytes_max);
    const guint count = g_strv_length(lines);
    guint at = count;
    while (at && passes_on(g_strchug(lines[at - 1])))
        at--;
    return count ? g_strdup(g_strchug(lines[at ? at - 1 : count - 1])) : NULL;
}

int orch_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
