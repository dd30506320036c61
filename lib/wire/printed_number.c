/* SPDX-License-Identifier: MIT */
/* Numbers and units as programs print them. A number must extend to the end of its word: "3rd",
 * "1.2.3" and "0,91" are not numbers. */
#include "lib/base/text.h"
#include "lib/wire/printed.h"

#include <math.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 64 };

/* Units by the words that programs print. `factor` converts to the base unit of the kind. */
static const struct unit {
    const char *word, *unit;
    char kind;     /* 't' time in s, 'b' bytes, 'n' a plain number times factor, 'o' other */
    bool glued;    /* recognised only directly after the number; alone it is more likely a name */
    double factor; /* 't', 'b', 'n' */
} UNITS[] = {
    {"s", "s", 't', false, 1},
    {"sec", "s", 't', false, 1},
    {"secs", "s", 't', false, 1},
    {"second", "s", 't', false, 1},
    {"seconds", "s", 't', false, 1},
    {"ms", "ms", 't', false, 1e-3},
    {"msec", "ms", 't', false, 1e-3},
    {"us", "us", 't', false, 1e-6},
    {"\xc2\xb5s", "us", 't', false, 1e-6},
    {"\xce\xbcs", "us", 't', false, 1e-6},
    {"ns", "ns", 't', false, 1e-9},
    {"min", "min", 't', false, 60},
    {"mins", "min", 't', false, 60},
    {"minute", "min", 't', false, 60},
    {"minutes", "min", 't', false, 60},
    {"h", "h", 't', false, 3600},
    {"hr", "h", 't', false, 3600},
    {"hour", "h", 't', false, 3600},
    {"hours", "h", 't', false, 3600},
    {"d", "d", 't', true, 86400},
    {"day", "d", 't', false, 86400},
    {"days", "d", 't', false, 86400},
    {"B", "B", 'b', true, 1},
    {"bytes", "B", 'b', false, 1},
    {"KB", "KB", 'b', false, 1e3},
    {"kB", "KB", 'b', false, 1e3},
    {"MB", "MB", 'b', false, 1e6},
    {"GB", "GB", 'b', false, 1e9},
    {"TB", "TB", 'b', false, 1e12},
    {"KiB", "KiB", 'b', false, 1024},
    {"MiB", "MiB", 'b', false, 1048576},
    {"GiB", "GiB", 'b', false, 1073741824},
    {"k", "", 'n', true, 1e3},
    {"K", "", 'n', true, 1e3},
    {"M", "", 'n', true, 1e6},
    {"x", "", 'n', true, 1},
    {"fps", "fps", 'o', false, 1},
    {"Hz", "Hz", 'o', false, 1},
    {"W", "W", 'o', true, 1},
    {"J", "J", 'o', true, 1},
};

static const struct unit *unit_of(const char *word, size_t length)
{
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (length && *UNITS[i].word == *word && strlen(UNITS[i].word) == length &&
            memcmp(UNITS[i].word, word, length) == 0)
            return &UNITS[i];
    return NULL;
}

/* Rates of two alphabetic words: "images/s", "it/s", "ms/step", "s/it". "/sec" becomes "/s". */
static bool read_rate(const char *word, size_t length, char out_unit[ORCH_PRINTED_UNIT_CHARS])
{
    const char *slash = memchr(word, '/', length);
    if (!slash || slash == word || slash + 1 == word + length || length >= ORCH_PRINTED_UNIT_CHARS)
        return false;
    for (const char *at = word; at < word + length; at++)
        if (at != slash && !g_ascii_isalpha(*at))
            return false;
    size_t behind = (size_t)(word + length - slash - 1);
    bool is_second = (behind == 3 && memcmp(slash + 1, "sec", 3) == 0) ||
                     (behind == 6 && memcmp(slash + 1, "second", 6) == 0);
    memcpy(out_unit, word, length);
    out_unit[is_second ? (size_t)(slash - word) + 2 : length] = 0;
    return true;
}

bool orch_printed_unit(const char *word, size_t length, char out_unit[ORCH_PRINTED_UNIT_CHARS])
{
    const struct unit *unit = unit_of(word, length);
    if (unit && !unit->glued)
        g_strlcpy(out_unit, unit->unit, ORCH_PRINTED_UNIT_CHARS);
    return unit ? !unit->glued : read_rate(word, length, out_unit);
}

const char *orch_printed_unit_common(const char *unit)
{
    const struct unit *found = unit_of(unit, strlen(unit));
    return !found || (found->kind != 't' && found->kind != 'b') ? unit
           : found->kind == 't'                                 ? "s"
                                                                : "MB";
}

