/* SPDX-License-Identifier: MIT */
#include "lib/base/unit.h"

#include "lib/base/text.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct orch_unit UNITS[] = {
    {"s", "s sec secs second seconds", ORCH_QUANTITY_TIME, 1, false, ORCH_UNIT_ANYWHERE},
    {"ms", "ms msec msecs millisecond milliseconds", ORCH_QUANTITY_TIME, 1e-3, false,
     ORCH_UNIT_ANYWHERE},
    {"us", "us usec usecs microsecond microseconds \xc2\xb5s \xce\xbcs", ORCH_QUANTITY_TIME, 1e-6,
     false, ORCH_UNIT_ANYWHERE},
    {"ns", "ns nsec nsecs nanosecond nanoseconds", ORCH_QUANTITY_TIME, 1e-9, false,
     ORCH_UNIT_ANYWHERE},
    {"min", "min mins minute minutes", ORCH_QUANTITY_TIME, 60, false, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"h", "h hr hrs hour hours", ORCH_QUANTITY_TIME, 3600, false, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"d", "day days", ORCH_QUANTITY_TIME, 86400, false, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"d", "d", ORCH_QUANTITY_TIME, 86400, false, ORCH_UNIT_GLUED},
    {"w", "w week weeks", ORCH_QUANTITY_TIME, 604800, false, ORCH_UNIT_TYPED},
    {"B", "B", ORCH_QUANTITY_BYTES, 1, false, ORCH_UNIT_GLUED},
    {"B", "bytes Bytes byte", ORCH_QUANTITY_BYTES, 1, false, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"KB", "KB kB KBytes kbytes", ORCH_QUANTITY_BYTES, 1e3, false, ORCH_UNIT_ANYWHERE},
    {"MB", "MB MBytes mbytes", ORCH_QUANTITY_BYTES, 1e6, false, ORCH_UNIT_ANYWHERE},
    {"GB", "GB GBytes gbytes", ORCH_QUANTITY_BYTES, 1e9, false, ORCH_UNIT_ANYWHERE},
    {"TB", "TB TBytes", ORCH_QUANTITY_BYTES, 1e12, false, ORCH_UNIT_ANYWHERE},
    {"KiB", "KiB kiB", ORCH_QUANTITY_BYTES, 0x1p10, false, ORCH_UNIT_ANYWHERE},
    {"MiB", "MiB", ORCH_QUANTITY_BYTES, 0x1p20, false, ORCH_UNIT_ANYWHERE},
    {"GiB", "GiB", ORCH_QUANTITY_BYTES, 0x1p30, false, ORCH_UNIT_ANYWHERE},
    {"TiB", "TiB", ORCH_QUANTITY_BYTES, 0x1p40, false, ORCH_UNIT_ANYWHERE},
    {"PB", "PB", ORCH_QUANTITY_BYTES, 1e15, false, ORCH_UNIT_TYPED},
    {"PiB", "PiB P", ORCH_QUANTITY_BYTES, 0x1p50, false, ORCH_UNIT_TYPED},
    {"KiB", "K", ORCH_QUANTITY_BYTES, 0x1p10, false, ORCH_UNIT_TYPED},
    {"MiB", "M", ORCH_QUANTITY_BYTES, 0x1p20, false, ORCH_UNIT_TYPED},
    {"GiB", "G", ORCH_QUANTITY_BYTES, 0x1p30, false, ORCH_UNIT_TYPED},
    {"TiB", "T", ORCH_QUANTITY_BYTES, 0x1p40, false, ORCH_UNIT_TYPED},
    {"bit", "bits bit", ORCH_QUANTITY_BITS, 1, false, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"Kbit", "Kbits Kbit kbits kbit", ORCH_QUANTITY_BITS, 1e3, false, ORCH_UNIT_ANYWHERE},
    {"Mbit", "Mbits Mbit", ORCH_QUANTITY_BITS, 1e6, false, ORCH_UNIT_ANYWHERE},
    {"Gbit", "Gbits Gbit", ORCH_QUANTITY_BITS, 1e9, false, ORCH_UNIT_ANYWHERE},
    {"", "k K", ORCH_QUANTITY_COUNT, 1e3, false, ORCH_UNIT_GLUED},
    {"", "M", ORCH_QUANTITY_COUNT, 1e6, false, ORCH_UNIT_GLUED},
    {"", "G", ORCH_QUANTITY_COUNT, 1e9, false, ORCH_UNIT_GLUED},
    {"", "x", ORCH_QUANTITY_COUNT, 1, false, ORCH_UNIT_GLUED},
    {"fps", "fps FPS", ORCH_QUANTITY_OTHER, 1, true, ORCH_UNIT_NOT_BEFORE_NUMBER},
    {"Hz", "Hz", ORCH_QUANTITY_OTHER, 1, true, ORCH_UNIT_ANYWHERE},
    {"MHz", "MHz", ORCH_QUANTITY_OTHER, 1e6, true, ORCH_UNIT_ANYWHERE},
    {"GHz", "GHz", ORCH_QUANTITY_OTHER, 1e9, true, ORCH_UNIT_ANYWHERE},
    {"W", "W", ORCH_QUANTITY_OTHER, 1, false, ORCH_UNIT_GLUED},
    {"J", "J", ORCH_QUANTITY_OTHER, 1, false, ORCH_UNIT_GLUED},
};

