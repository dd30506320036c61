/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The store: one SQLite file of runs, and a folder of artifact bytes beside it.
 *
 * A run is written once, when it ends, in one transaction. Until then it is a row of `active`
 * (local, never merged) and a journal. Ended runs never change; a trigger rejects updates. Every
 * write transaction is BEGIN IMMEDIATE with a busy timeout of 30 s. WAL is used on local disks, a
 * rollback journal elsewhere.
 *
 * The store handles rows only. It does not depend on recipes, plugins or git. A handle may be used
 * by one thread only.
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
    ORCH_STORE_READ,    /* must exist; nothing is written (a read-only folder is fine) */
    ORCH_STORE_COLLECT, /* as WRITE; on a full disk as READ, so that orch_store_gc can free space */
    ORCH_STORE_WRITE,   /* must exist */
    ORCH_STORE_CREATE, /* created when absent, with its folder and that folder's .gitignore ("*") */
};

/** Opens the file. An older schema is migrated (after a backup beside the file), and a newer one is
 * refused without changing the file. ORCH_ERROR_STORE says what is wrong: not a database, another
 * program's database, truncated, read-only, full disk, newer. */
struct orch_store *orch_store_open(const char *path, enum orch_store_mode mode, GError **error);
void orch_store_close(struct orch_store *store);
const char *orch_store_path(const struct orch_store *store);
/** True when the store was opened on a full disk: it can be read, and no other process can open it
 * meanwhile. */
bool orch_store_is_alone(const struct orch_store *store);
/** The folder beside the store's file, FILE.d, which contains objects/, trials/, checkpoints/ and
 * work/ (store/handle/store_dir.h). */
const char *orch_store_folder(const struct orch_store *store);
/** The folder that only this host may use; it contains trials/. It is the folder of
 * orch_store_folder unless hosts share the store; then it is a subfolder of that. */
const char *orch_store_local_folder(const struct orch_store *store);
/** True when there is a store at `path`: its file, or hosts' files for it. */
bool orch_store_exists(const char *path);
/** True when other hosts can write to the store. Then each host has its own file (docs/store.md),
 * and a claim is visible on this host only. */
bool orch_store_is_shared(const struct orch_store *store);
/** Joins the new runs of other hosts into a shared store. A file that cannot be read becomes a
 * warning; a file that changes while it is read is tried again. */
void orch_store_refresh(struct orch_store *store);
/** Describes the layout of the store at `path` and the reason for it, as a sentence for users: "one
 * file: ext is a local file system". The caller frees. */
char *orch_store_layout(const char *path);
/** Journals that are not empty and have been left beside the store for longer than a minute: char
 * *; the caller unrefs. */
GPtrArray *orch_store_stale_journals(const char *path);
/** Warnings from opening the store: char *, borrowed. More may be added when runs begin. */
const GPtrArray *orch_store_warnings(const struct orch_store *store);
/** The path of the folder of a store at `path`, whether the store exists or not. The caller
 * frees. */
char *orch_store_folder_of(const char *path);

/** Syncs all commits so far to disk (fsync of the log), so that they survive a power loss. Call it
 * about once a second while runs end; closing the store does it too. */
bool orch_store_sync(struct orch_store *store, GError **error);

/* ---- writing ----------------------------------------------------------------------------------
 */

/** Whose runs may be reused for a trial. */
enum orch_reuse { ORCH_REUSE_DEVICE, ORCH_REUSE_ANY, ORCH_REUSE_NEVER };

/** A trial about to start. All strings are borrowed for the call. */
struct orch_active {
    char key[ORCH_KEY_CHARS];
    const char *fingerprint; /* 64 hex */
    const char *device_key;
    const char *record; /* JSON: what making a run of it needs besides the journal; opaque here */
    struct orch_process runner;
    int64_t started_ns;
    int64_t done_after_ns; /* only a run that ended later than this counts as DONE; 0: any */
};

enum orch_begin {
    ORCH_BEGIN_STARTED, /* the active row is written; the trial belongs to this process */
    ORCH_BEGIN_DONE,    /* a run that can be reused has ended meanwhile */
    ORCH_BEGIN_HELD,    /* another process has claimed the trial */
};

