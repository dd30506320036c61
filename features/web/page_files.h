/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's own files, held in memory. A path is looked up by name only, so no path can leave the
 * folder. */
#ifndef ORCH_FEATURES_WEB_PAGE_FILES_H
#define ORCH_FEATURES_WEB_PAGE_FILES_H

#include <glib.h>

struct web_file {
    const char *type; /* static */
    GBytes *bytes;
    char *tag; /* changes when the content changes */
};

/** Reads a folder and its subfolders: "/app.js" -> struct web_file *. NULL with an error when there
 * is no index.html. The caller unrefs. */
GHashTable *orch_web_files_read(const char *folder, GError **error);

#endif
