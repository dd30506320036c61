/* SPDX-License-Identifier: MIT */
/* Parameter values: read from text by type, checked against their row, one canonical JSON form.
 *
 *   type       JSON form            written
 *   bool       true, false          true false yes no on off
 *   int        integer              10, 1e6, 50_000
 *   real       real                 0.1, 1e-3
 *   string     string               anything
 *   enum       string               one of the choices
 *   path       string               anything; made absolute by whoever knows the base folder
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

/** Reads one scalar of `spec`'s (element) type and checks bounds and choices. New reference; NULL
 * with ORCH_ERROR_RECIPE, e.g. "parameter 'lr': 'fast' is not a real number" or "parameter 'lr':
 * 2 is above its maximum 1", and a hint with the nearest choice. */
json_t *orch_value_parse_scalar(const struct orch_param_spec *spec, const char *text,
                                GError **error);

/** As above for the whole type: a list is written "[a, b, c]" (elements may be quoted), anything
 * else is a scalar. */
json_t *orch_value_parse(const struct orch_param_spec *spec, const char *text, GError **error);

/** Checks a JSON value (from a file or the wire) against the row and brings it to the canonical
 * form: an integer becomes a real where one is wanted, texts are parsed. New reference. */
json_t *orch_value_from_json(const struct orch_param_spec *spec, const json_t *value,
                             GError **error);

/** The default as a value (JSON null for an optional one without); NULL without error when the
 * parameter is required. New reference. */
json_t *orch_value_default(const struct orch_param_spec *spec);

/** For people: 0.001, fashion-mnist, [30%, 60%], 5 min, 4.0 MiB. The caller frees. */
char *orch_value_format(const struct orch_param_spec *spec, const json_t *value);
/** The same without a row to go by. */
char *orch_value_format_json(const json_t *value);

/** Fills a compiled plugin's parameter struct (`bytes` zeroed bytes at `out`) from an object of
 * canonical values. Strings and lists are allocated from `arena` (freed with it). Missing optional
 * values stay zero. False with ORCH_ERROR_PROTOCOL when a required one is missing or none of the
 * rows has a given name. */
bool orch_value_fill(const struct orch_manifest *manifest, const json_t *params, void *out,
                     size_t bytes, GPtrArray *arena, GError **error);

/** Replaces ${name} in `text` by the formatted values of `params` (canonical machine text: seconds,
 * bytes, lists joined by ','); "$$" is '$'. Unknown names are an error. The caller frees. */
char *orch_value_expand(const char *text, const json_t *params, GError **error);

#endif