/** Claims a trial and writes its active row in one transaction, which first checks whether the
 * trial was done or claimed meanwhile (by fingerprint, and device_key under ORCH_REUSE_DEVICE;
 * ORCH_REUSE_NEVER and `force` claim by the trial's own key). `out_key` (ORCH_KEY_CHARS) receives
 * the other run's key for DONE and HELD. Claims and active rows of dead processes count as HELD
 * until a caller of orch_store_actives closes them. */
bool orch_store_begin(struct orch_store *store, const struct orch_active *active,
                      enum orch_reuse reuse, bool force, enum orch_begin *out, char *out_key,
                      GError **error);

/** A trial to claim with others. */
struct orch_beginning {
    struct orch_active active;
    enum orch_reuse reuse;
    bool is_forced;
    enum orch_begin outcome;    /* set by orch_store_begin_all */
    char other[ORCH_KEY_CHARS]; /* set for DONE and HELD: the other run's key */
};
/** orch_store_begin for several trials in one transaction, in order: on error none is claimed.
 * Other processes cannot write meanwhile, so pass at most some hundred. */
bool orch_store_begin_all(struct orch_store *store, struct orch_beginning *rows, unsigned count,
                          GError **error);

/** An active row as read. */
struct orch_active_row {
    char *key, *fingerprint, *device_key, *record; /* record may be NULL */
    char *trial_dir;                               /* derived from the key */
    struct orch_process runner;
    int64_t started_ns;
};
void orch_active_row_free(struct orch_active_row *row);
/** All active rows; empty when the store does not belong to this user. struct orch_active_row *;
 * the caller unrefs. */
GPtrArray *orch_store_actives(struct orch_store *store, GError **error);
/** Takes over an active row whose runner is dead: sets its runner to this process if it is still
 * `from`. `*out_taken` is false when another process was first. */
bool orch_store_adopt(struct orch_store *store, const char *key, const struct orch_process *from,
                      bool *out_taken, GError **error);
/** Drops an active row and its claim without a record (the trial never started). */
bool orch_store_forget(struct orch_store *store, const char *key, GError **error);

/** True when another trial of the fingerprint is in progress. False also when that cannot be read.
 */
bool orch_store_has_twin(struct orch_store *store, const char *key, const char *fingerprint);

/** An active row and its next runner. */
struct orch_handover {
    const char *key;
    struct orch_process to;
};
/** Gives active rows to other runners, in one transaction. */
bool orch_store_hand_over(struct orch_store *store, const struct orch_handover *rows,
                          unsigned count, GError **error);

