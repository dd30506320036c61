/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single runs: as a struct, the one that spares a trial, and the one that a user means by a few
 * characters. */
#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { PREFIX_MIN = 4, CANDIDATES_MAX = 6 };

struct orch_run *store_run_as_stored(sqlite3_stmt *s)
{
    struct orch_run *run = g_new0(struct orch_run, 1);
    run->id = sqlite3_column_int64(s, 0);
    char **const texts[] = {&run->key,           &run->recipe_key,    &run->recipe,
                            &run->experiment,    &run->plugin,        &run->plugin_version,
                            &run->build,         &run->source_tree,   &run->source_commit,
                            &run->source_branch, &run->source_remote, NULL,
                            &run->fingerprint,   &run->where_key};
    for (int i = 0; i < (int)G_N_ELEMENTS(texts); i++)
        if (texts[i])
            *texts[i] = store_column_text(s, 1 + i);
    run->source_dirty = sqlite3_column_int(s, 12);
    run->seed = (uint64_t)sqlite3_column_int64(s, 15);
    run->repeat = sqlite3_column_int(s, 16);
    run->attempt = sqlite3_column_int(s, 17);
    run->state = store_column_text(s, 18);
    run->reason = store_column_text(s, 19);
    bool exited = sqlite3_column_type(s, 20) != SQLITE_NULL;
    run->exit_code = exited ? sqlite3_column_int(s, 20) : -1;
    run->signal = sqlite3_column_int(s, 21);
    run->machine_key = store_column_text(s, 22);
    run->machine_facts = store_column_text(s, 23);
    run->who = store_column_text(s, 24);
    run->argv = store_column_text(s, 25);
    run->facts = store_column_text(s, 26);
    run->started_ns = sqlite3_column_int64(s, 27);
    run->ended_ns = sqlite3_column_int64(s, 28);
    run->wall_ms = store_column_real(s, 29);
    run->digest = store_column_text(s, 30);
    run->hidden = sqlite3_column_int(s, 31);
    run->purged = sqlite3_column_int(s, 32);
    return run;
}

struct orch_run *store_run_from_row(sqlite3_stmt *s)
{
    struct orch_run *run = store_run_as_stored(s);
    char **const texts[] = {&run->key,         &run->plugin,    &run->plugin_version,
                            &run->fingerprint, &run->where_key, &run->state,
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
    char *const texts[] = {run->key,           run->recipe_key,    run->recipe,
                           run->experiment,    run->plugin,        run->plugin_version,
                           run->build,         run->source_tree,   run->source_commit,
                           run->source_branch, run->source_remote, run->fingerprint,
                           run->where_key,     run->state,         run->reason,
                           run->machine_key,   run->machine_facts, run->who,
                           run->argv,          run->facts,         run->digest};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(run);
}

/* Steps once; the run of the row, or NULL (with error only on failure). */
static struct orch_run *one_run(struct orch_store *store, sqlite3_stmt *s, GError **error)
{
    if (store_step(store, s, error) <= 0)
        return NULL;
    struct orch_run *run = store_run_from_row(s);
    sqlite3_reset(s);
    return run;
}

struct orch_run *orch_store_find_spare(struct orch_store *store, const char *fingerprint,
                                       const char *where_key, unsigned nth, GError **error)
{
    sqlite3_stmt *s = store_statement(
        store,
        STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS
                          " WHERE r.fingerprint = ?1 AND r.state IN " STORE_SPARING
                          " AND (?2 IS NULL OR r.where_key = ?2) AND r.id NOT IN " STORE_HIDDEN
                          " ORDER BY r.ended DESC, r.id DESC LIMIT 1 OFFSET ?3",
        error);
    if (!s)
        return NULL;
    store_bind(s, "tti", fingerprint, where_key, (int64_t)nth);
    return one_run(store, s, error);
}

/* ---- what a user types ------------------------------------------------------------------------
 */

static struct orch_run *nth_last(struct orch_store *store, int64_t back, const char *text,
                                 GError **error)
{
    sqlite3_stmt *s = store_statement(
        store,
        STORE_RUN_COLUMNS " FROM run r" STORE_RUN_JOINS " WHERE r.id NOT IN " STORE_HIDDEN
                          " ORDER BY r.ended DESC, r.id DESC LIMIT 1 OFFSET ?",
        error);
    if (!s)
        return NULL;
    store_bind(s, "i", back);
    GError *problem = NULL;
    struct orch_run *run = one_run(store, s, &problem);
    if (!run && !problem)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       back ? "'orch ls' lists the runs" : "'orch run RECIPE' makes one",
                       "no run '%s': store '%s' has %s", text, store->path,
                       back ? "fewer runs" : "none that ended");
    else if (problem)
        g_propagate_error(error, problem);
    return run;
}

/* "@last" is 0, "@{2}" is 2; -1 for anything else. */
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

/* Adds the runs of a query with one bound text; stops at CANDIDATES_MAX. */
static bool add_matches(struct orch_store *store, GPtrArray *runs, const char *sql_literal,
                        const char *text, GError **error)
{
    sqlite3_stmt *s = store_statement(store, sql_literal, error);
    if (!s)
        return false;
    store_bind(s, "t", text);
    int more;
    while ((more = store_step(store, s, error)) > 0)
        g_ptr_array_add(runs, store_run_from_row(s));
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

static void free_run(gpointer run)
{
    orch_run_free(run);
}

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
                   "'%s' begins more than one run:%s", text, list->str);
    g_string_free(list, TRUE);
}

struct orch_run *orch_store_run(struct orch_store *store, const char *text, GError **error)
{
    int64_t back = steps_back(text);
    if (back >= 0)
        return nth_last(store, back, text, error);
    g_autofree char *key = g_ascii_strdown(text, -1);
    size_t length = strlen(key);
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(free_run);
    if (orch_label_is_valid(text) && !add_matches(store, runs, BY_NAME, text, error))
        return NULL;
    if (runs->len) /* the newest of that name */
        return g_ptr_array_steal_index(runs, 0);
    if (length < PREFIX_MIN || strspn(key, "0123456789abcdef-") != length) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "name a run by 4 or more characters of its key, '@last' or '@{2}'; "
                       "'orch ls' lists the runs",
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
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the runs",
                       "no run '%s' in store '%s'", text, store->path);
    return NULL;
}
