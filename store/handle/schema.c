/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema, and the migrations from older ones.
 *
 * An ended run is final. Its row is inserted with an empty digest, its details follow, and writing
 * the digest closes it, all in one transaction. Once the digest is set, triggers reject every
 * change of the run and of its details. The one exception is `purged`: rows of a run listed there
 * may be deleted, but not changed. `metric` is the only table without a trigger for insertions: it
 * would cost a third of the recording speed, and the digest reveals an added point as well. Integer
 * ids are local; rows that are exchanged between stores are identified by key, content or name.
 *
 * Rejected: one wide table of parameters as JSON (no index on a value), text keys in `metric` (four
 * times the size).
 */
#include "store/handle/schema.h"
#include "store/handle/defence.h"
#include "store/handle/sql.h"

#include "lib/base/error.h"

#include <string.h>
#include <unistd.h>

/* Triggers that reject changes of a table for a run whose digest is set; `door` is a condition that
 * still allows deletion. */
#define NO_CHANGE(table, door)                                                                     \
    "CREATE TRIGGER " table "_update BEFORE UPDATE ON " table                                      \
    " WHEN (SELECT digest FROM run WHERE id = OLD.run) <> ''"                                      \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;"                               \
    "CREATE TRIGGER " table "_delete BEFORE DELETE ON " table                                      \
    " WHEN (SELECT digest FROM run WHERE id = OLD.run) <> ''" door                                 \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;"
#define NO_ADDITION(table)                                                                         \
    "CREATE TRIGGER " table "_insert BEFORE INSERT ON " table                                      \
    " WHEN (SELECT digest FROM run WHERE id = NEW.run) <> ''"                                      \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;"
#define FINAL(table, door) NO_ADDITION(table) NO_CHANGE(table, door)
#define UNLESS_PURGED " AND NOT EXISTS (SELECT 1 FROM purged WHERE run = OLD.run)"

/* Rows that runs share are inserted but never changed. */
#define NEVER_UPDATED(table)                                                                       \
    "CREATE TRIGGER " table "_update BEFORE UPDATE ON " table                                      \
    " BEGIN SELECT RAISE(ABORT, 'this row never changes'); END;"

