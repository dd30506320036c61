/* SPDX-License-Identifier: MIT */
/* Text: numbers in the C locale, near names, names that are safe everywhere. */
#ifndef ORCH_BASE_TEXT_H
#define ORCH_BASE_TEXT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Bytes that orch_real_format may write, the final NUL included. */
#define ORCH_REAL_CHARS 32

/** Writes the shortest decimal text that reads back as `value` ("0.1", "1e-05", "nan", "inf",
 * "-inf"), in the C locale. Returns `out`. */
const char *orch_real_format(double value, char out[ORCH_REAL_CHARS]);

/** Reads a whole text as a finite number in the C locale ("1e-3"; no surrounding space). */
bool orch_real_parse(const char *text, double *out);

/** Reads a whole text as a decimal 64-bit integer; also "1e6" and "50_000" where exact. */
bool orch_int_parse(const char *text, int64_t *out);

/** The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its length away), or
 * NULL. `candidates` is NULL-terminated; the answer is one of its pointers. */
const char *orch_suggest(const char *word, const char *const *candidates);

/** True when `name` is [a-z][a-z0-9_-]* of at most 63 characters (with '-' only if allowed). */
bool orch_name_is_valid(const char *name, bool dash_allowed);

/** True for a name that another program chose ("train/loss", "val_acc@5", "optimizer.lr"): UTF-8 of
 * at most 200 bytes without blanks, quotes, control characters and the signs ( ) = < > ! ~ , so
 * that a condition can hold it as a word. */
bool orch_label_is_valid(const char *name);

/** "did you mean 'x'?" for the nearest candidate, else NULL. The caller frees. */
char *orch_suggest_hint(const char *word, const char *const *candidates);

/** The key under which spellings of a name are equal: "CIFAR-10", "cifar 10" and "cifar10" are one.
 * Lower case, without blanks and any of "-_./()". The caller frees. */
char *orch_name_key(const char *name);
/** Are these two spellings of one name? NULL is no name. */
bool orch_name_is_same(const char *a, const char *b);

/** A duration for people: "66 us", "2.5 ms", "800 ms", "12 s", "3 min 20 s", "2 h 5 min", "3 d 4
 * h". */
char *orch_duration_format(double seconds);

/** Bytes for people in binary units: "512 B", "1.4 MiB". */
char *orch_bytes_format(int64_t bytes);

/** A UTC time (nanoseconds) as "2026-11-21 03:47:21", for people; with 'T' and 'Z' for machines. */
char *orch_time_format(int64_t utc_ns, bool for_machines);

/** Does a terminal or page obey or hide this character: escapes and other controls (not '\n' and
 * '\t'), what turns the direction of writing, zero width, byte order mark, tags? */
bool orch_text_is_hidden(gunichar c);
/** The bytes of the character at `at` when it is a hidden one; 0: it is another. */
size_t orch_text_control_bytes(const char *at);

/** Makes a text safe for a terminal, in place: the bytes of hidden characters (orch_text_is_hidden)
 * become '?', so that a name cannot show as another. Returns `text`, which may be NULL. */
char *orch_text_plain(char *text);
/** The same on one line: '\n' and '\t' become spaces, so a name makes no line that looks as ours.
 */
char *orch_text_line(char *text);

/** The last `count` lines of `text` that are not blank, oldest first, as they are fit to be shown:
 * control characters neutralised, surrounding space removed, each cut at `bytes_max` bytes (with
 * "..."). A carriage return ends a line too, so that a progress bar is many lines of which the last
 * one counts. NULL-terminated; the caller frees with g_strfreev. `text` may be NULL. */
char **orch_text_last_lines(const char *text, unsigned count, size_t bytes_max);

/** Appends a field of CSV (RFC 4180): quoted when it holds a comma, a quote or a line's end. */
void orch_csv_append(GString *out, const char *text);

#endif
