/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a store that are exchanged with other stores, in an order that is the same in every
 * store. */
#ifndef ORCH_STORE_OUTGOING_H
#define ORCH_STORE_OUTGOING_H

#include "store/join/join.h"

/** Selects runs, together with everything they own. */
struct orch_outgoing {
    const struct orch_where *where; /* NULL: all */
    int64_t after_run_id;           /* only runs with a larger id */
};

/** A pair of key and digest that the store contains. */
struct orch_pair {
    int64_t run_id; /* 0: a conflict */
    char key[ORCH_KEY_CHARS];
    char digest[ORCH_SHA256_CHARS];
};
/** The pairs, sorted by key and digest: struct orch_pair by value; the caller unrefs. Conflicts are
 * included whatever `after_run_id` is. Runs whose points were purged here are left out, because
 * their text would be incomplete. `out_last_run` (may be NULL) receives the largest id in the
 * store. */
GArray *orch_outgoing_pairs(struct orch_store *store, const struct orch_outgoing *chosen,
                            int64_t *out_last_run, GError **error);
/** The text of a conflict, as it was received. The caller frees. */
char *orch_outgoing_conflict(struct orch_store *store, const struct orch_pair *pair,
                             GError **error);

/** Digests of the artifacts that these runs reference, sorted: char *; the caller unrefs. */
GPtrArray *orch_outgoing_artifacts(struct orch_store *store, const struct orch_outgoing *chosen,
                                   GError **error);

/** The texts of a recipe; `name` and `verbatim` may be NULL. */
struct orch_recipe_row {
    const char *key, *name, *canonical, *verbatim;
};
/** Returns false to stop; the row is borrowed for the call. */
typedef bool (*orch_outgoing_recipe_fn)(void *ctx, const struct orch_recipe_row *row,
                                        GError **error);
/** Visits the recipes of these runs, by key. */
bool orch_outgoing_recipes(struct orch_store *store, const struct orch_outgoing *chosen,
                           orch_outgoing_recipe_fn visit, void *ctx, GError **error);

typedef bool (*orch_outgoing_note_fn)(void *ctx, const struct orch_note *note, GError **error);
/** Visits the public notes, by key: those of the runs of `where` and the saved views, or all.
 * `after_run_id` is ignored because a new note may refer to an old run. */
bool orch_outgoing_notes(struct orch_store *store, const struct orch_outgoing *chosen,
                         orch_outgoing_note_fn visit, void *ctx, GError **error);

#endif
