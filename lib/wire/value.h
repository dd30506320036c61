/* SPDX-License-Identifier: MIT */
/* Parameter values: parsed from text by type, validated against their row, in one canonical JSON
 * form.
 *
 *   type       JSON form            written
 *   bool       true, false          true false yes no on off
 *   int        integer              10, 1e6, 50_000
 *   real       real                 0.1, 1e-3
 *   string     string               anything
 *   enum       string               one of the choices
 *   path       string               anything; the caller makes it absolute
 *   artifact   string               ${experiment.name}, or a path
 *   duration   real (seconds)       90, 30s, 5min, 2h, 1d, 1h30min, 250ms
 *   bytes      integer              4096, 64KiB, 4MiB, 2GB (decimal), 16G (binary, as Slurm)
 *   money      real (US dollars)    0.90, $0.90, 0.90 USD
 *   secret     string               anything
 *   list       array                [a, b], or a YAML sequence; a single value is a list of one
 */
#ifndef ORCH_WIRE_VALUE_H
#define ORCH_WIRE_VALUE_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

/* A parameter of a program (`keeps_text`) passes numbers on as they are written: an int or a real
 * whose text is not the one that orch_value_format_json writes ("0123", "1.10", "1e-3", 20 digits)
 * has that text as its value. orch_value_number is the number beside it. */

/** Parses one scalar of the element type of `spec` and checks bounds and choices. New reference.
 * Fails with ORCH_ERROR_RECIPE, e.g. "parameter 'lr': 'fast' is not a real number" or "parameter
 * 'lr': 2 is above its maximum 1", with the nearest choice as the hint. */
json_t *orch_value_parse_scalar(const struct orch_param_spec *spec, const char *text,
                                GError **error);

/** The same for the whole type: a list is written "[a, b, c]" (elements may be quoted), anything
 * else is a scalar. */
json_t *orch_value_parse(const struct orch_param_spec *spec, const char *text, GError **error);

/** Validates a JSON value (from a file or the wire) and converts it to the canonical form: integers
 * become reals where needed, texts are parsed. New reference. */
json_t *orch_value_from_json(const struct orch_param_spec *spec, const json_t *value,
                             GError **error);

/** The number of an int or real value, also of one that is kept as text. False for other values. */
bool orch_value_number(const json_t *value, double *out);

/** Copies the values of a program for a reader of JSON: numbers that are kept as text become
 * numbers. A text that is no number of JSON or Python ("0123") and an integer of more than 64 bits
 * stay texts. New reference. */
json_t *orch_value_plain(const struct orch_manifest *manifest, const json_t *params);

/** The default (JSON null for an optional parameter without one); NULL without error if the
 * parameter is required. New reference. */
json_t *orch_value_default(const struct orch_param_spec *spec);

/** Formats a value for people: 0.001, fashion-mnist, [30%, 60%], 5 min, 4.0 MiB. Caller frees. */
char *orch_value_format(const struct orch_param_spec *spec, const json_t *value);
/** The same without a parameter row. */
char *orch_value_format_json(const json_t *value);

/** Fills a compiled plugin's parameter struct (`bytes` zeroed bytes at `out`) from an object of
 * canonical values. Strings and lists are allocated in `arena` and freed with it. Missing optional
 * values stay 0. Fails with ORCH_ERROR_PROTOCOL if a required value is missing or a name is
 * unknown. */
bool orch_value_fill(const struct orch_manifest *manifest, const json_t *params, void *out,
                     size_t bytes, GPtrArray *arena, GError **error);

/** Replaces ${name} in `text` by the values of `params` (in machine format: seconds, bytes, lists
 * joined by ','); "$$" becomes '$'. Fails for unknown names. Caller frees. */
char *orch_value_expand(const char *text, const json_t *params, GError **error);

#endif
