/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stores exchange items, each a path and bytes, in any container (a git tree, a bundle, a folder).
 * A path identifies the content, so equal sets of items are equal trees, and the union of two trees
 * is the union of two stores.
 *
 *     format                               "orch results 1\n"
 *     runs/AAAAA/BB/KEY-DDDDDDDDDDDDDDDD   a run as text (store/join/run_text.h)
 *     artifacts/AB/SHA256                  an artifact's bytes
 *     recipes/AB/KEY                       a recipe: JSON
 *     notes/AAAAA/KEY                      a public note of any kind: JSON
 *     datasets/SHA256                      a data set, as orch_dataset_encode writes it
 *     sources/TREE/...                     files of a captured tree; only on request
 *
 * AAAAA is the first 5 digits of the key (its time, in steps of 3 days) and BB its last 2; AB is
 * the first 2 digits; DDDD... is the first 16 digits of the run's digest.
 *
 * New runs go to new folders, so the cost of adding runs grows with their number and not with the
 * number of existing ones. Paths from elsewhere are parsed strictly and rewritten from the parsed
 * name; nothing else is accepted as a name.
 */
#ifndef ORCH_STORE_EXCHANGE_BUNDLE_ITEMS_H
#define ORCH_STORE_EXCHANGE_BUNDLE_ITEMS_H

#include "store/join/join.h"
#include "store/join/run_text.h"

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
/** The largest artifact that is exchanged by default, in bytes. */
#define ORCH_ARTIFACT_BYTES_DEFAULT (4 << 20)

#define ORCH_ITEM_PATH_CHARS 128
#define ORCH_ITEM_FORMAT "orch results 1\n"

struct orch_item_name {
    enum orch_item_kind kind;
    char key[ORCH_SHA256_CHARS]; /* run or note key, sha256, recipe key */
    char digest[17];             /* the first 16 digits of a run's digest; else "" */
};
/** Parses a path strictly: true only for exactly one of the forms above. */
bool orch_item_name_parse(const char *path, struct orch_item_name *out);
void orch_item_path(const struct orch_item_name *name, char out[ORCH_ITEM_PATH_CHARS]);
/** The maximum bytes of an item of this kind; -1 for artifacts, whose limit the caller chooses. */
int64_t orch_item_limit(enum orch_item_kind kind);

/** Selects the items of a store to be exchanged. */
struct orch_item_choice {
    int64_t artifact_bytes; /* the maximum bytes of an artifact; -1: no limit, 0: no artifacts */
    const struct orch_where *where; /* only these runs, with everything they own; NULL: all */
    int64_t after_run_id;           /* only runs (not conflicts) with a larger id; 0: all */
    const char *const *datasets;    /* names of data sets to include, NULL-terminated; NULL: none */
};

/** A sink's answer for an item: skip it, take its bytes, or stop. */
enum orch_item_want { ORCH_ITEM_SKIP, ORCH_ITEM_TAKE, ORCH_ITEM_STOP };
struct orch_item_sink {
    void *ctx;
    /** Called first, with the item's size when it is known without making the item (else -1).
     * `name` is borrowed. */
    enum orch_item_want (*wants)(void *ctx, const struct orch_item_name *name, int64_t bytes);
    /** Called with the bytes of an item that is taken; `bytes` is borrowed. */
    bool (*take)(void *ctx, const struct orch_item_name *name, const char *bytes, size_t length,
                 GError **error);
    /** Called in place of `take` for an artifact, with the file that has the bytes. NULL: `take` is
     * called. */
    bool (*take_file)(void *ctx, const struct orch_item_name *name, const char *path, int64_t bytes,
                      GError **error);
};
/** Visits all chosen items of a store: recipes, artifacts, runs (conflicts too), then notes and
 * data sets, but never private notes. `out_last_run` (may be NULL) receives the largest run id that
 * was considered. */
bool orch_items_visit(struct orch_store *store, const struct orch_item_choice *choice,
                      const struct orch_item_sink *sink, int64_t *out_last_run, GError **error);

/** Joins an item from elsewhere. Size, name and content are checked, and each fault becomes a line
 * of the receipt. Returns false only when the store fails. An artifact is stored in objects/ when
 * its bytes have the digest in its name. */
bool orch_item_join(struct orch_join *join, struct orch_store *store,
                    const struct orch_item_name *name, const char *bytes, size_t length,
                    bool *out_accepted, GError **error);

#endif
