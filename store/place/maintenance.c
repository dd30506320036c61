/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Maintenance of a store: summary information, and verification of everything in it. */
#include "store/handle/filesystem.h"
#include "store/handle/sql.h"
#include "store/write/dataset.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/files_below.h"
#include "lib/base/sha256.h"

#include <string.h>
#include <sys/stat.h>

/* ---- info -------------------------------------------------------------------------------------
 */

static char *journal_mode(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, "PRAGMA journal_mode", error);
    if (!s || orch_store_step(store, s, error) <= 0)
        return NULL;
    char *mode = g_strdup(orch_store_text(s, 0));
    sqlite3_reset(s);
    return mode;
}

static bool read_info(struct orch_store *store, struct orch_store_info *info, GError **error)
{
    int64_t schema;
    const struct {
        int64_t *out;
        const char *sql;
    } counts[] = {
        {&schema, "PRAGMA user_version"},
        {&info->runs, "SELECT count(*) FROM run"},
        {&info->hidden, "SELECT count(*) FROM run WHERE id IN " STORE_HIDDEN},
        {&info->conflicts, "SELECT count(*) FROM conflict"},
        {&info->metrics, "SELECT count(*) FROM metric"},
        {&info->artifacts, "SELECT count(*) FROM artifact"},
        {&info->artifact_bytes, "SELECT CAST(min(total(bytes), 9e18) AS INTEGER) FROM"
                                " (SELECT max(bytes) AS bytes FROM artifact GROUP BY sha256)"},
        {&info->active, "SELECT count(*) FROM active"},
        {&info->datasets, "SELECT count(*) FROM dataset"},
        {&info->samples, "SELECT count(*) FROM sample WHERE row > 0"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
        if (!orch_store_get_int(store, counts[i].out, 0, error, counts[i].sql, ""))
            return false;
    info->active = store->is_own ? info->active : 0; /* another user's rows are not our trials */
    info->schema = (int)schema;
    return orch_store_digest_all(store, info->digest, error);
}

bool orch_store_info(struct orch_store *store, struct orch_store_info *out, GError **error)
{
    struct orch_store_info info = {0};
    struct stat file;
    if (!read_info(store, &info, error) || !(info.journal_mode = journal_mode(store, error)))
        return false;
    info.file_bytes = stat(store->path, &file) == 0 ? file.st_size : 0;
    bool local;
    info.filesystem =
        orch_store_filesystem_name(orch_store_filesystem_magic(orch_store_path(store)), &local);
    *out = info;
    return true;
}

void orch_store_info_clear(struct orch_store_info *info)
{
    g_clear_pointer(&info->journal_mode, g_free);
    g_clear_pointer(&info->filesystem, g_free);
}

/* ---- check ------------------------------------------------------------------------------------
 */

static void add_finding(GPtrArray *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add_finding(GPtrArray *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(out, g_strdup_vprintf(format, args));
    va_end(args);
}

/* Turns a read failure into a finding, so that the check continues. */
static void add_problem(GPtrArray *out, GError *problem)
{
    if (problem)
        g_ptr_array_add(out, g_strdup(problem->message));
    g_clear_error(&problem);
}

static void check_sqlite(struct orch_store *store, GPtrArray *out)
{
    GError *problem = NULL;
    sqlite3_stmt *s = orch_store_statement(store, "PRAGMA integrity_check(20)", &problem);
    while (s && orch_store_step(store, s, &problem) > 0) {
        const char *text = orch_store_text(s, 0);
        if (strcmp(text, "ok") != 0)
            add_finding(out, "database: %s", text);
    }
    add_problem(out, g_steal_pointer(&problem));
    s = orch_store_statement(store, "PRAGMA foreign_key_check", &problem);
    while (s && orch_store_step(store, s, &problem) > 0)
        add_finding(
            out, "database: row %" G_GINT64_FORMAT " of '%s' refers to a missing row of '%s'",
            (int64_t)sqlite3_column_int64(s, 1), orch_store_text(s, 0), orch_store_text(s, 2));
    add_problem(out, g_steal_pointer(&problem));
}

static void check_run(struct orch_store *store, int64_t id, const char *key, int version,
                      const char *digest, GPtrArray *out)
{
    char computed[ORCH_SHA256_CHARS];
    GError *problem = NULL;
    if (version != 1)
        add_finding(out, "run %s: its digest has version %d, which this orch does not know", key,
                    version);
    else if (!orch_store_digest(store, id, computed, &problem))
        add_problem(out, problem);
    else if (strcmp(computed, digest) != 0)
        add_finding(out, "run %s: its rows have digest %.12s, but %.12s is recorded", key, computed,
                    digest);
}

static void check_runs(struct orch_store *store, GPtrArray *out, int64_t *out_runs)
{
    GError *problem = NULL;
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT id, key, digest_v, digest, id IN (SELECT run FROM purged) FROM run ORDER BY key",
        &problem);
    while (s && orch_store_step(store, s, &problem) > 0) {
        (*out_runs)++;
        if (!sqlite3_column_int(s, 4)) /* the points of a purged run were deleted on purpose */
            check_run(store, sqlite3_column_int64(s, 0), orch_store_text(s, 1),
                      sqlite3_column_int(s, 2), orch_store_text(s, 3), out);
    }
    add_problem(out, problem);
}

static void check_object(struct orch_store *store, const char *sha256, GPtrArray *out)
{
    g_autofree char *path = orch_store_object_path(store, sha256);
    char computed[ORCH_SHA256_CHARS];
    GError *problem = NULL;
    if (!path)
        return; /* deleted by a concurrent gc */
    if (!orch_file_sha256(path, computed, NULL, &problem))
        add_problem(out, problem);
    else if (strcmp(computed, sha256) != 0)
        add_finding(out, "artifact %s: its contents have digest %.12s; delete this file", path,
                    computed);
}

static void check_objects(struct orch_store *store, GPtrArray *out)
{
    if (store->folder_fd < 0)
        return;
    g_autoptr(GPtrArray) prefixes = orch_below_list(store->folder_fd, "objects");
    for (guint i = 0; i < prefixes->len; i++) {
        g_autofree char *part = g_build_filename("objects", prefixes->pdata[i], NULL);
        g_autoptr(GPtrArray) rests = orch_below_list(store->folder_fd, part);
        for (guint j = 0; j < rests->len; j++) {
            g_autofree char *sha256 = g_strconcat(prefixes->pdata[i], rests->pdata[j], NULL);
            if (orch_sha256_is_valid(sha256))
                check_object(store, sha256, out);
        }
    }
}

/* Compares recorded and actual sizes: a run can claim any size, and a file can be truncated. */
static void check_sizes(struct orch_store *store, GPtrArray *out)
{
    GError *problem = NULL;
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT a.sha256, a.bytes, a.name, r.key FROM artifact a JOIN run r ON r.id = a.run"
        " ORDER BY r.key, a.name",
        &problem);
    while (s && orch_store_step(store, s, &problem) > 0) {
        int64_t bytes = sqlite3_column_int64(s, 1);
        int64_t here = orch_store_object_bytes(store, orch_store_text(s, 0));
        if (here >= 0 && here != bytes)
            add_finding(out,
                        "run %s: artifact '%s' is %" G_GINT64_FORMAT
                        " bytes long in the run, but its file has %" G_GINT64_FORMAT,
                        orch_store_text(s, 3), orch_store_text(s, 2), bytes, here);
    }
    add_problem(out, problem);
}

bool orch_store_check(struct orch_store *store, GPtrArray *out, int64_t *out_runs, GError **error)
{
    (void)error; /* read failures are findings */
    int64_t runs = 0;
    check_sqlite(store, out);
    check_runs(store, out, &runs);
    orch_store_check_datasets(store, out);
    check_objects(store, out);
    check_sizes(store, out);
    if (out_runs)
        *out_runs = runs;
    return true;
}
