/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of store/ share: the handle, prepared statements, transactions, errors.
 *
 * A statement is prepared once for a store and found again by the address of its SQL literal. Every
 * helper that can fail sets a GError which names the file and the cure.
 */
#ifndef ORCH_STORE_INTERNAL_H
#define ORCH_STORE_INTERNAL_H

#include "store/store.h"

#include "lib/base/file.h"

#include <sqlite3.h>

#define STORE_APPLICATION_ID 0x4F524348 /* "ORCH" */
#define STORE_BUSY_MS 30000
#define STORE_TEXT_MAX (64 << 20) /* bytes of one value */

struct orch_store {
    sqlite3 *db;
    char *path;              /* absolute */
    char *copy;              /* a folder with a copy that is read in place of the file, or NULL */
    char *original;          /* the path of what was copied, or NULL */
    char *folder;            /* FILE.d: for objects and the like (store/beside.h) */
    int folder_fd;           /* the folder, open; -1: there is none */
    bool is_own;             /* the folder was made by this user here */
    char id[ORCH_KEY_CHARS]; /* the store's, or "" */
    bool readonly;
    bool wal;
    int64_t busy_ms;             /* how long to wait for another process's lock */
    int64_t busy_until_ns;       /* when the wait that is going on gives up */
    int64_t deadline_ns;         /* when a query ends with an error (orch_store_limit_time) */
    GPtrArray *warnings;         /* char *: what opening it met */
    struct store_shards *shards; /* on a network file system, else NULL */
    GHashTable *statements;      /* address of SQL literal -> sqlite3_stmt * */
    struct store_stream *stream; /* points on their way in (stream.c), or NULL */
    struct store_scan *scan;     /* takes points on their way out (scan.c) */
    bool has_scan;               /* its function is there */
};

/* ---- sql.c: statements, errors, transactions --------------------------------------------------
 */

/** Sets `error` from the last SQLite failure: "cannot DOING store 'PATH': why", with the cure.
 * Returns false. */
bool store_fail(struct orch_store *store, GError **error, const char *doing);

/** As store_fail for a result code, when the handle cannot be asked. */
bool store_fail_code(const char *path, int code, int system_errno, GError **error,
                     const char *doing);

/** The prepared statement of a SQL literal, reset, without bindings. Owned by the store. NULL on
 * failure. Not to be nested with itself. */
sqlite3_stmt *store_statement(struct orch_store *store, const char *sql_literal, GError **error);

/** Binds values from parameter 1 on: 't' text (const char *, NULL is NULL; repaired when it is not
 * UTF-8; must live until the statement is done), 'i' int64_t, 'r' double (NaN is NULL), 'n' NULL.
 */
void store_bind(sqlite3_stmt *statement, const char *types, ...);

/** One step: 1 a row, 0 done (the statement is reset), -1 failure (reset too). */
int store_step(struct orch_store *store, sqlite3_stmt *statement, GError **error);

/** Prepares, binds (as store_bind), runs to its end a statement that gives no rows. */
bool store_run(struct orch_store *store, GError **error, const char *sql_literal, const char *types,
               ...);

/** Runs a query that gives one integer; `fallback` when it gives no row. */
bool store_get_int(struct orch_store *store, int64_t *out, int64_t fallback, GError **error,
                   const char *sql_literal, const char *types, ...);

/** Runs SQL without values (several statements). */
bool store_exec(struct orch_store *store, const char *sql, const char *doing, GError **error);

/** Column as borrowed text, until the next step: "" for NULL, and a substitute for what is not
 * UTF-8. An edited file can hold either where the schema forbids it. */
const char *store_text(sqlite3_stmt *statement, int column);
/** The same as owned text, but NULL for NULL. */
char *store_column_text(sqlite3_stmt *statement, int column);
/** Column as a real, NaN for NULL. */
double store_column_real(sqlite3_stmt *statement, int column);

bool store_begin(struct orch_store *store, GError **error);  /* BEGIN IMMEDIATE */
bool store_commit(struct orch_store *store, GError **error); /* rolls back when it fails */
void store_rollback(struct orch_store *store);

/** Refuses on a store that was opened for reading. */
bool store_is_writable(struct orch_store *store, GError **error);

