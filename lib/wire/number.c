/* SPDX-License-Identifier: MIT */
/* Alternatives: printf and strtod in the C locale take 0.3 to 1 us per number, and three attempts
 * for the shortest text. Grisu and Ryu need large tables of powers. Between 1e-11 and 1e15 the
 * product of a 53-bit mantissa and a power of five fits 128 bits and needs only a small table. */
#include "lib/wire/number.h"

#include "lib/base/text.h"

#include <float.h>
#include <glib.h>
#include <math.h>
#include <string.h>

typedef unsigned __int128 uint128;

enum { POWER5_MAX = 27 }; /* 5^27 < 2^63 */

static const uint64_t POWER5[POWER5_MAX + 1] = {
    1u,
    5u,
    25u,
    125u,
    625u,
    3125u,
    15625u,
    78125u,
    390625u,
    1953125u,
    9765625u,
    48828125u,
    244140625u,
    1220703125u,
    6103515625u,
    30517578125u,
    152587890625u,
    762939453125u,
    3814697265625u,
    19073486328125u,
    95367431640625u,
    476837158203125u,
    2384185791015625u,
    11920928955078125u,
    59604644775390625u,
    298023223876953125u,
    1490116119384765625u,
    7450580596923828125u,
};

/* 10^0 .. 10^22: the powers of ten that a double represents exactly. */
static const double POWER10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* bits * 2^exponent, plus less than one bit if `sticky`, rounded to the nearest double. */
static double round_bits(uint128 bits, int exponent, bool sticky)
{
    uint64_t high = (uint64_t)(bits >> 64);
    int length = high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)bits);
    int drop = length - 53;
    if (drop <= 0)
        return ldexp((double)(uint64_t)bits, exponent);
    uint128 half = (uint128)1 << (drop - 1);
    uint128 rest = bits & ((half << 1) - 1);
    uint64_t mantissa = (uint64_t)(bits >> drop);
    if (rest > half || (rest == half && (sticky || (mantissa & 1))))
        mantissa++;
    return ldexp((double)mantissa, exponent + drop);
}

/* digits * 10^exponent, correctly rounded; false if the exponent is not supported. */
static bool decimal_to_double(uint64_t digits, int exponent, double *out)
{
#if FLT_EVAL_METHOD == 0
    if (digits <= (UINT64_C(1) << 53) && exponent >= -22 && exponent <= 22) {
        *out =
            exponent < 0 ? (double)digits / POWER10[-exponent] : (double)digits * POWER10[exponent];
        return true;
    }
#endif
    if (digits == 0) {
        *out = 0;
        return true;
    }
    if (exponent >= 0 && exponent <= POWER5_MAX) {
        *out = round_bits((uint128)digits * POWER5[exponent], exponent, false);
        return true;
    }
    if (exponent < 0 && exponent >= -POWER5_MAX) {
        int shift = __builtin_clzll(digits) + 63; /* the quotient then has 64 bits or more */
        uint128 scaled = (uint128)digits << shift;
        uint64_t divisor = POWER5[-exponent];
        uint128 quotient = scaled / divisor;
        *out = round_bits(quotient, exponent - shift, quotient * divisor != scaled);
        return true;
    }
    return false;
}

static char *write_digits(char *out, uint64_t value)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count)
        *out++ = digits[--count];
    return out;
}

