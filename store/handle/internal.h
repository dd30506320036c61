/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shared by the files of store/: the handle, prepared statements, transactions, errors.
 *
 * A statement is prepared once for each store and cached under the address of its SQL literal.
 * Every helper that can fail sets a GError which names the file and ends with a hint.
 */
#ifndef ORCH_STORE_INTERNAL_H
#define ORCH_STORE_INTERNAL_H

#include "store/store.h"
#include "store/write/run_fields.h"

#include "lib/base/file.h"

#include <sqlite3.h>

#define STORE_APPLICATION_ID 0x4F524348 /* "ORCH" */
#define STORE_BUSY_MS 30000
#define STORE_TEXT_MAX (64 << 20) /* bytes of one value */

struct orch_store {
    sqlite3 *db;
    char *path;     /* absolute */
    char *copy;     /* folder of a temporary copy that is read instead of the file, or NULL */
    char *original; /* path of the file that was copied, or NULL */
    char *folder;   /* FILE.d, for objects and other entries (store/handle/store_dir.h) */
    int folder_fd;  /* file descriptor of the folder; -1: there is none */
    bool is_own;    /* this user may use the folder (orch_store_is_own) */
    char id[ORCH_KEY_CHARS]; /* the store's id, or "" */
    bool readonly;
    bool wal;
    bool lacks_space; /* the last failure was that of a full disk */
    bool is_locked;   /* the last failure was a lock that another process held for too long */
    bool is_alone;    /* read under a lock that keeps other processes out (open.c, open_alone) */
    unsigned depth;   /* transactions begun and not ended (orch_store_transaction_begin) */
    int64_t busy_ms;  /* how long to wait for another process's lock */
    int64_t busy_until_ns;       /* when the current wait for a lock gives up */
    int64_t deadline_ns;         /* when a query is aborted with an error (orch_store_limit_time) */
    GPtrArray *warnings;         /* char *: warnings from opening the store */
    struct store_shards *shards; /* on a network file system, else NULL */
    GHashTable *statements;      /* address of SQL literal -> sqlite3_stmt * */
    struct store_stream *stream; /* state of the bulk insertion of points (stream.c), or NULL */
    struct store_scan *scan;     /* state of the scan over all points (scan.c) */
    bool has_scan;               /* the SQL function of the scan is registered */
};

/* ---- sql.c: statements, errors, transactions --------------------------------------------------
 */

/** Sets `error` from the last SQLite failure: "cannot DOING store 'PATH': why", with a hint.
 * Returns false. */
bool orch_store_fail(struct orch_store *store, GError **error, const char *doing);

/** Like orch_store_fail, for a result code when the handle cannot be asked. */
bool orch_store_fail_code(const char *path, int code, int system_errno, GError **error,
                          const char *doing);

/** space.c: true for a result code of SQLite, or an errno, of a full disk or an exhausted quota. */
bool orch_store_is_space_fault(int code, int system_errno);
/** space.c: sets the error of a full disk, whose hint names the largest parts of the store. Returns
 * false. */
bool orch_store_fail_space(const struct orch_store *store, GError **error, const char *doing);

/** Returns the prepared statement of a SQL literal, reset and without bindings, or NULL on failure.
 * Owned by the store. The same literal must not be used again while its statement is being
 * stepped. */
sqlite3_stmt *orch_store_statement(struct orch_store *store, const char *sql_literal,
                                   GError **error);

/** Binds values from parameter 1 on: 't' text (const char *; NULL binds NULL; invalid UTF-8 is
 * repaired; must live until the statement is done), 'i' int64_t, 'r' double (NaN binds NULL), 'n'
 * NULL. */
void orch_store_bind(sqlite3_stmt *statement, const char *types, ...);

/** Steps once. Returns 1 for a row, 0 when done and -1 on failure; the statement is reset in the
 * last two cases. */
int orch_store_step(struct orch_store *store, sqlite3_stmt *statement, GError **error);

/** Prepares a statement that returns no rows, binds (as orch_store_bind) and runs it. */
bool orch_store_run_statement(struct orch_store *store, GError **error, const char *sql_literal,
                              const char *types, ...);

