/* SPDX-License-Identifier: MIT */
/* A time is read by shapes: '9' is a digit, 'd' one or two digits, 'M' the name of a month, 'D'
 * that of a day, ' ' one blank or several, '*' the fraction of a second or nothing, '@' a time of
 * day
 * ("d:99:99*"), 'Z' the zone or the half of the day or nothing, 'L' the level of glog before the
 * date, '#' the number of a process; other characters are themselves. The first shape that fits is
 * taken, so that longer ones stand first. */
#include "lib/wire/printed_time.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static const char *const SHAPES[] = {
    "9999-99-99T@Z",
    "9999-99-99 @Z",
    "9999-99-99-@Z",
    "9999-99-99_@Z",
    "9999/99/99 @Z",
    "9999/99/99-@Z",
    "9999.99.99 @Z",
    "9999-99-99T99:99Z",
    "9999-99-99 99:99Z",
    "9999-W99-9T@Z",
    "99999999T999999*Z",
    "d/d/9999, @Z",
    "d/d/9999 @Z",
    "d/d/9999 d:99Z",
    "d/d/99 @Z",
    "99/99 @Z",
    "d-d-9999 @Z",
    "d.d.9999 @Z",
    "d/M/9999:@Z",
    "d-M-9999 @Z",
    "d M 9999 @Z",
    "D, d M 9999 @Z",
    "D, d M 9999",
    "D M d @ 9999",
    "D M d @ Z 9999",
    "D M d @Z",
    "D d M @Z 9999",
    "D d M 9999 @Z",
    "M d, 9999, @Z",
    "M d, 9999 @Z",
    "M d, 9999",
    "M d 9999 @Z",
    "M d @Z",
    "M d 9999",
    "D @Z",
    "d M 9999",
    "d-M-9999",
    "d-M-99",
    "9999-W99-9",
    "9999-W99",
    "9999-99-99",
    "9999/99/99",
    "L9999 @ #",
    "@Z",
    "d:99Z",
};

static const char *const MONTHS[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const DAYS[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                   "Friday", "Saturday", "Sunday"};
static const char *const HALVES[] = {"AM", "PM", "am", "pm", "a.m.", "p.m."};
static const char *const ZONES[] = {
    "UTC",  "GMT",  "Z",    "CET",  "CEST", "WET", "WEST", "EET", "EEST", "MSK",  "BST",
    "IST",  "EST",  "EDT",  "CST",  "CDT",  "MST", "MDT",  "PST", "PDT",  "AKST", "AKDT",
    "HST",  "JST",  "KST",  "HKT",  "SGT",  "PKT", "WIB",  "ICT", "AEST", "AEDT", "ACST",
    "ACDT", "AWST", "NZST", "NZDT", "SAST", "BRT", "ART",  "TRT", "NPT",  "PHT"};

/* The position after one of the names, or after its first three letters where `has_short`. */
static const char *read_name(const char *at, const char *end, const char *const *names,
                             size_t count, bool has_short)
{
    size_t letters = 0;
    while (at + letters < end && (g_ascii_isalpha(at[letters]) || at[letters] == '.'))
        letters++;
    for (size_t i = 0; letters >= 1 && i < count; i++) {
        if (*names[i] != *at)
            continue;
        const size_t length = strlen(names[i]);
        if ((letters == length || (has_short && letters == 3)) &&
            strncmp(at, names[i], letters) == 0)
            return at + letters;
    }
    return NULL;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && g_ascii_isdigit(*at))
        at++;
    return at;
}

/* "+0530", "-05:00", "+01": the position after it, or NULL. */
static const char *read_offset(const char *at, const char *end)
{
    if (at >= end || (*at != '+' && *at != '-'))
        return NULL;
    const char *hours = skip_digits(at + 1, end), *minutes = hours;
    if (hours < end && *hours == ':')
        minutes = skip_digits(hours + 1, end);
    const bool is_split = minutes > hours;
    const size_t digits = (size_t)(hours - at - 1);
    if (is_split ? digits != 2 || minutes - hours != 3 : digits != 2 && digits != 4)
        return NULL;
    return minutes < end && (g_ascii_isalnum(*minutes) || *minutes == '.') ? NULL : minutes;
}