/* ---- schema.c ---------------------------------------------------------------------------------
 */

/** Leads from schema `from` to `from + 1`. */
struct store_migration {
    int from;
    const char *sql;
};
struct store_migrations {
    int target;         /* the schema that the program works with */
    const char *create; /* SQL of a whole new store of `target` */
    const struct store_migration *steps;
    size_t step_count;
};
extern const struct store_migrations store_migrations;

/** Brings an open file to the target: creates the schema in an empty one (only with `may_create`),
 * migrates an older one, refuses anything else. */
bool store_migrate(struct orch_store *store, const struct store_migrations *migrations,
                   bool may_create, GError **error);

/** What is in the file: 1 our schema of `*out_schema`, 0 nothing at all, -1 refused with an error.
 */
int store_recognise(struct orch_store *store, int target, int64_t *out_schema, GError **error);

/* ---- defence.c --------------------------------------------------------------------------------
 */

/** Are a file, and what lies beside it for SQLite, regular files (or not there)? */
bool store_check_files(const char *path, GError **error);
/** SQLite's defensive settings and narrow limits, for a file of which nothing is known. */
void store_be_strict(sqlite3 *db);
/** Our own triggers and references are on, limits are SQLite's: after store_check_shape. */
void store_be_working(sqlite3 *db);
/** Has the file each table that `create` makes, word for word, and no trigger and no index but
 * those of `create`? */
bool store_check_shape(struct orch_store *store, const char *create, GError **error);

/* ---- reading.c --------------------------------------------------------------------------------
 */

enum store_way {
    STORE_WAY_PLAIN,
    STORE_WAY_IMMUTABLE, /* nobody has it open: as a file that does not change */
    STORE_WAY_COPY,      /* it has a log that cannot be read where it lies */
};
/** How to read the file of a handle that may not write and has read nothing yet. */
enum store_way store_way_of_reading(struct orch_store *store);
/** Opens a file so that reading it leaves nothing beside it. */
bool store_open_to_read(struct orch_store *store, GError **error);
/** Copies a closed store's file, journal and log into a folder of our own, to be opened there; the
 * copy goes with the handle. */
bool store_copy_aside(struct orch_store *store, GError **error);

/* ---- open.c -----------------------------------------------------------------------------------
 */

struct store_options {
    const struct store_migrations *migrations;
    bool never_wal;         /* as on a network file system */
    bool is_scratch;        /* lost with the machine: nothing is synced */
    const char *stands_for; /* its folder is that of the store at this path, or NULL */
    bool is_shard;          /* one of several hosts' files of that store */
    bool is_alone;          /* the rows are wanted, not the folder beside them */
};
/** orch_store_open with what tests want to choose. */
struct orch_store *store_open_with(const char *path, enum orch_store_mode mode,
                                   const struct store_options *options, GError **error);

/** The file as it is, for reading what can be read: nothing is checked, made or changed. */
struct orch_store *store_open_raw(const char *path, GError **error);
/** A handle that is not open yet; opened by SQLite's flags; closed; freed (closed first). */
struct orch_store *store_new_handle(const char *path);
bool store_open_handle(struct orch_store *store, int flags, bool immutable, GError **error);
/** Is what lies beside a store as its journal harmless to play back? One that belongs to a
 * transaction over several files, which orch never makes, names a file that SQLite then deletes; a
 * pipe would be waited for. */
bool store_check_journal(const char *path, GError **error);
void store_close_handle(struct orch_store *store);
void store_free_handle(struct orch_store *store);

/** Name of a file system by statfs magic ("ext", "nfs", "0x1234"), and whether WAL is safe there.
 */
char *store_filesystem_name(int64_t magic, bool *out_local);
int64_t store_filesystem_magic(const char *path);
/** Can other hosts reach a file system of this magic? False for an unknown one. */
bool store_filesystem_is_shared(int64_t magic);

/* ---- digest.c ---------------------------------------------------------------------------------
 */

/** The points of one metric as they stream in, hashed without being read back as long as their
 * steps rise. */
struct store_points;
struct store_points *store_points_new(void);
void store_points_free(struct store_points *points);
void store_points_add(struct store_points *points, int64_t step, double t_ms, double value);
/** The digest's 32 bytes and the number of points; the hash is then closed. */
void store_points_finish(struct store_points *points, uint8_t out[32], int64_t *out_count);

