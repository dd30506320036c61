/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bundle: items in one compressed file, for mail and USB; and a plain folder of bundles that a
 * group without git shares.
 *
 * A bundle is a gzip-compressed tar (any archiver lists it) whose entries are items, `format`
 * first. A shared folder holds bundles named by their digest; none is ever changed, each is put
 * there by rename, so any number of members may write at once, on any file system.
 */
#ifndef ORCH_STORE_EXCHANGE_BUNDLE_H
#define ORCH_STORE_EXCHANGE_BUNDLE_H

#include "store/exchange/items.h"

/** Further files for a bundle (a pack's report and sources). Path: relative, checked as on reading.
 */
struct orch_bundle_extra {
    const char *path;
    const char *bytes;
    size_t length;
};

/** Writes a bundle of what is chosen, by rename; an existing file is replaced. Equal content gives
 * equal bytes. `out_items`, `out_runs` may be NULL. */
bool orch_bundle_write(struct orch_store *store, const struct orch_item_choice *choice,
                       const struct orch_bundle_extra *extras, size_t extra_count, const char *path,
                       int64_t *out_items, int64_t *out_runs, GError **error);

/** Returns false to stop; entries that are no items, with normalised relative paths. */
typedef bool (*orch_bundle_extra_fn)(void *ctx, const char *path, const char *bytes, size_t length,
                                     GError **error);
/** Joins all items of a bundle. `extra` (may be NULL) gets the other entries; without it they are
 * refused. Limits: entries, total bytes unpacked, bytes of one; no links, devices, absolute paths
 * or "..": refused, with a line. False: no bundle, damaged (what came before is in the join), or
 * the store fails. */
bool orch_bundle_join(struct orch_join *join, struct orch_store *store, const char *path,
                      orch_bundle_extra_fn extra, void *ctx, GError **error);
/** Is it a bundle by its first bytes? */
bool orch_bundle_is(const char *path);

/** How two stores differ in what the other lacks. */
struct orch_exchanged {
    struct orch_receipt *receipt; /* of what came; NULL: nothing was joined */
    int64_t sent_runs, sent_items, sent_bytes;
    int64_t ahead, behind; /* runs, after it */
    int64_t ahead_notes;   /* of LOOK: notes, tags, removals and signatures that are not there */
    GHashTable *behind_by; /* of LOOK on a git remote: name (char *) -> runs (GSIZE_TO_POINTER) that
                              are there and not here; else NULL */
    unsigned tries;        /* more than 1: somebody else pushed meanwhile */
};
void orch_exchanged_clear(struct orch_exchanged *exchanged);

enum orch_exchange_way { ORCH_EXCHANGE_PULL, ORCH_EXCHANGE_PUSH, ORCH_EXCHANGE_LOOK };

/** A folder as a remote: joins the bundles not yet seen and, for PUSH, adds one with what the
 * folder lacks. LOOK changes nothing and fills ahead and behind. */
bool orch_folder_exchange(struct orch_store *store, const char *folder, enum orch_exchange_way way,
                          const struct orch_item_choice *choice, struct orch_exchanged *out,
                          GError **error);
/** Is it a folder that can be a remote (there, a directory, no git repository)? */
bool orch_folder_is(const char *path);

#endif
