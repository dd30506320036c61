/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bundles by their parts, for carriers that look at each item. */
#ifndef ORCH_STORE_BUNDLE_PARTS_H
#define ORCH_STORE_BUNDLE_PARTS_H

#include "store/exchange/bundle.h"

/** Returns whether the item is to be written. `bytes` is as for orch_item_sink. */
typedef bool (*bundle_filter_fn)(void *ctx, const struct orch_item_name *name, int64_t bytes);

/** The number of items, runs and bytes that were written to a bundle. */
struct bundle_written {
    int64_t items, runs, bytes;
};
/** Like orch_bundle_write, for the items that `filter` accepts (NULL: all). */
bool orch_bundle_write_filtered(struct orch_store *store, const struct orch_item_choice *choice,
                                bundle_filter_fn filter, void *ctx,
                                const struct orch_bundle_extra *extras, size_t extra_count,
                                const char *path, struct bundle_written *out, GError **error);

/** Called with the name of each item of a bundle. */
typedef void (*bundle_name_fn)(void *ctx, const struct orch_item_name *name);
/** How far the content of a bundle was verified by joining it. */
enum bundle_verification {
    BUNDLE_VERIFIED,   /* every run in it was new and gave the digest in its name */
    BUNDLE_UNVERIFIED, /* some runs were known and not compared, or something was refused */
    BUNDLE_DAMAGED,    /* it could not be read to its end; earlier items are in the join */
};
/** Like orch_bundle_join, with the result of the verification. Returns false with BUNDLE_DAMAGED,
 * or when the store fails. */
bool orch_bundle_join_verified(struct orch_join *join, struct orch_store *store, const char *path,
                               orch_bundle_extra_fn extra, void *ctx, enum bundle_verification *out,
                               GError **error);

/** The outcome of joining an item. */
enum item_outcome {
    ITEM_REFUSED,
    ITEM_TAKEN, /* its content matches its name */
    ITEM_KNOWN, /* a run with that key and digest is stored; the text was not compared */
};
/** Like orch_item_join, with the outcome. */
bool orch_item_join_outcome(struct orch_join *join, struct orch_store *store,
                            const struct orch_item_name *name, const char *bytes, size_t length,
                            enum item_outcome *out, GError **error);

typedef void (*bundle_name_fn)(void *ctx, const struct orch_item_name *name);
/** Visits the names of the items in a bundle, without joining them. */
bool orch_bundle_names(const char *path, bundle_name_fn visit, void *ctx, GError **error);

#endif
