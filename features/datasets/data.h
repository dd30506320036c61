/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Downloads data sets and weights of the catalogue to a cache shared by all recipes of a user:
 * downloads resume, are verified against the published digests, unpacked, and then moved into
 * place, so that everything in place is complete. If two processes want the same file, it is
 * downloaded once. */
#ifndef ORCH_FEATURES_DATASETS_DATA_H
#define ORCH_FEATURES_DATASETS_DATA_H

#include "lib/data/catalogue.h"

/** Current stage and its progress; total 0: unknown. */
struct orch_data_progress {
    const char *stage; /* "waiting", "downloading", "checking", "unpacking" */
    const char *file;  /* base name */
    int64_t done_bytes, total_bytes;
};
/** Called a few times per second; returning false stops (a later call resumes). */
typedef bool (*orch_data_on_progress)(void *ctx, const struct orch_data_progress *progress);

/** Zero-initialise for defaults. */
struct orch_data_options {
    const char *cache;  /* NULL: orch_data_cache() */
    const char *mirror; /* NULL: $ORCH_DATA_MIRROR; replaces "https://host" in every URL */
    int retries;        /* 0: 5; -1: none */
    double wait_s;      /* before the first retry; 0: 1 s */
    int connect_s;      /* 0: 30 */
    int stall_s;        /* 0: 60 */
    orch_data_on_progress progress; /* NULL: none */
    void *ctx;
};

/** Ensures that an entry of the catalogue is on this machine and returns its path: the folder of a
 * data set, the file of weights. Does not download what is found in a known place. Caller frees.
 * Fails with NULL and ORCH_ERROR_NOT_FOUND (no such name), ORCH_ERROR_IO (network, disk),
 * ORCH_ERROR_CHECK (wrong digest; nothing is kept) or ORCH_ERROR_INTERRUPTED. */
char *orch_data_get(const char *name, const struct orch_data_options *options, GError **error);
/** The same for an entry outside the catalogue. */
char *orch_data_get_entry(const struct orch_data_entry *entry,
                          const struct orch_data_options *options, GError **error);

struct orch_data_item {
    const struct orch_data_entry *entry;
    int64_t bytes; /* download size, exact or estimated */
    bool bytes_exact;
    char *path; /* location; NULL: not on this machine */
};
/** All entries of the catalogue in order: struct orch_data_item *. Caller unrefs. */
GPtrArray *orch_data_list(const char *cache);

#endif
