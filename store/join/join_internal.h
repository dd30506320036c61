/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the join: the join in progress, reading runs by column, and opening the
 * other store's file. */
#ifndef ORCH_STORE_JOIN_INTERNAL_H
#define ORCH_STORE_JOIN_INTERNAL_H

#include "store/handle/handle.h"
#include "store/join/join.h"

struct orch_join {
    struct orch_store *store;
    struct orch_receipt *receipt;
    GHashTable *rows;   /* "who\nrecipe\nexperiment" -> struct orch_receipt_row * of the receipt */
    GPtrArray *objects; /* struct store_objects *: copied after the rows are committed */
    bool has_begun;   /* the set of runs has been changed; the fields below were read before that */
    int64_t last_run; /* the largest run id */
    int64_t apart_before;
    int64_t late_notes; /* new notes that STORE_NOTE_TIME orders before all others */
    GHashTable *apart;  /* "KEY DIGEST\n" of each conflict that this join added */
};

/** Artifact bytes beside another store. */
struct store_objects {
    char *folder; /* its folder objects/ */
    int64_t limit;
};

/* ---- join.c -----------------------------------------------------------------------------------
 */

/** Checks whether a pair is stored, as a run or a conflict, and counts it as known if it is.
 * `*out_taken` is true when the key is stored with another digest. */
bool orch_store_join_is_known(struct orch_join *join, const char *key, const char *digest,
                              bool *out_known, bool *out_taken, GError **error);

/* ---- join_receipt.c ---------------------------------------------------------------------------
 */

struct orch_receipt *orch_store_receipt_new(const char *origin);
/** The receipt row of these runs, created when missing. Owned by the receipt. */
struct orch_receipt_row *orch_store_receipt_row(struct orch_join *join, const char *who,
                                                const char *recipe, const char *experiment);
/** Makes one line of bounded length without control characters from `line`, which may quote
 * untrusted data. Takes ownership of `line`; the caller frees the result. */
char *orch_store_receipt_line(char *line);
/** Adds a line about an item that was not stored. Takes ownership of it. */
void orch_store_receipt_problem(struct orch_join *join, char *line);

/* ---- join_digest.c ----------------------------------------------------------------------------
 */

/** Must be called each time before a run or conflict is added. */
bool orch_store_join_will_change(struct orch_join *join, GError **error);
void orch_store_join_set_apart(struct orch_join *join, const char *key, const char *digest);
/** Fills the receipt's digests before and after, and the number of conflicts. */
bool orch_store_join_digests(struct orch_join *join, GError **error);

/* ---- join_store.c -----------------------------------------------------------------------------
 */

/** A shard, which is another file of the same store. Private notes are joined too, and only runs
 * with an id larger than `after` in that file are considered (0: all). */
struct orch_store_join_part {
    int64_t after;
    int64_t last; /* out: the largest id in that file, or 0 */
};
/** Like orch_join_store; `part` is NULL when the file is another store. */
bool orch_store_join_part(struct orch_join *join, const char *path, int64_t artifact_bytes,
                          struct orch_store_join_part *part, GError **error);

/* ---- join_check.c -----------------------------------------------------------------------------
 */

/** The reason why a record from elsewhere is refused, or NULL. The caller frees. */
char *orch_store_record_fault(const struct orch_record *record);
/** True for NULL and for valid UTF-8 of at most `most` bytes. */
bool orch_store_text_fits(const char *text, size_t most);

#define STORE_NAME_MAX (64 << 10)
#define STORE_NOTE_MAX (1 << 20)
#define STORE_RECIPE_MAX (8 << 20)

/* ---- join_objects.c ---------------------------------------------------------------------------
 */

/** Copies the artifacts that stored runs name and that `objects` contains. Failures become lines of
 * the receipt. */
void orch_store_join_objects(struct orch_join *join, const struct store_objects *objects);

/* ---- reader.c ---------------------------------------------------------------------------------
 */

/** Reads runs by column as records, by ascending id. There is one cursor for each table, which
 * seeks only where runs are skipped. The input is untrusted: types, texts and ranges are
 * checked. */
struct store_reader;
struct store_reader *orch_store_reader_new(struct orch_store *from);
void orch_store_reader_free(struct store_reader *reader);
/** Limits the total bytes of texts; a reader stops with an error beyond it. */
void orch_store_reader_limit(struct store_reader *reader, int64_t bytes);

enum store_read {
    STORE_READ_RUN,     /* `*out` is the run, valid until the next call; its points stream once
                         */
    STORE_READ_REFUSED, /* orch_store_reader_fault has the reason */
    STORE_READ_FAILED,  /* the file cannot be read any further: `error` is set */
};
enum store_read orch_store_reader_run(struct store_reader *reader, int64_t run_id,
                                      struct orch_record **out, char digest[ORCH_SHA256_CHARS],
                                      GError **error);
/** The reason why the last run was refused (also while its points were streamed). Borrowed. */
const char *orch_store_reader_fault(const struct store_reader *reader);
/** True, with an error, when the file could not be read any further, perhaps while the points of
 * the last run were streamed. Then the run is not at fault, and another try may read it. */
bool orch_store_reader_has_failed(const struct store_reader *reader, GError **error);
/** The name of the last run for messages: "run KEY", or "run number N" when its key cannot be read.
 * The caller frees. */
char *orch_store_reader_called(const struct store_reader *reader);
/** Frees the texts that the reader returned. */
void orch_store_reader_forget(struct store_reader *reader);

/** Reads a text column into `*out`, which lives until the next run. False when it is not a text, is
 * not UTF-8, contains a NUL or exceeds the limit. NULL is accepted only with `may_be_null`. */
bool orch_store_reader_text(struct store_reader *reader, sqlite3_stmt *s, int column,
                            bool may_be_null, const char **out);

#endif
