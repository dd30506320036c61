/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Joining what comes from elsewhere: a set union of ended runs with what they own.
 *
 * A store is a set of pairs (run key, digest). Joining adds the pairs that it lacks, so the order
 * and the number of times do not matter. Everything that comes is a stranger's: each run is written
 * inside the join's transaction, its digest is computed from the rows as they stand, and a run
 * whose rows do not give the digest that it claims is not taken. Of one key only the digest that
 * was there first counts as the run; any other goes to the table `conflict`, travels on from there,
 * and is part of the store's digest, so that two stores that know the same pairs have the same
 * digest.
 *
 * A tombstone hides its run where it was made; elsewhere only when its author is the run's.
 */
#ifndef ORCH_STORE_JOIN_H
#define ORCH_STORE_JOIN_H

#include "lib/base/file.h"
#include "store/dataset.h"
#include "store/store.h"

/** What became of a run that came. */
enum orch_joined {
    ORCH_JOINED_NEW,
    ORCH_JOINED_KNOWN,    /* the same is here */
    ORCH_JOINED_CONFLICT, /* its key is here with another digest: set apart, reported */
    ORCH_JOINED_REFUSED,  /* it is not what it claims, or breaks a limit: not taken, reported */
};

/** Who and which experiment, and how many. */
struct orch_receipt_row {
    char *who, *recipe, *experiment;
    int64_t added, known;
};
/** What a join did. */
struct orch_receipt {
    char *origin;
    GPtrArray *rows;     /* struct orch_receipt_row *, by who, recipe, experiment */
    GPtrArray *problems; /* char *: each conflict and each refusal, a line; at most 100, the rest
                            counted */
    GPtrArray *remarks;  /* char *: what is worth saying and no problem (a data set renamed) */
    int64_t added, known, conflicts, refused;
    int64_t purged;         /* not taken: their points are gone over there */
    int64_t conflicts_here; /* in the store afterwards, whenever they came */
    int64_t recipes, notes, tombstones, restored, forecasts, datasets, artifacts;
    int64_t foreign_tombstones; /* and their undoing: of others' runs, without effect */
    int64_t artifact_bytes;
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS]; /* digest of the store */
};
void orch_receipt_free(struct orch_receipt *receipt);

/** A join under way: one write transaction of `store`. `origin`: path or remote, for people. */
struct orch_join;
struct orch_join *orch_join_begin(struct orch_store *store, const char *origin, GError **error);
/** Ends it: the receipt, to be freed. On failure nothing was joined. */
struct orch_receipt *orch_join_commit(struct orch_join *join, GError **error);
/** Gives it up; NULL is fine. */
void orch_join_rollback(struct orch_join *join);

/** Offers a run with the digest it claims. Problems of the run itself are an outcome and a line of
 * the receipt, not an error; false only when the store fails. `record` and what it points to are
 * borrowed for the call. `metrics` of the record gives units of points and results. */
bool orch_join_run(struct orch_join *join, const struct orch_record *record, const char *digest,
                   enum orch_joined *out, GError **error);

/** Offers a recipe's text; one whose key is here is known. Refused (counted, no error) when the key
 * is not the hash of the canonical text. */
bool orch_join_recipe(struct orch_join *join, const char *key, const char *name,
                      const char *canonical, const char *verbatim, GError **error);

/** A note as it travels. */
struct orch_note {
    const char *key, *target, *kind, *text, *who;
    int64_t made_ns;
};
/** Offers a public note, tag, tombstone, its undoing or signature. */
bool orch_join_note(struct orch_join *join, const struct orch_note *note, GError **error);

/** A forecast that was made of a run (NaN: not told). */
struct orch_run_forecast {
    const char *fingerprint, *machine, *model, *tier, *run;
    int64_t made_ns;
    double p5, p50, p95;
};
bool orch_join_forecast(struct orch_join *join, const struct orch_run_forecast *forecast,
                        GError **error);

/** Offers a data set, of which the digest has been computed (orch_dataset_decode). One whose rows
 * are here is known; a name that other rows have gets the first digits of the digest behind it,
 * with a remark. */
bool orch_join_dataset(struct orch_join *join, struct orch_dataset *set, GError **error);

/** Counts an artifact whose bytes came along (they are put beside the store by whoever has them).
 */
void orch_join_count_artifact(struct orch_join *join, int64_t bytes);

/** Notes something that was refused before it got this far (a damaged object, a bad name). */
void orch_join_refuse(struct orch_join *join, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Joins all of another store's file: opened read-only with defensive settings, its schema compared
 * with ours, read by column. Fails as a whole (false) when it is no store, a newer one, or is
 * damaged where nothing can be read; single runs that cannot be read are refused. Artifacts whose
 * bytes lie beside it are copied up to `artifact_bytes` each (-1: all, 0: none). */
bool orch_join_store(struct orch_join *join, const char *path, int64_t artifact_bytes,
                     GError **error);

#endif
