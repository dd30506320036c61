/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Joins another store's file.
 *
 * Keys and digests are compared first, so known runs are never read. The others are read in the
 * order of their ids (reader.c) and joined like runs from any other source. Local data of the other
 * store is ignored: running trials, claims, predictors, private notes.
 */
#include "store/handle/foreign.h"
#include "store/handle/sql.h"
#include "store/join/join_internal.h"
#include "store/write/dataset.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "store/join/run_text.h"
#include "store/write/dataset_text.h"

#include <string.h>
#include <sys/stat.h>

enum { TEXT_BYTES_A_BYTE = 16, BASE_TEXT_BYTES = 256 << 20 };

struct joining {
    struct orch_join *join;
    struct orch_store_join_part *part;
    struct store_foreign foreign;
    struct store_reader *reader;
    GHashTable *purged; /* ids of runs whose points were purged there */
    GArray *wanted;     /* int64_t: ids of runs that are not stored here */
    bool has_forecasts; /* true when it has any forecasts */
};

/* Steps a statement of the other file. Returns 1 for a row, 0 at the end or at damage (which
 * becomes a line of the receipt), and -1 when the whole join fails. */
static int step(struct joining *j, sqlite3_stmt *s, const char *what, GError **error)
{
    GError *problem = NULL;
    struct orch_store *theirs = j->foreign.store;
    int more = orch_store_step(theirs, s, &problem);
    if (more >= 0)
        return more;
    if (orch_store_foreign_is_damage(theirs)) {
        orch_join_refuse(j->join, "some %s cannot be read because the file is damaged", what);
        g_clear_error(&problem);
        return 0;
    }
    if ((sqlite3_errcode(theirs->db) & 0xff) == SQLITE_INTERRUPT) {
        g_clear_error(&problem);
        orch_error_set(&problem, ORCH_ERROR_STORE, "the file is damaged or was made to do harm",
                       "cannot read store '%s': the file declares more rows than it can hold",
                       theirs->path);
    }
    g_propagate_error(error, problem);
    return -1;
}

static bool text(struct joining *j, sqlite3_stmt *s, int column, const char **out)
{
    return orch_store_reader_text(j->reader, s, column, true, out);
}

/* Processes a row of the other file; false fails the whole join. */
typedef bool (*take_fn)(struct joining *j, sqlite3_stmt *row, GError **error);

/* Calls `take` for each row. `s` is NULL when the statement could not be prepared. */
static bool each_row(struct joining *j, sqlite3_stmt *s, const char *what, take_fn take,
                     GError **error)
{
    int more = s ? 1 : -1;
    while (s && (more = step(j, s, what, error)) > 0) {
        orch_store_reader_forget(j->reader);
        if (!take(j, s, error)) {
            sqlite3_reset(s);
            return false;
        }
    }
    return more == 0;
}

/* ---- selection of runs ------------------------------------------------------------ */

static bool read_purged(struct joining *j, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(j->foreign.store, "SELECT run FROM purged", error);
    int more = s ? 1 : -1;
    while (s && (more = step(j, s, "purged runs", error)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        g_hash_table_add(j->purged, g_memdup2(&id, sizeof id));
    }
    return more == 0;
}

static bool look_at_pair(struct joining *j, sqlite3_stmt *s, int64_t id, GError **error)
{
    const char *key, *digest;
    bool is_known, is_taken;
    if (!text(j, s, 1, &key) || !text(j, s, 2, &digest) || !key || !digest) {
        orch_join_refuse(j->join, "run number %" G_GINT64_FORMAT ": its key or digest is not valid",
                         id);
        return true;
    }
    if (!*digest)
        return true; /* not ended */
    if (!orch_store_join_is_known(j->join, key, digest, &is_known, &is_taken, error))
        return false;
    if (is_known)
        return true;
    if (g_hash_table_contains(j->purged, &id))
        j->join->receipt->purged++;
    else
        g_array_append_val(j->wanted, id);
    return true;
}

/* Reads pairs from id `*from` on. At damage it stops with `*from` after the last readable id. */
static int read_pairs(struct joining *j, int64_t *from, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store, "SELECT id, key, digest FROM run WHERE id >= ? ORDER BY id", error);
    if (!s)
        return -1;
    orch_store_bind(s, "i", *from);
    int more;
    while ((more = orch_store_step(j->foreign.store, s, NULL)) > 0) {
        int64_t id = sqlite3_column_int64(s, 0);
        orch_store_reader_forget(j->reader);
        if (id < *from || id == INT64_MAX) /* pages reference each other in a circle */
            break;
        *from = id + 1;
        if (j->part)
            j->part->last = MAX(j->part->last, id);
        if (!look_at_pair(j, s, id, error))
            return -1;
    }
    sqlite3_reset(s);
    return more == 0 ? 1 : 0;
}

