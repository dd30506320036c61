/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets in the file: insert, list, read, remove. */
#include "store/write/dataset.h"
#include "store/handle/sql.h"
#include "store/write/dataset_text.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- put --------------------------------------------------------------------------------------
 */

static bool refuse(const struct orch_dataset *set, const char *hint, GError **error,
                   const char *why)
{
    orch_error_set(error, ORCH_ERROR_USAGE, hint, "cannot keep data set '%s': %s", set->name, why);
    return false;
}

static bool texts_are_valid(const struct orch_dataset *set)
{
    const char *const about[] = {set->unit, set->source, set->licence};
    for (size_t i = 0; i < G_N_ELEMENTS(about); i++)
        if (about[i] && !g_utf8_validate(about[i], -1, NULL))
            return false;
    for (guint i = 0; i < set->columns->len; i++) {
        const struct orch_dataset_column *column = orch_dataset_column(set, i);
        if (!g_utf8_validate(column->name, -1, NULL))
            return false;
        for (size_t row = 0; column->is_text && row < set->rows; row++)
            if (column->texts[row] && !g_utf8_validate(column->texts[row], -1, NULL))
                return false;
    }
    return g_utf8_validate(set->target, -1, NULL);
}

static bool is_acceptable(const struct orch_dataset *set, GError **error)
{
    if (!orch_name_is_valid(set->name, true))
        return refuse(
            set,
            "use a lower-case letter, then letters, digits, '_' and '-', at most 63 characters",
            error, "the name is not valid");
    if (set->rows == 0)
        return refuse(set, NULL, error, "the table has no rows");
    if (set->rows > ORCH_DATASET_ROWS_MAX || set->columns->len > ORCH_DATASET_COLUMNS_MAX)
        return refuse(set, "split the table into parts", error, "the table is too large");
    for (size_t i = 0; i < set->rows; i++)
        if (!isfinite(set->targets[i]))
            return refuse(set, "remove such rows", error, "a row has no target");
    return texts_are_valid(set) || refuse(set, "save the table as UTF-8", error,
                                          "the table contains text that is not UTF-8");
}

/* The name of the set with that digest; NULL without error when there is none. */
static bool find_digest(struct orch_store *store, const char *sha256, char **out_name,
                        GError **error)
{
    sqlite3_stmt *s =
        orch_store_statement(store, "SELECT name FROM dataset WHERE sha256 = ?", error);
    if (!s)
        return false;
    orch_store_bind(s, "t", sha256);
    int more = orch_store_step(store, s, error);
    *out_name = more > 0 ? orch_store_column_text(s, 0) : NULL;
    if (more > 0)
        sqlite3_reset(s);
    return more >= 0;
}

static bool name_is_free(struct orch_store *store, const char *name, bool *out, GError **error)
{
    int64_t taken;
    if (!orch_store_get_int(store, &taken, 0, error, "SELECT 1 FROM dataset WHERE name = ?", "t",
                            name))
        return false;
    *out = !taken;
    return true;
}

/* Ensures that the set's name is free. With `renames`, a taken name gets the first digits of the
 * digest appended, so that the set is renamed the same way in every store. */
static bool settle_name(struct orch_store *store, struct orch_dataset *set, bool renames,
                        GError **error)
{
    enum { DIGITS = 8, BASE_MAX = 63 - 1 - DIGITS };
    bool is_free;
    if (!name_is_free(store, set->name, &is_free, error))
        return false;
    if (!is_free && renames) {
        char *name = g_strdup_printf("%.*s-%.*s", BASE_MAX, set->name, DIGITS, set->sha256);
        g_free(set->name);
        set->name = name;
        if (!name_is_free(store, name, &is_free, error))
            return false;
    }
    g_autofree char *hint =
        g_strdup_printf("choose another with --name, or run 'orch measurements rm %s'", set->name);
    if (!is_free)
        orch_error_set(error, ORCH_ERROR_USAGE, hint,
                       "measurements '%s' already exist with other rows", set->name);
    return is_free;
}

