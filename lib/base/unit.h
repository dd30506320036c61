/* SPDX-License-Identifier: MIT */
/* Units of measured values: one table of names, spellings, quantities and factors. */
#ifndef ORCH_BASE_UNIT_H
#define ORCH_BASE_UNIT_H

#include <stdbool.h>
#include <stddef.h>

/** Size of a unit's text, including the NUL. */
#define ORCH_UNIT_CHARS 24

enum orch_quantity {
    ORCH_QUANTITY_TIME,  /* base unit: s */
    ORCH_QUANTITY_BYTES, /* base unit: B */
    ORCH_QUANTITY_BITS,  /* base unit: bit */
    ORCH_QUANTITY_COUNT, /* a plain number: "10k" is 10,000 */
    ORCH_QUANTITY_OTHER, /* not convertible */
};

enum orch_unit_place {
    ORCH_UNIT_ANYWHERE,
    ORCH_UNIT_NOT_BEFORE_NUMBER, /* "3 min" is a time; in "avg 3 min 2" it is a name */
    ORCH_UNIT_GLUED, /* only directly after the number: "3W"; alone it is more likely a name */
    ORCH_UNIT_TYPED, /* only where a user types a quantity: "64K" are bytes there */
};

struct orch_unit {
    const char *name;      /* as values are stored: "ms"; "" for a plain number */
    const char *spellings; /* as programs print it, separated by spaces: "ms msec msecs" */
    enum orch_quantity quantity;
    double factor; /* to the base unit of the quantity */
    bool is_rate;  /* one of something per time, without a '/': "fps", "Hz" */
    enum orch_unit_place place;
};

/** The row that has this spelling; NULL for any other text, also for "images/s". */
const struct orch_unit *orch_unit_find(const char *text, size_t length);

/** The same for what a user types where a time or bytes are asked for: "64K" are 64 KiB, "2w" two
 * weeks. NULL for a unit of another quantity. */
const struct orch_unit *orch_unit_typed(const char *text, size_t length,
                                        enum orch_quantity quantity);
/** Returns the spellings that orch_unit_typed knows of a quantity, as "s|sec|...". The caller
 * frees. */
char *orch_unit_spellings(enum orch_quantity quantity);

/** Whether values of this unit are a time ("ms", "ms/step"), a rate ("images/s", "fps", "Hz") or a
 * quotient of times ("s/s"), which differ between machines and under load. `unit` and `out_is_rate`
 * may be NULL. */
bool orch_unit_is_timing(const char *unit, bool *out_is_rate);

/** Whether a unit is a quotient of times ("s/s"): a share of time, which has no unit to be shown.
 * `unit` may be NULL. */
bool orch_unit_is_time_share(const char *unit);

/** What one `unit` of a time is in seconds ("ms/step": 0.001), one of a rate in "per second"
 * ("images/min": 1/60). NaN for any other unit, and for NULL. */
double orch_unit_in_seconds(const char *unit);

/** Reads the unit of a rate, two words of letters around '/': "images/s", "MiB/sec", "s/it". "/sec"
 * and "/second" become "/s". False, without output, for any other text. */
bool orch_unit_read_rate(const char *text, size_t length, char out[ORCH_UNIT_CHARS]);

/** The unit in which values are stored if nothing declares another one, so that runs are
 * comparable: "s" for times, "MB" for bytes, otherwise `unit`. Borrowed. */
const char *orch_unit_common(const char *unit);

/** Converts a number from one unit to another of the same quantity, or of the same rate ("GiB/s" to
 * "MB/s"). Returns false, without change, if the units are not convertible. */
bool orch_unit_convert(const char *from, const char *to, double *inout);

#endif
