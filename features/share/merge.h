/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds the runs of other stores and bundles to a store. */
#ifndef ORCH_FEATURES_SHARE_MERGE_H
#define ORCH_FEATURES_SHARE_MERGE_H

#include "store/join/join.h"

/** The files to merge: each of `said` is a store, a bundle, or a folder, of which its own store
 * (results.db, .orch/results.db) or else every store and bundle is taken. char *; the caller
 * unrefs. NULL with an error when a path does not exist or a folder has neither. */
GPtrArray *orch_merge_files(const char *const *said, int count, GError **error);

/** Merges one file, which is not changed. Artifacts up to `artifact_bytes` each are copied (-1:
 * all, 0: none). `may_have` (or NULL) tells which other files a bundle may have, such as a pack's
 * report; any other is reported as refused. Returns the receipt, which the caller frees with
 * orch_receipt_free; NULL with an error, and nothing is merged. */
struct orch_receipt *orch_merge_file(struct orch_store *store, const char *path,
                                     int64_t artifact_bytes, bool (*may_have)(const char *path),
                                     GError **error);

#endif
