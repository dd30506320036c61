/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies what can be read of a damaged store into a new one, file by file. Each file is read in
 * every possible way; the reading with the fewest losses determines what is reported as lost. */
#include "store/handle/open.h"
#include "store/handle/sql.h"
#include "store/repair/repair_private.h"

#include "store/repair/salvage.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- a file -----------------------------------------------------------------------------------
 */

static bool read_rows(struct store_reading *r, GPtrArray *lost, GError **error)
{
    if (!orch_store_transaction_begin(r->into, error))
        return false;
    if (orch_store_salvage_runs(r, error) && orch_store_take_runs(r, error) &&
        orch_store_take_tables(r, lost, error))
        return orch_store_transaction_commit(r->into, error) &&
               orch_store_take_datasets(r, lost, error);
    orch_store_transaction_rollback(r->into);
    return false;
}

/* Reads one copy. `lost` gets a line for each loss other than a run. */
static bool read_copy(struct orch_store *into, struct orch_store *from,
                      struct orch_salvage *salvage, GPtrArray *lost, int64_t *out_failed,
                      int64_t *out_nameless, GError **error)
{
    struct store_reading r = {
        .from = from,
        .into = into,
        .salvage = salvage,
        .keys = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free),
        .numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
    };
    bool ok = read_rows(&r, lost, error);
    g_hash_table_unref(r.keys);
    g_hash_table_unref(r.numbers);
    *out_failed = r.failed;
    *out_nameless = r.missing;
    return ok;
}

static void add_source_note(struct orch_salvage *salvage, const char *path, int64_t runs,
                            const char *what)
{
    g_ptr_array_add(salvage->sources, g_strdup_printf("%s: %s, %" G_GINT64_FORMAT " run%s taken",
                                                      path, what, runs, orch_plural(runs)));
}

static const char *const WAYS[] = {
    [STORE_SALVAGE_WHOLE] = "read",
    [STORE_SALVAGE_ALONE] = "read without its journal",
    [STORE_SALVAGE_GRAFTED] = "read with rebuilt first pages",
};

static bool is_known_error(const GError *problem, enum orch_error_code code)
{
    return problem && problem->domain == ORCH_ERROR && problem->code == (int)code;
}

bool orch_salvage_file(struct orch_store *into, const char *path, bool is_first,
                       struct orch_salvage *salvage, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GPtrArray) lost = NULL; /* losses of the best reading */
    int64_t fewest = -1, nameless = 0;
    bool has_journal = orch_store_salvage_has_journal(path);
    for (enum store_salvage_way way = STORE_SALVAGE_WHOLE; way <= STORE_SALVAGE_GRAFTED; way++) {
        if ((way == STORE_SALVAGE_ALONE && !has_journal) ||
            (way == STORE_SALVAGE_GRAFTED && fewest >= 0))
            continue; /* there is no journal to leave out, or the schema could be read */
        g_clear_error(&problem);
        struct orch_store *copy = orch_store_salvage_open(path, into->path, way, &problem);
        if (!copy && is_known_error(problem, ORCH_ERROR_IO)) {
            g_propagate_error(error, problem);
            return false;
        }
        if (!copy)
            continue;
        int64_t failed, without_key, before = salvage->runs;
        g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
        bool ok = read_copy(into, copy, salvage, found, &failed, &without_key, error);
        orch_store_salvage_close(copy);
        if (!ok)
            return false;
        add_source_note(salvage, path, salvage->runs - before, WAYS[way]);
        if (fewest < 0 || failed + (int64_t)found->len < fewest) {
            fewest = failed + found->len;
            nameless = without_key;
            g_clear_pointer(&lost, g_ptr_array_unref);
            lost = g_steal_pointer(&found);
        }
        if (fewest == 0)
            break;
    }
    if (fewest < 0) {
        g_auto(GStrv) lines = g_strsplit(problem ? problem->message : "damaged", "\n", 2);
        add_source_note(salvage, path, 0, lines[0]);
        if (is_first)
            g_ptr_array_add(salvage->lost, g_strdup("the data of this file: it cannot be read"));
    }
    g_clear_error(&problem);
    if (is_first)
        salvage->nameless = nameless;
    for (guint i = 0; is_first && lost && i < lost->len; i++)
        g_ptr_array_add(salvage->lost, g_strdup(lost->pdata[i]));
    return true;
}

/* ---- entry points -----------------------------------------------------------------------------
 */

void orch_salvage_init(struct orch_salvage *salvage)
{
    *salvage = (struct orch_salvage){
        .known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
        .sources = g_ptr_array_new_with_free_func(g_free),
        .lost = g_ptr_array_new_with_free_func(g_free),
    };
}

void orch_salvage_clear(struct orch_salvage *salvage)
{
    g_hash_table_unref(salvage->known);
    g_ptr_array_unref(salvage->sources);
    g_ptr_array_unref(salvage->lost);
}

struct orch_store *orch_salvage_open(const char *path, const char *of, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_EXISTS)) {
        orch_error_set(error, ORCH_ERROR_IO, "choose another name with --to",
                       "cannot repair into '%s': it already exists", path);
        return NULL;
    }
    const struct store_options options = {.migrations = &store_migrations, .stands_for = of};
    return orch_store_open_with(path, ORCH_STORE_CREATE, &options, error);
}

static bool insert_trial(struct orch_store *into, const char *key, const char *record,
                         int64_t started_ns, bool *out_added, GError **error)
{
    sqlite3_stmt *row = orch_store_statement(
        into, "SELECT ?1, NULL, NULL, " STORE_RENAMED("?2") ", '', 0, 0, ?3", error);
    if (!row)
        return false;
    orch_store_bind(row, "tti", key, record, started_ns);
    bool ok =
        orch_store_step(into, row, error) > 0 && orch_store_put_active(into, row, out_added, error);
    sqlite3_reset(row);
    return ok;
}

bool orch_salvage_trial(struct orch_store *into, const char *key, const char *record,
                        int64_t started_ns, bool *out_added, GError **error)
{
    if (!orch_store_transaction_begin(into, error))
        return false;
    if (insert_trial(into, key, record, started_ns, out_added, error))
        return orch_store_transaction_commit(into, error);
    orch_store_transaction_rollback(into);
    return false;
}

GPtrArray *orch_salvage_missing(struct orch_store *into, const struct orch_salvage *salvage,
                                GError **error)
{
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    GHashTableIter iter;
    gpointer key, why;
    g_hash_table_iter_init(&iter, salvage->known);
    while (g_hash_table_iter_next(&iter, &key, &why)) {
        int64_t there;
        if (!orch_store_get_int(into, &there, 0, error,
                                "SELECT EXISTS (SELECT 1 FROM run WHERE key = ?1)"
                                " OR EXISTS (SELECT 1 FROM active WHERE key = ?1)",
                                "t", key)) {
            g_ptr_array_unref(out);
            return NULL;
        }
        if (!there)
            g_ptr_array_add(out, g_strdup_printf("%s: %s", (char *)key, (char *)why));
    }
    g_ptr_array_sort(out, orch_compare_texts);
    return out;
}
