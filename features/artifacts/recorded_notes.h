/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The notes of a run: sentences that its plugin or program left for readers. */
#ifndef ORCH_FEATURES_ARTIFACTS_RECORDED_NOTES_H
#define ORCH_FEATURES_ARTIFACTS_RECORDED_NOTES_H

#include "store/store.h"

#include <jansson.h>

/** Returns the notes as an array of texts, empty when there are none (new reference). */
json_t *orch_recorded_notes(const struct orch_run *run);
/** Returns the text of the note "NAME: TEXT", which describes the artifact NAME. NULL: there is no
 * such note. The caller frees. */
char *orch_recorded_note_on(const struct orch_run *run, const char *name);

#endif
