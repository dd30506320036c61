/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plugin new`: writes a working example plugin in C, shell or Python for the user to edit, or
 * the skeleton of an assignment's program. The templates are the files under share/templates. */
#ifndef ORCH_FEATURES_PLUGINS_SKELETON_H
#define ORCH_FEATURES_PLUGINS_SKELETON_H

#include <glib.h>

/** Writes the skeleton of plugin `name` into `folder` (NULL: a folder of that name in the current
 * one), which is created if needed. `language` is "c", "shell" or "python"; with `skeleton` (NULL:
 * none) it is not used: "vecadd" is a CUDA program whose kernel is empty. Nothing is overwritten:
 * when one of the files exists, none is written. Returns the paths written, char *; the caller
 * unrefs. NULL with ORCH_ERROR_USAGE for a bad name, an unknown language or skeleton, or an
 * existing file. */
GPtrArray *orch_skeleton_make(const char *name, const char *language, const char *skeleton,
                              const char *folder, GError **error);

#endif
