/* SPDX-License-Identifier: MIT */
/* Brings a printed line into plain signs: no colours, and ASCII for the signs outside it that stand
 * for one of ASCII. */
#ifndef ORCH_WIRE_PRINTED_FOLD_H
#define ORCH_WIRE_PRINTED_FOLD_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** Writes the line without escape sequences and with plain signs to `out`. False, with `out`
 * unchanged, if the line is plain already. */
bool orch_printed_fold_line(const char *text, size_t length, GString *out);

/** Length in bytes of the escape sequence at `at`; 0: none. */
size_t orch_printed_escape_bytes(const char *at, const char *end);

#endif
