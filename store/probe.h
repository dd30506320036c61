/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a file system do what a store needs of it? Proved by two processes of ours at probe files in
 * the store's folder, and between two hosts by a lock that one holds while the other looks. */
#ifndef ORCH_STORE_PROBE_H
#define ORCH_STORE_PROBE_H

#include <glib.h>
#include <stdbool.h>

/** What a probe found. */
struct orch_probe {
    const char *what; /* static: "lock", "exclusive create", ... */
    bool works;
    char *detail;
    const char *follows; /* static: what it means when it does not; "" */
};
/** Tries writing, fsync, locks, O_EXCL, link, rename and the clock in `folder` (the nearest that is
 * there), in about a second; leaves nothing behind. struct orch_probe *; the caller unrefs. */
GPtrArray *orch_probe_folder(const char *folder);

/** Holds the probe lock of `folder` for so long, so that 'orch doctor' on another host can look for
 * it. */
bool orch_probe_hold(const char *folder, unsigned seconds, GError **error);
/** Is such a lock seen? Adds a probe to `out` when a host says that it holds it. */
void orch_probe_look(const char *folder, GPtrArray *out);

#endif
