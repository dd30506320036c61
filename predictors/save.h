/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted models as JSON. Long arrays are packed: base64 of little-endian values, which is read
 * twenty times faster than text; written plainly they are JSON arrays. Readers take both. */
#ifndef ORCH_PREDICTORS_SAVE_H
#define ORCH_PREDICTORS_SAVE_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum orch_save_style { ORCH_SAVE_PACKED, ORCH_SAVE_PLAIN };

/** An array of reals (plainly: NaN is null), or of integers. New references. */
json_t *orch_save_reals(const double *values, size_t count, enum orch_save_style style);
json_t *orch_save_floats(const float *values, size_t count, enum orch_save_style style);
json_t *orch_save_ints(const int32_t *values, size_t count, enum orch_save_style style);

/** Member `name` of an object as an array, to be freed by the caller. `*count` in: how many it must
 * have, or SIZE_MAX for any number; out: how many there are. NULL with ORCH_ERROR_RECIPE: a saved
 * model that is broken. */
double *orch_load_reals(const json_t *object, const char *name, size_t *count, GError **error);
float *orch_load_floats(const json_t *object, const char *name, size_t *count, GError **error);
int32_t *orch_load_ints(const json_t *object, const char *name, size_t *count, GError **error);

/** Members that must be there: a finite number, an integer within [low, high], a text (borrowed),
 * an object or array (borrowed). False or NULL with the same error. */
bool orch_load_real(const json_t *object, const char *name, double *out, GError **error);
bool orch_load_int(const json_t *object, const char *name, int64_t low, int64_t high, int64_t *out,
                   GError **error);
const char *orch_load_text(const json_t *object, const char *name, GError **error);
const json_t *orch_load_object(const json_t *object, const char *name, GError **error);
const json_t *orch_load_list(const json_t *object, const char *name, GError **error);
/** Sets that error about `name`; returns false. */
bool orch_load_fail(const char *name, const char *what, GError **error);

#endif
