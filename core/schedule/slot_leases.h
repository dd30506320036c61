/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trials of this machine use which CPUs and GPUs. All `orch run` of the machine share the
 * list, whatever their store and their user.
 *
 * The list is a folder on a local disk, /tmp/orch-slots or $ORCH_SLOTS. Each user has one file in
 * it, UID.json, which only this user writes. A lock (flock) on the folder itself is held while the
 * list is read and changed, which takes well under a millisecond. An entry ends with its trial. An
 * entry whose runner died ends once the trial's host and processes are gone; an entry of another
 * boot ends at once. Time never ends one.
 *
 * Other users can make the folder first, and put any file into it. Therefore names in it are opened
 * with orch_shared_open only, entries count only when the kernel confirms them (slot_leases.c), and
 * what is read of each user is bounded.
 *
 * Rejected: a file 'lock', which somebody else may have made as a named pipe; rows of the store,
 * because runs of several stores and scratch stores share a machine; kernel locks held by the
 * trial's host, because the list must also say who waits, in which order, and which share of a GPU
 * is taken; $XDG_RUNTIME_DIR, because it is removed when a user logs out while a run goes on. */
#ifndef ORCH_CORE_SCHEDULE_SLOT_LEASES_H
#define ORCH_CORE_SCHEDULE_SLOT_LEASES_H

#include "core/schedule/slot_lease.h"

#include <glib.h>
#include <stdbool.h>

/** The folder of the list: $ORCH_SLOTS, else /tmp/orch-slots. NULL when $ORCH_SLOTS is "off". The
 * caller frees. */
char *orch_slot_leases_folder(void);

/** The list while it is locked. */
struct orch_slot_leases {
    char *folder;
    int folder_fd;    /* locked */
    GPtrArray *rows;  /* struct orch_lease *: of all users, living ones only, oldest first */
    GError *left_out; /* the first file of another user that cannot be used, and why; or NULL */
};
/** Locks the list and reads it; makes the folder if it is missing. Waits at most five seconds for
 * the lock. False on error, which names the file and its owner, with nothing to end. */
bool orch_slot_leases_begin(struct orch_slot_leases *out, GError **error);
/** Unlocks the list. With `writes`, this user's entries in `rows` replace those of the file. */
bool orch_slot_leases_end(struct orch_slot_leases *leases, bool writes, GError **error);

/** Removes the entries of this process: that of the trial `key`, or all when it is NULL. */
bool orch_slot_leases_release(const char *key, GError **error);

/** The living entries, oldest first, without making or locking anything; empty when there is no
 * list. `out_problem` (may be NULL) receives why the list or a part of it cannot be used, or NULL.
 * struct orch_lease *; the caller unrefs. */
GPtrArray *orch_slot_leases_list(GError **out_problem);

/** Keeps the list from being removed as an old file by a cleaner of /tmp. */
void orch_slot_leases_touch(void);

#endif