bool orch_printed_unit_convert(const char *from, const char *to, double *inout)
{
    if (strcmp(from, to) == 0)
        return true;
    const struct unit *a = unit_of(from, strlen(from)), *b = unit_of(to, strlen(to));
    if (!a || !b || a->kind != b->kind || (a->kind != 't' && a->kind != 'b'))
        return false;
    double factor = a->factor / b->factor, parts = round(b->factor / a->factor);
    bool is_part =
        parts > 1 && fabs(factor * parts - 1) < 1e-12; /* 350 / 1000 is 0.35, rounded once */
    *inout = is_part ? *inout / parts : *inout * factor;
    return true;
}

/* Digits of a number without separators, as orch_real_parse expects. */
struct digits {
    char text[NUMBER_BYTES_MAX];
    size_t length;
};

static bool put(struct digits *digits, char c)
{
    if (digits->length + 8 >= sizeof digits->text) /* room for an exponent */
        return false;
    digits->text[digits->length++] = c;
    digits->text[digits->length] = 0;
    return true;
}

static size_t count_digits(const char *at, const char *end)
{
    const char *first = at;
    while (at < end && g_ascii_isdigit(*at))
        at++;
    return (size_t)(at - first);
}

/* Reads the digits before the decimal point; "12,345" and "12_345" are one number, "1,2" is
 * none. */
static const char *read_whole(const char *at, const char *end, struct digits *digits)
{
    size_t first = count_digits(at, end);
    bool may_group = first >= 1 && first <= 3 && *at != '0';
    for (size_t i = 0; i < first; i++)
        if (!put(digits, *at++))
            return NULL;
    while (may_group && at < end && (*at == ',' || *at == '_') && count_digits(at + 1, end) == 3) {
        at++;
        for (int i = 0; i < 3; i++)
            if (!put(digits, *at++))
                return NULL;
    }
    return at;
}

static const char *read_digits(const char *at, const char *end, struct digits *digits)
{
    if (at < end && (*at == '-' || *at == '+') && *at++ == '-' && !put(digits, '-'))
        return NULL;
    const char *whole = at;
    if (!(at = read_whole(at, end, digits)))
        return NULL;
    size_t before = (size_t)(at - whole), behind = 0;
    if (at < end && *at == '.' && (before || count_digits(at + 1, end))) {
        if (!before && !put(digits, '0'))
            return NULL;
        behind = count_digits(at + 1, end);
        if (behind && !put(digits, '.'))
            return NULL;
        at++;
        for (size_t i = 0; i < behind; i++, at++)
            put(digits, *at); /* digits after the sixty-fourth do not affect a double */
    }
    if (!before && !behind)
        return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1;
        bool has_sign = exponent < end && (*exponent == '-' || *exponent == '+');
        size_t count = count_digits(exponent + has_sign, end);
        if (count && count <= 4) {
            put(digits, 'e');
            for (size_t i = 0; i < has_sign + count; i++)
                if (!put(digits, exponent[i]))
                    return NULL;
            at = exponent + has_sign + count;
        }
    }
    return at;
}

/* True if a word may end here. */
static bool is_boundary(const char *at, const char *end)
{
    if (at >= end || g_ascii_isspace(*at) || strchr(")]}>;|\"'`([{<", *at))
        return true;
    bool before_digit = at + 1 < end && g_ascii_isdigit(at[1]);
    bool is_last = at + 1 >= end || g_ascii_isspace(at[1]);
    return (*at == ',' && !before_digit) || (*at == ':' && !before_digit) ||
           ((*at == '.' || *at == '!') && is_last) ||
           (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0); /* the sign +- */
}

/* ---- durations in parts ------------------------------------------------------------------------
 */

static const struct {
    const char *word;
    double seconds;
} PARTS[] = {{"w", 604800},   {"week", 604800}, {"weeks", 604800}, {"d", 86400},  {"day", 86400},
             {"days", 86400}, {"h", 3600},      {"hr", 3600},      {"hrs", 3600}, {"hour", 3600},
             {"hours", 3600}, {"m", 60},        {"min", 60},       {"mins", 60},  {"minute", 60},
             {"minutes", 60}, {"s", 1},         {"sec", 1},        {"secs", 1},   {"second", 1},
             {"seconds", 1},  {"ms", 1e-3},     {"us", 1e-6}};

/* "2:03:04" or "03:04.5" as seconds. */
static const char *read_clock(const char *at, const char *end, double *out_s)
{
    unsigned fields = 0;
    double total = 0;
    for (;; at++) {
        size_t count = count_digits(at, end);
        if (!count || count > 4)
            return NULL;
        double field = 0;
        for (size_t i = 0; i < count; i++)
            field = field * 10 + (*at++ - '0');
        total = total * 60 + field;
        if (++fields == 3 || at >= end || *at != ':')
            break;
    }
    if (fields < 2)
        return NULL;
    if (at < end && *at == '.') {
        double place = 0.1;
        for (at++; at < end && g_ascii_isdigit(*at); at++, place /= 10)
            total += place * (*at - '0');
    }
    *out_s = total;
    return is_boundary(at, end) ? at : NULL;
}