#define INSERT_SAMPLE "INSERT INTO sample(dataset, row, target, features) VALUES(?, ?, ?, ?)"

static bool insert_rows(struct orch_store *store, const struct orch_dataset *set, int64_t id,
                        GError **error)
{
    static const char insert[] = INSERT_SAMPLE;
    g_autofree char *heading = orch_store_dataset_heading(set);
    if (!orch_store_run_statement(store, error, insert, "iint", id, (int64_t)0, heading))
        return false;
    g_autoptr(GString) features = g_string_new(NULL);
    for (size_t i = 0; i < set->rows; i++) {
        orch_store_dataset_row(set, i, features);
        if (!orch_store_run_statement(store, error, insert, "iirt", id, (int64_t)i + 1,
                                      set->targets[i], features->str))
            return false;
    }
    return true;
}

static bool insert_set(struct orch_store *store, const struct orch_dataset *set, GError **error)
{
    return orch_store_run_statement(
               store, error,
               "INSERT INTO dataset(name, source, licence, sha256) VALUES(?, ?, ?, ?)", "tttt",
               set->name, set->source, set->licence, set->sha256) &&
           insert_rows(store, set, sqlite3_last_insert_rowid(store->db), error);
}

bool orch_store_dataset_put(struct orch_store *store, struct orch_dataset *set, bool renames,
                            enum orch_dataset_put *out, char **out_name, GError **error)
{
    g_autofree char *known = NULL;
    if (!is_acceptable(set, error))
        return false;
    orch_store_dataset_digest(set);
    if (!find_digest(store, set->sha256, &known, error) ||
        (!known && (!settle_name(store, set, renames, error) || !insert_set(store, set, error))))
        return false;
    *out = known ? ORCH_DATASET_KNOWN : ORCH_DATASET_ADDED;
    if (out_name)
        *out_name = g_strdup(known ? known : set->name);
    return true;
}

bool orch_store_put_dataset(struct orch_store *store, struct orch_dataset *set,
                            enum orch_dataset_put *out, char **out_name, GError **error)
{
    g_autofree char *name = NULL;
    enum orch_dataset_put put;
    if (!orch_store_transaction_begin(store, error))
        return false;
    if (!orch_store_dataset_put(store, set, false, &put, &name, error)) {
        orch_store_transaction_rollback(store);
        return false;
    }
    if (!orch_store_transaction_commit(store, error))
        return false;
    *out = put;
    if (out_name)
        *out_name = g_steal_pointer(&name);
    return true;
}

/* ---- read -------------------------------------------------------------------------------------
 */

#define HEADINGS                                                                                   \
    "SELECT d.id, d.name, d.source, d.licence, d.sha256, s.features FROM dataset d"                \
    " LEFT JOIN sample s ON s.dataset = d.id AND s.row = 0"

static bool fail_damaged(struct orch_store *store, const char *name, const char *what,
                         GError **error)
{
    orch_error_set(error, ORCH_ERROR_STORE,
                   "remove the data set with 'orch measurements rm', and import it again",
                   "cannot read data set '%s' of store '%s': %s", name, store->path, what);
    return false;
}

/* Reads the heading from the current row. */
static struct orch_dataset *read_heading(struct orch_store *store, sqlite3_stmt *s, GError **error)
{
    const char *name = orch_store_text(s, 1);
    const char *text = orch_store_text(s, 5);
    struct orch_dataset *set =
        text ? orch_store_dataset_read_heading(name, text, strlen(text)) : NULL;
    if (!set) {
        fail_damaged(store, name, "its header is damaged or of a newer format", error);
        return NULL;
    }
    set->source = orch_store_column_text(s, 2);
    set->licence = orch_store_column_text(s, 3);
    g_strlcpy(set->sha256, orch_store_text(s, 4), sizeof set->sha256);
    return set;
}

