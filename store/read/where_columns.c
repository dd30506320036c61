/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of the --where language: columns of runs, and the names of parameters, results and
 * metrics in this store. */
#include "store/handle/sql.h"
#include "store/read/where.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* The facts in another user's store need not be valid JSON. */
#define FACTS "CASE WHEN json_valid(m.facts) THEN m.facts ELSE '{}' END"

static const struct orch_where_column COLUMNS[] = {
    {"state", "r.state", KIND_STATE},
    {"experiment", "r.experiment", KIND_TEXT},
    {"recipe", "r.recipe", KIND_TEXT},
    {"plugin", "r.plugin", KIND_TEXT},
    {"who", "r.who", KIND_WHO},
    {"tag",
     "(SELECT group_concat(text, ' ') FROM (SELECT DISTINCT n.text FROM note n WHERE"
     " n.target = r.key AND " STORE_TAG_HOLDS("n") " ORDER BY n.text))",
     KIND_TAG},
    {"run_name", "nullif(" STORE_NAME_OF("r") ", '')", KIND_STATE},
    {"note",
     "(coalesce((SELECT group_concat(n.text, char(10)) FROM note n WHERE n.target = r.key"
     " AND n.kind = 'note'), '') || CASE WHEN json_valid(r.facts) THEN"
     " coalesce(json_extract(r.facts, '$.notes'), '') ELSE '' END)",
     KIND_STATE},
    {"repeat", "r.repeat", KIND_NUMBER},
    /* unsigned order of the 64 bits: the seed with its sign bit flipped */
    {"seed", "((r.seed | -9223372036854775807 - 1) - (r.seed & -9223372036854775807 - 1))",
     KIND_SEED},
    {"attempt", "r.attempt", KIND_NUMBER},
    {"commit", "s.commit_oid", KIND_ID},
    {"branch", "s.branch", KIND_TEXT},
    {"tree", "s.tree", KIND_ID},
    {"gpu",
     "(SELECT group_concat(json_extract(g.value, '$.model'), ', ')"
     " FROM json_each(" FACTS ", '$.gpus') g)",
     KIND_TEXT},
    {"cpu", "json_extract(" FACTS ", '$.cpu_model')", KIND_TEXT},
    {"host", "json_extract(" FACTS ", '$.hostname')", KIND_TEXT},
    {"machine", "m.key", KIND_ID},
    {"started", "r.started", KIND_TIME},
    {"ended", "r.ended", KIND_TIME},
    {"wall_s", "(r.wall_ms / 1000.0)", KIND_NUMBER},
    {"key", "r.key", KIND_KEY},
};

/* The scopes of names; the SQL of each has the name as its one parameter. */
#define SQL_PARAM                                                                                  \
    "(SELECT CASE WHEN json_valid(p.value) THEN CASE json_type(p.value) WHEN 'true' THEN 'true'"   \
    " WHEN 'false' THEN 'false' ELSE json_extract(p.value, '$') END ELSE p.value END"              \
    " FROM param p WHERE p.run = r.id AND p.name = ?)"
#define SQL_RESULT "(SELECT e.value FROM result e WHERE e.run = r.id AND e.name = ?)"
/* Looks up the name's id first and then seeks in the metric's index; a join would read all points
 * of a run. */
#define SQL_METRIC                                                                                 \
    "(SELECT x.value FROM metric x WHERE x.run = r.id AND x.name_id = (SELECT n.id FROM"           \
    " metric_name n WHERE n.name = ? AND EXISTS (SELECT 1 FROM metric y WHERE y.run = r.id"        \
    " AND y.name_id = n.id) LIMIT 1) ORDER BY x.step DESC LIMIT 1)"

/* What a trial's program logged of its settings, one of the facts of a run. */
#define LOGGED                                                                                     \
    "json_each(CASE WHEN json_valid(r.facts) THEN r.facts ELSE '{}' END, '$.logged_settings') j"
#define SQL_LOGGED                                                                                 \
    "(SELECT CASE j.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE j.value END"       \
    " FROM " LOGGED " WHERE j.key = ?)"

const char WHERE_SQL_ANY[] = "coalesce(" SQL_PARAM ", " SQL_RESULT ", " SQL_METRIC ")";