/** Runs a query that returns one integer. `*out` is `fallback` when it returns no row. */
bool orch_store_get_int(struct orch_store *store, int64_t *out, int64_t fallback, GError **error,
                        const char *sql_literal, const char *types, ...);

/** Executes SQL without parameters (several statements are allowed). */
bool orch_store_exec(struct orch_store *store, const char *sql, const char *doing, GError **error);

/** A column as borrowed text, valid until the next step. Returns "" for NULL, and a substitute for
 * invalid UTF-8: a file that was edited by hand can contain either where the schema forbids it. */
const char *orch_store_text(sqlite3_stmt *statement, int column);
/** A column as owned text; NULL for NULL. */
char *orch_store_column_text(sqlite3_stmt *statement, int column);
/** Binds a text. NULL binds NULL, and invalid UTF-8 is repaired. When the text is longer than
 * SQLite allows, the result is SQLITE_TOOBIG and the step fails. */
int orch_store_bind_text(sqlite3_stmt *statement, int index, const char *text);
/** A column as a double; NaN for NULL. */
double orch_store_column_real(sqlite3_stmt *statement, int column);

/** Begins a transaction (BEGIN IMMEDIATE). Within another one it becomes part of that. */
bool orch_store_transaction_begin(struct orch_store *store, GError **error);
/** Commits the transaction, unless it is part of another one. Rolls back on failure. */
bool orch_store_transaction_commit(struct orch_store *store, GError **error);
/** Rolls back everything since the first orch_store_transaction_begin: when a part fails, the whole
 * must fail. */
void orch_store_transaction_rollback(struct orch_store *store);

/** Fails when the store was opened for reading. */
bool orch_store_is_writable(struct orch_store *store, GError **error);

/* ---- schema.c ---------------------------------------------------------------------------------
 */

/** An expression of SQL: the record of a trial with the present name of the device key, which
 * development versions before the first release wrote as 'where_key'. */
#define STORE_RENAMED(record) "replace(" record ", '\"where_key\":', '\"device_key\":')"

/** Migrates from schema `from` to `from + 1`. */
struct store_migration {
    int from;
    const char *sql;
};
struct store_migrations {
    int target;         /* the schema version that this program uses */
    const char *create; /* SQL that creates a new store of version `target` */
    /* the schema text of an earlier program with the same version number, and the SQL that converts
     * it to `create`; NULL when there was none */
    const char *before, *renames;
    const struct store_migration *steps;
    size_t step_count;
};
extern const struct store_migrations store_migrations;

/** Brings an open file to the target schema: creates it in an empty file (only with `may_create`),
 * migrates an older schema, and refuses everything else. */
bool orch_store_migrate(struct orch_store *store, const struct store_migrations *migrations,
                        bool may_create, GError **error);

/** Brings a file with the shape `before` to that of `create`, after a backup. */
bool orch_store_rename(struct orch_store *store, const struct store_migrations *migrations,
                       GError **error);

/** Classifies the file. Returns 1 for an orch store, whose schema is `*out_schema`, 0 for an empty
 * file, and -1 with an error for everything else. */
int orch_store_recognise(struct orch_store *store, int target, int64_t *out_schema, GError **error);

/* ---- defence.c --------------------------------------------------------------------------------
 */

/** True when the file and the files that SQLite keeps beside it are regular files or do not
 * exist. */
bool orch_store_check_files(const char *path, GError **error);
/** Applies SQLite's defensive settings and narrow limits, for an untrusted file. */
void orch_store_set_strict(sqlite3 *db);
/** Enables our triggers and foreign keys, and relaxes the limits to what a user's own conditions
 * may need. To be called after orch_store_check_shape has passed. */
void orch_store_set_working(sqlite3 *db);
/** True when the file has each table that `create` makes, word for word, and has no trigger or
 * index besides those of `create`. */
bool orch_store_check_shape(struct orch_store *store, const char *create, GError **error);

/* ---- pages.c ----------------------------------------------------------------------------------
 */

/** True when each page of the file's tables is referenced once. Otherwise reading the file may
 * never end, so call this before anything else is read. Takes time in proportion to the number of
 * pages. */
bool orch_store_check_pages(struct orch_store *store, GError **error);

