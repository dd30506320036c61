/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results in one file, to send or copy (store/exchange/bundle.h). */
#ifndef ORCH_FEATURES_SHARE_BUNDLE_EXPORT_H
#define ORCH_FEATURES_SHARE_BUNDLE_EXPORT_H

#include "core/results/selection.h"

struct orch_bundle_request {
    const char *path;
    struct orch_selection selection;
    int64_t artifact_bytes;      /* the largest artifact to include; -1: no limit, 0: none */
    const char *const *datasets; /* names of data sets to include, NULL-terminated, or NULL */
};
/** An item that would be in the bundle. */
struct orch_bundle_item {
    char *path;
    int64_t bytes;
};
struct orch_bundle_sum {
    int64_t items, runs;
    int64_t bytes;   /* of the file; of a dry run: before compression */
    GPtrArray *list; /* of a dry run: struct orch_bundle_item *; else NULL */
};
/** Writes the selected runs with everything that they own. With `dry_run` lists the items and
 * writes nothing; call orch_bundle_may_write before a file is written. Clear with
 * orch_bundle_sum_clear. */
bool orch_bundle_export(struct orch_store *store, const struct orch_bundle_request *request,
                        bool dry_run, struct orch_bundle_sum *out, GError **error);
void orch_bundle_sum_clear(struct orch_bundle_sum *sum);

/** Parses the size of the largest artifact to exchange: "all" (-1), "none" (0) or a size ("4MiB");
 * NULL: the default, 4 MiB. ORCH_ERROR_USAGE, which names --artifacts. */
bool orch_artifact_bytes_parse(const char *text, int64_t *out, GError **error);

#endif