static const struct orch_where_scope SCOPES[] = {
    {"param", SQL_PARAM, "SELECT EXISTS (SELECT 1 FROM param WHERE name = ?)",
     "WITH RECURSIVE t(n) AS (SELECT min(name) FROM param UNION ALL"
     " SELECT (SELECT min(name) FROM param WHERE name > t.n) FROM t WHERE t.n IS NOT NULL)"
     " SELECT n FROM t WHERE n IS NOT NULL LIMIT 10000"},
    {"result", SQL_RESULT, "SELECT EXISTS (SELECT 1 FROM result WHERE name = ?)",
     "WITH RECURSIVE t(n) AS (SELECT min(name) FROM result UNION ALL"
     " SELECT (SELECT min(name) FROM result WHERE name > t.n) FROM t WHERE t.n IS NOT NULL)"
     " SELECT n FROM t WHERE n IS NOT NULL LIMIT 10000"},
    {"metric", SQL_METRIC, "SELECT EXISTS (SELECT 1 FROM metric_name WHERE name = ?)",
     "SELECT DISTINCT name FROM metric_name LIMIT 10000"},
    {"logged", SQL_LOGGED,
     "SELECT EXISTS (SELECT 1 FROM run r CROSS JOIN " LOGGED " WHERE j.key = ?)",
     "SELECT DISTINCT j.key FROM run r CROSS JOIN " LOGGED " LIMIT 10000"},
};

/* The scopes in which a name without one is looked up. */
enum { BARE_SCOPES = 3 };

const struct orch_where_column *orch_where_column(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        if (strcmp(COLUMNS[i].name, name) == 0)
            return &COLUMNS[i];
    return NULL;
}

const struct orch_where_scope *orch_where_scope(const char *name)
{
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot && i < G_N_ELEMENTS(SCOPES); i++)
        if (strlen(SCOPES[i].prefix) == (size_t)(dot - name) &&
            g_str_has_prefix(name, SCOPES[i].prefix))
            return &SCOPES[i];
    return NULL;
}

/* Returns the metric's name in "max(loss)", which the caller frees, or NULL when the text does not
 * have that form. */
static char *name_within(const char *text, const char *function)
{
    size_t length = strlen(text), head = strlen(function);
    bool is_it = length > head + 2 && g_str_has_prefix(text, function) && text[head] == '(' &&
                 text[length - 1] == ')';
    return is_it ? g_strndup(text + head + 1, length - head - 2) : NULL;
}

#define SQL_EXTREME(function)                                                                      \
    "(SELECT " function "(x.value) FROM metric x WHERE x.run = r.id AND x.name_id IN"              \
    " (SELECT n.id FROM metric_name n WHERE n.name = ?))"

bool orch_store_column_of(const char *text, struct store_column *out)
{
    static const struct {
        const char *function, *sql;
    } extremes[] = {{"min", SQL_EXTREME("min")}, {"max", SQL_EXTREME("max")}};
    const struct orch_where_column *column = orch_where_column(text);
    const struct orch_where_scope *scope = orch_where_scope(text);
    *out = (struct store_column){0};
    if (column) {
        out->sql = column->sql;
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(extremes); i++) {
        if ((out->name = name_within(text, extremes[i].function)) != NULL) {
            out->sql = extremes[i].sql;
            out->name_count = 1;
            return true;
        }
    }
    out->name = g_strdup(scope ? strchr(text, '.') + 1 : text);
    out->name_count = scope ? 1 : 3;
    out->sql = scope ? scope->sql : WHERE_SQL_ANY;
    return true;
}

const char *orch_store_column_name(size_t index)
{
    return index < G_N_ELEMENTS(COLUMNS) ? COLUMNS[index].name : NULL;
}

const char *orch_store_scope_names_sql(const char *prefix)
{
    for (size_t i = 0; i < G_N_ELEMENTS(SCOPES); i++)
        if (strcmp(SCOPES[i].prefix, prefix) == 0)
            return SCOPES[i].all;
    return NULL;
}

/* ---- checking names against the store ----------------------------------------------------------
 */

char *orch_where_quote_hint(const char *word)
{
    return g_strdup_printf("put the text '%s' in quotes", word);
}

/* A bare word on the right side is refused when parsing if it is a column, and when the store is
 * known if it is a parameter, result or metric. */