/* Lists the runs. Unreadable pages are skipped in growing steps. */
static bool list_runs(struct joining *j, GError **error)
{
    int64_t from = j->part && j->part->after > 0 ? j->part->after + 1 : INT64_MIN, leap = 1;
    int troubles = 0;
    for (;;) {
        int64_t before = from;
        int done = read_pairs(j, &from, error);
        if (done < 0)
            return false;
        if (done > 0)
            return true;
        if (!orch_store_foreign_is_damage(j->foreign.store) || ++troubles > 10000)
            break;
        if (from != before || leap == 1)
            orch_join_refuse(j->join, "some runs cannot be read because the file is damaged");
        leap = from != before ? 1 : leap * 2;
        if (from == INT64_MIN)
            from = 0;
        if (from > INT64_MAX / 2 - leap)
            return true;
        from += leap;
    }
    orch_error_set(error, ORCH_ERROR_STORE, "use a copy made by 'orch db backup'",
                   "cannot read store '%s': the file is damaged", j->foreign.store->path);
    return false;
}

/* ---- runs ------------------------------------------------------------------------- */

static bool look_for_forecasts(struct joining *j, GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(j->foreign.store, "SELECT 1 FROM forecast LIMIT 1", error);
    int more = s ? step(j, s, "forecasts", error) : -1;
    j->has_forecasts = more > 0;
    if (more > 0)
        sqlite3_reset(s);
    return more >= 0;
}

static bool join_forecasts(struct joining *j, const char *key, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store,
        "SELECT fingerprint, machine, model, tier, made, p5, p50, p95 FROM forecast WHERE run = ?",
        error);
    if (!s)
        return false;
    orch_store_bind(s, "t", key);
    int more;
    while ((more = step(j, s, "forecasts", error)) > 0) {
        struct orch_run_forecast f = {.run = key,
                                      .made_ns = sqlite3_column_int64(s, 4),
                                      .time_s.low = orch_store_column_real(s, 5),
                                      .time_s.mid = orch_store_column_real(s, 6),
                                      .time_s.high = orch_store_column_real(s, 7)};
        if (!text(j, s, 0, &f.fingerprint) || !text(j, s, 1, &f.machine) ||
            !text(j, s, 2, &f.model) || !text(j, s, 3, &f.tier))
            orch_join_refuse(j->join, "forecast of run %s: one of its fields is not valid", key);
        else if (!orch_join_forecast(j->join, &f, error))
            more = -1;
        if (more < 0)
            break;
    }
    sqlite3_reset(s);
    return more == 0;
}

static bool join_one(struct joining *j, int64_t id, GError **error)
{
    struct orch_record *record;
    char digest[ORCH_SHA256_CHARS];
    enum orch_joined joined;
    enum store_read read = orch_store_reader_run(j->reader, id, &record, digest, error);
    if (read == STORE_READ_FAILED)
        return false;
    if (read == STORE_READ_REFUSED) {
        g_autofree char *called = orch_store_reader_called(j->reader);
        orch_join_refuse(j->join, "%s: %s", called, orch_store_reader_fault(j->reader));
        return true;
    }
    return orch_join_run(j->join, record, digest, &joined, error) &&
           !orch_store_reader_has_failed(j->reader, error) &&
           (joined != ORCH_JOINED_NEW || !j->has_forecasts ||
            join_forecasts(j, record->key, error));
}

static bool join_runs(struct joining *j, GError **error)
{
    if (!look_for_forecasts(j, error) || !read_purged(j, error) || !list_runs(j, error))
        return false;
    for (guint i = 0; i < j->wanted->len; i++)
        if (!join_one(j, g_array_index(j->wanted, int64_t, i), error))
            return false;
    orch_store_reader_forget(j->reader);
    return true;
}

/* ---- conflicts -------------------------------------------------------------------- */