/* Spelling to row, of the units that programs print; made once. */
static GHashTable *index_new(void)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++) {
        if (UNITS[i].place == ORCH_UNIT_TYPED)
            continue;
        g_auto(GStrv) words = g_strsplit(UNITS[i].spellings, " ", -1);
        for (char **word = words; *word; word++)
            g_hash_table_insert(index, g_strdup(*word), GUINT_TO_POINTER(i + 1));
    }
    return index;
}

const struct orch_unit *orch_unit_find(const char *text, size_t length)
{
    enum { SPELLING_BYTES_MAX = 12 };
    static GHashTable *index;
    if (g_once_init_enter(&index))
        g_once_init_leave(&index, index_new());
    char word[SPELLING_BYTES_MAX + 1];
    if (!length || length > SPELLING_BYTES_MAX)
        return NULL;
    memcpy(word, text, length);
    word[length] = 0;
    const guint row = GPOINTER_TO_UINT(g_hash_table_lookup(index, word));
    return row ? &UNITS[row - 1] : NULL;
}

const struct orch_unit *orch_unit_typed(const char *text, size_t length,
                                        enum orch_quantity quantity)
{
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++) {
        if (UNITS[i].quantity != quantity)
            continue;
        for (const char *at = UNITS[i].spellings; *at; at += *at == ' ') {
            const size_t size = strcspn(at, " ");
            if (size == length && memcmp(at, text, size) == 0)
                return &UNITS[i];
            at += size;
        }
    }
    return NULL;
}

char *orch_unit_spellings(enum orch_quantity quantity)
{
    GString *all = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (UNITS[i].quantity == quantity)
            g_string_append_printf(all, "%s%s", all->len ? " " : "", UNITS[i].spellings);
    return g_strdelimit(g_string_free(all, FALSE), " ", '|');
}

/* The factor of a unit of time; NaN for another text. */
static double time_factor(const char *text, size_t length)
{
    const struct orch_unit *unit = orch_unit_find(text, length);
    return unit && unit->quantity == ORCH_QUANTITY_TIME ? unit->factor : (double)NAN;
}

/* What a unit says of speed, and its factor: a time ("ms/step"), a rate ("images/s"), or a share of
 * time ("s/s"). */
enum timing { NO_TIMING, TIME, RATE, SHARE };