/* One part, "2 min" or "30s". Returns the position after it, or NULL. */
static const char *read_part(const char *at, const char *end, double *out_number, double *out_unit)
{
    struct digits digits = {"", 0};
    const char *p = at < end && g_ascii_isdigit(*at) ? read_digits(at, end, &digits) : NULL;
    if (!p || !orch_real_parse(digits.text, out_number))
        return NULL;
    if (p < end && *p == ' ')
        p++;
    size_t length = 0;
    while (p + length < end && g_ascii_isalpha(p[length]))
        length++;
    for (size_t i = 0; i < G_N_ELEMENTS(PARTS); i++) {
        if (strlen(PARTS[i].word) != length || g_ascii_strncasecmp(PARTS[i].word, p, length) != 0)
            continue;
        *out_unit = PARTS[i].seconds;
        p += length;
        bool is_end = p >= end || g_ascii_isdigit(*p) || is_boundary(p, end);
        return is_end ? p : NULL;
    }
    return NULL;
}

/* Between two parts: spaces, a comma, "and". */
static const char *skip_joint(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == ','))
        at++;
    return end - at > 4 && g_ascii_strncasecmp(at, "and ", 4) == 0 ? at + 4 : at;
}

const char *orch_printed_duration(const char *text, const char *end, double *out_s)
{
    double total = 0, last = INFINITY, number, unit;
    const char *behind = NULL;
    unsigned parts = 0;
    for (const char *at = text; at < end;) {
        const char *p = read_part(at, end, &number, &unit);
        if (p && unit < last) {
            total += number * unit;
            last = unit;
            parts++;
            behind = p;
            at = skip_joint(p, end);
            continue;
        }
        if (parts == 1 && last == 86400 && (p = read_clock(at, end, &number))) {
            total += number;
            parts++;
            behind = p;
        }
        break;
    }
    if (parts < 2)
        return NULL;
    *out_s = total;
    return behind;
}

static const struct {
    const char *text;
    double value;
} WORDS[] = {{"nan", NAN}, {"infinity", INFINITY}, {"inf", INFINITY}};

static const char *read_word(const char *text, const char *end, double *out)
{
    bool is_negative = text < end && *text == '-';
    const char *at = text + (text < end && (*text == '-' || *text == '+'));
    const char first = at < end ? g_ascii_tolower(*at) : 0;
    if (first != 'n' && first != 'i') /* most words are none of these */
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++) {
        size_t length = strlen(WORDS[i].text);
        if ((size_t)(end - at) >= length && g_ascii_strncasecmp(at, WORDS[i].text, length) == 0 &&
            is_boundary(at + length, end)) {
            *out = is_negative ? -WORDS[i].value : WORDS[i].value;
            return at + length;
        }
    }
    return NULL;
}

/* Share of a percentage, computed on its decimal digits so that 91.2 % is the double 0.912. */
static double share_of(const struct digits *digits, double percent)
{
    const char *exponent = strchr(digits->text, 'e');
    g_autofree char *text = exponent ? NULL : g_strconcat(digits->text, "e-2", NULL);
    double share;
    return text && orch_real_parse(text, &share) ? share : percent / 100;
}

const char *orch_printed_number(const char *text, const char *end, double *out,
                                char out_unit[ORCH_PRINTED_UNIT_CHARS])
{
    struct digits digits = {"", 0};
    out_unit[0] = 0;
    const char *at = read_word(text, end, out);
    if (at)
        return at;
    double value;
    at = read_digits(text, end, &digits);
    if (!at || !orch_real_parse(digits.text, &value))
        return NULL;
    if (at < end && *at == '%' && is_boundary(at + 1, end)) {
        g_strlcpy(out_unit, "%", ORCH_PRINTED_UNIT_CHARS);
        *out = share_of(&digits, value);
        return at + 1;
    }
    const char *word = at;
    while (at < end && (g_ascii_isalpha(*at) || *at == '/' || (unsigned char)*at >= 0x80) &&
           (at == word || !is_boundary(at, end)))
        at++;
    if (!is_boundary(at, end))
        return NULL;
    if (at > word && !is_boundary(word, end)) {
        const struct unit *unit = unit_of(word, (size_t)(at - word));
        bool is_billions = at - word == 1 && *word == 'B' && strchr(digits.text, '.');
        if (is_billions) /* a part of a byte does not exist: "1.2B parameters" */
            value *= 1e9;
        else if (unit && unit->kind == 'n')
            value *= unit->factor;
        else if (unit)
            g_strlcpy(out_unit, unit->unit, ORCH_PRINTED_UNIT_CHARS);
        else if (!read_rate(word, (size_t)(at - word), out_unit))
            return NULL;
    } else {
        at = word;
    }
    *out = value;
    return at;
}