/** A metric of a run. */
struct store_metric {
    int64_t name_id;
    const char *name, *unit, *better;
    struct store_points *points; /* NULL: to be read back */
};
/** Digest of a run as its rows stand. `key`: in place of the row's, or NULL. `metrics`: struct
 * store_metric, all that the run has, in any order (they are sorted); NULL: as the rows say. */
bool store_digest_run(struct orch_store *store, int64_t run_id, const char *key, GArray *metrics,
                      char out[ORCH_SHA256_CHARS], GError **error);

/** Each pair that the store's digest is over: key, digest, the run's number (0: set apart), sorted.
 * And its line. */
extern const char store_pairs_sql[];
void store_pair_line(sqlite3_stmt *pair, GString *out);

/** The metrics that a run has (id, name, unit, better), by name. Skips from one to the next through
 * the primary key, not over the points. */
extern const char store_run_metrics_sql[];

/* ---- write.c ----------------------------------------------------------------------------------
 */

/** What was written of a run. */
struct store_written {
    int64_t run_id;
    char digest[ORCH_SHA256_CHARS]; /* of the rows as they stand */
    bool is_records_fault;          /* of a failure: the record's, not the store's */
    int64_t new_source, new_machine, first_new_name; /* rows that it brought, else 0 */
};
/** Writes a run with all it owns under `key`, within a transaction, and computes its digest (always
 * with the record's own key). With `claimed` "" it stays open until store_seal_run gives it that
 * digest. A join, whose triggers are off, gives it the digest that it claims at once, and takes it
 * back when `out` has another. */
bool store_write_run(struct orch_store *store, const struct orch_record *record, const char *key,
                     const char *claimed, struct store_written *out, GError **error);
bool store_seal_run(struct orch_store *store, const struct store_written *written, GError **error);
/** Takes back what was just written, sealed or not. Only within a join: the triggers are off. */
bool store_unwrite_run(struct orch_store *store, const struct store_written *written,
                       GError **error);

/* ---- stream.c ---------------------------------------------------------------------------------
 */

/** A row of `metric`. */
struct store_row {
    int64_t name_id, step;
    double t_ms, value;
};
/** The next row: 1, 0 at the end, -1 when it failed. It may use the store. */
typedef int (*store_next_row)(void *ctx, struct store_row *out);
/** Inserts all points of a run; a later one of the same metric and step replaces the earlier. */
bool store_insert_points(struct orch_store *store, int64_t run_id, store_next_row next, void *ctx,
                         GError **error);

/* ---- backup.c ---------------------------------------------------------------------------------
 */

/** Copies the file as it stands to `dest`, which must not exist. */
bool store_backup_to(struct orch_store *store, const char *dest, GError **error);

/* ---- where.c ----------------------------------------------------------------------------------
 */

/** The condition over `run r`, `source s`, `machine m`; owned by `where`. */
const char *store_where_sql(const struct orch_where *where);
/** Binds its values from parameter `first` on; returns the next free one. */
int store_where_bind(const struct orch_where *where, sqlite3_stmt *statement, int first);
/** Refuses a bare name that no run of the store has (ORCH_ERROR_USAGE). */
bool store_where_check_names(struct orch_store *store, const struct orch_where *where,
                             GError **error);
/** A column of runs, as SQL over `run r`, `source s`, `machine m`. */
struct store_column {
    const char *sql; /* takes `name` as its next `name_count` values */
    char *name;      /* owned, or NULL */
    int name_count;
};
/** By its name as a condition has it, or min(metric), max(metric). False: no name at all. */
bool store_column_of(const char *text, struct store_column *out);
/** The names of a run's own columns, by index; NULL behind the last. */
const char *store_column_name(size_t index);
/** SQL that lists all names of a scope: "param", "result", "metric". */
const char *store_scope_names_sql(const char *prefix);
/** Registers the comparison function that conditions use. */
int store_where_register(sqlite3 *db);

/* ---- dataset.c --------------------------------------------------------------------------------
 */

/** Reads every data set and recomputes its digest; adds findings (char *). */
void store_check_datasets(struct orch_store *store, GPtrArray *out);

