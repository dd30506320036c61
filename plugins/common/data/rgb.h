/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One image file as it is. */
#ifndef ORCH_PLUGINS_COMMON_RGB_H
#define ORCH_PLUGINS_COMMON_RGB_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Decodes a JPEG or PNG to height x width x RGB bytes, which the caller frees. Fails with NULL and
 * ORCH_ERROR_IO, which names the file and the byte. */
uint8_t *orch_rgb_read(const char *path, int *out_width, int *out_height, GError **error);
/** The size alone, from the head of the file. */
bool orch_rgb_size(const char *path, int *out_width, int *out_height, GError **error);

#endif