struct orch_named_text {
    const char *name, *type, *value;
};
struct orch_named_real {
    const char *name;
    double value;
};
struct orch_input_row {
    const char *name;
    const char *from_key; /* key of the run that produced it, or NULL */
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

/** An ended run to be written. Everything is borrowed for the call; unknown texts are NULL. */
struct orch_record {
    const char *key, *recipe_key, *recipe, *experiment, *plugin, *plugin_version, *build;
    const char *source_tree, *source_commit, *source_branch, *source_remote;
    bool source_dirty;
    const char *fingerprint, *device_key;
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
        *facts; /* JSON: load, co-runners, max_rss_bytes, remarks of orch-host, left-out files */
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
    /** Streams the points: fills `*out` and returns false at the end. May set `*error`, which rolls
     * back the whole record. A later point of the same name and step replaces an earlier one. NULL:
     * no points. */
    bool (*next_point)(void *ctx, struct orch_point *out, GError **error);
    void *next_ctx;
};

/** Writes the run and its digest and removes its active row and claim, in one transaction. Succeeds
 * when the same run (key and digest) is already stored. */
bool orch_store_record(struct orch_store *store, const struct orch_record *record, GError **error);

/** Stores a recipe's canonical text under its key (hash); idempotent. `verbatim` is the text as
 * written. */
bool orch_store_put_recipe(struct orch_store *store, const char *key, const char *name,
                           const char *canonical, const char *verbatim, GError **error);

/** Adds a note of kind "note", "tag", "signature", "tombstone" (hides the run and excludes it from
 * reuse) or "restored" (undoes that). The last two are always private for runs of other authors. */
bool orch_store_note(struct orch_store *store, const char *run_key, const char *kind,
                     bool is_public, const char *text, GError **error);

/** The distinct tags of a run, sorted by bytes: char *; the caller unrefs. A tag is in effect until
 * its author removes it, or this user removes it in this store. */
GPtrArray *orch_store_tags(struct orch_store *store, const char *run_key, GError **error);
/** Removes the tag `text`: for everybody when it is public and the user's own, otherwise in this
 * store only. `*out_had` is false when the run has no such tag; then nothing changes. */
bool orch_store_untag(struct orch_store *store, const char *run_key, const char *text,
                      bool *out_had, GError **error);
/** The newest name of a run, among the public ones by its author and those given in this store, or
 * NULL when it has none. The caller frees. */
char *orch_store_name(struct orch_store *store, const char *run_key, GError **error);
/** Names a run; "" removes the name. Fails for a public name of another author's run, because it
 * would have no effect in other stores. */
bool orch_store_set_name(struct orch_store *store, const char *run_key, const char *name,
                         bool is_public, GError **error);

/** The note that hides a run: the newest tombstone in effect, the author's before one's own.
 */
struct orch_hidden {
    char *who, *why; /* may be NULL */
    bool is_public;  /* true: by the run's author, for everybody; false: in this store only */
    int64_t made_ns;
};
void orch_hidden_free(struct orch_hidden *hidden);
/** Returns NULL without error when the run is not hidden. The caller frees. */
struct orch_hidden *orch_store_hidden(struct orch_store *store, const char *run_key,
                                      GError **error);
/** Undoes the tombstones that this user may undo: private ones, and public ones when the user is
 * the run's author. Call orch_store_hidden to learn whether the run is still hidden. */
bool orch_store_restore(struct orch_store *store, const char *run_key, const char *text,
                        GError **error);

/** Deletes the metric points and artifact references of a run in this store, but keeps its row and
 * digest. It counts as purged, so `db check` skips it. */
bool orch_store_purge(struct orch_store *store, const char *run_key, GError **error);

/* ---- artifact bytes ---------------------------------------------------------------------------
 */

/** Copies a file to objects/ab/cdef..., named by its SHA-256 (copy, fsync, rename; succeeds when
 * the object exists). Fills its digest and size. */
bool orch_store_put_object(struct orch_store *store, const char *path, char *out_sha256,
                           int64_t *out_bytes, GError **error);
/** Like orch_store_put_object, for an open file; `name` is for messages. */
bool orch_store_put_object_fd(struct orch_store *store, int fd, const char *name, char *out_sha256,
                              int64_t *out_bytes, GError **error);
/** Stores a regular file below an open folder (lib/base/files_below.h: no links, no '..') if it has
 * this digest. `*out_fits` is false without error when it has a different one; then nothing is
 * stored. */
bool orch_store_put_object_at(struct orch_store *store, int folder, const char *path,
                              const char *sha256, int64_t *out_bytes, bool *out_fits,
                              GError **error);
/** Like orch_store_put_object, for bytes in memory. */
bool orch_store_put_object_bytes(struct orch_store *store, const void *bytes, size_t length,
                                 char *out_sha256, GError **error);
/** The size of an object; -1 when it is not stored. */
int64_t orch_store_object_bytes(struct orch_store *store, const char *sha256);
/** Absolute path of an object; NULL when it is not stored. The caller frees. */
char *orch_store_object_path(struct orch_store *store, const char *sha256);
/** Deletes objects that no visible run references, trial, checkpoint and work folders that are no
 * longer needed, and what trials left. With `dry_run` only counts. What cannot be removed stays,
 * and is added to `failed` (may be NULL) with the reason (char *). */
bool orch_store_gc(struct orch_store *store, bool dry_run, int *out_count, int64_t *out_bytes,
                   GPtrArray *failed, GError **error);

/* ---- reading ----------------------------------------------------------------------------------
 */

/** One ended run, without its points. Owned strings. */
struct orch_run {
    int64_t id; /* local to this store */
    char *key, *recipe_key, *recipe, *experiment, *plugin, *plugin_version, *build;
    char *source_tree, *source_commit, *source_branch, *source_remote;
    bool source_dirty;
    char *fingerprint, *device_key;
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

/** The newest visible run that ended ok or diverged with this fingerprint (and this device_key
 * unless NULL). `nth` 1 is the one before the newest, and so on. NULL without error when there is
 * none. */
struct orch_run *orch_store_find_reusable(struct orch_store *store, const char *fingerprint,
                                          const char *device_key, unsigned nth, GError **error);

/** A run that the plan compares a missing trial with, to explain why it is not done. */
struct orch_history_row {
    char *key, *state, *reason, *plugin_version, *fingerprint, *device_key, *who, *facts;
    int64_t ended_ns;
    double wall_ms;
    int attempt;
};
void orch_history_row_free(struct orch_history_row *row);
/** The newest visible runs, in any state, of a recipe's experiment and repeat, and those that it
 * counts (counted.h), whose parameters have the values in `params` (object of canonical values):
 * struct orch_history_row *, newest first, at most `limit`. */
GPtrArray *orch_store_history(struct orch_store *store, const char *recipe, const char *experiment,
                              int repeat, const json_t *params, unsigned limit, GError **error);

/** The same of the runs with a fingerprint, whatever their names. */
GPtrArray *orch_store_history_of(struct orch_store *store, const char *fingerprint, unsigned limit,
                                 GError **error);

/** A filter compiled from the --where language: comparisons joined with and, or, not, parentheses;
 * operators = != < <= > >= ~ (contains); names: state experiment recipe plugin who repeat seed
 * attempt commit branch tree gpu cpu host machine started ended wall_s key, or else a parameter,
 * else a result, else the last value of a metric; `param.x`, `result.x`, `metric.x` say which.
 * Durations and byte sizes may carry units; times may be dates or "2d" (ago). */
struct orch_where;
/** Returns NULL with ORCH_ERROR_USAGE, which names the column and, for an unknown name, the nearest
 * known one. */
struct orch_where *orch_where_parse(const char *text, GError **error);
/** The hint for an error that no run has the metric or result `name`: the nearest name, else the
 * list of existing names. The caller frees. */
char *orch_store_metric_hint(struct orch_store *store, const char *name);
void orch_where_free(struct orch_where *where);

/** A name in a filter, as written ("lr", "param.lr", "state"). */
struct orch_where_name {
    const char *name;
    int column;     /* in the filter's text, from 1 */
    bool is_column; /* a built-in column that every run has; else a parameter, result or metric */
};
/** The names of a filter in order: array of struct orch_where_name, borrowed from the filter. The
 * caller unrefs. */
GArray *orch_where_names(const struct orch_where *where);
/** Returns the value of a name as text, which is then freed, or NULL when it is not known. */
typedef char *(*orch_where_lookup)(void *ctx, const char *name);
/** False when the filter cannot match, whatever the values of the unknown names are. Used for
 * trials that have not run. Names are passed without "param.". */
bool orch_where_may_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx);
/** True when the filter matches, whatever the values of the unknown names are. */
bool orch_where_must_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx);

