/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors and notes of a training, given to its host. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_NOTES_H
#define ORCH_PLUGINS_COMMON_TRAINING_NOTES_H

#include <orch/plugin.h>

#include <glib.h>

/** Fails with the error's message; frees it. Returns ORCH_FAILED. */
int orch_training_fail(const struct orch_host *host, GError *error);
/** A note for the trial's record. */
void orch_training_note(const struct orch_host *host, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
