/* SPDX-License-Identifier: MIT */
/* Answers queries about a compiled plugin: its manifest, the inputs and the cost of a trial. */
#ifndef ORCH_HOST_SERVE_H
#define ORCH_HOST_SERVE_H

#include <glib.h>
#include <stdbool.h>

/** Prints the manifest as one line of JSON. Here and below, with `sha256` only contents with that
 * digest are loaded (NULL: any). */
bool orch_serve_describe(const char *path, const char *sha256, GError **error);
/** Answers hello, check and cost messages from standard input until its end. */
bool orch_serve_batch(const char *path, const char *sha256, GError **error);

#endif