char *orch_number_write_int(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return write_digits(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Writes digits * 10^exponent, which is not an integer, with a decimal point or an exponent. */
static char *write_decimal(char *out, uint64_t digits, int exponent)
{
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    char text[20] = "";
    int length = (int)(write_digits(text, digits) - text);
    int point = length + exponent; /* number of digits before the decimal point */
    if (point > 0) {
        memcpy(out, text, (size_t)point);
        out += point;
        *out++ = '.';
        memcpy(out, text + point, (size_t)(length - point));
        return out + length - point;
    }
    if (point > -5) {
        *out++ = '0';
        *out++ = '.';
        for (; point < 0; point++)
            *out++ = '0';
        memcpy(out, text, (size_t)length);
        return out + length;
    }
    *out++ = text[0];
    if (length > 1) {
        *out++ = '.';
        memcpy(out, text + 1, (size_t)length - 1);
        out += length - 1;
    }
    *out++ = 'e';
    *out++ = '-';
    return write_digits(out, (uint64_t)(1 - point));
}

static char *write_slowly(char *out, double value)
{
    char text[ORCH_REAL_CHARS];
    orch_real_format(value, text);
    size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

/* Tries 15, 16 and 17 digits for a positive non-integer in [1e-11, 1e15). */
static char *write_shortest(char *out, double value)
{
    int exponent2;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent2), 53);
    exponent2 -= 53; /* value = mantissa * 2^exponent2 */
    int magnitude = (int)floor(log10(value));
    uint128 scaled = 0;
    uint64_t digits = 0;
    int power = 0, shift = 0;
    for (int tries = 0; tries < 2; tries++) { /* log10 may be off by one at a power of ten */
        power = 16 - magnitude;
        if (power < 0 || power > POWER5_MAX)
            return write_slowly(out, value);
        shift = -(exponent2 + power);
        scaled = (uint128)mantissa * POWER5[power];
        digits = (uint64_t)(scaled >> shift);
        if (digits >= UINT64_C(100000000000000000))
            magnitude++;
        else if (digits < UINT64_C(10000000000000000))
            magnitude--;
        else
            break;
    }
    uint128 half = (uint128)1 << (shift - 1);
    uint128 rest = scaled & ((half << 1) - 1);
    for (uint64_t unit = 100; unit > 1; unit /= 10) {
        uint64_t kept = digits / unit, dropped = digits % unit;
        if (dropped > unit / 2 || (dropped == unit / 2 && (rest || (kept & 1))))
            kept++;
        int exponent = -power + (unit == 100 ? 2 : 1);
        double back;
        if (decimal_to_double(kept, exponent, &back) && back == value)
            return write_decimal(out, kept, exponent);
    }
    if (rest > half || (rest == half && (digits & 1)))
        digits++;
    return write_decimal(out, digits, -power);
}

char *orch_number_write(char *out, double value)
{
    double size = fabs(value);
    if (size < 1e15 && size == (double)(int64_t)size && !(size == 0 && signbit(value)))
        return orch_number_write_int(out, (int64_t)value);
    if (!(size >= 1e-11 && size < 1e15))
        return write_slowly(out, value);
    if (value < 0)
        *out++ = '-';
    return write_shortest(out, size);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses what the exact path does not support: many digits, large exponents. */
static const char *read_slowly(const char *text, const char *stop, double *out)
{
    g_autofree char *copy = g_strndup(text, (size_t)(stop - text));
    return orch_real_parse(copy, out) ? stop : NULL;
}

/* Reads the exponent after 'e', clamped to +-9999; NULL if malformed. */
static const char *read_exponent(const char *p, const char *end, int *exponent)
{
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    int value = 0;
    const char *first = p;
    for (; p < end && is_digit(*p); p++)
        value = MIN(value * 10 + (*p - '0'), 9999);
    *exponent += negative ? -value : value;
    return p == first ? NULL : p;
}

const char *orch_number_read(const char *text, const char *end, double *out)
{
    const char *p = text;
    bool negative = p < end && *p == '-';
    if (negative)
        p++;
    if (p >= end || !is_digit(*p))
        return NULL;
    if (*p == '0' && p + 1 < end && is_digit(p[1]))
        return NULL;
    uint64_t digits = 0;
    int exponent = 0, count = 0; /* count: significant digits */
    for (; p < end && is_digit(*p); p++) {
        count += digits || *p != '0';
        digits = digits * 10 + (uint64_t)(*p - '0');
    }
    if (p < end && *p == '.') {
        const char *first = ++p;
        for (; p < end && is_digit(*p); p++) {
            count += digits || *p != '0';
            digits = digits * 10 + (uint64_t)(*p - '0');
        }
        if (p == first)
            return NULL;
        exponent = -(int)MIN(p - first, 9999);
    }
    if (p < end && (*p == 'e' || *p == 'E') && !(p = read_exponent(p + 1, end, &exponent)))
        return NULL;
    if (p >= end)
        return NULL;
    double value;
    if (count > 19 || !decimal_to_double(digits, exponent, &value))
        return read_slowly(text, p, out);
    *out = negative ? -value : value;
    return p;
}

const char *orch_number_read_int(const char *text, const char *end, int64_t *out)
{
    const char *p = text;
    bool negative = p < end && *p == '-';
    if (negative)
        p++;
    const char *first = p;
    int64_t value = 0;
    for (; p < end && is_digit(*p) && p - first < 18; p++)
        value = value * 10 + (*p - '0');
    if (p == first || p >= end || is_digit(*p) || (*first == '0' && p - first > 1))
        return NULL;
    *out = negative ? -value : value;
    return p;
}
