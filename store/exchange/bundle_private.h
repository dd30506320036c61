/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside store/exchange: what bundle.c and folder.c share. */
#ifndef ORCH_STORE_EXCHANGE_BUNDLE_PRIVATE_H
#define ORCH_STORE_EXCHANGE_BUNDLE_PRIVATE_H

#include "store/exchange/bundle.h"

/** Is this item wanted in the bundle? `bytes` as orch_item_sink's. */
typedef bool (*bundle_filter_fn)(void *ctx, const struct orch_item_name *name, int64_t bytes);

/** What went into a bundle. */
struct bundle_written {
    int64_t items, runs, bytes;
};
/** orch_bundle_write of those items that `filter` wants (NULL: all). */
bool bundle_write(struct orch_store *store, const struct orch_item_choice *choice,
                  bundle_filter_fn filter, void *ctx, const struct orch_bundle_extra *extras,
                  size_t extra_count, const char *path, struct bundle_written *out, GError **error);

/** Told of each item of a bundle by its name. */
typedef void (*bundle_name_fn)(void *ctx, const struct orch_item_name *name);
/** What a bundle turned out to be. */
enum bundle_worth {
    BUNDLE_PROVED,   /* every run in it was new and gave the digest that its name claims */
    BUNDLE_UNPROVED, /* some were known already, and not looked at, or something was refused */
    BUNDLE_DAMAGED,  /* it could not be read to its end; what came before is in the join */
};
/** orch_bundle_join that says more. False with BUNDLE_DAMAGED, or when the store fails. */
bool bundle_join(struct orch_join *join, struct orch_store *store, const char *path,
                 orch_bundle_extra_fn extra, void *ctx, enum bundle_worth *out, GError **error);

/** What became of an item. */
enum item_fate {
    ITEM_REFUSED,
    ITEM_TAKEN, /* its content gives its name */
    ITEM_KNOWN, /* a run of that key and digest is here; the text was not compared */
};
/** orch_item_join that says more. */
bool item_join(struct orch_join *join, struct orch_store *store, const struct orch_item_name *name,
               const char *bytes, size_t length, enum item_fate *out, GError **error);

/** Told of each item of a bundle by its name. */
typedef void (*bundle_name_fn)(void *ctx, const struct orch_item_name *name);
/** Tells what a bundle says that it holds. */
bool bundle_names(const char *path, bundle_name_fn tell, void *ctx, GError **error);

#endif
