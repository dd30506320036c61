/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Joins data from elsewhere into a store: a set union of ended runs and everything they own.
 *
 * A store is a set of pairs (run key, digest). A join adds the pairs that the store lacks, so
 * neither the order nor the number of joins matters. All input is untrusted: each run is written
 * inside the join's transaction, its digest is computed from the stored rows, and a run whose rows
 * do not give the digest that it claims is refused. For each key, the digest that was stored first
 * counts as the run. Any other goes to the table `conflict`, is exchanged from there, and is part
 * of the store's digest, so that two stores with the same pairs have the same digest.
 *
 * A tombstone hides its run in the store where it was made; in other stores it does so only when
 * its author is the run's author.
 */
#ifndef ORCH_STORE_JOIN_H
#define ORCH_STORE_JOIN_H

#include "lib/base/file.h"
#include "lib/base/interval.h"
#include "store/store.h"
#include "store/write/dataset.h"

/** The outcome of joining a run. */
enum orch_joined {
    ORCH_JOINED_NEW,
    ORCH_JOINED_KNOWN,    /* the same run is already stored */
    ORCH_JOINED_CONFLICT, /* the key is stored with another digest: a conflict, reported
                           */
    ORCH_JOINED_REFUSED,  /* it does not have the digest that it claims, or exceeds a limit: not
                             stored, reported */
};

/** Number of runs for one author and experiment. */
struct orch_receipt_row {
    char *who, *recipe, *experiment;
    int64_t added, known;
};
/** The result of a join. */
struct orch_receipt {
    char *origin;
    GPtrArray *rows;     /* struct orch_receipt_row *, sorted by who, recipe, experiment */
    GPtrArray *problems; /* char *: a line for each conflict and refusal; at most 100, the rest are
                            only counted */
    GPtrArray *remarks;  /* char *: remarks that are not problems (such as a renamed data set) */
    int64_t added, known, conflicts, refused;
    int64_t purged;         /* not stored: their points were purged in the source */
    int64_t conflicts_here; /* number in the store after the join, from any join */
    int64_t recipes, notes, tombstones, restored, forecasts, datasets, artifacts;
    int64_t foreign_tombstones; /* tombstones and restored notes of other authors' runs, which have
                                   no effect */
    int64_t artifact_bytes;
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS]; /* digests of the store */
};
void orch_receipt_free(struct orch_receipt *receipt);

/** A join in progress: one write transaction of `store`. `origin` is the path or remote, shown to
 * users. */
struct orch_join;
struct orch_join *orch_join_begin(struct orch_store *store, const char *origin, GError **error);
/** Commits the join and returns the receipt, which the caller frees. On failure nothing was
 * joined. */
struct orch_receipt *orch_join_commit(struct orch_join *join, GError **error);
/** Rolls back and frees the join. Accepts NULL. */
void orch_join_rollback(struct orch_join *join);

/** Joins a run with the digest it claims. Problems of the run itself are an outcome and a line of
 * the receipt, not an error; false only when the store fails. `record` and everything it points to
 * are borrowed for the call. The record's `metrics` give the units of points and results. */
bool orch_join_run(struct orch_join *join, const struct orch_record *record, const char *digest,
                   enum orch_joined *out, GError **error);

/** Joins a recipe's text; a stored key counts as known. Refused (counted, no error) when the key is
 * not the hash of the canonical text. */
bool orch_join_recipe(struct orch_join *join, const char *key, const char *name,
                      const char *canonical, const char *verbatim, GError **error);

/** A note as exchanged between stores. */
struct orch_note {
    const char *key, *target, *kind, *text, *who;
    int64_t made_ns;
};
/** Joins a public note, tag, untag, name, tombstone, restored note or signature. */
bool orch_join_note(struct orch_join *join, const struct orch_note *note, GError **error);

/** A forecast that was made for a run (NaN: unknown). */
struct orch_run_forecast {
    const char *fingerprint, *machine, *model, *tier, *run;
    int64_t made_ns;
    struct orch_interval time_s;
};
bool orch_join_forecast(struct orch_join *join, const struct orch_run_forecast *forecast,
                        GError **error);

/** Joins a data set whose digest has been computed (orch_dataset_decode). A set whose rows are
 * stored counts as known. When other rows have its name, the first digits of its digest are
 * appended to the name, and the receipt gets a remark. */
bool orch_join_dataset(struct orch_join *join, struct orch_dataset *set, GError **error);

/** Counts an artifact whose bytes were transferred. The caller stores the bytes. */
void orch_join_count_artifact(struct orch_join *join, int64_t bytes);

/** Records a refusal that happened before the item reached the join (a damaged object, an invalid
 * name). */
void orch_join_refuse(struct orch_join *join, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** Records a refusal as "WHAT: the problem". The hint of the error is dropped because it applies to
 * the user's own store. */
void orch_join_refuse_error(struct orch_join *join, const char *what, const GError *problem);

/** Joins everything in another store's file. The file is opened read-only with defensive settings,
 * its schema is compared with ours, and it is read by column. Fails as a whole (false) when it is
 * not a store, is of a newer version, or is so damaged that nothing can be read. Single runs that
 * cannot be read are refused. Artifacts whose bytes are beside it are copied up to `artifact_bytes`
 * each (-1: all, 0: none). */
bool orch_join_store(struct orch_join *join, const char *path, int64_t artifact_bytes,
                     GError **error);

#endif
