/* SPDX-License-Identifier: MIT */
/* Decimal text of doubles at the speed that a million metric points need: exact integer arithmetic
 * on 128 bits for the magnitudes that occur, GLib for the rest. Both directions are correctly
 * rounded, so what is written reads back as the same double. */
#ifndef ORCH_WIRE_NUMBER_H
#define ORCH_WIRE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes that the writers may write; there is no NUL behind them. */
#define ORCH_NUMBER_CHARS 32

/** Writes the shortest of 15, 16 or 17 digits that reads back as `value` (finite) as a JSON number.
 * Returns the position behind it. */
char *orch_number_write(char *out, double value);

/** Writes an integer. Returns the position behind it. */
char *orch_number_write_int(char *out, int64_t value);

/** Reads a JSON number that starts at `text` and does not reach `end` (so that its own end is
 * seen). Returns the position behind it; NULL when there is none, it is not finite, or it reaches
 * `end`. */
const char *orch_number_read(const char *text, const char *end, double *out);

/** Reads an integer of at most 18 digits; otherwise as above. */
const char *orch_number_read_int(const char *text, const char *end, int64_t *out);

#endif
