/* SPDX-License-Identifier: MIT */
#ifndef ORCH_WIRE_PRINTED_REST_H
#define ORCH_WIRE_PRINTED_REST_H

#include "lib/wire/printed_reader.h"

/** Consumes what belongs to a value (NULL: to a number that is none): its unit, "of N" after a
 * count, an uncertainty, other forms of it in brackets. */
void orch_printed_rest_take(struct reader *r, struct orch_printed_value *value,
                            const struct orch_printed_token *number);

/** True if other numbers follow of which it is not known which one is meant; those of a formula or
 * of a pair are skipped. */
bool orch_printed_rest_is_several(struct reader *r, const struct orch_printed_value *value,
                                  const struct orch_printed_token *number);

/** "1.2B" is a number already (printed_number.c); "7B parameters" is known by its words. */
void orch_printed_rest_count_billions(struct reader *r, struct orch_printed_value *value);

#endif
