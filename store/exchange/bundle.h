/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bundle: items in one compressed file, for mail and USB sticks; and a plain folder of bundles
 * that a group without git shares.
 *
 * A bundle is a gzip-compressed tar (any archiver can list it) whose entries are items, `format`
 * first. A shared folder contains bundles named by their digest. None is ever changed and each is
 * put there by rename, so any number of members may write at once, on any file system.
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

/** The result of an exchange, and how far the store and the remote differ. */
struct orch_exchanged {
    struct orch_receipt *receipt; /* of the joined items; NULL when nothing was joined */
    int64_t sent_runs, sent_items, sent_bytes;
    int64_t ahead, behind; /* runs that only the store has, and runs that only the remote has, after
                              the exchange */
    int64_t ahead_notes; /* LOOK only: notes, tags, removals and signatures that the remote lacks */
    GHashTable *behind_by; /* LOOK on a git remote: name of the author (char *) -> number of runs
                              (GSIZE_TO_POINTER) that only the remote has; else NULL */
    unsigned attempts; /* number of attempts; more than 1 when another member pushed meanwhile */
};
void orch_exchanged_clear(struct orch_exchanged *exchanged);

enum orch_exchange_way { ORCH_EXCHANGE_PULL, ORCH_EXCHANGE_PUSH, ORCH_EXCHANGE_LOOK };

/** Exchanges with a folder: joins the bundles that are new and, for PUSH, adds a bundle with
 * everything that the folder lacks. LOOK changes nothing and fills ahead and behind. */
bool orch_folder_exchange(struct orch_store *store, const char *folder, enum orch_exchange_way way,
                          const struct orch_item_choice *choice, struct orch_exchanged *out,
                          GError **error);
/** True when the path can be a remote: an existing directory that is not a git repository. */
bool orch_folder_is(const char *path);

#endif
