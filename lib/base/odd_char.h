/* SPDX-License-Identifier: MIT */
/* Characters that cannot be seen, or look like one of ASCII: copied from a page or a PDF, they make
 * a text wrong that looks right. */
#ifndef ORCH_BASE_ODD_CHAR_H
#define ORCH_BASE_ODD_CHAR_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** The first such character among `length` bytes, or NULL. Characters that are seen, but as others
 * (a dash, a full-width letter), count with `has_visible`. Bytes that are not UTF-8 are passed
 * over. Borrowed from `text`. */
const char *orch_odd_char_find(const char *text, size_t length, bool has_visible);

/** "U+00A0 (a no-break space)" for a character that orch_odd_char_find found, and what to do with
 * it: "write a plain space instead". Caller frees both. */
char *orch_odd_char_describe(const char *at, char **out_hint);

#endif