/* ---- open_to_read.c
 * --------------------------------------------------------------------------------
 */

enum store_read_mode {
    STORE_READ_PLAIN,
    STORE_READ_IMMUTABLE, /* no process has it open: opened as a file that does not change */
    STORE_READ_COPY,      /* it has a log that cannot be read in place, so a copy is read */
};
/** Chooses how to read the file of a read-only handle that has not read anything yet. */
enum store_read_mode orch_store_read_mode_of(struct orch_store *store);
/** Opens a file so that reading it creates no files beside it. */
bool orch_store_open_to_read(struct orch_store *store, GError **error);
/** Copies the file, journal and log of a closed store into a temporary folder, from which it is
 * then opened. The copy is removed with the handle. */
bool orch_store_copy_aside(struct orch_store *store, GError **error);

/* ---- open.c -----------------------------------------------------------------------------------
 */

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

/** Opens the file as it is, to read what can be read of it. Nothing is checked, created or
 * changed. */
struct orch_store *orch_store_open_raw(const char *path, GError **error);
/** Creates a handle that is not open. orch_store_open_handle opens it with SQLite's flags,
 * orch_store_close_handle closes it, and orch_store_free_handle closes and frees it. */
struct orch_store *orch_store_new_handle(const char *path);
bool orch_store_open_handle(struct orch_store *store, int flags, bool immutable, GError **error);
/** True when SQLite can safely roll back the journal beside a store. A journal that belongs to a
 * transaction over several files, which orch never makes, names a file that SQLite would delete;
 * reading a pipe would block. */
bool orch_store_check_journal(const char *path, GError **error);
void orch_store_close_handle(struct orch_store *store);
void orch_store_free_handle(struct orch_store *store);

/** Name of a file system by its statfs magic ("ext", "nfs", "0x1234"), and whether WAL is safe on
 * it. */
char *orch_store_filesystem_name(int64_t magic, bool *out_local);
int64_t orch_store_filesystem_magic(const char *path);
/** True when other hosts can reach a file system of this magic. False for an unknown magic. */
bool orch_store_filesystem_is_shared(int64_t magic);

/* ---- digest.c ---------------------------------------------------------------------------------
 */

/** The points of one metric, hashed while they are written. They need not be read back as long as
 * their steps ascend. */
struct store_points;
struct store_points *orch_store_points_new(void);
void orch_store_points_free(struct store_points *points);
void orch_store_points_add(struct store_points *points, int64_t step, double t_ms, double value);
/** Returns the 32 bytes of the digest and the number of points. No points can be added
 * afterwards. */
void orch_store_points_finish(struct store_points *points, uint8_t out[32], int64_t *out_count);

/** A metric of a run. */
struct store_metric {
    int64_t name_id;
    const char *name, *unit, *better;
    struct store_points *points; /* NULL: they must be read from the store */
};
/** Digest of a run, computed from its rows. `key` replaces the row's key unless it is NULL.
 * `metrics` (struct store_metric) lists all metrics of the run in any order and is sorted here;
 * NULL reads the list from the store. */
bool orch_store_digest_run(struct orch_store *store, int64_t run_id, const char *key,
                           GArray *metrics, char out[ORCH_SHA256_CHARS], GError **error);

/** Query of the pairs that the store's digest covers, sorted: key, digest, id of the run (0: a
 * conflict). orch_store_pair_line formats a row of it. */
extern const char store_pairs_sql[];
void orch_store_pair_line(sqlite3_stmt *pair, GString *out);

/** Query of the metrics of a run (id, name, unit, better), by name. It seeks from one metric to the
 * next in the primary key and does not scan the points. */
extern const char store_run_metrics_sql[];

/* ---- write.c ----------------------------------------------------------------------------------
 */

/** The result of orch_store_write_run. */
struct store_written {
    int64_t run_id;
    char digest[ORCH_SHA256_CHARS]; /* computed from the rows as stored */
    bool is_records_fault;          /* on failure: the record is at fault, not the store */
    int64_t new_source, new_machine, first_new_name; /* ids of rows that this run added, else 0 */
};
/** Writes a run with everything it owns under `key`, within a transaction, and computes its digest
 * (always with the record's own key). With `claimed` "" the run stays open until
 * orch_store_seal_run sets the digest. A join, which disables the triggers, passes the claimed
 * digest at once and removes the run again when `out` has a different one. */