struct orch_run_query {
    const char *recipe;     /* NULL: any */
    const char *experiment; /* NULL: any */
    const char *state;      /* NULL: any */
    const struct orch_where *where;
    bool ended_well; /* only ok and diverged runs, which count as results */
    bool with_hidden;
    bool without_imported; /* leaves out runs that other trackers recorded (orch import --runs) */
    bool with_counted;     /* of recipe and experiment also what they count (counted.h) */
    bool oldest_first;
    int64_t limit; /* 0: no limit */
};
/** struct orch_run *, newest first. `out_total` (may be NULL) receives the number of matches
 * without the limit. */
GPtrArray *orch_store_runs(struct orch_store *store, const struct orch_run_query *query,
                           int64_t *out_total, GError **error);

/** The last 8 characters of a run key, which outputs show and users may type. Borrowed from
 * `key`. */
const char *orch_run_short_key(const char *key);

/** Finds the run that a user typed: a key, a name, a unique prefix (4 or more characters) of the
 * key, of its random last part or of its last 8 characters, "@last", or "@{2}" (2 before the last).
 * When it is ambiguous or unknown, ORCH_ERROR_NOT_FOUND lists candidates. */
struct orch_run *orch_store_run(struct orch_store *store, const char *text, GError **error);

/** Parameters as an object of canonical values; results as an object of reals. New references. */
json_t *orch_store_params(struct orch_store *store, int64_t run_id, GError **error);
json_t *orch_store_results(struct orch_store *store, int64_t run_id, GError **error);