static bool join_record(struct joining *j, const char *key, const char *digest, GError **error)
{
    const char *record;
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store, "SELECT record FROM conflict WHERE key = ? AND digest = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "tt", key, digest);
    int more = step(j, s, "runs set apart", error);
    if (more <= 0)
        return more == 0;
    GError *problem = NULL;
    enum orch_joined joined;
    struct orch_run_text *run = text(j, s, 0, &record) && record
                                    ? orch_run_text_decode(record, strlen(record), &problem)
                                    : NULL;
    sqlite3_reset(s);
    bool ok = true;
    if (!run || strcmp(run->digest, digest) != 0 || g_strcmp0(run->record.key, key) != 0)
        orch_join_refuse(j->join, "conflicting version of run %s is left out: %s", key,
                         problem ? problem->message : "the text belongs to another run");
    else
        ok = orch_join_run(j->join, &run->record, digest, &joined, error);
    g_clear_error(&problem);
    orch_run_text_free(run);
    return ok;
}

static bool take_conflict(struct joining *j, sqlite3_stmt *row, GError **error)
{
    const char *key, *digest;
    bool is_known, is_taken;
    if (!text(j, row, 0, &key) || !text(j, row, 1, &digest) || !key || !digest) {
        orch_join_refuse(j->join, "the conflicting version of a run has an invalid key or digest");
        return true;
    }
    return orch_store_join_is_known(j->join, key, digest, &is_known, &is_taken, error) &&
           (is_known || join_record(j, key, digest, error));
}

static bool join_conflicts(struct joining *j, GError **error)
{
    return each_row(
        j, orch_store_statement(j->foreign.store, "SELECT key, digest FROM conflict", error),
        "runs set apart", take_conflict, error);
}

/* ---- recipes, notes, data sets ---------------------------------------------------- */

static bool join_recipe(struct joining *j, const char *key, GError **error)
{
    const char *name, *canonical, *verbatim;
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store, "SELECT name, canonical, verbatim FROM recipe WHERE key = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", key);
    int more = step(j, s, "recipes", error);
    if (more <= 0)
        return more == 0;
    bool ok = text(j, s, 0, &name) && text(j, s, 1, &canonical) && text(j, s, 2, &verbatim);
    sqlite3_reset(s);
    if (ok)
        return orch_join_recipe(j->join, key, name, canonical, verbatim, error);
    orch_join_refuse(j->join, "recipe %.64s: its text is not valid", key);
    return true;
}

static bool take_recipe(struct joining *j, sqlite3_stmt *row, GError **error)
{
    const char *key;
    int64_t known;
    if (!text(j, row, 0, &key) || !key) {
        orch_join_refuse(j->join, "the key of a recipe is not valid");
        return true;
    }
    return orch_store_get_int(j->join->store, &known, 0, error,
                              "SELECT 1 FROM recipe WHERE key = ?", "t", key) &&
           (known || join_recipe(j, key, error));
}

static bool join_recipes(struct joining *j, GError **error)
{
    return each_row(j, orch_store_statement(j->foreign.store, "SELECT key FROM recipe", error),
                    "recipes", take_recipe, error);
}

static bool take_note(struct joining *j, sqlite3_stmt *row, GError **error)
{
    struct orch_note note = {.made_ns = sqlite3_column_int64(row, 5)};
    if (text(j, row, 0, &note.key) && text(j, row, 1, &note.target) &&
        text(j, row, 2, &note.kind) && text(j, row, 3, &note.text) && text(j, row, 4, &note.who))
        return orch_join_note(j->join, &note, error);
    orch_join_refuse(j->join, "a field of a note is not valid");
    return true;
}

static bool join_notes(struct joining *j, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store,
        "SELECT key, target, kind, text, who, made FROM note WHERE public = 1 AND kind"
        " IN " STORE_NOTE_KINDS,
        error);
    return each_row(j, s, "notes", take_note, error);
}

static bool take_private_note(struct joining *j, sqlite3_stmt *row, GError **error)
{
    const char *field[5];
    bool ok = true;
    for (int i = 0; i < 5; i++)
        ok = text(j, row, i, &field[i]) && ok;
    if (ok && field[0] && field[1] && field[2])
        return orch_store_run_statement(
            j->join->store, error,
            "INSERT INTO note(key, target, kind, public, text, who, made)"
            " VALUES(?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING",
            "ttttti", field[0], field[1], field[2], field[3], field[4],
            (int64_t)sqlite3_column_int64(row, 5));
    orch_join_refuse(j->join, "a field of a note is not valid");
    return true;
}

