/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted models as JSON. Long arrays are stored as base64 of little-endian values, which loads
 * twenty times faster than text, or as plain JSON arrays. Readers accept both. */
#ifndef ORCH_PREDICTORS_JSON_ARRAYS_H
#define ORCH_PREDICTORS_JSON_ARRAYS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum orch_save_style { ORCH_SAVE_PACKED, ORCH_SAVE_PLAIN };

/** Saves an array of reals (in plain style NaN is null) or of integers. New references. */
json_t *orch_save_reals(const double *values, size_t count, enum orch_save_style style);
json_t *orch_save_floats(const float *values, size_t count, enum orch_save_style style);
json_t *orch_save_ints(const int32_t *values, size_t count, enum orch_save_style style);

/** Loads member `name` of an object as an array; caller frees. `*count` is the required length, or
 * SIZE_MAX for any, and receives the actual one. Fails with NULL and ORCH_ERROR_RECIPE if the saved
 * model is invalid. */
double *orch_load_reals(const json_t *object, const char *name, size_t *count, GError **error);
float *orch_load_floats(const json_t *object, const char *name, size_t *count, GError **error);
int32_t *orch_load_ints(const json_t *object, const char *name, size_t *count, GError **error);

/** Load required members: a finite number, an integer in [low, high], a text (borrowed), an object
 * or array (borrowed). Fail with false or NULL and ORCH_ERROR_RECIPE. */
bool orch_load_real(const json_t *object, const char *name, double *out, GError **error);
bool orch_load_int(const json_t *object, const char *name, int64_t low, int64_t high, int64_t *out,
                   GError **error);
const char *orch_load_text(const json_t *object, const char *name, GError **error);
const json_t *orch_load_object(const json_t *object, const char *name, GError **error);
const json_t *orch_load_list(const json_t *object, const char *name, GError **error);
/** Sets ORCH_ERROR_RECIPE about member `name`; returns false. */
bool orch_load_fail(const char *name, const char *what, GError **error);

#endif