/** A result with the unit and direction that its plugin declared, "" and "none" if it did not.
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
    int64_t bytes;      /* as recorded in the run */
    int64_t here_bytes; /* size of the file in objects/; -1: not stored */
    bool here;          /* the object is stored and has the recorded size */
};
struct orch_stored_note {
    char *kind, *text;
    bool is_public;
};
/** Arrays of pointers to the structs above; the caller unrefs. */
GPtrArray *orch_store_inputs(struct orch_store *store, int64_t run_id, GError **error);
/** The files that the newest 200 runs of a recipe's experiment on a machine had as inputs, each
 * once as the newest of them had it: struct orch_stored_input *. */
GPtrArray *orch_store_inputs_of_experiment(struct orch_store *store, const char *recipe,
                                           const char *experiment, const char *machine_key,
                                           GError **error);
GPtrArray *orch_store_artifacts(struct orch_store *store, int64_t run_id, GError **error);
GPtrArray *orch_store_notes(struct orch_store *store, const char *run_key, GError **error);

/** All points of one metric. */
struct orch_series {
    char *name, *unit, *better;
    size_t count;
    int64_t *step;
    double *t_ms, *value; /* NaN where the store has NULL */
};
void orch_series_free(struct orch_series *series);
/** One metric of a run; NULL without error when the run has no such metric. */
struct orch_series *orch_store_series(struct orch_store *store, int64_t run_id, const char *name,
                                      GError **error);
/** For each metric of a run: count, first, last, min, max, mean, step of min and max. The mean of a
 * system metric is weighted by the seconds that each point covers. */
struct orch_metric_summary {
    char *name, *unit, *better;
    int64_t count, last_step, min_step, max_step;
    double first, last, min, max, mean;
};
GPtrArray *orch_store_summaries(struct orch_store *store, int64_t run_id, GError **error);
/** The same without the system metrics (lib/wire/system_metrics.h): what the plugin reported. */
GPtrArray *orch_store_own_summaries(struct orch_store *store, int64_t run_id, GError **error);
/** The system metrics alone. */
GPtrArray *orch_store_system_summaries(struct orch_store *store, int64_t run_id, GError **error);

/* ---- maintenance ------------------------------------------------------------------------------
 */

struct orch_store_info {
    int schema;
    int64_t runs, hidden, metrics, artifacts, artifact_bytes, file_bytes, active;
    int64_t datasets, samples; /* imported data sets, and the number of their rows */
    int64_t conflicts;         /* conflicts: runs whose key is stored with another digest */
    char *journal_mode, *filesystem;
    char digest[65]; /* digest of all ended runs and conflicts (orch_store_digest_all)
                      */
};
/** One host's file of a shared store. */
struct orch_shard {
    char *host; /* name of the host; "" for the single file from before sharding */
    char *path;
    char *problem;                        /* why it cannot be read at present, or NULL */
    int64_t runs, file_bytes, changed_ns; /* runs: its own and those joined from other hosts */
    bool is_own;
};
/** The files of a shared store, this host's first; empty for other stores. struct orch_shard *; the
 * caller unrefs. */
GPtrArray *orch_store_shards(struct orch_store *store);

bool orch_store_info(struct orch_store *store, struct orch_store_info *out, GError **error);
void orch_store_info_clear(struct orch_store_info *info);

/** Verifies everything: SQLite's integrity check, foreign keys, and the digests of every run, data
 * set and object. Appends findings (char *) to `out`. Returns true when the check could run,
 * whatever it found. */
bool orch_store_check(struct orch_store *store, GPtrArray *out, int64_t *out_runs, GError **error);

/** Writes a consistent copy (SQLite backup) to a file that must not exist. Other processes may
 * write meanwhile. */
bool orch_store_backup(struct orch_store *store, const char *dest, GError **error);

/** SHA-256 over the lines "KEY DIGEST" of every ended run and conflict, sorted by key: equal sets
 * of runs give equal digests. `out` has 65 bytes. */
bool orch_store_digest_all(struct orch_store *store, char *out, GError **error);
/** Digest v1 of a run as stored, recomputed from its rows: 64 hex. */
bool orch_store_digest(struct orch_store *store, int64_t run_id, char *out, GError **error);

#endif
