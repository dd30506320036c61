/* SPDX-License-Identifier: MIT */
/* JSON (jansson) with bounds and one canonical text. */
#ifndef ORCH_BASE_JSON_H
#define ORCH_BASE_JSON_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

#define ORCH_JSON_DEPTH_MAX 32

/** Reads one JSON value from `length` bytes (at most `max_bytes`), nested at most
 * ORCH_JSON_DEPTH_MAX deep, no duplicate keys, valid UTF-8, no NUL characters. NULL with
 * ORCH_ERROR_PROTOCOL. */
json_t *orch_json_parse(const char *text, size_t length, size_t max_bytes, GError **error);

/** Canonical text: sorted keys, no spaces, shortest reals. Equal values give equal text on every
 * machine. The caller frees. */
char *orch_json_canonical(const json_t *value);

/** A real as JSON: a number, or the strings "nan", "inf", "-inf". New reference. */
json_t *orch_json_real(double value);
/** A real for readers of --json and for the page: a number, or null when it is NaN or infinite.
 * Never NULL, as json_real is for these: a NULL within json_pack makes the whole object NULL. New
 * reference. */
json_t *orch_json_finite(double value);
/** Reads what orch_json_real made; integers too. False when it is neither. */
bool orch_json_get_real(const json_t *value, double *out);
/** A 64-bit unsigned number as a JSON string. New reference. */
json_t *orch_json_u64(guint64 value);
/** Reads a decimal string or an integer >= 0. */
bool orch_json_get_u64(const json_t *value, guint64 *out);

/** Member `key` of an object as borrowed text, or `fallback` when it is absent or no string. */
const char *orch_json_text(const json_t *object, const char *key, const char *fallback);
/** Member `key` as an integer, or `fallback`. */
gint64 orch_json_int(const json_t *object, const char *key, gint64 fallback);

#endif