/* True if the word of a zone may end here: "PM_loss" and "PM=3" are names. */
static bool is_apart(const char *at, const char *end)
{
    return at >= end || !(g_ascii_isalnum(*at) || strchr("_=%", *at));
}

/* Skips what follows a time of day: " PM", "Z", " +0530", " UTC", " -0700 (PDT)". */
static const char *skip_zone(const char *at, const char *end)
{
    for (int parts = 0; parts < 3; parts++) {
        const char *p = at;
        while (p < end && *p == ' ' && p - at < 2)
            p++;
        const bool has_bracket = parts && p < end && *p == '(';
        p += has_bracket;
        const char *behind = read_offset(p, end);
        behind = behind ? behind : read_name(p, end, HALVES, G_N_ELEMENTS(HALVES), false);
        behind = behind ? behind : read_name(p, end, ZONES, G_N_ELEMENTS(ZONES), false);
        if (!behind || !is_apart(behind, end) || (has_bracket && (behind >= end || *behind != ')')))
            return at;
        at = behind + has_bracket;
    }
    return at;
}

static const char *skip_fraction(const char *at, const char *end)
{
    const bool has_mark = end - at >= 2 && (*at == '.' || *at == ',') && g_ascii_isdigit(at[1]);
    return has_mark ? skip_digits(at + 1, end) : at;
}

static const char *match_shape(const char *shape, const char *at, const char *end);

static const char *match_sign(char sign, const char *at, const char *end)
{
    const char *p = at;
    switch (sign) {
    case '9':
        return at < end && g_ascii_isdigit(*at) ? at + 1 : NULL;
    case 'd':
        p = skip_digits(at, MIN(end, at + 2));
        return p > at ? p : NULL;
    case '#':
        p = skip_digits(at, end);
        return p > at ? p : NULL;
    case 'L':
        return at < end && strchr("IWEFD", *at) ? at + 1 : NULL;
    case 'M':
        return read_name(at, end, MONTHS, G_N_ELEMENTS(MONTHS), true);
    case 'D':
        return read_name(at, end, DAYS, G_N_ELEMENTS(DAYS), true);
    case ' ':
        while (p < end && *p == ' ' && p - at < 4)
            p++;
        return p > at ? p : NULL;
    case '*':
        return skip_fraction(at, end);
    case '@':
        return match_shape("d:99:99*", at, end);
    case 'Z':
        return skip_zone(at, end);
    default:
        return at < end && *at == sign ? at + 1 : NULL;
    }
}

static const char *match_shape(const char *shape, const char *at, const char *end)
{
    for (; *shape && at; shape++)
        at = match_sign(*shape, at, end);
    return at;
}

/* A quick look, as every number and many words are none. */
static bool may_be_time(const char *at, const char *end)
{
    if (g_ascii_isupper(*at))
        return (at + 1 < end && g_ascii_isdigit(at[1])) ||
               read_name(at, end, MONTHS, G_N_ELEMENTS(MONTHS), true) ||
               read_name(at, end, DAYS, G_N_ELEMENTS(DAYS), true);
    const char *p = skip_digits(at, MIN(end, at + 8));
    if (p == at || p + 1 >= end || !strchr("-/.:T ", *p))
        return false;
    if (*p == ':' || *p == 'T' || (*p != '.' && *p != '/' && g_ascii_isupper(p[1])))
        return true;       /* "9:05", "20260101T1200", "1 Jan", "2026-W01" */
    const char *q = p + 1; /* another mark behind the next number or name */
    while (q < end && g_ascii_isalnum(*q))
        q++;
    return *p != ' ' && q > p + 1 && q + 1 < end &&
           (*q == *p || (*q == ' ' && *p == '/' && q + 3 < end && memchr(q, ':', 4)));
}

const char *orch_printed_time_end(const char *at, const char *end)
{
    const size_t shapes = may_be_time(at, end) ? G_N_ELEMENTS(SHAPES) : 0;
    for (size_t i = 0; i < shapes; i++) {
        const char *behind = match_shape(SHAPES[i], at, end);
        const bool is_whole =
            behind &&
            (behind >= end ||
             !(g_ascii_isalnum(*behind) || strchr("_%", *behind) ||
               (strchr(":.-/", *behind) && behind + 1 < end && g_ascii_isdigit(behind[1]))));
        if (is_whole)
            return behind;
    }
    return NULL;
}
