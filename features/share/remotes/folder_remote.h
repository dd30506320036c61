/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plain folder of bundles that a group without git shares: they are named by their digest, none
 * is ever changed and each is put there by rename, so any number of members may write at once, on
 * any file system. And what every carrier of results says of an exchange. */
#ifndef ORCH_FEATURES_SHARE_FOLDER_REMOTE_H
#define ORCH_FEATURES_SHARE_FOLDER_REMOTE_H

#include "store/exchange/bundle.h"

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