/* The device key's column is named `device`; `more` are further columns of `active`. */
#define SCHEMA(device, more)                                                                       \
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"          \
    "INSERT INTO meta VALUES('schema', '1'), ('min_reader', '1');"                                 \
                                                                                                   \
    "CREATE TABLE source(id INTEGER PRIMARY KEY, tree TEXT, commit_oid TEXT, branch TEXT,"         \
    " dirty INTEGER NOT NULL CHECK(dirty IN (0, 1)), remote TEXT) STRICT;"                         \
    "CREATE UNIQUE INDEX source_whole ON source(coalesce(tree, ''), coalesce(commit_oid, ''),"     \
    " coalesce(branch, ''), dirty, coalesce(remote, ''));"                                         \
                                                                                                   \
    "CREATE TABLE machine(id INTEGER PRIMARY KEY, key TEXT NOT NULL, facts TEXT NOT NULL,"         \
    " UNIQUE(key, facts)) STRICT;"                                                                 \
                                                                                                   \
    "CREATE TABLE recipe(key TEXT PRIMARY KEY, name TEXT, canonical TEXT NOT NULL, verbatim TEXT)" \
    " STRICT, WITHOUT ROWID;"                                                                      \
                                                                                                   \
    "CREATE TABLE run("                                                                            \
    " id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE CHECK(key <> ''),"                          \
    " recipe_key TEXT, recipe TEXT, experiment TEXT, plugin TEXT, plugin_version TEXT, build "     \
    "TEXT,"                                                                                        \
    " source INTEGER REFERENCES source(id), fingerprint TEXT, " device " TEXT,"                    \
    " seed INTEGER NOT NULL, repeat INTEGER NOT NULL, attempt INTEGER NOT NULL,"                   \
    " state TEXT NOT NULL CHECK(state <> ''), reason TEXT, exit_code INTEGER, signal INTEGER,"     \
    " machine INTEGER REFERENCES machine(id), who TEXT,"                                           \
    " started INTEGER NOT NULL, ended INTEGER NOT NULL, wall_ms REAL, argv TEXT, facts TEXT,"      \
    " digest_v INTEGER NOT NULL, digest TEXT NOT NULL) STRICT;"                                    \
    "CREATE INDEX run_by_ended ON run(ended);"                                                     \
    "CREATE INDEX run_by_recipe ON run(recipe, ended);"                                            \
    "CREATE INDEX run_by_experiment ON run(experiment, ended);"                                    \
    "CREATE INDEX run_by_state ON run(state, ended);"                                              \
    "CREATE INDEX run_by_fingerprint ON run(fingerprint, ended);"                                  \
    "CREATE INDEX run_by_cell ON run(recipe, experiment, repeat, ended);"                          \
    "CREATE INDEX run_by_tail ON run(substr(key, -8));"                                            \
                                                                                                   \
    "CREATE TABLE param(run INTEGER NOT NULL REFERENCES run(id), name TEXT NOT NULL,"              \
    " type TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"     \
    "CREATE INDEX param_by_value ON param(name, value);"                                           \
    "CREATE TABLE input(run INTEGER NOT NULL REFERENCES run(id), name TEXT NOT NULL,"              \
    " from_key TEXT, sha256 TEXT, PRIMARY KEY(run, name)) STRICT, WITHOUT ROWID;"                  \
    "CREATE TABLE result(run INTEGER NOT NULL REFERENCES run(id), name TEXT NOT NULL,"             \
    " value REAL, unit TEXT NOT NULL, better TEXT NOT NULL, PRIMARY KEY(run, name))"               \
    " STRICT, WITHOUT ROWID;"                                                                      \
    "CREATE INDEX result_by_value ON result(name, value);"                                         \
    "CREATE TABLE artifact(run INTEGER NOT NULL REFERENCES run(id), name TEXT NOT NULL,"           \
    " sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY(run, name)) STRICT, WITHOUT "      \
    "ROWID;"                                                                                       \
    "CREATE INDEX artifact_by_sha256 ON artifact(sha256);"                                         \
    "CREATE TABLE metric_name(id INTEGER PRIMARY KEY, name TEXT NOT NULL, unit TEXT NOT NULL,"     \
    " better TEXT NOT NULL, UNIQUE(name, unit, better)) STRICT;"                                   \
    "CREATE TABLE metric(run INTEGER NOT NULL REFERENCES run(id),"                                 \
    " name_id INTEGER NOT NULL REFERENCES metric_name(id), step INTEGER NOT NULL,"                 \
    " t_ms REAL, value REAL, PRIMARY KEY(run, name_id, step)) STRICT, WITHOUT ROWID;"              \
                                                                                                   \
    "CREATE TABLE note(key TEXT PRIMARY KEY, target TEXT NOT NULL, kind TEXT NOT NULL,"            \
    " public INTEGER NOT NULL CHECK(public IN (0, 1)), text TEXT, who TEXT, made INTEGER NOT "     \
    "NULL)"                                                                                        \
    " STRICT, WITHOUT ROWID;"                                                                      \
    "CREATE INDEX note_by_target ON note(target);"                                                 \
    "CREATE INDEX note_tombstone ON note(target) WHERE kind = 'tombstone';"                        \
                                                                                                   \
    "CREATE TABLE forecast(fingerprint TEXT NOT NULL, machine TEXT NOT NULL, model TEXT NOT NULL," \
    " made INTEGER NOT NULL, p5 REAL, p50 REAL, p95 REAL, tier TEXT, run TEXT,"                    \
    " PRIMARY KEY(fingerprint, machine, model, made)) STRICT, WITHOUT ROWID;"                      \
    "CREATE INDEX forecast_by_run ON forecast(run);"                                               \
    "CREATE TABLE dataset(id INTEGER PRIMARY KEY, name TEXT NOT NULL, source TEXT, licence TEXT,"  \
    " sha256 TEXT NOT NULL UNIQUE) STRICT;"                                                        \
    "CREATE TABLE sample(dataset INTEGER NOT NULL REFERENCES dataset(id), row INTEGER NOT NULL,"   \
    " target REAL, features TEXT NOT NULL, PRIMARY KEY(dataset, row)) STRICT, WITHOUT ROWID;"      \
                                                                                                   \
    /* local: never merged */                                                                      \
    "CREATE TABLE active(key TEXT PRIMARY KEY, fingerprint TEXT, " device " TEXT," more            \
    " record TEXT, boot_id TEXT NOT NULL, pid INTEGER NOT NULL, pid_start INTEGER NOT NULL,"       \
    " started INTEGER NOT NULL) STRICT, WITHOUT ROWID;"                                            \
    "CREATE INDEX active_by_fingerprint ON active(fingerprint);"                                   \
    "CREATE TABLE lease(resource TEXT PRIMARY KEY,"                                                \
    " owner TEXT NOT NULL REFERENCES active(key) ON DELETE CASCADE) STRICT, WITHOUT ROWID;"        \
    "CREATE INDEX lease_by_owner ON lease(owner);"                                                 \
    "CREATE TABLE conflict(key TEXT NOT NULL, digest TEXT NOT NULL, origin TEXT NOT NULL,"         \
    " record TEXT NOT NULL, found INTEGER NOT NULL, PRIMARY KEY(key, digest))"                     \
    " STRICT, WITHOUT ROWID;"                                                                      \
    "CREATE TABLE predictor(name TEXT PRIMARY KEY, made INTEGER NOT NULL, model TEXT NOT NULL)"    \
    " STRICT, WITHOUT ROWID;"                                                                      \
    "CREATE TABLE purged(run INTEGER PRIMARY KEY REFERENCES run(id), made INTEGER NOT NULL)"       \
    " STRICT;"                                                                                     \
                                                                                                   \
    "CREATE TRIGGER run_insert BEFORE INSERT ON run"                                               \
    " WHEN EXISTS (SELECT 1 FROM run WHERE key = NEW.key OR id = NEW.id)"                          \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;"                               \
    "CREATE TRIGGER run_update BEFORE UPDATE ON run WHEN OLD.digest <> ''"                         \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;"                               \
    "CREATE TRIGGER run_delete BEFORE DELETE ON run"                                               \
    " BEGIN SELECT RAISE(ABORT, 'an ended run never changes'); END;" FINAL("param", "")            \
        FINAL("input", "") FINAL("result", "") FINAL("artifact", UNLESS_PURGED)                    \
            NO_CHANGE("metric", UNLESS_PURGED) NEVER_UPDATED("source") NEVER_UPDATED("machine")    \
                NEVER_UPDATED("recipe") NEVER_UPDATED("metric_name") NEVER_UPDATED("note")

static const char SCHEMA_1[] = SCHEMA("device_key", "");

/* Before the first release, schema 1 had another name for the device key, and a column that nothing
 * reads. A store with that shape is brought to the present one when it is opened. */
static const char BEFORE_RELEASE[] = SCHEMA("where_key", " trial_dir TEXT,");
static const char RENAMES[] = "ALTER TABLE run RENAME COLUMN where_key TO device_key;"
                              "ALTER TABLE active RENAME COLUMN where_key TO device_key;"
                              "ALTER TABLE active DROP COLUMN trial_dir;"
                              "UPDATE active SET record = " STORE_RENAMED(
                                  "record") ";"
                                            "UPDATE conflict SET record = " STORE_RENAMED("record");

const struct store_migrations store_migrations = {
    .target = ORCH_STORE_SCHEMA,
    .create = SCHEMA_1,
    .before = BEFORE_RELEASE,
    .renames = RENAMES,
};

static bool read_version_parts(struct orch_store *store, int64_t *out_schema,
                               int64_t *out_application, int64_t *out_tables, GError **error)
{
    return orch_store_get_int(store, out_schema, 0, error, "PRAGMA user_version", "") &&
           orch_store_get_int(store, out_application, 0, error, "PRAGMA application_id", "") &&
           orch_store_get_int(store, out_tables, 0, error, "SELECT count(*) FROM sqlite_schema",
                              "");
}

/* Reads all parts in one transaction, because another process may be creating the tables. */
static bool read_version(struct orch_store *store, int64_t *out_schema, int64_t *out_application,
                         int64_t *out_tables, GError **error)
{
    if (!sqlite3_get_autocommit(store->db)) /* already within a transaction */
        return read_version_parts(store, out_schema, out_application, out_tables, error);
    if (!orch_store_exec(store, "BEGIN", "open", error))
        return false;
    bool ok = read_version_parts(store, out_schema, out_application, out_tables, error);
    return orch_store_exec(store, "COMMIT", "open", ok ? error : NULL) && ok;
}

int orch_store_recognise(struct orch_store *store, int target, int64_t *out_schema, GError **error)
{
    int64_t application, tables;
    if (!read_version(store, out_schema, &application, &tables, error))
        return -1;
    if (tables == 0 && application == 0 && *out_schema == 0)
        return 0;
    if (application != STORE_APPLICATION_ID) {
        orch_error_set(
            error, ORCH_ERROR_STORE, "choose another file with --db",
            "cannot open store '%s': it is a database of another program, and was not changed",
            store->path);
        return -1;
    }
    if (*out_schema > target) {
        orch_error_set(error, ORCH_ERROR_STORE, "update orch",
                       "cannot open store '%s': schema version %d is newer than %d; the file was "
                       "not changed",
                       store->path, (int)*out_schema, target);
        return -1;
    }
    return 1;
}

static bool set_version(struct orch_store *store, int version, GError **error)
{
    g_autofree char *sql = g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;"
                                           "UPDATE meta SET value = '%d' WHERE key = 'schema'",
                                           STORE_APPLICATION_ID, version, version);
    return orch_store_exec(store, sql, "write to", error);
}