GPtrArray *orch_store_datasets(struct orch_store *store, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, HEADINGS " ORDER BY d.name, d.sha256", error);
    if (!s)
        return NULL;
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func((GDestroyNotify)orch_dataset_free);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0) {
        struct orch_dataset *set = read_heading(store, s, error);
        if (!set) {
            sqlite3_reset(s);
            return NULL;
        }
        g_ptr_array_add(sets, set);
    }
    return more == 0 ? g_steal_pointer(&sets) : NULL;
}

static char *suggest(struct orch_store *store, const char *name)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    sqlite3_stmt *s = orch_store_statement(store, "SELECT name FROM dataset ORDER BY name", NULL);
    while (s && orch_store_step(store, s, NULL) > 0)
        g_ptr_array_add(names, g_strdup(orch_store_text(s, 0)));
    g_ptr_array_add(names, NULL);
    char *hint = orch_suggest_hint(name, (const char *const *)names->pdata);
    return hint ? hint : g_strdup("'orch measurements ls' lists them");
}

/* True for a digest prefix that is long enough not to match by chance. */
static bool may_be_digest(const char *text)
{
    size_t length = strspn(text, "0123456789abcdef");
    return length >= 4 && length <= 64 && !text[length];
}

/* The id of the set that `name` selects; 0 with ORCH_ERROR_NOT_FOUND. */
static int64_t find_set(struct orch_store *store, const char *name, GError **error)
{
    int64_t id = 0, count = 0;
    if (!orch_store_get_int(store, &id, 0, error, "SELECT min(id) FROM dataset WHERE name = ?", "t",
                            name) ||
        !orch_store_get_int(store, &count, 0, error, "SELECT count(*) FROM dataset WHERE name = ?",
                            "t", name))
        return 0;
    if (count == 0 && may_be_digest(name) &&
        (!orch_store_get_int(store, &id, 0, error,
                             "SELECT min(id) FROM dataset WHERE substr(sha256, 1, length(?1)) = ?1",
                             "t", name) ||
         !orch_store_get_int(
             store, &count, 0, error,
             "SELECT count(*) FROM dataset WHERE substr(sha256, 1, length(?1)) = ?1", "t", name)))
        return 0;
    if (count == 1)
        return id;
    g_autofree char *hint = count ? NULL : suggest(store, name);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                   count ? "give the first digits of a digest ('orch measurements ls --json')"
                         : hint,
                   count ? "several measurements are named '%s' in store '%s'"
                         : "no measurements '%s' in store '%s'",
                   name, store->path);
    return 0;
}

static struct orch_dataset *heading_of(struct orch_store *store, int64_t id, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, HEADINGS " WHERE d.id = ?", error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", id);
    struct orch_dataset *set =
        orch_store_step(store, s, error) > 0 ? read_heading(store, s, error) : NULL;
    sqlite3_reset(s);
    return set;
}

/* Reads the rows, whose numbers must be 1, 2, ... */
static bool read_rows(struct orch_store *store, struct orch_dataset *set, int64_t id,
                      GError **error)
{
    int64_t count;
    if (!orch_store_get_int(store, &count, 0, error,
                            "SELECT count(*) FROM sample WHERE dataset = ? AND row > 0", "i", id))
        return false;
    if (count != (int64_t)set->rows)
        return fail_damaged(store, set->name, "rows are missing or were added", error);
    sqlite3_stmt *s = orch_store_statement(
        store,
        "SELECT row, target, features FROM sample WHERE dataset = ? AND row > 0 ORDER BY row",
        error);
    if (!s)
        return false;
    orch_store_dataset_allocate(set);
    orch_store_bind(s, "i", id);
    size_t row = 0;
    int more;
    for (; (more = orch_store_step(store, s, error)) > 0; row++) {
        const char *text = orch_store_text(s, 2);
        if (row >= set->rows || sqlite3_column_int64(s, 0) != (int64_t)row + 1 ||
            sqlite3_column_type(s, 1) == SQLITE_NULL ||
            !orch_store_dataset_read_row(set, row, text, strlen(text))) {
            sqlite3_reset(s);
            g_autofree char *what = g_strdup_printf("row %zu is damaged", row + 1);
            return fail_damaged(store, set->name, what, error);
        }
        set->targets[row] = sqlite3_column_double(s, 1);
    }
    return more == 0;
}

