/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single runs: as a struct, the one that is reused for a trial, and the one that a user names by a
 * few characters. */
#include "store/handle/sql.h"
#include "store/read/run_columns.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { PREFIX_MIN = 4, CANDIDATES_MAX = 6 };

/* `at`: the field of a run. */
static void take_field(sqlite3_stmt *s, int column, enum store_field_kind kind, void *at)
{
    switch (kind) {
    case STORE_FIELD_BOOL:
        *(bool *)at = sqlite3_column_int(s, column);
        break;
    case STORE_FIELD_SEED:
        *(uint64_t *)at = (uint64_t)sqlite3_column_int64(s, column);
        break;
    case STORE_FIELD_EXIT:
        *(int *)at =
            sqlite3_column_type(s, column) == SQLITE_NULL ? -1 : sqlite3_column_int(s, column);
        break;
    case STORE_FIELD_INT:
    case STORE_FIELD_SIGNAL:
        *(int *)at = sqlite3_column_int(s, column);
        break;
    case STORE_FIELD_TIME:
        *(int64_t *)at = sqlite3_column_int64(s, column);
        break;
    case STORE_FIELD_MS:
        *(double *)at = orch_store_column_real(s, column);
        break;
    default:
        *(char **)at = orch_store_column_text(s, column);
    }
}

struct orch_run *orch_store_run_as_stored(sqlite3_stmt *s)
{
    struct orch_run *run = g_new0(struct orch_run, 1);
    run->id = sqlite3_column_int64(s, 0);
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++)
        take_field(s, 1 + i, store_run_fields[i].kind, (char *)run + store_run_fields[i].in_run);
    run->digest = orch_store_column_text(s, 1 + STORE_RUN_FIELD_COUNT);
    run->hidden = sqlite3_column_int(s, 2 + STORE_RUN_FIELD_COUNT);
    run->purged = sqlite3_column_int(s, 3 + STORE_RUN_FIELD_COUNT);
    return run;
}

struct orch_run *orch_store_run_from_row(sqlite3_stmt *s)
{
    struct orch_run *run = orch_store_run_as_stored(s);
    char **const texts[] = {&run->key,         &run->plugin,     &run->plugin_version,
                            &run->fingerprint, &run->device_key, &run->state,
                            &run->who,         &run->digest};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        if (!*texts[i])
            *texts[i] = g_strdup("");
    return run;
}

const char *orch_run_short_key(const char *key)
{
    size_t length = strlen(key);
    return length > 8 ? key + length - 8 : key;
}

void orch_run_free(struct orch_run *run)
{
    if (!run)
        return;
    for (int i = 0; i < STORE_RUN_FIELD_COUNT; i++)
        if (store_field_is_text(store_run_fields[i].kind))
            g_free(*(char **)((char *)run + store_run_fields[i].in_run));
    g_free(run->digest);
    g_free(run);
}

/* Steps once. Returns the run of the row, or NULL (with an error only on failure). */
static struct orch_run *one_run(struct orch_store *store, sqlite3_stmt *s, GError **error)
{
    if (orch_store_step(store, s, error) <= 0)
        return NULL;
    struct orch_run *run = orch_store_run_from_row(s);
    sqlite3_reset(s);
    return run;
}

struct orch_run *orch_store_find_reusable(struct orch_store *store, const char *fingerprint,
                                          const char *device_key, unsigned nth, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS
                          " WHERE r.fingerprint = ?1 AND r.state IN " STORE_REUSED_STATES
                          " AND (?2 IS NULL OR r.device_key = ?2) AND r.id NOT IN " STORE_HIDDEN
                          " ORDER BY r.ended DESC, r.id DESC LIMIT 1 OFFSET ?3",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "tti", fingerprint, device_key, (int64_t)nth);
    return one_run(store, s, error);
}

/* ---- what a user types ------------------------------------------------------------------------
 */

static struct orch_run *nth_last(struct orch_store *store, int64_t back, const char *text,
                                 GError **error)
{
    sqlite3_stmt *s = orch_store_statement(
        store,
        STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS " WHERE r.id NOT IN " STORE_HIDDEN
                          " ORDER BY r.ended DESC, r.id DESC LIMIT 1 OFFSET ?",
        error);
    if (!s)
        return NULL;
    orch_store_bind(s, "i", back);
    GError *problem = NULL;
    struct orch_run *run = one_run(store, s, &problem);
    if (!run && !problem)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       back ? "'orch ls' lists the stored runs" : "'orch run RECIPE' makes runs",
                       "no run '%s': store '%s' has %s", text, store->path,
                       back ? "fewer runs" : "no finished run");
    else if (problem)
        g_propagate_error(error, problem);
    return run;
}