static bool apply_steps(struct orch_store *store, const struct store_migrations *migrations,
                        int from, GError **error)
{
    for (int version = from; version < migrations->target; version++) {
        const struct store_migration *step = NULL;
        for (size_t i = 0; i < migrations->step_count && !step; i++)
            if (migrations->steps[i].from == version)
                step = &migrations->steps[i];
        if (!step) {
            orch_error_set(
                error, ORCH_ERROR_STORE,
                "open the store once with the version of orch that made it",
                "cannot migrate store '%s': there is no migration from schema version %d to %d",
                store->path, version, version + 1);
            return false;
        }
        if (!orch_store_exec(store, step->sql, "migrate", error))
            return false;
    }
    return true;
}

/* An unused file name beside the store. */
static char *backup_name(const struct orch_store *store, int version)
{
    for (int i = 0;; i++) {
        char *name = i ? g_strdup_printf("%s.schema-%d.%d.backup", store->path, version, i)
                       : g_strdup_printf("%s.schema-%d.backup", store->path, version);
        if (access(name, F_OK) != 0)
            return name;
        g_free(name);
    }
}

/* A change of a store's schema. It sets `*out_backup` to the name of the copy that it makes of the
 * store before it changes anything. */
typedef bool (*schema_change)(struct orch_store *store, const struct store_migrations *migrations,
                              char **out_backup, GError **error);