/* Joins the private notes from another file of the same store; they stay private. */
static bool join_private_notes(struct joining *j, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        j->foreign.store,
        "SELECT key, target, kind, text, who, made FROM note WHERE public = 0 AND kind"
        " IN " STORE_NOTE_KINDS,
        error);
    return each_row(j, s, "notes", take_private_note, error);
}

static bool join_dataset(struct joining *j, int64_t id, const char *name, const char *sha256,
                         GError **error)
{
    GError *problem = NULL;
    /* a value takes at least two bytes */
    struct orch_dataset *set =
        orch_store_dataset_read(j->foreign.store, id, j->foreign.bytes / 2, &problem);
    if (!set) {
        g_autofree char *what = g_strdup_printf("data set %s", name);
        orch_join_refuse_error(j->join, what, problem);
        g_clear_error(&problem);
        return true;
    }
    orch_store_dataset_digest(set);
    bool ok = true;
    if (strcmp(set->sha256, sha256) != 0)
        orch_join_refuse(j->join, "data set %s: its rows have digest %.12s, but it declares %.12s",
                         name, set->sha256, sha256);
    else
        ok = orch_join_dataset(j->join, set, error);
    orch_dataset_free(set);
    return ok;
}

static bool take_dataset(struct joining *j, sqlite3_stmt *row, GError **error)
{
    const char *name, *sha256;
    int64_t known;
    if (!text(j, row, 1, &name) || !text(j, row, 2, &sha256) || !name || !sha256) {
        orch_join_refuse(j->join, "the name or digest of a data set is not valid");
        return true;
    }
    return orch_store_get_int(j->join->store, &known, 0, error,
                              "SELECT 1 FROM dataset WHERE sha256 = ?", "t", sha256) &&
           (known || join_dataset(j, sqlite3_column_int64(row, 0), name, sha256, error));
}

static bool join_datasets(struct joining *j, GError **error)
{
    return each_row(
        j, orch_store_statement(j->foreign.store, "SELECT id, name, sha256 FROM dataset", error),
        "data sets", take_dataset, error);
}

/* ---- entry points ----------------------------------------------------------------- */

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void queue_objects(struct joining *j, const char *path, int64_t limit)
{
    g_autofree char *folder = orch_store_folder_of(path);
    struct store_objects *objects = g_new0(struct store_objects, 1);
    objects->folder = g_build_filename(folder, "objects", NULL);
    objects->limit = limit;
    g_ptr_array_add(j->join->objects, objects);
}

static bool join_all(struct joining *j, GError **error)
{
    j->reader = orch_store_reader_new(j->foreign.store);
    orch_store_reader_limit(j->reader, BASE_TEXT_BYTES + TEXT_BYTES_A_BYTE * j->foreign.bytes);
    j->purged = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    j->wanted = g_array_new(FALSE, FALSE, sizeof(int64_t));
    bool ok = join_recipes(j, error) && join_runs(j, error) && join_conflicts(j, error) &&
              join_notes(j, error) && (!j->part || join_private_notes(j, error)) &&
              join_datasets(j, error);
    orch_store_reader_free(j->reader);
    g_hash_table_destroy(j->purged);
    g_array_unref(j->wanted);
    return ok;
}

bool orch_join_store(struct orch_join *join, const char *path, int64_t artifact_bytes,
                     GError **error)
{
    return orch_store_join_part(join, path, artifact_bytes, NULL, error);
}

bool orch_store_join_part(struct orch_join *join, const char *path, int64_t artifact_bytes,
                          struct orch_store_join_part *part, GError **error)
{
    if (is_same_file(path, join->store->path)) {
        g_ptr_array_add(join->receipt->remarks,
                        g_strdup_printf("'%s' is this store itself: nothing to join", path));
        return true;
    }
    struct joining j = {.join = join, .part = part};
    if (!orch_store_foreign_open(join->store, path, &j.foreign, error))
        return false;
    bool ok = join_all(&j, error);
    if (ok && artifact_bytes != 0)
        queue_objects(&j, path, artifact_bytes);
    orch_store_foreign_close(&j.foreign);
    return ok;
}
