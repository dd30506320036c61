/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens one file and brings it to the present schema.
 */
#ifndef ORCH_STORE_OPEN_H
#define ORCH_STORE_OPEN_H

#include "store/handle/schema.h"

struct store_options {
    const struct store_migrations *migrations;
    bool never_wal;         /* as on a network file system */
    bool is_scratch;        /* temporary file: nothing is synced to disk */
    const char *stands_for; /* path of the store whose folder this one uses, or NULL */
    bool is_shard;          /* it is one host's file of that store */
    bool is_alone;          /* only the rows are needed, not the folder beside the file */
};
/** orch_store_open with options that tests can set. */
struct orch_store *orch_store_open_with(const char *path, enum orch_store_mode mode,
                                        const struct store_options *options, GError **error);

#endif