/* Runs a change inside one IMMEDIATE transaction, so that only one of several processes makes the
 * backup and the change. */
static bool change_in_transaction(struct orch_store *store,
                                  const struct store_migrations *migrations, schema_change change,
                                  GError **error)
{
    g_autofree char *backup = NULL;
    if (!orch_store_transaction_begin(store, error))
        return false;
    bool is_changed = change(store, migrations, &backup, error);
    bool ok = is_changed && orch_store_transaction_commit(store, error);
    if (!is_changed)
        orch_store_transaction_rollback(store);
    if (!ok && backup)
        unlink(backup); /* nothing has changed, and each further try would leave another copy */
    return ok;
}

/* What was read before the transaction may be outdated. */
static bool change_schema(struct orch_store *store, const struct store_migrations *migrations,
                          char **out_backup, GError **error)
{
    int64_t version;
    int found = orch_store_recognise(store, migrations->target, &version, error);
    if (found < 0)
        return false;
    if (found == 1 && version == migrations->target)
        return true; /* another process was first */
    bool ok;
    if (found == 0) {
        ok = orch_store_exec(store, migrations->create, "create", error);
    } else {
        *out_backup = backup_name(store, (int)version);
        ok = orch_store_backup_to(store, *out_backup, error) &&
             apply_steps(store, migrations, (int)version, error);
    }
    return ok && set_version(store, migrations->target, error);
}

