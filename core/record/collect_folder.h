/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns one folder with a journal into a run in the store. */
#ifndef ORCH_CORE_RECORD_COLLECT_FOLDER_H
#define ORCH_CORE_RECORD_COLLECT_FOLDER_H

#include "core/record/collect.h"

#include <jansson.h>

/** Records the run `key` from an open folder (-1: there is none). Files of it that are artifacts
 * now are removed, unless the record asks to keep the folder. `record` is taken over. `trial`: its
 * trial.json, or NULL. The rest is as in orch_collect. */
bool orch_collect_folder(struct orch_store *store, const char *key, json_t *record, int folder,
                         const json_t *trial, int64_t started_ns,
                         const struct orch_outside *outside, const struct orch_opened *opened,
                         struct orch_file_digests *digests, struct orch_collected *out,
                         GError **error);

#endif
