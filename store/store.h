/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store: one SQLite file of runs, and a folder of artifact bytes beside it.
 *
 * A run is written once, when it ends, in one transaction; until then it is a row of `active`
 * (local, never merged) and its journal. Ended runs never change: a trigger refuses. Every write
 * transaction is BEGIN IMMEDIATE with a 30 s busy timeout. WAL on local disks, a rollback journal
 * elsewhere.
 *
 * The store knows rows: no recipes, no plugins, no git. All functions are for one thread.
 */
#ifndef ORCH_STORE_STORE_H
#define ORCH_STORE_STORE_H

#include "lib/base/ident.h"
#include "lib/wire/event.h"
#include "lib/wire/verdict.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ORCH_STORE_SCHEMA 1

struct orch_store;

enum orch_store_mode {
    ORCH_STORE_READ,   /* must exist; nothing is written (a read-only folder is fine) */
    ORCH_STORE_WRITE,  /* must exist */
    ORCH_STORE_CREATE, /* made with its folder and that folder's .gitignore ("*") when absent */
};

/** Opens the file; migrates an older schema (after a backup beside it), refuses a newer one
 * untouched. ORCH_ERROR_STORE says what is wrong: not a database, another program's database,
 * truncated, read-only, full disk, newer. */
struct orch_store *orch_store_open(const char *path, enum orch_store_mode mode, GError **error);
void orch_store_close(struct orch_store *store);
const char *orch_store_path(const struct orch_store *store);
/** The folder beside the store's file, FILE.d, with what orch keeps there: objects/, trials/,
 * checkpoints/, work/ (store/beside.h). */
const char *orch_store_folder(const struct orch_store *store);
/** The folder for what this host alone may touch: trials/. It is the same, unless the store is
 * shared between hosts; then it lies below. */
const char *orch_store_local_folder(const struct orch_store *store);
/** Is there a store at `path`: its file, or files of hosts for it? */
bool orch_store_exists(const char *path);
/** Can other hosts write to it? Then each has a file of its own (docs/store.md), and claims in it
 * hold on this host alone. */
bool orch_store_is_shared(const struct orch_store *store);
/** Of a shared store: joins in now what the other hosts have. What cannot be read is a warning; of
 * what just changes it takes another look. */
void orch_store_refresh(struct orch_store *store);
/** How a store at `path` lies, and why, as a sentence for people: "one file: ext is a local file
 * system". The caller frees. */
char *orch_store_layout(const char *path);
/** Journals that a writer of the store left with something in it, for longer than a minute:
 * char *; the caller unrefs. */
GPtrArray *orch_store_stale_journals(const char *path);
/** What is worth saying about how it was opened: char *, borrowed; it may grow while runs begin. */
const GPtrArray *orch_store_warnings(const struct orch_store *store);
/** That folder of a store at `path`, which need not exist. The caller frees. */
char *orch_store_folder_of(const char *path);

/** Makes what was committed so far survive a power loss (fsync of the log). Call it about once a
 * second while runs end; close does it too. */
bool orch_store_sync(struct orch_store *store, GError **error);

/* ---- writing ----------------------------------------------------------------------------------
 */

/** Whose runs spare a trial. */
enum orch_reuse { ORCH_REUSE_WHERE, ORCH_REUSE_ANY, ORCH_REUSE_NEVER };

/** A trial about to start. All strings are borrowed for the call. */
struct orch_active {
    char key[ORCH_KEY_CHARS];
    const char *fingerprint; /* 64 hex */
    const char *where_key;
    const char *trial_dir; /* written for programs of earlier versions; never read */
    const char *record;    /* JSON: what orch_run_record needs besides the journal; opaque here */
    struct orch_process runner;
    int64_t started_ns;
    int64_t
        done_after_ns; /* only a run that ended later than this counts as done meanwhile; 0: any */
};

enum orch_begin {
    ORCH_BEGIN_STARTED, /* the row is there; the trial is this process's */
    ORCH_BEGIN_DONE,    /* a run that spares it ended meanwhile */
    ORCH_BEGIN_HELD,    /* another live process has claimed it */
};

