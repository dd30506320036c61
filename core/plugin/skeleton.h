/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plugin new`: a plugin that works as written, in C, shell or Python, to be changed into
 * one's own. The skeletons are the files under share/templates. */
#ifndef ORCH_CORE_PLUGIN_SKELETON_H
#define ORCH_CORE_PLUGIN_SKELETON_H

#include <glib.h>
#include <stdbool.h>

/** The languages that there is a skeleton for, NULL-terminated. */
const char *const *orch_skeleton_languages(void);

/** Writes the skeleton of plugin `name` into `folder` (NULL: a folder of that name in the current
 * one), which is made when absent. Nothing is overwritten: when one of the files exists, none is
 * written. `out_files` (may be NULL) gets the paths, char *; the caller unrefs. ORCH_ERROR_USAGE
 * for a bad name, an unknown language or an existing file. */
bool orch_skeleton_new(const char *name, const char *language, const char *folder,
                       GPtrArray **out_files, GError **error);

#endif