/* ---- note.c -----------------------------------------------------------------------------------
 */

/** What a note may be; the same list as SQL. */
bool store_note_kind_is_known(const char *kind);
#define STORE_NOTE_KINDS "('note','tag','untag','name','tombstone','restored','signature')"
/** Does a note say whether a run is hidden? */
bool store_note_kind_hides(const char *kind);

/* ---- run.c ------------------------------------------------------------------------------------
 */

/** Does a tombstone or restored note `n` take effect on the run `r`? A private one always: it was
 * made here. One from elsewhere only when its author is the run's: nobody hides others' results. */
#define STORE_TAKES_EFFECT(n, r) "(" n ".public = 0 OR " n ".who IS " r ".who)"
/** Does a tombstone `n` hide the run `r`? Unless it was undone by a later "restored" that is
 * private like it, or public like it: what one hides for oneself nobody else brings back. By the
 * notes as a set, so the order in which they came does not matter. */
#define STORE_HIDES(n, r)                                                                          \
    n ".kind = 'tombstone' AND " n ".target = " r ".key AND " STORE_TAKES_EFFECT(                  \
        n, r) " AND NOT EXISTS (SELECT 1 FROM note undo WHERE undo.target = " n ".target AND"      \
              " undo.kind = 'restored' AND undo.public = " n                                       \
              ".public AND " STORE_TAKES_EFFECT("undo", r) " AND (undo.made, undo.key) > (" n      \
                                                           ".made, " n ".key))"
/** Does the note `n`, a tag, hold? Unless it was undone by a later "untag" of the same text, either
 * private (made here) or by the tag's author. */
#define STORE_TAG_HOLDS(n)                                                                         \
    n ".kind = 'tag' AND " n ".text <> '' AND NOT EXISTS (SELECT 1 FROM note undo WHERE"           \
      " undo.target = " n ".target AND undo.kind = 'untag' AND undo.text = " n ".text AND"         \
      " (undo.public = 0 OR undo.who IS " n ".who) AND (undo.made, undo.key) > (" n ".made, " n    \
      ".key))"
/** The name of the run `r`: the newest that takes effect; "" or NULL: it has none. */
#define STORE_NAME_OF(r)                                                                           \
    "(SELECT n.text FROM note n WHERE n.target = " r                                               \
    ".key AND n.kind = 'name' AND " STORE_TAKES_EFFECT(                                            \
        "n", r) " ORDER BY n.made DESC, n.key DESC LIMIT 1)"
/** "the id of each hidden run", for `r.id NOT IN STORE_HIDDEN`. */
#define STORE_HIDDEN "(SELECT h.id FROM note n JOIN run h ON " STORE_HIDES("n", "h") ")"
/** States that spare a trial. */
#define STORE_SPARING "('ok','diverged')"

/** Columns and joins of struct orch_run; ends before WHERE. */
#define STORE_RUN_COLUMNS                                                                          \
    "SELECT r.id, r.key, r.recipe_key, r.recipe, r.experiment, r.plugin, r.plugin_version,"        \
    " r.build, s.tree, s.commit_oid, s.branch, s.remote, s.dirty, r.fingerprint, r.where_key,"     \
    " r.seed, r.repeat, r.attempt, r.state, r.reason, r.exit_code, r.signal, m.key, m.facts,"      \
    " r.who, r.argv, r.facts, r.started, r.ended, r.wall_ms, r.digest,"                            \
    " EXISTS (SELECT 1 FROM note n WHERE " STORE_HIDES(                                            \
        "n", "r") "),"                                                                             \
                  " EXISTS (SELECT 1 FROM purged p WHERE p.run = r.id)"
#define STORE_RUN_JOINS                                                                            \
    " LEFT JOIN source s ON s.id = r.source LEFT JOIN machine m ON m.id = r.machine"

/** The run of a row of STORE_RUN_COLUMNS. Texts that every run recorded by orch has (plugin,
 * version, fingerprint, place, state, ...) are "" where a run from elsewhere has NULL. */
struct orch_run *store_run_from_row(sqlite3_stmt *statement);
/** The same with NULL kept, for writing the run out: NULL and "" have different digests. */
struct orch_run *store_run_as_stored(sqlite3_stmt *statement);

#endif
