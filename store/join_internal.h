/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the join share: the join under way, reading runs by column, and the other
 * store's file. */
#ifndef ORCH_STORE_JOIN_INTERNAL_H
#define ORCH_STORE_JOIN_INTERNAL_H

#include "store/internal.h"
#include "store/join.h"

struct orch_join {
    struct orch_store *store;
    struct orch_receipt *receipt;
    GHashTable *rows;   /* "who\nrecipe\nexperiment" -> struct orch_receipt_row * of the receipt */
    GPtrArray *objects; /* struct store_objects *: copied when the rows are safe */
    bool has_begun;     /* to change the set of runs: what follows was read before */
    int64_t last_run;   /* the highest number of a run */
    int64_t apart_before;
    GHashTable *apart; /* "KEY DIGEST\n" of what this join set apart */
};

/** Artifact bytes beside another store. */
struct store_objects {
    char *folder; /* its objects/ */
    int64_t limit;
};

/* ---- join.c -----------------------------------------------------------------------------------
 */

/** Is a pair here, as a run or set apart? Counts it as known when it is. `*out_taken`: another
 * digest has the key. */
bool store_join_is_known(struct orch_join *join, const char *key, const char *digest,
                         bool *out_known, bool *out_taken, GError **error);

/* ---- join_digest.c ----------------------------------------------------------------------------
 */

/** To be called before a run is added or set apart, each time. */
bool store_join_will_change(struct orch_join *join, GError **error);
void store_join_set_apart(struct orch_join *join, const char *key, const char *digest);
/** The receipt's digests before and after, and the number of runs set apart. */
bool store_join_digests(struct orch_join *join, GError **error);

/* ---- join_store.c -----------------------------------------------------------------------------
 */

/** Another file of the same store (a shard): private notes come along, and of runs only those that
 * it wrote after number `after` are looked at; 0: all. */
struct store_join_part {
    int64_t after;
    int64_t last; /* out: the largest number there was to look at, or 0 */
};
/** orch_join_store; `part` NULL: of another store. */
bool store_join_part(struct orch_join *join, const char *path, int64_t artifact_bytes,
                     struct store_join_part *part, GError **error);

/* ---- join_check.c -----------------------------------------------------------------------------
 */

/** Why a record from elsewhere cannot be taken, or NULL. The caller frees. */
char *store_record_fault(const struct orch_record *record);
/** A text that may be absent, of at most `most` bytes, UTF-8. */
bool store_text_fits(const char *text, size_t most);

#define STORE_NAME_MAX (64 << 10)
#define STORE_NOTE_MAX (1 << 20)
#define STORE_RECIPE_MAX (8 << 20)

/* ---- join_objects.c ---------------------------------------------------------------------------
 */

/** Copies the artifacts that runs here name and that lie there; troubles become lines. */
void store_join_objects(struct orch_join *join, const struct store_objects *objects);

/* ---- reader.c ---------------------------------------------------------------------------------
 */

/** Reads runs by column as records, in rising order of their numbers: a cursor for each table,
 * which seeks only where runs are left out. Types, texts and ranges are checked: nothing is
 * believed. */
struct store_reader;
struct store_reader *store_reader_new(struct orch_store *from);
void store_reader_free(struct store_reader *reader);
/** The most bytes of texts that may be read, and why a reader stops when it is more. */
void store_reader_limit(struct store_reader *reader, int64_t bytes);

enum store_read {
    STORE_READ_RUN,     /* `*out` is the run: valid until the next call; its points stream once */
    STORE_READ_REFUSED, /* store_reader_fault says why */
    STORE_READ_FAILED,  /* the file cannot be read any further: `error` is set */
};
enum store_read store_reader_run(struct store_reader *reader, int64_t run_id,
                                 struct orch_record **out, char digest[ORCH_SHA256_CHARS],
                                 GError **error);
/** Why the last run was refused (also while its points streamed). Borrowed. */
const char *store_reader_fault(const struct store_reader *reader);
/** Forgets the texts that it gave out. */
void store_reader_forget(struct store_reader *reader);
/** Lets go of the rows: the tables may be written to. */
void store_reader_rest(struct store_reader *reader);

/** A column of text into `*out`, which lives until the next run: false when it is none, is not
 * UTF-8, holds a NUL, or is beyond the limit. NULL only where `may_be_null`. */
bool store_reader_text(struct store_reader *reader, sqlite3_stmt *s, int column, bool may_be_null,
                       const char **out);

/* ---- foreign.c --------------------------------------------------------------------------------
 */

/** A file that somebody else made, open for reading, all of one moment. */
struct store_foreign {
    struct orch_store *store;
    int64_t bytes;      /* its size */
    int64_t steps_left; /* that SQLite may take */
};
/** Opens it with defensive settings and compares its tables with those of `ours`. `out` must stay
 * where it is until it is closed. */
bool store_foreign_open(struct orch_store *ours, const char *path, struct store_foreign *out,
                        GError **error);
void store_foreign_close(struct store_foreign *foreign);
/** Is the last failure one of the row that was read, and not of the whole? */
bool store_foreign_is_damage(const struct orch_store *store);

#endif