static enum timing timing_of(const char *unit, double *out_factor)
{
    *out_factor = (double)NAN;
    const struct orch_unit *whole = unit ? orch_unit_find(unit, strlen(unit)) : NULL;
    const char *last = unit ? strrchr(unit, '/') : NULL;
    if (whole && (whole->is_rate || whole->quantity == ORCH_QUANTITY_TIME)) {
        *out_factor = whole->factor;
        return whole->is_rate ? RATE : TIME;
    }
    if (whole || !last)
        return NO_TIMING;
    const double above = time_factor(unit, strcspn(unit, "/")),
                 below = time_factor(last + 1, strlen(last + 1));
    if (!isnan(above) && !isnan(below))
        return SHARE;
    *out_factor = isnan(below) ? above : 1 / below;
    return !isnan(above) ? TIME : !isnan(below) ? RATE : NO_TIMING;
}

double orch_unit_in_seconds(const char *unit)
{
    double factor;
    timing_of(unit, &factor);
    return factor;
}

bool orch_unit_is_timing(const char *unit, bool *out_is_rate)
{
    double factor;
    const enum timing timing = timing_of(unit, &factor);
    if (out_is_rate)
        *out_is_rate = timing == RATE;
    return timing != NO_TIMING;
}

bool orch_unit_is_time_share(const char *unit)
{
    double factor;
    return timing_of(unit, &factor) == SHARE;
}

bool orch_unit_read_rate(const char *text, size_t length, char out[ORCH_UNIT_CHARS])
{
    const char *slash = memchr(text, '/', length);
    if (!slash || slash == text || slash + 1 == text + length || length >= ORCH_UNIT_CHARS)
        return false;
    for (const char *at = text; at < text + length; at++)
        if (at != slash && !g_ascii_isalpha(*at))
            return false;
    const size_t before = (size_t)(slash - text), behind = length - before - 1;
    const bool is_second = (behind == 3 && memcmp(slash + 1, "sec", 3) == 0) ||
                           (behind == 6 && memcmp(slash + 1, "second", 6) == 0);
    memcpy(out, text, length);
    out[is_second ? before + 2 : length] = 0;
    return true;
}

const char *orch_unit_common(const char *unit)
{
    const struct orch_unit *found = orch_unit_find(unit, strlen(unit));
    return found && found->quantity == ORCH_QUANTITY_TIME    ? "s"
           : found && found->quantity == ORCH_QUANTITY_BYTES ? "MB"
                                                             : unit;
}

/* The unit of a text, or that before '/': of the same rate if the texts from '/' on are equal. */
static const struct orch_unit *part_of(const char *unit, const char **out_per)
{
    *out_per = unit + strcspn(unit, "/");
    return orch_unit_find(unit, (size_t)(*out_per - unit));
}

/* Shifts a number by a power of ten as its decimal digits are shifted: 350 ms are 0.35 s, rounded
 * once. */
static double shift_decimal(double value, int power)
{
    char text[ORCH_REAL_CHARS], shifted[ORCH_REAL_CHARS + 16];
    orch_real_format(value, text);
    const char *exponent = strchr(text, 'e');
    const int digits = (int)(exponent ? exponent - text : (ptrdiff_t)strlen(text));
    power += exponent ? atoi(exponent + 1) : 0;
    g_snprintf(shifted, sizeof shifted, "%.*se%d", digits, text, power);
    double result;
    return orch_real_parse(shifted, &result) ? result : value * pow(10, power);
}

bool orch_unit_convert(const char *from, const char *to, double *inout)
{
    if (strcmp(from, to) == 0)
        return true;
    const char *per_a, *per_b;
    const struct orch_unit *a = part_of(from, &per_a), *b = part_of(to, &per_b);
    if (!a || !b || a->quantity != b->quantity || a->quantity >= ORCH_QUANTITY_COUNT ||
        strcmp(per_a, per_b) != 0)
        return false;
    const double factor = a->factor / b->factor, power = round(log10(factor));
    const bool is_power = fabs(factor / pow(10, power) - 1) < 1e-12;
    *inout = is_power && isfinite(*inout) ? shift_decimal(*inout, (int)power)
                                          : *inout * a->factor / b->factor;
    return true;
}
