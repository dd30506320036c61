/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's own files, held in memory: an address that is none of their names finds nothing, so
 * no address leads out of their folder. */
#ifndef ORCH_CORE_WEB_FILES_H
#define ORCH_CORE_WEB_FILES_H

#include <glib.h>

struct web_file {
    const char *type; /* static */
    GBytes *bytes;
    char *tag; /* changes with the content */
};

/** Reads a folder with its folders: "/app.js" to struct web_file *. NULL with an error when it has
 * no index.html. The caller unrefs. */
GHashTable *web_files_read(const char *folder, GError **error);

#endif
