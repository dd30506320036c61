/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch plugin new`: a plugin that works as written, in C, shell or Python, to be changed into
 * one's own. The skeletons are the files under share/templates. */
#ifndef ORCH_CORE_PLUGIN_SKELETON_H
#define ORCH_CORE_PLUGIN_SKELETON_H

#include <glib.h>

/** The languages that there is a skeleton for, NULL-terminated. */
const char *const *orch_skeleton_languages(void);

/** Writes the skeleton of plugin `name` into `folder` (NULL: a folder of that name in the current
 * one), which is made when absent. Nothing is overwritten: when one of the files exists, none is
 * written. Answers with the paths written, char *; the caller unrefs. NULL with ORCH_ERROR_USAGE
 * for a bad name, an unknown language or an existing file. */
GPtrArray *orch_skeleton_make(const char *name, const char *language, const char *folder,
                              GError **error);

#endif
