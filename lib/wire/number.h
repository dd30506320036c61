/* SPDX-License-Identifier: MIT */
/* Fast conversion between doubles and decimal text, for millions of metric points: exact 128-bit
 * integer arithmetic for common magnitudes, GLib for the rest. Both directions are correctly
 * rounded, so values round-trip exactly. */
#ifndef ORCH_WIRE_NUMBER_H
#define ORCH_WIRE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** Maximum number of bytes written, without a NUL. */
#define ORCH_NUMBER_CHARS 32

/** Writes a finite `value` as a JSON number with the least of 15, 16 or 17 digits that round-trips.
 * Returns the position after it. */
char *orch_number_write(char *out, double value);

/** Writes an integer. Returns the position after it. */
char *orch_number_write_int(char *out, int64_t value);

/** Parses a JSON number at `text`. Returns the position after it, or NULL if there is none, it is
 * not finite, or it extends to `end`, in which case it may be incomplete. */
const char *orch_number_read(const char *text, const char *end, double *out);

/** Parses an integer of at most 18 digits; otherwise like orch_number_read. */
const char *orch_number_read_int(const char *text, const char *end, int64_t *out);

#endif