/* All names in the store and all columns, for a hint. */
static GPtrArray *known_names(struct orch_store *store, const struct orch_where_scope *scope)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; !scope && i < G_N_ELEMENTS(COLUMNS); i++)
        g_ptr_array_add(names, g_strdup(COLUMNS[i].name));
    for (size_t i = 0; i < G_N_ELEMENTS(SCOPES); i++) {
        bool is_asked = scope ? scope == &SCOPES[i] : i < BARE_SCOPES;
        sqlite3_stmt *s = is_asked ? orch_store_statement(store, SCOPES[i].all, NULL) : NULL;
        while (s && orch_store_step(store, s, NULL) > 0)
            g_ptr_array_add(names, g_strdup(orch_store_text(s, 0)));
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static bool name_exists(struct orch_store *store, const struct where_name *name, bool *out,
                        GError **error)
{
    int64_t found = 0;
    for (size_t i = 0; !found && i < G_N_ELEMENTS(SCOPES); i++)
        if ((name->scope ? name->scope == &SCOPES[i] : i < BARE_SCOPES) &&
            !orch_store_get_int(store, &found, 0, error, SCOPES[i].exists, "t", name->text))
            return false;
    *out = found;
    return true;
}

char *orch_store_metric_hint(struct orch_store *store, const char *name)
{
    enum { SHOWN = 12 };
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 1; i < BARE_SCOPES; i++) { /* results and metrics */
        sqlite3_stmt *s = orch_store_statement(store, SCOPES[i].all, NULL);
        while (s && orch_store_step(store, s, NULL) > 0)
            g_ptr_array_add(names, orch_text_line(orch_store_column_text(s, 0)));
    }
    if (!names->len)
        return g_strdup("no run has recorded a metric yet: 'orch run RECIPE' makes runs");
    g_ptr_array_add(names, g_strdup("wall_s")); /* every run has it */
    g_ptr_array_add(names, NULL);
    if (g_strv_contains((const char *const *)names->pdata, name))
        return g_strdup_printf("other runs have '%s': the selected ones record none", name);
    char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    if (near)
        return near;
    guint recorded = names->len - 2; /* without wall_s and the NULL */
    GString *hint = g_string_new("runs have ");
    for (guint i = 0; i < recorded && i < SHOWN; i++)
        g_string_append_printf(hint, "%s'%s'", i ? ", " : "", (char *)names->pdata[i]);
    if (recorded > SHOWN)
        g_string_append_printf(hint, " and %u more ('orch show RUN' lists those of one)",
                               recorded - SHOWN);
    g_string_append(hint, "; every run has 'wall_s'");
    return g_string_free(hint, FALSE);
}

static void unknown_name_error(struct orch_store *store, const struct orch_where *where,
                               const struct where_name *name, GError **error)
{
    g_autoptr(GPtrArray) names = known_names(store, name->scope);
    g_autofree char *hint = orch_suggest_hint(name->text, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "character %d of condition '%s': no run has %s '%s'", name->column, where->text,
                   name->scope == &SCOPES[0]   ? "a parameter"
                   : name->scope == &SCOPES[1] ? "a result"
                   : name->scope == &SCOPES[2] ? "a metric"
                   : name->scope               ? "a logged setting"
                                               : "a column, parameter, result or metric",
                   name->text);
}

static void unquoted_name_error(const struct orch_where *where, const struct where_name *word,
                                GError **error)
{
    g_autofree char *written = word->scope
                                   ? g_strdup_printf("%s.%s", word->scope->prefix, word->text)
                                   : g_strdup(word->text);
    g_autofree char *hint = orch_where_quote_hint(written);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "character %d of condition '%s': expected a value, found the name '%s'",
                   word->column, where->text, written);
}

bool orch_store_where_check_names(struct orch_store *store, const struct orch_where *where,
                                  GError **error)
{
    int64_t any;
    bool exists;
    if (!orch_store_get_int(store, &any, 0, error, "SELECT EXISTS (SELECT 1 FROM run)", ""))
        return false;
    for (guint i = 0; any && i < where->names->len; i++) {
        const struct where_name *name = &g_array_index(where->names, struct where_name, i);
        if (!name_exists(store, name, &exists, error))
            return false;
        if (!exists) {
            unknown_name_error(store, where, name, error);
            return false;
        }
    }
    for (guint i = 0; any && i < where->words->len; i++) {
        const struct where_name *word = &g_array_index(where->words, struct where_name, i);
        if (!name_exists(store, word, &exists, error))
            return false;
        if (exists) {
            unquoted_name_error(where, word, error);
            return false;
        }
    }
    return true;
}
