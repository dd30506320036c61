/* SPDX-License-Identifier: MIT */
/* JSON (jansson) with bounded input and a canonical text form. */
#ifndef ORCH_BASE_JSON_H
#define ORCH_BASE_JSON_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

#define ORCH_JSON_DEPTH_MAX 32

/** Parses one JSON value from `length` bytes (at most `max_bytes`). It must be valid UTF-8, nested
 * at most ORCH_JSON_DEPTH_MAX deep, without duplicate keys or NUL characters. Fails with NULL and
 * ORCH_ERROR_PROTOCOL. */
json_t *orch_json_parse(const char *text, size_t length, size_t max_bytes, GError **error);

/** Canonical text: sorted keys, no spaces, shortest reals. Equal values have equal text on every
 * machine. Caller frees. */
char *orch_json_canonical(const json_t *value);

/** Returns JSON as text, as json_dumps does with `flags`, but with reals in as few digits as give
 * the same number again. NULL for what is no JSON. The caller frees. */
char *orch_json_dump(const json_t *value, size_t flags);
/** Returns a text of JSON in which characters that a terminal interprets or hides
 * (orch_text_is_hidden) are escapes, which decode to the same text. The caller frees. */
char *orch_json_escape_hidden(const char *text);

/** A real as JSON: a number, or the strings "nan", "inf", "-inf". New reference. */
json_t *orch_json_real(double value);
/** A real for --json output and the web page: a number, or null if it is NaN or infinite. Unlike
 * json_real it never returns NULL for these, which would make json_pack fail. New reference. */
json_t *orch_json_finite(double value);
/** As orch_json_real, but null when it is NaN. New reference. */
json_t *orch_json_real_or_null(double value);
/** A text; null when it is NULL or not UTF-8. Never NULL, as json_string is for these. New
 * reference. */
json_t *orch_json_text_or_null(const char *text);
/** Reads a real in the form of orch_json_real, or an integer. False for anything else. */
bool orch_json_get_real(const json_t *value, double *out);
/** A 64-bit unsigned number as a JSON string. New reference. */
json_t *orch_json_u64(guint64 value);
/** Reads a decimal string or an integer >= 0. */
bool orch_json_get_u64(const json_t *value, guint64 *out);

/** An error for programs: {"error": {"message", "hint" (or null), "code"}}. The texts may be any
 * bytes. New reference. */
json_t *orch_json_error(const char *message, const char *hint, const char *code);

/** Member `key` of an object as borrowed text, or `fallback` if it is absent or not a string. */
const char *orch_json_text(const json_t *object, const char *key, const char *fallback);
/** Member `key` as an integer, or `fallback`. */
gint64 orch_json_int(const json_t *object, const char *key, gint64 fallback);

#endif
