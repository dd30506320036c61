/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training sets and weights that can be downloaded, and those that are on this machine. */
#ifndef ORCH_FEATURES_DATASETS_TRAINING_SETS_H
#define ORCH_FEATURES_DATASETS_TRAINING_SETS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** A set of the catalogue. Its texts live as long as the process, except the path. */
struct orch_training_set {
    const char *name, *about, *licence;
    const char *package; /* Debian package with the same contents; NULL: none */
    bool is_weights;     /* weights of a network, not a set of examples */
    int64_t bytes;       /* size of the download */
    bool is_estimated;   /* the size */
    char *path;          /* where it is on this machine; NULL: not downloaded */
};
/** All sets, then all weights: struct orch_training_set *; the caller unrefs. */
GPtrArray *orch_training_sets(void);

/** Called a few times a second during a download: "downloading", "train.gz", 1000 of 5000 bytes
 * (`total_bytes` 0: unknown). */
typedef void (*orch_download_fn)(void *ctx, const char *stage, const char *file, int64_t done_bytes,
                                 int64_t total_bytes);
/** Makes sure that a set or weights are on this machine, and returns their path, which the caller
 * frees. What is there already is not downloaded again. NULL with ORCH_ERROR_NOT_FOUND (no such
 * name), ORCH_ERROR_IO (network, disk), ORCH_ERROR_CHECK (wrong digest) or ORCH_ERROR_INTERRUPTED.
 */
char *orch_training_set_get(const char *name, orch_download_fn progress, void *ctx, GError **error);

#endif