bool orch_store_write_run(struct orch_store *store, const struct orch_record *record,
                          const char *key, const char *claimed, struct store_written *out,
                          GError **error);
bool orch_store_seal_run(struct orch_store *store, const struct store_written *written,
                         GError **error);
/** Removes a run that was just written, sealed or not. Only within a join, which disables the
 * triggers. */
bool orch_store_unwrite_run(struct orch_store *store, const struct store_written *written,
                            GError **error);

/* ---- stream.c ---------------------------------------------------------------------------------
 */

/** A row of `metric`. */
struct store_row {
    int64_t name_id, step;
    double t_ms, value;
};
/** Fetches the next row. Returns 1 for a row, 0 at the end and -1 on failure. It may use the
 * store. */
typedef int (*store_next_row)(void *ctx, struct store_row *out);
/** Inserts all points of a run. A later point of the same metric and step replaces an earlier
 * one. */
bool orch_store_insert_points(struct orch_store *store, int64_t run_id, store_next_row next,
                              void *ctx, GError **error);

/* ---- backup.c ---------------------------------------------------------------------------------
 */

/** Copies the open file to `dest`, which must not exist. */
bool orch_store_backup_to(struct orch_store *store, const char *dest, GError **error);

/* ---- where.c ----------------------------------------------------------------------------------
 */

/** The SQL condition over `run r`, `source s`, `machine m`; owned by `where`. */
const char *orch_store_where_sql(const struct orch_where *where);
/** Binds the values of the condition from parameter `first` on. Returns the next free parameter. */
int orch_store_where_bind(const struct orch_where *where, sqlite3_stmt *statement, int first);
/** Fails with ORCH_ERROR_USAGE when the filter uses a bare name that does not occur in any run. */
bool orch_store_where_check_names(struct orch_store *store, const struct orch_where *where,
                                  GError **error);
/** A column of runs, as SQL over `run r`, `source s`, `machine m`. */
struct store_column {
    const char *sql; /* its next `name_count` parameters are bound to `name` */
    char *name;      /* owned, or NULL */
    int name_count;
};
/** Finds a column by its name as in a condition, or by min(metric) or max(metric). False when
 * `text` is not a valid name. */
bool orch_store_column_of(const char *text, struct store_column *out);
/** The name of built-in column `index` of a run; NULL after the last. */
const char *orch_store_column_name(size_t index);
/** SQL that lists all names of a scope ("param", "result" or "metric"). */
const char *orch_store_scope_names_sql(const char *prefix);
/** Registers the comparison function that conditions use with SQLite. */
int orch_store_where_register(sqlite3 *db);

/* ---- dataset.c --------------------------------------------------------------------------------
 */

/** Reads every data set and recomputes its digest; adds findings (char *). */
void orch_store_check_datasets(struct orch_store *store, GPtrArray *out);

/* ---- note.c -----------------------------------------------------------------------------------
 */

/** True for a known kind of note. STORE_NOTE_KINDS is the same list as SQL. */
bool orch_store_note_kind_is_known(const char *kind);
#define STORE_NOTE_KINDS                                                                           \
    "('note','tag','untag','name','tombstone','restored','signature','view','counted')"
/** True for the kinds of notes that hide or restore a run. */
bool orch_store_note_kind_hides(const char *kind);

/* ---- counted.c --------------------------------------------------------------------------------
 */

/** What the target of a note of kind "counted" begins with; its text is the key of the run. */
#define STORE_COUNTED "counts:"
/** The target: "counts:RECIPE/EXPERIMENT". The caller frees. */
char *orch_store_counted_target(const char *recipe, const char *experiment);

/* ---- run.c ------------------------------------------------------------------------------------
 */

/** How far ahead of this machine's clock a note may be dated and count as the newest, in s. */
#define STORE_AHEAD_S 86400
/** SQL: the time by which the note `n` is ordered. A clock that was far ahead must not decide for
 * years: a note dated more than a day after this machine's present counts as older than all others
 * until then. */