/** Claims a trial and notes it as active, in one transaction that first looks whether it was done
 * or claimed meanwhile (by fingerprint, and where_key under ORCH_REUSE_WHERE; ORCH_REUSE_NEVER
 * claims by its own key, and so does `force`). `out_key` (ORCH_KEY_CHARS) gets the other run's key
 * for DONE and HELD. Claims and active rows of processes that are dead stay until
 * orch_store_actives' reader closes them: they count as HELD. */
bool orch_store_begin(struct orch_store *store, const struct orch_active *active,
                      enum orch_reuse reuse, bool force, enum orch_begin *out, char *out_key,
                      GError **error);

/** An active row as read. */
struct orch_active_row {
    char *key, *fingerprint, *where_key, *record; /* record may be NULL */
    char *trial_dir;                              /* made from the key */
    struct orch_process runner;
    int64_t started_ns;
};
void orch_active_row_free(struct orch_active_row *row);
/** Active rows; none of a store that is not this user's. struct orch_active_row *; the caller
 * unrefs. */
GPtrArray *orch_store_actives(struct orch_store *store, GError **error);
/** Takes over an active row whose runner is dead: sets its runner to this process if the row still
 * has the `from` runner. `*out_taken` false: somebody else was quicker. */
bool orch_store_adopt(struct orch_store *store, const char *key, const struct orch_process *from,
                      bool *out_taken, GError **error);
/** Drops an active row and its claim without a record (the trial never started). */
bool orch_store_forget(struct orch_store *store, const char *key, GError **error);

struct orch_named_text {
    const char *name, *type, *value;
};
struct orch_named_real {
    const char *name;
    double value;
};
struct orch_input_row {
    const char *name;
    const char *from_key; /* run key that made it, or NULL */
    const char *sha256;
};
struct orch_artifact_row {
    const char *name;
    const char *sha256;
    int64_t bytes;
};
struct orch_metric_row {
    const char *name, *unit, *better; /* better: "min", "max", "none" */
};

/** An ended run to be written. Everything is borrowed for the call; NULL where unknown. */
struct orch_record {
    const char *key, *recipe_key, *recipe, *experiment, *plugin, *plugin_version, *build;
    const char *source_tree, *source_commit, *source_branch, *source_remote;
    bool source_dirty;
    const char *fingerprint, *where_key;
    uint64_t seed;
    int repeat, attempt;
    const char *state; /* verdict word */
    const char *reason;
    int exit_code;                           /* -1: none */
    int signal;                              /* 0: none */
    const char *machine_key, *machine_facts; /* facts: canonical JSON */
    const char *who, *argv;                  /* argv: the command line of orch, as JSON array */
    int64_t started_ns, ended_ns;
    double wall_ms;
    const char
        *facts; /* JSON: load, co-runners, max_rss_bytes, notes of the host, left-out files */
    const struct orch_named_text *params;
    size_t param_count;
    const struct orch_input_row *inputs;
    size_t input_count;
    const struct orch_named_real *results;
    size_t result_count;
    const struct orch_artifact_row *artifacts;
    size_t artifact_count;
    const struct orch_metric_row *metrics; /* declared metrics, for units */
    size_t metric_count;
    /** Streams the points: fills `*out`, false at the end; may set `*error` (the whole record is
     * then rolled back). A later point of the same name and step replaces the earlier. NULL: no
     * points. */
    bool (*next_point)(void *ctx, struct orch_point *out, GError **error);
    void *next_ctx;
};

/** Writes the run, its digest, and removes its active row and claim: all or nothing. A run of that
 * key that is there already with the same digest is success (collecting twice changes nothing). */
bool orch_store_record(struct orch_store *store, const struct orch_record *record, GError **error);

/** Keeps a recipe's canonical text under its key (hash); idempotent. `verbatim`: as written. */
bool orch_store_put_recipe(struct orch_store *store, const char *key, const char *name,
                           const char *canonical, const char *verbatim, GError **error);

