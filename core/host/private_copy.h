/* SPDX-License-Identifier: MIT */
/* A copy of a file that nobody can change, checked against its digest: what is loaded is what was
 * checked, whatever happens to the file in between. */
#ifndef ORCH_HOST_PRIVATE_COPY_H
#define ORCH_HOST_PRIVATE_COPY_H

#include <glib.h>

/** Copies the plugin at `path` into memory that is sealed against writing, and compares its
 * SHA-256. Returns a close-on-exec descriptor that stays open as long as the plugin is mapped; -1
 * with ORCH_ERROR_PLUGIN when the file cannot be read or is not the one that was checked. */
int private_copy_open(const char *path, const char *sha256, GError **error);

#endif
