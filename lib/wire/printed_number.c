/* SPDX-License-Identifier: MIT */
/* Numbers and units as programs print them. A number must extend to the end of its word: "3rd",
 * "1.2.3" and "0,91" are not numbers. */
#include "lib/base/text.h"
#include "lib/wire/printed.h"

#include <math.h>
#include <string.h>

enum { NUMBER_BYTES_MAX = 64 };

bool orch_printed_unit(const char *word, size_t length, char out_unit[ORCH_UNIT_CHARS])
{
    const struct orch_unit *unit = orch_unit_find(word, length);
    const bool may_be_apart = unit && unit->place != ORCH_UNIT_GLUED;
    if (may_be_apart)
        g_strlcpy(out_unit, unit->name, ORCH_UNIT_CHARS);
    return unit ? may_be_apart : orch_unit_read_rate(word, length, out_unit);
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
    return (*at == ',' && !before_digit) || (*at == '+' && before_digit) ||
           (*at == ':' && !before_digit) || ((*at == '.' || *at == '!') && is_last) ||
           (end - at >= 2 && memcmp(at, "\xc2\xb1", 2) == 0); /* the sign +- */
}

/* ---- durations in parts ------------------------------------------------------------------------
 */

/* The seconds of a part's unit, whatever its case; 0 for any other word. Only beside another part
 * "m" is a minute. */
static double seconds_of(const char *word, size_t length)
{
    enum { WORD_BYTES_MAX = 8 };
    char lower[WORD_BYTES_MAX + 1];
    if (!length || length > WORD_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < length; i++)
        lower[i] = g_ascii_tolower(word[i]);
    lower[length] = 0;
    const struct orch_unit *unit = orch_unit_find(lower, length);
    if (unit && unit->quantity == ORCH_QUANTITY_TIME)
        return unit->factor;
    return strcmp(lower, "m") == 0                                      ? 60
           : strcmp(lower, "w") == 0 || g_str_has_prefix(lower, "week") ? 604800
                                                                        : 0;
}

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
    *out_unit = seconds_of(p, length);
    p += length;
    const bool is_end = p >= end || g_ascii_isdigit(*p) || is_boundary(p, end);
    return *out_unit > 0 && is_end ? p : NULL;
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
                                char out_unit[ORCH_UNIT_CHARS])
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
        g_strlcpy(out_unit, "%", ORCH_UNIT_CHARS);
        *out = share_of(&digits, value);
        return at + 1;
    }
    const char *word = at;
    while (at < end && (g_ascii_isalpha(*at) || *at == '/' || (unsigned char)*at >= 0x80) &&
           !is_boundary(at, end))
        at++;
    if (!is_boundary(at, end))
        return NULL;
    if (at > word && !is_boundary(word, end)) {
        const struct orch_unit *unit = orch_unit_find(word, (size_t)(at - word));
        bool is_billions = at - word == 1 && *word == 'B' && strchr(digits.text, '.');
        if (is_billions) /* a part of a byte does not exist: "1.2B parameters" */
            value *= 1e9;
        else if (unit && unit->quantity == ORCH_QUANTITY_COUNT)
            value *= unit->factor;
        else if (unit)
            g_strlcpy(out_unit, unit->name, ORCH_UNIT_CHARS);
        else if (!orch_unit_read_rate(word, (size_t)(at - word), out_unit))
            return NULL;
    } else {
        at = word;
    }
    *out = value;
    return at;
}
