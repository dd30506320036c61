/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What travels between stores: items, each a path and bytes, in whatever container (a git tree, a
 * bundle, a folder). A path names the content, so equal sets of items are equal trees, and a union
 * of trees is a union of stores.
 *
 *     format                               "orch results 1\n"
 *     runs/AAAAA/BB/KEY-DDDDDDDDDDDDDDDD   a run as text (store/run_text.h)
 *     artifacts/AB/SHA256                  an artifact's bytes
 *     recipes/AB/KEY                       a recipe: JSON
 *     notes/AAAAA/KEY                      a public note of any kind: JSON
 *     datasets/SHA256                      a data set, as orch_dataset_encode writes it
 *     sources/TREE/...                     files of a captured tree; only on request
 *
 * AAAAA: the first 5 digits of the key (its time, in steps of 3 days), BB: its last 2; AB: the
 * first 2 digits; D: the first 16 digits of the run's digest.
 *
 * New runs fall into new folders, so the cost of adding some grows with them and not with what is
 * there. Paths from elsewhere are parsed strictly and written anew: nothing else is ever a name.
 */
#ifndef ORCH_STORE_EXCHANGE_ITEMS_H
#define ORCH_STORE_EXCHANGE_ITEMS_H

#include "store/join.h"
#include "store/run_text.h"

#include <glib.h>

enum orch_item_kind {
    ORCH_ITEM_RUN,
    ORCH_ITEM_ARTIFACT,
    ORCH_ITEM_RECIPE,
    ORCH_ITEM_NOTE,
    ORCH_ITEM_DATASET,
};

/** The largest item of each kind that is read, in bytes. */
#define ORCH_ITEM_RUN_MAX ORCH_RUN_TEXT_MAX
#define ORCH_ITEM_RECIPE_MAX (8 << 20)
#define ORCH_ITEM_NOTE_MAX (1 << 20)
#define ORCH_ITEM_DATASET_MAX (1 << 30)
/** Artifacts that travel when nobody says otherwise. */
#define ORCH_ARTIFACT_BYTES_DEFAULT (4 << 20)

#define ORCH_ITEM_PATH_CHARS 128
#define ORCH_ITEM_FORMAT "orch results 1\n"

struct orch_item_name {
    enum orch_item_kind kind;
    char key[ORCH_SHA256_CHARS]; /* run or note key, sha256, recipe key */
    char digest[17];             /* of a run: the first 16 digits; else "" */
};
/** Strict: exactly one of the forms above. False for anything else. */
bool orch_item_name_parse(const char *path, struct orch_item_name *out);
void orch_item_path(const struct orch_item_name *name, char out[ORCH_ITEM_PATH_CHARS]);
/** The most bytes that an item of this kind may have; artifacts: -1 (the caller's choice). */
int64_t orch_item_limit(enum orch_item_kind kind);

/** What of a store is to travel. */
struct orch_item_choice {
    int64_t artifact_bytes;         /* the largest artifact; -1: all, 0: none */
    const struct orch_where *where; /* only these runs (and what they own); NULL: all */
    int64_t after_run_id;        /* only runs (not conflicts) with a larger local number; 0: all */
    const char *const *datasets; /* names of the data sets to go, NULL-terminated; NULL: none */
};

/** Tells one item. `name` is borrowed. It says whether it wants the bytes. */
enum orch_item_want { ORCH_ITEM_SKIP, ORCH_ITEM_TAKE, ORCH_ITEM_STOP };
struct orch_item_sink {
    void *ctx;
    /** Called first, with the item's size where it is known without making it (-1: not). */
    enum orch_item_want (*wants)(void *ctx, const struct orch_item_name *name, int64_t bytes);
    /** Called with the bytes of one that is taken; `bytes` borrowed. */
    bool (*take)(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error);
    /** In place of `take` for an artifact: the file that has the bytes. NULL: `take` gets them. */
    bool (*take_file)(void *ctx, const struct orch_item_name *name, const char *path, int64_t bytes,
                      GError **error);
};
/** Tells all items of a store that are chosen: recipes, artifacts, runs (conflicts too), then notes
 * and data sets. Private notes never. `out_last_run` (may be NULL): the largest local run number
 * that was looked at. */
bool orch_items_tell(struct orch_store *store, const struct orch_item_choice *choice,
                     const struct orch_item_sink *sink, int64_t *out_last_run, GError **error);

/** Offers an item from elsewhere to a join: size, name and content are checked, and what is wrong
 * becomes a line of its receipt. False only when the store fails. Artifacts go to objects/ when
 * their bytes give their name. */
bool orch_item_join(struct orch_join *join, struct orch_store *store,
                    const struct orch_item_name *name, const char *bytes, size_t length,
                    bool *out_accepted, GError **error);

#endif