/** Adds a note (kind "note", "tag", "signature", "tombstone": the run is hidden and spares nothing,
 * or "restored": it is not any more). Of others' runs the last two are private. */
bool orch_store_note(struct orch_store *store, const char *run_key, const char *kind,
                     bool is_public, const char *text, GError **error);

/** Tags of a run, each once, by the bytes of their texts: char *; the caller unrefs. A tag holds
 * until its author, or its reader for himself, takes it away. */
GPtrArray *orch_store_tags(struct orch_store *store, const char *run_key, GError **error);
/** Takes tag `text` away: for everybody where the tag is public and one's own, here alone where it
 * is another's. `*out_had` false: the run has no such tag, and nothing was done. */
bool orch_store_untag(struct orch_store *store, const char *run_key, const char *text,
                      bool *out_had, GError **error);
/** The newest of the names that the run's author gave publicly and that were given here. NULL: it
 * has none; the caller frees. */
char *orch_store_name(struct orch_store *store, const char *run_key, GError **error);
/** Names a run; "" takes the name away. A public name of another's run is refused: it would have no
 * effect elsewhere. */
bool orch_store_set_name(struct orch_store *store, const char *run_key, const char *name,
                         bool is_public, GError **error);

/** What hides a run: the newest tombstone in effect, its author's before one's own. */
struct orch_hidden {
    char *who, *why; /* may be NULL */
    bool is_public;  /* by the run's author, for everybody; else here alone */
    int64_t made_ns;
};
void orch_hidden_free(struct orch_hidden *hidden);
/** NULL without error: nothing hides it. The caller frees. */
struct orch_hidden *orch_store_hidden(struct orch_store *store, const char *run_key,
                                      GError **error);
/** Undoes what hides a run and may be undone here: what was made here, and what its author did
 * when that is the user. Ask orch_store_hidden whether something is left. */
bool orch_store_restore(struct orch_store *store, const char *run_key, const char *text,
                        GError **error);

/** Drops metric points and artifact references of a run here, keeping its row and digest (it counts
 * as purged: `db check` skips it). */
bool orch_store_purge(struct orch_store *store, const char *run_key, GError **error);

/* ---- artifact bytes ---------------------------------------------------------------------------
 */

/** Takes a file into objects/ab/cdef... by content (copy, fsync, rename; a file already there is
 * success). Fills its digest and size. */
bool orch_store_put_object(struct orch_store *store, const char *path, char *out_sha256,
                           int64_t *out_bytes, GError **error);
/** The same of an open file; `name` is for messages. */
bool orch_store_put_object_fd(struct orch_store *store, int fd, const char *name, char *out_sha256,
                              int64_t *out_bytes, GError **error);
/** Keeps the bytes of a regular file below an open folder (lib/base/below.h: no links, no '..'),
 * if they have this digest. `*out_fits` false without error: they have another, and nothing was
 * kept. */
bool orch_store_put_object_at(struct orch_store *store, int folder, const char *path,
                              const char *sha256, int64_t *out_bytes, bool *out_fits,
                              GError **error);
/** The same of bytes in memory. */
bool orch_store_put_object_bytes(struct orch_store *store, const void *bytes, size_t length,
                                 char *out_sha256, GError **error);
/** The size of an object; -1 when it is not here. */
int64_t orch_store_object_bytes(struct orch_store *store, const char *sha256);
/** Absolute path of an object; NULL when it is not here. The caller frees. */
char *orch_store_object_path(struct orch_store *store, const char *sha256);
/** Deletes objects that no kept run names, and trial, checkpoint and work folders that nothing
 * refers to. With `dry_run` only counts. */
bool orch_store_gc(struct orch_store *store, bool dry_run, int *out_count, int64_t *out_bytes,
                   GError **error);

/* ---- reading ----------------------------------------------------------------------------------
 */

