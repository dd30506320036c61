/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bundle: items in one compressed file, for mail and USB sticks. It is a gzip-compressed tar (any
 * archiver can list it) whose entries are items, `format` first.
 */
#ifndef ORCH_STORE_EXCHANGE_BUNDLE_H
#define ORCH_STORE_EXCHANGE_BUNDLE_H

#include "store/exchange/bundle_items.h"

/** An additional file in a bundle (a pack's report and sources). The path is relative and checked
 * as it is on reading. */
struct orch_bundle_extra {
    const char *path;
    const char *bytes;
    size_t length;
};

/** Writes a bundle of the chosen items by rename; an existing file is replaced. Equal content gives
 * equal bytes. `out_items` and `out_runs` may be NULL. */
bool orch_bundle_write(struct orch_store *store, const struct orch_item_choice *choice,
                       const struct orch_bundle_extra *extras, size_t extra_count, const char *path,
                       int64_t *out_items, int64_t *out_runs, GError **error);

/** Called for entries that are not items, with normalised relative paths. Returns false to stop. */
typedef bool (*orch_bundle_extra_fn)(void *ctx, const char *path, const char *bytes, size_t length,
                                     GError **error);
/** Joins all items of a bundle. `extra` gets the other entries; when it is NULL, they are refused.
 * The number of entries, the total unpacked bytes and the bytes of each entry are limited. Links,
 * devices, absolute paths and ".." are refused with a line of the receipt. Returns false when the
 * file is not a bundle or is damaged (earlier entries are in the join), or when the store fails. */
bool orch_bundle_join(struct orch_join *join, struct orch_store *store, const char *path,
                      orch_bundle_extra_fn extra, void *ctx, GError **error);
/** True when the first bytes are those of a bundle. */
bool orch_bundle_is(const char *path);
/** Checks that `path` may be overwritten. ORCH_ERROR_USAGE when a file exists that is neither a
 * bundle nor a pack, so that a typing error does not destroy it. */
bool orch_bundle_may_write(const char *path, GError **error);
/** True when the path is one of the entries that a pack (a bundle with a report and its sources)
 * has beside its runs: a reader of bundles may pass over them. */
bool orch_pack_is_file(const char *path);

#endif
