/* SPDX-License-Identifier: MIT */
/* An immutable copy of a file that matches its digest, so that what was verified is what is loaded,
 * even if the file changes in between. */
#ifndef ORCH_HOST_PRIVATE_COPY_H
#define ORCH_HOST_PRIVATE_COPY_H

#include <glib.h>

/** Copies the plugin at `path` to memory that is sealed against writing, and checks its SHA-256.
 * Returns a close-on-exec descriptor, to be kept open while the plugin is loaded, or -1 with
 * ORCH_ERROR_PLUGIN if the file cannot be read or has another digest. */
int orch_private_copy_open(const char *path, const char *sha256, GError **error);

#endif