#define STORE_NOTE_TIME(n)                                                                         \
    "iif(" n ".made > (CAST((julianday('now') - 2440587.5) * 86400 AS INTEGER) + " G_STRINGIFY(    \
        STORE_AHEAD_S) ") * 1000000000, 0, " n ".made)"
/** SQL: whether the note `a` comes after the note `b`. */
#define STORE_NOTE_IS_LATER(a, b)                                                                  \
    "(" STORE_NOTE_TIME(a) ", " a ".key) > (" STORE_NOTE_TIME(b) ", " b ".key)"
/** SQL: whether the tombstone or restored note `n` takes effect on the run `r`. A private note
 * always does, because it was made in this store. A public one does only when its author is the
 * run's author, so that nobody can hide the results of others. */
#define STORE_TAKES_EFFECT(n, r) "(" n ".public = 0 OR " n ".who IS " r ".who)"
/** SQL: whether the tombstone `n` hides the run `r`. It does unless a later "restored" note of the
 * same visibility undid it: a public note cannot undo a private tombstone. This depends only on the
 * set of notes, not on the order in which they arrived. */
#define STORE_HIDES(n, r)                                                                          \
    n ".kind = 'tombstone' AND " n ".target = " r ".key AND " STORE_TAKES_EFFECT(                  \
        n, r) " AND NOT EXISTS (SELECT 1 FROM note undo WHERE undo.target = " n ".target AND"      \
              " undo.kind = 'restored' AND undo.public = " n ".public AND " STORE_TAKES_EFFECT(    \
                  "undo", r) " AND " STORE_NOTE_IS_LATER("undo", n) ")"
/** SQL: whether the tag `n` is in effect. It is unless a later "untag" of the same text undid it,
 * which must be private (made in this store) or have the same author as the tag. */
#define STORE_TAG_HOLDS(n)                                                                         \
    n ".kind = 'tag' AND " n ".text <> '' AND NOT EXISTS (SELECT 1 FROM note undo WHERE"           \
      " undo.target = " n ".target AND undo.kind = 'untag' AND undo.text = " n ".text AND"         \
      " (undo.public = 0 OR undo.who IS " n ".who) AND " STORE_NOTE_IS_LATER("undo", n) ")"
/** SQL: the name of the run `r` from the newest note that takes effect; "" or NULL when it has no
 * name. */
#define STORE_NAME_OF(r)                                                                           \
    "(SELECT n.text FROM note n WHERE n.target = " r                                               \
    ".key AND n.kind = 'name' AND " STORE_TAKES_EFFECT("n", r) " ORDER BY " STORE_NOTE_TIME(       \
        "n") " DESC, n.key DESC LIMIT 1)"
/** SQL: the ids of all hidden runs, for `r.id NOT IN STORE_HIDDEN`. */
#define STORE_HIDDEN "(SELECT h.id FROM note n JOIN run h ON " STORE_HIDES("n", "h") ")"
/** SQL: the states of runs that can be reused for an equal trial. */
#define STORE_REUSED_STATES "('ok','diverged')"

/** SQL: the columns and joins that struct orch_run is read from; ends before WHERE. */
#define STORE_RUN_COLUMNS                                                                          \
    "SELECT r.id" STORE_RUN_FIELDS(                                                                \
        STORE_FIELD_SELECT) ", r.digest,"                                                          \
                            " EXISTS (SELECT 1 FROM note n WHERE " STORE_HIDES(                    \
                                "n", "r") "),"                                                     \
                                          " EXISTS (SELECT 1 FROM purged p WHERE p.run = r.id)"
#define STORE_RUN_JOINS                                                                            \
    " LEFT JOIN source s ON s.id = r.source LEFT JOIN machine m ON m.id = r.machine"

/** Reads a run from a row of STORE_RUN_COLUMNS. Texts that every run recorded by orch has (plugin,
 * version, fingerprint, device key, state, ...) are "" where an imported run has NULL. */
struct orch_run *orch_store_run_from_row(sqlite3_stmt *statement);
/** Like orch_store_run_from_row, but keeps NULL. Needed for writing the run out, because NULL and
 * "" have different digests. */
struct orch_run *orch_store_run_as_stored(sqlite3_stmt *statement);

#endif
