/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors, notes and inputs of a training, given to its host. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_NOTES_H
#define ORCH_PLUGINS_COMMON_TRAINING_NOTES_H

#include <orch/plugin.h>

#include <glib.h>
#include <stdbool.h>

/** Fails with the error's message; frees it. Returns ORCH_FAILED. */
int orch_training_fail(const struct orch_host *host, GError *error);
/** A note for the trial's record. */
void orch_training_note(const struct orch_host *host, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** The host's digest of a file, for functions that take one with a context: `host` is a struct
 * orch_host. */
const char *orch_training_file_digest(void *host, const char *path);
/** In check: reports the SHA-256 of the file at `path` as input `name`. Does nothing in a smoke
 * run, and if `path` is NULL or no regular file: another trial's artifact is identified by that
 * trial. */
bool orch_training_file_input(const struct orch_host *host, const char *name, const char *path,
                              GError **error);

#endif
