/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gets data sets and weights of the catalogue into one cache that all recipes of a user share:
 * resumed, held against the published digests, unpacked, and only then put in their place, so that
 * what is in place is whole. Two processes that want the same file fetch it once. */
#ifndef ORCH_DATA_DATA_H
#define ORCH_DATA_DATA_H

#include "lib/data/catalogue.h"

/** What happens now, and how far it is; total 0: not known. */
struct orch_data_progress {
    const char *stage; /* "waiting", "downloading", "checking", "unpacking" */
    const char *file;  /* base name */
    int64_t done_bytes, total_bytes;
};
/** Called some times a second; false stops (what came so far is gone on with next time). */
typedef bool (*orch_data_on_progress)(void *ctx, const struct orch_data_progress *progress);

/** All zero: as usual. */
struct orch_data_options {
    const char *cache;  /* NULL: orch_data_cache() */
    const char *mirror; /* NULL: $ORCH_DATA_MIRROR; stands for "https://host" of every URL */
    int retries;        /* 0: 5; -1: none */
    double wait_s;      /* before the first retry; 0: 1 s */
    int connect_s;      /* 0: 30 */
    int stall_s;        /* 0: 60 */
    orch_data_on_progress progress; /* NULL: none */
    void *ctx;
};

/** Makes sure that an entry of the catalogue is on this machine, and returns where: the folder of a
 * set, the file of weights. The caller frees. What is found in a usual place is not fetched again.
 * NULL with ORCH_ERROR_NOT_FOUND (no such name), ORCH_ERROR_IO (network, disk), ORCH_ERROR_CHECK (a
 * digest differs: nothing is kept) or ORCH_ERROR_INTERRUPTED. */
char *orch_data_get(const char *name, const struct orch_data_options *options, GError **error);
/** The same for an entry of the caller's. */
char *orch_data_get_entry(const struct orch_data_entry *entry,
                          const struct orch_data_options *options, GError **error);

struct orch_data_item {
    const struct orch_data_entry *entry;
    int64_t bytes; /* to download, or about so many */
    bool bytes_exact;
    char *path; /* where it lies; NULL: not on this machine */
};
/** Every entry of the catalogue, in its order: struct orch_data_item *. The caller unrefs. */
GPtrArray *orch_data_list(const char *cache);

#endif
