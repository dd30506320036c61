/* SPDX-License-Identifier: MIT */
/* Text: numbers in the C locale, similar names, names that are valid everywhere. */
#ifndef ORCH_BASE_TEXT_H
#define ORCH_BASE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Size of the buffer for orch_real_format, including the NUL. */
#define ORCH_REAL_CHARS 32

/** Writes the shortest decimal text that parses back to `value` ("0.1", "1e-05", "nan", "inf",
 * "-inf"), in the C locale. Returns `out`. */
const char *orch_real_format(double value, char out[ORCH_REAL_CHARS]);

/** Parses a complete text as a finite number in the C locale ("1e-3"; no surrounding space). */
bool orch_real_parse(const char *text, double *out);
/** Parses a complete text as per cent ("91.2%", "91.2 %"): the number before the sign, 91.2, and
 * the share, 0.912. False, with both untouched, for any other text. */
bool orch_percent_parse(const char *text, double *out_number, double *out_share);

/** Parses a complete text as a decimal 64-bit integer; also "1e6" and "50_000" if exact. */
bool orch_int_parse(const char *text, int64_t *out);

/** Returns the candidate nearest to `word` (Damerau-Levenshtein distance of at most a third of its
 * length, else by initials) that is another word, or NULL. `candidates` ends with NULL; the result
 * is one of them. */
const char *orch_suggest(const char *word, const char *const *candidates);

/** Whether an array of texts has this one. */
bool orch_texts_have(const GPtrArray *texts, const char *text);
/** Adds a copy of a text unless the array has it. */
void orch_texts_add_once(GPtrArray *texts, const char *text);

/** True for a name [a-z][a-z0-9_-]* of at most 63 characters ('-' only if allowed). */
bool orch_name_is_valid(const char *name, bool dash_allowed);

/** True for a name that a program may give to a setting ("C", "optimizer.lr", "batch-size"): a
 * letter of any script or '_', then letters, digits and "_.-/@+", at most 100 bytes. */
bool orch_setting_name_is_valid(const char *name);
/** Length in bytes of the longest beginning of `text` that is such a name. */
size_t orch_setting_name_bytes(const char *text);

/** True for a valid name from another program ("train/loss", "val_acc@5", "optimizer.lr"): UTF-8 of
 * at most 200 bytes without blanks, quotes, control characters and ( ) = < > ! ~ , so that a
 * --where condition can contain it as a word. */
bool orch_label_is_valid(const char *name);

/** Writes a text in ASCII, for names, in at most `bytes_max` bytes. One with other letters ends
 * with a number that tells it from others: "größe" becomes "grosse_x" and eight digits. Caller
 * frees. */
char *orch_text_ascii(const char *text, size_t bytes_max);

/** Returns the last line of what a program printed that tells why it failed, without the space at
 * its begin: lines of `make` and the like, which only pass a failure on, do not count while there
 * are others among the last ten. As orch_text_last_lines otherwise; NULL: there is none. Caller
 * frees. */
char *orch_text_telling_line(const char *text, size_t bytes_max);

/** Returns "did you mean 'x'?" for the nearest candidate, else NULL. Caller frees. */
char *orch_suggest_hint(const char *word, const char *const *candidates);
/** Tells a hint of orch_suggest_hint from one that lists names. */
bool orch_is_suggestion(const char *hint);

/** Normalises a name so that spellings compare equal ("CIFAR-10", "cifar 10", "cifar10"): lower
 * case, without blanks and any of "-_./()". Caller frees. */
char *orch_name_key(const char *name);
/** True if both are spellings of one name (orch_name_key). False for NULL. */
bool orch_name_is_same(const char *a, const char *b);

/** Returns the ending of a regular plural after a count: "" for 1, else "s". */
const char *orch_plural(int64_t count);

/** Formats a duration: "66 us", "2.5 ms", "800 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4 h".
 * Caller frees. */
char *orch_duration_format(double seconds);

/** Formats dollars: "$12.34", "$0.05", "$1.2e+09"; "-" for NaN and negative values. Caller
 * frees. */
char *orch_money_format(double usd);
/** Formats bytes in binary units: "512 B", "1.4 MiB". Caller frees. */
char *orch_bytes_format(int64_t bytes);

/** Formats UTC nanoseconds as "2026-11-21 03:47:21"; for machines with 'T' and 'Z'. Caller
 * frees. */
char *orch_time_format(int64_t utc_ns, bool for_machines);

/** True for characters that a terminal or page interprets or hides: escapes and other controls
 * (except '\n' and '\t'), text direction marks, zero-width characters, byte order mark, tags. */
bool orch_text_is_hidden(gunichar c);
/** Length in bytes of the character at `at` if it is a hidden one, else 0. */
size_t orch_text_control_bytes(const char *at);

/** Makes a text safe for a terminal, in place: replaces the bytes of hidden characters
 * (orch_text_is_hidden) by '?', so that a name cannot be disguised. Returns `text`; may be NULL. */
char *orch_text_plain(char *text);
/** The same, and replaces '\n' and '\t' by spaces, so that a name cannot imitate a line of
 * output. */
char *orch_text_line(char *text);

/** The last `count` non-blank lines of `text`, oldest first, safe to display: control characters
 * replaced, surrounding space removed, each truncated to `bytes_max` bytes (with "..."). A carriage
 * return also ends a line, so that only the final state of a progress bar is kept. NULL-terminated;
 * caller frees with g_strfreev. `text` may be NULL. */
char **orch_text_last_lines(const char *text, unsigned count, size_t bytes_max);

/** Appends a CSV field (RFC 4180), quoted if it contains a comma, a quote or a line break. */
void orch_csv_append(GString *out, const char *text);

/** Orders the texts that two pointers point at, by their bytes: for qsort, g_array_sort and
 * g_ptr_array_sort of texts, or of structs that begin with one. */
int orch_compare_texts(const void *a, const void *b);

#endif