/** One ended run, without its points. Owned strings. */
struct orch_run {
    int64_t id; /* local */
    char *key, *recipe_key, *recipe, *experiment, *plugin, *plugin_version, *build;
    char *source_tree, *source_commit, *source_branch, *source_remote;
    bool source_dirty;
    char *fingerprint, *where_key;
    uint64_t seed;
    int repeat, attempt;
    char *state, *reason;
    int exit_code, signal;
    char *machine_key, *machine_facts, *who, *argv, *facts;
    int64_t started_ns, ended_ns;
    double wall_ms;
    char *digest;
    bool hidden, purged;
};
void orch_run_free(struct orch_run *run);

/** The newest run (`nth` 0; 1: the one before it, ...), not hidden, ok or diverged, of this
 * fingerprint (and where_key unless NULL). NULL without error: none. */
struct orch_run *orch_store_find_spare(struct orch_store *store, const char *fingerprint,
                                       const char *where_key, unsigned nth, GError **error);

/** What the plan compares a trial with that is not done: newest runs first. */
struct orch_history_row {
    char *key, *state, *reason, *plugin_version, *fingerprint, *where_key, *who, *facts;
    int64_t ended_ns;
    double wall_ms;
    int attempt;
};
void orch_history_row_free(struct orch_history_row *row);
/** Newest runs (not hidden, any state) of a recipe's experiment and repeat whose parameters named
 * in `params` (object of canonical values) have those values: struct orch_history_row *, newest
 * first, at most `limit`. */
GPtrArray *orch_store_history(struct orch_store *store, const char *recipe, const char *experiment,
                              int repeat, const json_t *params, unsigned limit, GError **error);

/** A filter compiled from the --where language: comparisons joined with and, or, not, parentheses;
 * operators = != < <= > >= ~ (contains); names: state experiment recipe plugin who repeat seed
 * attempt commit branch tree gpu cpu host machine started ended wall_s key, else a parameter, else
 * a result, else the last value of a metric; `param.x`, `result.x`, `metric.x` say which. Durations
 * and byte sizes may carry units; times may be dates or "2d" (ago). */
struct orch_where;
/** NULL with ORCH_ERROR_USAGE naming the column and, for an unknown name, the nearest known. */
struct orch_where *orch_where_parse(const char *text, GError **error);
/** The hint when no run has the metric or result `name`: the nearest name, else those that there
 * are. The caller frees. */
char *orch_store_metric_hint(struct orch_store *store, const char *name);
void orch_where_free(struct orch_where *where);

/** A name that a filter compares, as written ("lr", "param.lr", "state"). */
struct orch_where_name {
    const char *name;
    int column;     /* in the filter's text, from 1 */
    bool is_column; /* one of the names above: every run has it; else a parameter, result or metric
                     */
};
/** The names of a filter in order: array of the struct above, borrowed from it. The caller unrefs.
 */
GArray *orch_where_names(const struct orch_where *where);
/** What is known of a name: its value as text, to be freed; NULL: not known. */
typedef char *(*orch_where_lookup)(void *ctx, const char *name);
/** Can the filter hold, given what is known? False only when it cannot, whatever the unknown are: a
 * trial that has not run is asked this. Names are given without "param.". */
bool orch_where_may_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx);

struct orch_run_query {
    const char *recipe;     /* NULL: any */
    const char *experiment; /* NULL: any */
    const char *state;      /* NULL: any */
    const struct orch_where *where;
    bool ended_well; /* only ok and diverged: runs that count as results */
    bool with_hidden;
    bool without_imported; /* not those that other trackers recorded (orch import --runs) */
    bool oldest_first;
    int64_t limit; /* 0: all */
};
/** struct orch_run *, newest first. `out_total` (may be NULL): how many match without the limit. */
GPtrArray *orch_store_runs(struct orch_store *store, const struct orch_run_query *query,
                           int64_t *out_total, GError **error);

/** The last 8 characters of a run key: what people are shown and may type. Borrowed from `key`. */
const char *orch_run_short_key(const char *key);

/** Resolves what a user types: a key or a unique prefix of one (4 or more characters; of the random
 * last part too: ls prints the last 8), "@last", "@{2}" (2 before the last). Ambiguous or unknown:
 * ORCH_ERROR_NOT_FOUND that lists candidates. */
struct orch_run *orch_store_run(struct orch_store *store, const char *text, GError **error);

