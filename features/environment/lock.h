/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lock files of a run's environment, made from the lists that its store keeps
 * (core/workspace/package_lists.h):
 *
 *     requirements.txt        Python packages with versions and, where an index has them, the
 *                             SHA-256 of their files: pip install --require-hashes -r
 *     requirements-other.txt  those that the index does not have, without digests: builds such as
 *                             torch 2.5.1+cu121 of another index, and local packages
 *     conda.txt               conda create --file
 *     apt.txt                 NAME:ARCH=VERSION of the system, for apt-get install
 */
#ifndef ORCH_FEATURES_ENVIRONMENT_LOCK_H
#define ORCH_FEATURES_ENVIRONMENT_LOCK_H

#include "store/store.h"

#include <jansson.h>

/** What was written. */
struct orch_lock {
    char *python;        /* version of the interpreter; NULL: the run had none */
    GPtrArray *files;    /* char *: paths */
    GPtrArray *unhashed; /* char *: "NAME==VERSION" without a digest */
    char *why;           /* why packages that an index may have got no digest; or NULL */
};
void orch_lock_clear(struct orch_lock *lock);

/** Writes the lock files of a run into `folder`, which must be empty or absent. Digests are asked
 * of the package index by uv or pip. ORCH_ERROR_NOT_FOUND when no list of the run is on this
 * machine. */
bool orch_lock_write(const struct orch_store *store, const struct orch_run *run, const char *folder,
                     struct orch_lock *out, GError **error);

#endif
