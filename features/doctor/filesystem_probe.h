/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests whether a file system meets the needs of a store: with two local processes and probe files
 * in the store's folder, and between two hosts with a lock that one holds while the other tests
 * it. */
#ifndef ORCH_FEATURES_DOCTOR_FILESYSTEM_PROBE_H
#define ORCH_FEATURES_DOCTOR_FILESYSTEM_PROBE_H

#include <glib.h>
#include <stdbool.h>

/** What a probe found. */
struct orch_probe {
    const char *what; /* static: "lock", "exclusive create", ... */
    bool works;
    char *detail;
    const char *follows; /* static: the consequence when it does not work; "" */
};
/** Tests writing, fsync, locks, O_EXCL, link, rename and the clock in `folder` (or its nearest
 * existing parent), in about a second. Leaves no files behind. struct orch_probe *; the caller
 * unrefs. */
GPtrArray *orch_probe_folder(const char *folder);

/** Holds the probe lock of `folder` for `seconds`, so that 'orch doctor' on another host can test
 * for it. */
bool orch_probe_hold(const char *folder, unsigned seconds, GError **error);
/** Tests whether the lock of orch_probe_hold is visible. Adds a probe to `out` when a host has
 * announced that it holds the lock. */
void orch_probe_look(const char *folder, GPtrArray *out);

#endif
