/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches for plugin files: the folders in order, and the files that match a name. It only looks
 * at file names and loads nothing. */
#ifndef ORCH_CORE_PLUGIN_SEARCH_H
#define ORCH_CORE_PLUGIN_SEARCH_H

#include <glib.h>
#include <stdbool.h>

/** True when a file (real path) is in the plugin folder of this installation. */
bool orch_search_is_own(const char *path);

/** Real path of the plugin `name`: a bare name (FOLDER/NAME.so, FOLDER/NAME.plugin,
 * then the same in FOLDER/NAME/), or with a '/' a path to such a file, or to a folder that holds
 * one of its own name; relative to `base` (NULL: the current folder). The bare name of a plugin
 * that comes with orch always means that plugin; when another folder has a file of that name, fails
 * with ORCH_ERROR_PLUGIN naming both. When nothing is found, ORCH_ERROR_NO_PLUGIN says where it was
 * searched and the nearest known name. The caller frees. */
char *orch_search_find(const char *const *first, const char *name, const char *base,
                       GError **error);

/** A file on the search path. */
struct orch_search_hit {
    char *name;
    char *path;        /* real path */
    char *shadowed_by; /* real path of the file that takes precedence, or NULL */
};
/** All plugin files on the search path, sorted by name; among equal names the one that takes
 * precedence comes first (orch's own plugin, else the first on the path). struct orch_search_hit *;
 * the caller unrefs. */
GPtrArray *orch_search_list(const char *const *first, const char *base);

/** False with ORCH_ERROR_PLUGIN when others than owner and group may write to the file. */
bool orch_search_is_safe(const char *path, GError **error);

#endif
