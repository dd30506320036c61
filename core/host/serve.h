/* SPDX-License-Identifier: MIT */
/* Answering for a compiled plugin: what it is, what it would read, what it would do. */
#ifndef ORCH_HOST_SERVE_H
#define ORCH_HOST_SERVE_H

#include <glib.h>
#include <stdbool.h>

/** Prints the manifest as one line of JSON. Here and below: with `sha256` only bytes of that digest
 * are loaded (NULL: whatever the file holds). */
bool serve_describe(const char *path, const char *sha256, GError **error);
/** Answers hello, check and cost lines from standard input until its end. */
bool serve_batch(const char *path, const char *sha256, GError **error);

#endif
