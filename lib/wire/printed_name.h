/* SPDX-License-Identifier: MIT */
/* Names of printed values: words in lower case, joined by '_'. */
#ifndef ORCH_WIRE_PRINTED_NAME_H
#define ORCH_WIRE_PRINTED_NAME_H

#include "lib/wire/printed.h"

/** Appends a word: letters of any script in lower case, other signs as '_'. False, with part of it
 * appended, if it does not fit. */
bool orch_printed_name_append(char out[ORCH_PRINTED_NAME_CHARS], const char *word, size_t length);

/** True if a name begins with a letter. */
bool orch_printed_name_is_valid(const char *name);

/** Moves an ordinal at the beginning of a name to its end: "95th_percentile" becomes
 * "percentile_95th". */
void orch_printed_name_turn(char name[ORCH_PRINTED_NAME_CHARS]);

/** Adds a word as printed, but for the case of its letters, to a hash (0 at first). */
unsigned orch_printed_name_hash(unsigned hash, const char *word, size_t length);

#endif