/* A run of the earlier program would fail at its next statement. */
static bool nobody_runs(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(store, "SELECT boot_id, pid, pid_start FROM active", error);
    int more = s ? 1 : -1;
    while (more > 0 && (more = orch_store_step(store, s, error)) > 0) {
        struct orch_process runner = {.pid = sqlite3_column_int64(s, 1),
                                      .start = sqlite3_column_int64(s, 2)};
        g_strlcpy(runner.boot_id, orch_store_text(s, 0), sizeof runner.boot_id);
        if (!orch_process_is_alive(&runner))
            continue;
        orch_error_set(error, ORCH_ERROR_STORE,
                       "run the same command again when that process has ended",
                       "cannot bring store '%s' up to date: process %" G_GINT64_FORMAT
                       " of a development version of orch runs trials in it",
                       store->path, runner.pid);
        more = -1;
    }
    if (s)
        sqlite3_reset(s);
    return more == 0;
}

static bool rename_shape(struct orch_store *store, const struct store_migrations *migrations,
                         char **out_backup, GError **error)
{
    if (!orch_store_check_shape(store, migrations->before, NULL))
        return true; /* another process was first */
    if (!nobody_runs(store, error))
        return false;
    *out_backup = backup_name(store, migrations->target);
    return orch_store_backup_to(store, *out_backup, error) &&
           orch_store_exec(store, migrations->renames, "migrate", error);
}

bool orch_store_rename(struct orch_store *store, const struct store_migrations *migrations,
                       GError **error)
{
    if (sqlite3_db_readonly(store->db, "main") == 1) {
        orch_error_set(error, ORCH_ERROR_STORE, "copy the store to a folder that you may write to",
                       "cannot read store '%s': it must be brought up to date first", store->path);
        return false;
    }
    bool readonly = store->readonly; /* a reader may write the file, too, for this alone */
    store->readonly = false;
    bool ok = change_in_transaction(store, migrations, rename_shape, error);
    store->readonly = readonly;
    return ok;
}

bool orch_store_migrate(struct orch_store *store, const struct store_migrations *migrations,
                        bool may_create, GError **error)
{
    int64_t version;
    int found = orch_store_recognise(store, migrations->target, &version, error);
    if (found < 0)
        return false;
    if (found == 1 && version == migrations->target)
        return true;
    if (found == 0 && !may_create) {
        orch_error_set(error, ORCH_ERROR_STORE,
                       "check --db and $ORCH_DB; 'orch init' and 'orch run' make a store",
                       "cannot open store '%s': the file is empty", store->path);
        return false;
    }
    if (store->readonly) {
        orch_error_set(error, ORCH_ERROR_STORE, "run 'orch db migrate'",
                       "cannot read store '%s': schema version %d is older than %d", store->path,
                       (int)version, migrations->target);
        return false;
    }
    return change_in_transaction(store, migrations, change_schema, error);
}