struct orch_dataset *orch_store_dataset_read(struct orch_store *store, int64_t id,
                                             int64_t most_cells, GError **error)
{
    /* one snapshot of the file, because another process may remove the set meanwhile */
    if (!orch_store_exec(store, "SAVEPOINT dataset", "read", error))
        return NULL;
    struct orch_dataset *set = heading_of(store, id, error);
    bool ok =
        set && (most_cells < 0 || (int64_t)set->rows * MAX(set->columns->len, 1) <= most_cells);
    if (set && !ok)
        fail_damaged(store, set->name, "it declares more rows than the file can hold", error);
    ok = ok && read_rows(store, set, id, error);
    if (!ok)
        g_clear_pointer(&set, orch_dataset_free);
    orch_store_exec(store, "RELEASE dataset", "read", NULL);
    return set;
}

struct orch_dataset *orch_store_dataset(struct orch_store *store, const char *name, GError **error)
{
    int64_t id = find_set(store, name, error);
    return id ? orch_store_dataset_read(store, id, -1, error) : NULL;
}

/* ---- remove -----------------------------------------------------------------------------------
 */

static bool remove_set(struct orch_store *store, const char *name, struct orch_dataset **out,
                       GError **error)
{
    int64_t id = find_set(store, name, error);
    if (!id)
        return false;
    *out = heading_of(store, id, NULL); /* a damaged set can be removed too */
    return orch_store_run_statement(store, error, "DELETE FROM sample WHERE dataset = ?", "i",
                                    id) &&
           orch_store_run_statement(store, error, "DELETE FROM dataset WHERE id = ?", "i", id);
}

bool orch_store_remove_dataset(struct orch_store *store, const char *name,
                               struct orch_dataset **out, GError **error)
{
    struct orch_dataset *removed = NULL;
    if (!orch_store_transaction_begin(store, error))
        return false;
    bool ok = remove_set(store, name, &removed, error);
    if (ok)
        ok = orch_store_transaction_commit(store, error);
    else
        orch_store_transaction_rollback(store);
    if (ok && out)
        *out = g_steal_pointer(&removed);
    orch_dataset_free(removed);
    return ok;
}

/* ---- check ------------------------------------------------------------------------------------
 */

static void check_set(struct orch_store *store, int64_t id, const char *name, const char *sha256,
                      GPtrArray *out)
{
    GError *problem = NULL;
    struct orch_dataset *set = orch_store_dataset_read(store, id, -1, &problem);
    if (set) {
        orch_store_dataset_digest(set);
        if (strcmp(set->sha256, sha256) != 0)
            g_ptr_array_add(out, g_strdup_printf("data set '%s': its rows have digest %.12s, "
                                                 "but %.12s is recorded",
                                                 name, set->sha256, sha256));
    } else {
        g_ptr_array_add(out, g_strdup(problem->message));
        g_clear_error(&problem);
    }
    orch_dataset_free(set);
}

void orch_store_check_datasets(struct orch_store *store, GPtrArray *out)
{
    GError *problem = NULL;
    sqlite3_stmt *s =
        orch_store_statement(store, "SELECT id, name, sha256 FROM dataset ORDER BY name", &problem);
    while (s && orch_store_step(store, s, &problem) > 0)
        check_set(store, sqlite3_column_int64(s, 0), orch_store_text(s, 1), orch_store_text(s, 2),
                  out);
    if (problem)
        g_ptr_array_add(out, g_strdup(problem->message));
    g_clear_error(&problem);
}