/* Returns 0 for "@last" and 2 for "@{2}"; -1 for anything else. */
static int64_t steps_back(const char *text)
{
    if (strcmp(text, "@last") == 0 || strcmp(text, "@") == 0)
        return 0;
    size_t length = strlen(text);
    if (length < 4 || !g_str_has_prefix(text, "@{") || text[length - 1] != '}')
        return -1;
    g_autofree char *digits = g_strndup(text + 2, length - 3);
    guint64 value;
    return g_ascii_string_to_unsigned(digits, 10, 0, G_MAXINT32, &value, NULL) ? (int64_t)value
                                                                               : -1;
}

/* Appends the runs of a query with one bound text, which is limited to CANDIDATES_MAX rows. */
static bool add_matches(struct orch_store *store, GPtrArray *runs, const char *sql_literal,
                        const char *text, GError **error)
{
    sqlite3_stmt *s = orch_store_statement(store, sql_literal, error);
    if (!s)
        return false;
    orch_store_bind(s, "t", text);
    int more;
    while ((more = orch_store_step(store, s, error)) > 0)
        g_ptr_array_add(runs, orch_store_run_from_row(s));
    return more == 0;
}

static const char BY_PREFIX[] = STORE_RUN_COLUMNS
    " FROM run r" STORE_RUN_JOINS " WHERE r.key >= ?1 AND r.key < ?1 || 'g' ORDER BY r.key LIMIT 6";
static const char BY_TAIL[] =
    STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS " WHERE substr(r.key, -8) >= ?1"
                      " AND substr(r.key, -8) < ?1 || 'g' ORDER BY r.key LIMIT 6";
static const char BY_LAST_PART[] =
    STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS " WHERE r.id IN (SELECT id FROM run"
                      " WHERE substr(key, 25, length(?1)) = ?1 LIMIT 6)";

static const char BY_NAME[] =
    STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS
                      " WHERE r.key IN (SELECT target FROM note WHERE kind = 'name' AND text = ?1)"
                      " AND " STORE_NAME_OF("r") " = ?1 AND r.id NOT IN " STORE_HIDDEN
                                                 " ORDER BY r.started DESC, r.id DESC LIMIT 1";

static void fail_ambiguous(GPtrArray *runs, const char *text, GError **error)
{
    GString *list = g_string_new(NULL);
    for (guint i = 0; i < runs->len && i + 1 < CANDIDATES_MAX; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_autofree char *when = orch_time_format(run->ended_ns, false);
        g_string_append_printf(list, "\n  %s  %s  %s  %s", run->key, when,
                               run->experiment ? run->experiment : "-", run->state);
    }
    if (runs->len >= CANDIDATES_MAX)
        g_string_append(list, "\n  ...");
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "type more characters of the key",
                   "'%s' is ambiguous, several keys begin with it:%s", text, list->str);
    g_string_free(list, TRUE);
}

struct orch_run *orch_store_run(struct orch_store *store, const char *text, GError **error)
{
    int64_t back = steps_back(text);
    if (back >= 0)
        return nth_last(store, back, text, error);
    g_autofree char *key = g_ascii_strdown(text, -1);
    size_t length = strlen(key);
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)orch_run_free);
    if (orch_label_is_valid(text) && !add_matches(store, runs, BY_NAME, text, error))
        return NULL;
    if (runs->len) /* the newest run with that name */
        return g_ptr_array_steal_index(runs, 0);
    if (length < PREFIX_MIN || strspn(key, "0123456789abcdef-") != length) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "use 4 or more characters of a key ('orch ls' lists them), or '@last'",
                       "'%s' is not the key or the name of a run", text);
        return NULL;
    }
    if (!add_matches(store, runs, BY_PREFIX, key, error))
        return NULL;
    if (runs->len == 0 && length <= 8 && !add_matches(store, runs, BY_TAIL, key, error))
        return NULL;
    if (runs->len == 0 && length <= 12 && !add_matches(store, runs, BY_LAST_PART, key, error))
        return NULL;
    if (runs->len == 1)
        return g_ptr_array_steal_index(runs, 0);
    if (runs->len > 1)
        fail_ambiguous(runs, text, error);
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the stored runs",
                       "no run '%s' in store '%s'", text, store->path);
    return NULL;
}
