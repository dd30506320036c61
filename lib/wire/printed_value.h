/* SPDX-License-Identifier: MIT */
#ifndef ORCH_WIRE_PRINTED_VALUE_H
#define ORCH_WIRE_PRINTED_VALUE_H

#include "lib/wire/printed_reader.h"

/** Adds a value; NULL if the line has too many. */
struct orch_printed_value *orch_printed_value_add(struct reader *r, enum orch_printed_kind kind);

/** Sets number, unit and total from a token. */
void orch_printed_value_set(struct orch_printed_value *value,
                            const struct orch_printed_token *token);

/** Takes a number (at `r->at`) with the pending words before it, and what belongs to it. */
void orch_printed_value_take(struct reader *r, const struct orch_printed_token *number);

/** "NAME=[21.]", "NAME: [[0.5]]", "loss (0.5,)": an array of one number is that number. Of several
 * numbers it is not known which one is meant. False if no number follows. */
bool orch_printed_value_take_array(struct reader *r);

/** "rtt min/avg/max = 0.036/0.124/0.374 ms": as many values as there are names. False for others.
 */
bool orch_printed_value_take_series(struct reader *r);

#endif