/** Parameters as an object of canonical values; results as an object of reals. New references. */
json_t *orch_store_params(struct orch_store *store, int64_t run_id, GError **error);
json_t *orch_store_results(struct orch_store *store, int64_t run_id, GError **error);

/** A result with the unit and direction that its plugin declared ("" and "none" where it did not).
 */
struct orch_stored_result {
    char *name, *unit, *better;
    double value; /* NaN where the store has NULL */
};
/** Array of pointers to the struct above; the caller unrefs. */
GPtrArray *orch_store_result_rows(struct orch_store *store, int64_t run_id, GError **error);

struct orch_stored_input {
    char *name, *from_key, *sha256;
};
struct orch_stored_artifact {
    char *name, *sha256;
    int64_t bytes;      /* as the run says */
    int64_t here_bytes; /* of the file in objects/; -1: there is none */
    bool here;          /* its bytes are in objects/, as many as the run says */
};
struct orch_stored_note {
    char *kind, *text;
    bool is_public;
};
/** Arrays of pointers to the structs above; the caller unrefs. */
GPtrArray *orch_store_inputs(struct orch_store *store, int64_t run_id, GError **error);
GPtrArray *orch_store_artifacts(struct orch_store *store, int64_t run_id, GError **error);
GPtrArray *orch_store_notes(struct orch_store *store, const char *run_key, GError **error);

/** A series. */
struct orch_series {
    char *name, *unit, *better;
    size_t count;
    int64_t *step;
    double *t_ms, *value; /* NaN where the store has NULL */
};
void orch_series_free(struct orch_series *series);
/** One metric of a run; NULL without error when it has none of that name. */
struct orch_series *orch_store_series(struct orch_store *store, int64_t run_id, const char *name,
                                      GError **error);
/** For each metric of a run: count, first, last, min, max, mean, step of min and max. */
struct orch_metric_summary {
    char *name, *unit, *better;
    int64_t count, last_step, min_step, max_step;
    double first, last, min, max, mean;
};
GPtrArray *orch_store_summaries(struct orch_store *store, int64_t run_id, GError **error);

/* ---- care -------------------------------------------------------------------------------------
 */

struct orch_store_info {
    int schema;
    int64_t runs, hidden, metrics, artifacts, artifact_bytes, file_bytes, active;
    int64_t datasets, samples; /* sets of measurements from elsewhere, and their rows */
    int64_t conflicts;         /* runs set apart: their key is here with another digest */
    char *journal_mode, *filesystem;
    char digest[65]; /* over the sorted keys and digests of all ended runs, set apart or not */
};
/** A host's file of a shared store. */
struct orch_shard {
    char *host; /* its name; "" for the one file from before */
    char *path;
    char *problem;                        /* why it cannot be read now, or NULL */
    int64_t runs, file_bytes, changed_ns; /* runs that it has, its own and those it knows of */
    bool is_own;
};
/** The files of a shared store, this host's first; empty for any other. struct orch_shard *; the
 * caller unrefs. */
GPtrArray *orch_store_shards(struct orch_store *store);

bool orch_store_info(struct orch_store *store, struct orch_store_info *out, GError **error);
void orch_store_info_clear(struct orch_store_info *info);

/** Recomputes everything: SQLite's integrity, foreign keys, every run's digest, every data set's
 * and every object's. Adds findings (char *) to `out`; true when it could look, whatever it found.
 */
bool orch_store_check(struct orch_store *store, GPtrArray *out, int64_t *out_runs, GError **error);

/** A consistent copy while others write (SQLite backup), into a file that must not exist. */
bool orch_store_backup(struct orch_store *store, const char *dest, GError **error);

/** SHA-256 over "KEY DIGEST\n" of every ended run and of those set apart, by key: equal sets of
 * runs give equal digests. `out`: 65 bytes. */
bool orch_store_digest_all(struct orch_store *store, char *out, GError **error);
/** Digest v1 of a run as stored, recomputed from its rows: 64 hex. */
bool orch_store_digest(struct orch_store *store, int64_t run_id, char *out, GError **error);

#endif
