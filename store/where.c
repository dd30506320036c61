/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The --where language: text -> condition over `run r`, `source s`, `machine m` with bound values.
 *
 *     or    := and ("or" and)*
 *     and   := not ("and" not)*
 *     not   := "not" not | "(" or ")" | name op value
 *     op    := "=" "!=" "<" "<=" ">" ">=" "~"
 *     value := word | 'text' | "text"
 *
 * Recursive descent straight to SQL; nothing of the text gets into the SQL but through a binding. A
 * bare name is looked up in each run by itself: its parameter, else its result, else the last value
 * of its metric; a run that has none of them matches no comparison, and neither does `not`. The
 * right side is always a value: a bare word there that is itself a name was meant as one, and is
 * refused rather than taken as text. Text, comparisons and nesting are bounded.
 */
#include "store/internal.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, COMPARISONS_MAX = 100, DEPTH_MAX = 32 };

enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_CONTAINS };

/* Longer signs first. */
static const struct {
    const char *sign;
    enum op op;
    const char *sql;
} OPS[] = {
    {"==", OP_EQ, "="},  {"!=", OP_NE, "<>"}, {"<>", OP_NE, "<>"},
    {"<=", OP_LE, "<="}, {">=", OP_GE, ">="}, {"=", OP_EQ, "="},
    {"<", OP_LT, "<"},   {">", OP_GT, ">"},   {"~", OP_CONTAINS, NULL},
};

enum kind {
    KIND_TEXT,
    KIND_STATE,  /* text of a closed list: its words are values, whatever else has their name */
    KIND_NUMBER, /* also durations and bytes with their units */
    KIND_SEED,
    KIND_ID, /* a hash: the first digits are enough */
    KIND_KEY,
    KIND_TIME,
};

/* What a stranger's store holds need not be JSON. */
#define FACTS "CASE WHEN json_valid(m.facts) THEN m.facts ELSE '{}' END"

static const struct column {
    const char *name, *sql;
    enum kind kind;
} COLUMNS[] = {
    {"state", "r.state", KIND_STATE},
    {"experiment", "r.experiment", KIND_TEXT},
    {"recipe", "r.recipe", KIND_TEXT},
    {"plugin", "r.plugin", KIND_TEXT},
    {"who", "r.who", KIND_TEXT},
    {"repeat", "r.repeat", KIND_NUMBER},
    /* unsigned order of the 64 bits: seed xor the sign bit */
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

/* Where a name may be found; the SQL takes the name once. */
#define SQL_PARAM                                                                                  \
    "(SELECT CASE WHEN json_valid(p.value) THEN CASE json_type(p.value) WHEN 'true' THEN 'true'"   \
    " WHEN 'false' THEN 'false' ELSE json_extract(p.value, '$') END ELSE p.value END"              \
    " FROM param p WHERE p.run = r.id AND p.name = ?)"
#define SQL_RESULT "(SELECT e.value FROM result e WHERE e.run = r.id AND e.name = ?)"
/* The name's id first, then one step into the metric's index: a join would read all of a run. */
#define SQL_METRIC                                                                                 \
    "(SELECT x.value FROM metric x WHERE x.run = r.id AND x.name_id = (SELECT n.id FROM"           \
    " metric_name n WHERE n.name = ? AND EXISTS (SELECT 1 FROM metric y WHERE y.run = r.id"        \
    " AND y.name_id = n.id) LIMIT 1) ORDER BY x.step DESC LIMIT 1)"

static const struct scope {
    const char *prefix, *sql, *exists, *all;
} SCOPES[] = {
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
};

/** A value to bind, in order of the '?' in the SQL. */
struct binding {
    enum { BIND_TEXT, BIND_INT, BIND_REAL, BIND_NULL } type;
    char *text;
    int64_t integer;
    double real;
};

/** A name that is no column, to be looked for in the store. */
struct name {
    const struct scope *scope; /* NULL: any */
    char *text;
    int column;
};

/** What the filter says, in postfix order. */
struct step {
    enum { STEP_COMPARE, STEP_NOT, STEP_AND, STEP_OR } what;
    char *name, *value; /* COMPARE */
    int column;
    enum op op;
};

struct orch_where {
    GArray *steps; /* struct step */
    char *text;
    GString *sql;
    GArray *bindings; /* struct binding */
    GArray *names;    /* struct name */
    GArray *words;    /* struct name: bare words on the right side, which must not be names */
};

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

struct parser {
    struct orch_where *where;
    const char *at; /* behind the token */
    enum token_kind token;
    GString *word;
    size_t op;  /* row of OPS */
    int column; /* of the token, from 1 */
    int comparisons, depth;
    GError **error;
};

static void clear_binding(gpointer data)
{
    g_free(((struct binding *)data)->text);
}

static void clear_name(gpointer data)
{
    g_free(((struct name *)data)->text);
}

static void clear_step(gpointer data)
{
    struct step *step = data;
    g_free(step->name);
    g_free(step->value);
}

static void add_step(struct orch_where *where, struct step step)
{
    step.name = g_strdup(step.name);
    step.value = g_strdup(step.value);
    g_array_append_val(where->steps, step);
}

void orch_where_free(struct orch_where *where)
{
    if (!where)
        return;
    g_array_unref(where->steps);
    g_free(where->text);
    g_string_free(where->sql, TRUE);
    g_array_unref(where->bindings);
    g_array_unref(where->names);
    g_array_unref(where->words);
    g_free(where);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static bool fail(struct parser *p, int column, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static bool fail(struct parser *p, int column, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_error_set(p->error, ORCH_ERROR_USAGE, hint, "column %d of condition '%s': %s", column,
                   p->where->text, what);
    return false;
}

static bool is_word_char(char c)
{
    return g_ascii_isalnum(c) || (c && strchr("_-.:/+%@*,[]{}#$", c)) || (c & 0x80);
}

/* A quote inside is written twice. */
static bool read_string(struct parser *p)
{
    char quote = *p->at++;
    for (;; p->at++) {
        if (!*p->at)
            return fail(p, p->column, "close it with the same quote", "text without an end");
        if (*p->at == quote && *++p->at != quote) {
            p->token = TOKEN_STRING;
            return true;
        }
        g_string_append_c(p->word, *p->at);
    }
}

static bool next_token(struct parser *p)
{
    while (g_ascii_isspace(*p->at))
        p->at++;
    p->column = (int)(p->at - p->where->text) + 1;
    g_string_truncate(p->word, 0);
    if (*p->at == '\'' || *p->at == '"')
        return read_string(p);
    for (size_t i = 0; i < G_N_ELEMENTS(OPS); i++) {
        if (g_str_has_prefix(p->at, OPS[i].sign)) {
            p->at += strlen(OPS[i].sign);
            p->op = i;
            p->token = TOKEN_OP;
            return true;
        }
    }
    while (is_word_char(*p->at))
        g_string_append_c(p->word, *p->at++);
    if (p->word->len) {
        p->token = TOKEN_WORD;
        return true;
    }
    p->token = *p->at == '(' ? TOKEN_OPEN : *p->at == ')' ? TOKEN_CLOSE : TOKEN_END;
    if (p->token == TOKEN_END && *p->at)
        return fail(p, p->column, "join comparisons with and, or, not and parentheses",
                    "unexpected '%c'", *p->at);
    if (*p->at)
        p->at++;
    return true;
}

static bool is_keyword(const struct parser *p, const char *keyword)
{
    return p->token == TOKEN_WORD && g_ascii_strcasecmp(p->word->str, keyword) == 0;
}

/* ---- values -----------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    double factor;
} UNITS[] = {
    {"ns", 1e-9},        {"us", 1e-6},
    {"ms", 1e-3},        {"s", 1},
    {"sec", 1},          {"min", 60},
    {"h", 3600},         {"d", 86400},
    {"w", 604800},       {"B", 1},
    {"KB", 1e3},         {"MB", 1e6},
    {"GB", 1e9},         {"TB", 1e12},
    {"KiB", 1024},       {"MiB", 1048576},
    {"GiB", 1073741824}, {"TiB", 1099511627776},
    {"K", 1024},         {"M", 1048576},
    {"G", 1073741824},   {"T", 1099511627776},
};

static bool unit_factor(const char *name, size_t length, double *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++) {
        if (strlen(UNITS[i].name) == length && strncmp(UNITS[i].name, name, length) == 0) {
            *out = UNITS[i].factor;
            return true;
        }
    }
    return false;
}

/* "0.1", "1e-3", "50_000", "90s", "1h30min", "64KiB": seconds and bytes where there is a unit. */
static bool parse_quantity(const char *text, double *out)
{
    int64_t integer;
    if (orch_real_parse(text, out))
        return true;
    if (orch_int_parse(text, &integer)) {
        *out = (double)integer;
        return true;
    }
    double sum = 0;
    while (*text) {
        size_t digits = strspn(text, "0123456789.");
        size_t letters = 0;
        while (g_ascii_isalpha(text[digits + letters]))
            letters++;
        g_autofree char *number = g_strndup(text, digits);
        double value, factor;
        if (!digits || !orch_real_parse(number, &value) ||
            !unit_factor(text + digits, letters, &factor))
            return false;
        sum += value * factor;
        text += digits + letters;
    }
    *out = sum;
    return true;
}

/* Midnight UTC of the day that is now, in seconds. */
static int64_t today_s(void)
{
    int64_t now_s = orch_now_ns() / 1000000000;
    return now_s - now_s % 86400;
}

/* A point in time as the half-open interval that its writing leaves open: a day, a minute, a
 * second; "2d" is that long ago. */
static bool parse_time(const char *text, int64_t *out_from_ns, int64_t *out_to_ns)
{
    int year, month, day, hour = 0, minute = 0, second = 0, end = 0;
    int64_t from_s, span_s = 86400;
    double ago_s;
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3) {
        const char *clock = text + end;
        int used = 0;
        if (*clock && sscanf(clock, "%*1[T ]%2d:%2d%n", &hour, &minute, &used) == 2 && used) {
            clock += used;
            span_s = 60;
            used = 0;
            if (sscanf(clock, ":%2d%n", &second, &used) == 1 && used) {
                clock += used;
                span_s = 1;
            }
            if (*clock == 'Z')
                clock++;
        }
        g_autoptr(GDateTime) time = g_date_time_new_utc(year, month, day, hour, minute, second);
        if (*clock || !time)
            return false;
        from_s = g_date_time_to_unix(time);
    } else if (g_ascii_strcasecmp(text, "today") == 0) {
        from_s = today_s();
    } else if (g_ascii_strcasecmp(text, "yesterday") == 0) {
        from_s = today_s() - 86400;
    } else if (g_ascii_isdigit(*text) && g_ascii_isalpha(text[strlen(text) - 1]) &&
               parse_quantity(text, &ago_s) && ago_s < 1e10) {
        *out_from_ns = orch_now_ns() - (int64_t)(ago_s * 1e9);
        *out_to_ns = *out_from_ns + 1;
        return true;
    } else {
        return false;
    }
    if (from_s > INT64_MAX / 1000000000 - 86400 || from_s < 0)
        return false;
    *out_from_ns = from_s * 1000000000;
    *out_to_ns = (from_s + span_s) * 1000000000;
    return true;
}

static void bind_text(struct orch_where *where, const char *text)
{
    struct binding b = {.type = BIND_TEXT, .text = g_strdup(text)};
    g_array_append_val(where->bindings, b);
}

static void bind_int(struct orch_where *where, int64_t value)
{
    struct binding b = {.type = BIND_INT, .integer = value};
    g_array_append_val(where->bindings, b);
}

/* ---- comparisons ------------------------------------------------------------------------------
 */

/* orch_match(left, op, text, number): see match() below. The left side's bindings come first. */
static void append_match(struct orch_where *where, const char *left_sql, enum op op,
                         const char *text)
{
    struct binding number = {.type = BIND_NULL};
    if (parse_quantity(text, &number.real))
        number.type = BIND_REAL;
    g_string_append_printf(where->sql, "orch_match(%s, ?, ?, ?)", left_sql);
    bind_int(where, op);
    bind_text(where, text);
    g_array_append_val(where->bindings, number);
}

static bool compare_number(struct parser *p, const struct column *column, size_t op,
                           const char *text, int at)
{
    double number;
    if (OPS[op].op != OP_CONTAINS && !parse_quantity(text, &number))
        return fail(p, at, "write 5, 0.5, 90s or 5min", "'%s' is a number, not '%s'", column->name,
                    text);
    append_match(p->where, column->sql, OPS[op].op, text);
    return true;
}

static bool compare_seed(struct parser *p, const struct column *column, size_t op, const char *text,
                         int at)
{
    guint64 seed;
    if (!OPS[op].sql || !g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &seed, NULL))
        return fail(p, at, "write seed = 42", "'%s' is a whole number from 0 to 2^64 - 1",
                    column->name);
    g_string_append_printf(p->where->sql, "%s %s ?", column->sql, OPS[op].sql);
    bind_int(p->where, (int64_t)(seed ^ (UINT64_C(1) << 63)));
    return true;
}

static bool compare_id(struct parser *p, const struct column *column, size_t op, const char *text,
                       int at)
{
    g_autofree char *digits = g_ascii_strdown(text, -1);
    enum op what = OPS[op].op;
    if ((what != OP_EQ && what != OP_NE) || strlen(digits) < 4 ||
        strspn(digits, "0123456789abcdef-") != strlen(digits))
        return fail(p, at, "write commit = 1a2b3c4d",
                    "'%s' is compared by = or != with 4 or more "
                    "of its first hex digits",
                    column->name);
    g_string_append_printf(p->where->sql, "(substr(%s, 1, length(?)) = ?", column->sql);
    bind_text(p->where, digits);
    bind_text(p->where, digits);
    if (column->kind == KIND_KEY) { /* ls prints the last 8 */
        g_string_append_printf(p->where->sql, " OR substr(substr(%s, -8), 1, length(?)) = ?",
                               column->sql);
        bind_text(p->where, digits);
        bind_text(p->where, digits);
    }
    g_string_append(p->where->sql, what == OP_NE ? ") = 0" : ")");
    return true;
}

static bool compare_time(struct parser *p, const struct column *column, size_t op, const char *text,
                         int at)
{
    int64_t from, to;
    enum op what = OPS[op].op;
    if (what == OP_CONTAINS || !parse_time(text, &from, &to))
        return fail(p, at,
                    "write 2026-11-21, '2026-11-21 14:30' (UTC), today, or 2d for two days "
                    "ago",
                    "'%s' is a time, not '%s'", column->name, text);
    if (what == OP_EQ || what == OP_NE) {
        g_string_append_printf(p->where->sql, "(%s >= ? AND %s < ?)%s", column->sql, column->sql,
                               what == OP_NE ? " = 0" : "");
        bind_int(p->where, from);
        bind_int(p->where, to);
        return true;
    }
    static const char *const signs[] = {
        [OP_LT] = "<", [OP_LE] = "<", [OP_GT] = ">=", [OP_GE] = ">="};
    g_string_append_printf(p->where->sql, "%s %s ?", column->sql, signs[what]);
    bind_int(p->where, what == OP_LT || what == OP_GE ? from : to);
    return true;
}

static bool compare_column(struct parser *p, const struct column *column, size_t op,
                           const char *text, int at)
{
    switch (column->kind) {
    case KIND_NUMBER:
        return compare_number(p, column, op, text, at);
    case KIND_SEED:
        return compare_seed(p, column, op, text, at);
    case KIND_ID:
    case KIND_KEY:
        return compare_id(p, column, op, text, at);
    case KIND_TIME:
        return compare_time(p, column, op, text, at);
    case KIND_STATE:
    case KIND_TEXT:
        break;
    }
    if (!OPS[op].sql) {
        append_match(p->where, column->sql, OP_CONTAINS, text);
        return true;
    }
    g_string_append_printf(p->where->sql, "%s %s ?", column->sql, OPS[op].sql);
    bind_text(p->where, text);
    return true;
}

/* A parameter, result or metric. */
static void compare_named(struct parser *p, const struct scope *scope, const char *name,
                          int name_at, size_t op, const char *text)
{
    struct name known = {.scope = scope, .text = g_strdup(name), .column = name_at};
    g_array_append_val(p->where->names, known);
    for (int i = 0; i < (scope ? 1 : 3); i++)
        bind_text(p->where, name);
    append_match(p->where,
                 scope ? scope->sql : "coalesce(" SQL_PARAM ", " SQL_RESULT ", " SQL_METRIC ")",
                 OPS[op].op, text);
}

static const struct column *find_column(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(COLUMNS); i++)
        if (strcmp(COLUMNS[i].name, name) == 0)
            return &COLUMNS[i];
    return NULL;
}

/* The scope that "param.lr" and the like begin with; NULL: none. */
static const struct scope *find_scope(const char *name)
{
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot && i < G_N_ELEMENTS(SCOPES); i++)
        if (strlen(SCOPES[i].prefix) == (size_t)(dot - name) &&
            g_str_has_prefix(name, SCOPES[i].prefix))
            return &SCOPES[i];
    return NULL;
}

static char *quote_hint(const char *word)
{
    return g_strdup_printf("two names cannot be compared; for the text itself write '%s' in quotes",
                           word);
}

/* A bare word on the right: refused at once when it is a column, when the store is known when it
 * is a parameter, result or metric. */
static bool note_word(struct parser *p, const char *name, const char *word, int at)
{
    const struct column *column = find_column(name);
    const struct scope *scope = find_scope(word);
    double number;
    if ((column && column->kind != KIND_TEXT) || parse_quantity(word, &number))
        return true;
    if (find_column(word)) {
        g_autofree char *hint = quote_hint(word);
        return fail(p, at, hint, "'%s' is a name, and a value is expected there", word);
    }
    struct name noted = {
        .scope = scope, .text = g_strdup(scope ? strchr(word, '.') + 1 : word), .column = at};
    g_array_append_val(p->where->words, noted);
    return true;
}

static bool compare(struct parser *p, const char *name, int name_at, size_t op, const char *text,
                    int at)
{
    const struct column *column = find_column(name);
    if (column)
        return compare_column(p, column, op, text, at);
    const char *dot = strchr(name, '.');
    const struct scope *scope = find_scope(name);
    if (dot && !scope) {
        static const char *const prefixes[] = {"param", "result", "metric", NULL};
        g_autofree char *prefix = g_strndup(name, (gsize)(dot - name));
        const char *near = orch_suggest(prefix, prefixes);
        g_autofree char *hint = near ? g_strdup_printf("did you mean '%s%s'?", near, dot)
                                     : g_strdup("write param.NAME, result.NAME or metric.NAME");
        return fail(p, name_at, hint, "unknown name '%s'", name);
    }
    compare_named(p, scope, scope ? dot + 1 : name, name_at, op, text);
    return true;
}

/* ---- grammar ----------------------------------------------------------------------------------
 */

static bool parse_or(struct parser *p);

static bool parse_comparison(struct parser *p)
{
    if (p->token != TOKEN_WORD || is_keyword(p, "and") || is_keyword(p, "or"))
        return fail(p, p->column, "write a comparison such as lr >= 0.01", "expected a name%s%s%s",
                    p->word->len ? ", found '" : "", p->word->str, p->word->len ? "'" : "");
    if (++p->comparisons > COMPARISONS_MAX)
        return fail(p, p->column, NULL, "more than %d comparisons", COMPARISONS_MAX);
    g_autofree char *name = g_strdup(p->word->str);
    int name_at = p->column;
    if (!next_token(p))
        return false;
    if (p->token != TOKEN_OP)
        return fail(p, p->column, "operators are = != < <= > >= ~ (contains)",
                    "expected an operator after '%s'", name);
    size_t op = p->op;
    if (!next_token(p))
        return false;
    if (p->token != TOKEN_WORD && p->token != TOKEN_STRING)
        return fail(p, p->column, "put a value with spaces or signs into quotes",
                    "expected a value after '%s %s'", name, OPS[op].sign);
    if (p->token == TOKEN_WORD && !note_word(p, name, p->word->str, p->column))
        return false;
    add_step(p->where, (struct step){STEP_COMPARE, name, p->word->str, name_at, OPS[op].op});
    return compare(p, name, name_at, op, p->word->str, p->column) && next_token(p);
}

static bool parse_not(struct parser *p)
{
    if (++p->depth > DEPTH_MAX)
        return fail(p, p->column, NULL, "nested deeper than %d levels", DEPTH_MAX);
    bool ok;
    if (is_keyword(p, "not")) {
        g_string_append(p->where->sql, "NOT "); /* binds looser than a comparison, as in SQL */
        ok = next_token(p) && parse_not(p);
        add_step(p->where, (struct step){.what = STEP_NOT});
    } else if (p->token == TOKEN_OPEN) {
        ok = next_token(p) && parse_or(p); /* sets its own parentheses */
        if (ok && p->token != TOKEN_CLOSE)
            ok = fail(p, p->column, NULL, "expected ')'");
        ok = ok && next_token(p);
    } else {
        ok = parse_comparison(p);
    }
    p->depth--;
    return ok;
}

static bool parse_and(struct parser *p)
{
    if (!parse_not(p))
        return false;
    while (is_keyword(p, "and")) {
        g_string_append(p->where->sql, " AND ");
        if (!next_token(p) || !parse_not(p))
            return false;
        add_step(p->where, (struct step){.what = STEP_AND});
    }
    return true;
}

static bool parse_or(struct parser *p)
{
    g_string_append_c(p->where->sql, '(');
    if (!parse_and(p))
        return false;
    while (is_keyword(p, "or")) {
        g_string_append(p->where->sql, " OR ");
        if (!next_token(p) || !parse_and(p))
            return false;
        add_step(p->where, (struct step){.what = STEP_OR});
    }
    g_string_append_c(p->where->sql, ')');
    return true;
}

static bool parse_all(struct parser *p)
{
    if (!next_token(p) || !parse_or(p))
        return false;
    if (p->token != TOKEN_END)
        return fail(p, p->column, "join comparisons with and, or, not and parentheses",
                    "expected 'and', 'or' or the end%s%s%s", p->word->len ? ", found '" : "",
                    p->word->str, p->word->len ? "'" : "");
    return true;
}

struct orch_where *orch_where_parse(const char *text, GError **error)
{
    if (strlen(text) > TEXT_MAX || !g_utf8_validate(text, -1, NULL)) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "condition is longer than %d bytes or not UTF-8", TEXT_MAX);
        return NULL;
    }
    struct orch_where *where = g_new0(struct orch_where, 1);
    where->text = g_strdup(text);
    where->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
    g_array_set_clear_func(where->steps, clear_step);
    where->sql = g_string_new(NULL);
    where->bindings = g_array_new(FALSE, FALSE, sizeof(struct binding));
    where->names = g_array_new(FALSE, FALSE, sizeof(struct name));
    g_array_set_clear_func(where->bindings, clear_binding);
    where->words = g_array_new(FALSE, FALSE, sizeof(struct name));
    g_array_set_clear_func(where->names, clear_name);
    g_array_set_clear_func(where->words, clear_name);
    struct parser p = {
        .where = where, .at = where->text, .word = g_string_new(NULL), .error = error};
    bool ok = parse_all(&p);
    g_string_free(p.word, TRUE);
    if (ok)
        return where;
    orch_where_free(where);
    return NULL;
}

/* ---- use --------------------------------------------------------------------------------------
 */

const char *store_where_sql(const struct orch_where *where)
{
    return where->sql->str;
}

int store_where_bind(const struct orch_where *where, sqlite3_stmt *statement, int first)
{
    for (guint i = 0; i < where->bindings->len; i++) {
        const struct binding *b = &g_array_index(where->bindings, struct binding, i);
        int index = first + (int)i;
        if (b->type == BIND_TEXT)
            sqlite3_bind_text(statement, index, b->text, -1, SQLITE_STATIC);
        else if (b->type == BIND_INT)
            sqlite3_bind_int64(statement, index, b->integer);
        else if (b->type == BIND_REAL)
            sqlite3_bind_double(statement, index, b->real);
    }
    return first + (int)where->bindings->len;
}

/* "max(loss)": the metric's name, to be freed; NULL: not of that form. */
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

bool store_column_of(const char *text, struct store_column *out)
{
    static const struct {
        const char *function, *sql;
    } extremes[] = {{"min", SQL_EXTREME("min")}, {"max", SQL_EXTREME("max")}};
    const struct column *column = find_column(text);
    const struct scope *scope = find_scope(text);
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
    out->sql = scope ? scope->sql : "coalesce(" SQL_PARAM ", " SQL_RESULT ", " SQL_METRIC ")";
    return scope || !strchr(text, '.');
}

const char *store_column_name(size_t index)
{
    return index < G_N_ELEMENTS(COLUMNS) ? COLUMNS[index].name : NULL;
}

const char *store_scope_names_sql(const char *prefix)
{
    for (size_t i = 0; i < G_N_ELEMENTS(SCOPES); i++)
        if (strcmp(SCOPES[i].prefix, prefix) == 0)
            return SCOPES[i].all;
    return NULL;
}

/* All names of the store and of the columns, for a hint. */
static GPtrArray *known_names(struct orch_store *store, const struct scope *scope)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; !scope && i < G_N_ELEMENTS(COLUMNS); i++)
        g_ptr_array_add(names, g_strdup(COLUMNS[i].name));
    for (size_t i = 0; i < G_N_ELEMENTS(SCOPES); i++) {
        sqlite3_stmt *s =
            scope && scope != &SCOPES[i] ? NULL : store_statement(store, SCOPES[i].all, NULL);
        while (s && store_step(store, s, NULL) > 0)
            g_ptr_array_add(names, store_column_text(s, 0));
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static bool name_exists(struct orch_store *store, const struct name *name, bool *out,
                        GError **error)
{
    int64_t found = 0;
    for (size_t i = 0; !found && i < G_N_ELEMENTS(SCOPES); i++)
        if ((!name->scope || name->scope == &SCOPES[i]) &&
            !store_get_int(store, &found, 0, error, SCOPES[i].exists, "t", name->text))
            return false;
    *out = found;
    return true;
}

static void say_unknown(struct orch_store *store, const struct orch_where *where,
                        const struct name *name, GError **error)
{
    g_autoptr(GPtrArray) names = known_names(store, name->scope);
    g_autofree char *hint = orch_suggest_hint(name->text, (const char *const *)names->pdata);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "column %d of condition '%s': no run has a %s '%s'", name->column, where->text,
                   name->scope == &SCOPES[0]   ? "parameter"
                   : name->scope == &SCOPES[1] ? "result"
                   : name->scope == &SCOPES[2] ? "metric"
                                               : "column, parameter, result or metric",
                   name->text);
}

static void say_word_is_name(const struct orch_where *where, const struct name *word,
                             GError **error)
{
    g_autofree char *written = word->scope
                                   ? g_strdup_printf("%s.%s", word->scope->prefix, word->text)
                                   : g_strdup(word->text);
    g_autofree char *hint = quote_hint(written);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "column %d of condition '%s': '%s' is a name, and a value is expected there",
                   word->column, where->text, written);
}

bool store_where_check_names(struct orch_store *store, const struct orch_where *where,
                             GError **error)
{
    int64_t any;
    bool exists;
    if (!store_get_int(store, &any, 0, error, "SELECT EXISTS (SELECT 1 FROM run)", ""))
        return false;
    for (guint i = 0; any && i < where->names->len; i++) {
        const struct name *name = &g_array_index(where->names, struct name, i);
        if (!name_exists(store, name, &exists, error))
            return false;
        if (!exists) {
            say_unknown(store, where, name, error);
            return false;
        }
    }
    for (guint i = 0; any && i < where->words->len; i++) {
        const struct name *word = &g_array_index(where->words, struct name, i);
        if (!name_exists(store, word, &exists, error))
            return false;
        if (exists) {
            say_word_is_name(where, word, error);
            return false;
        }
    }
    return true;
}

static bool holds(enum op op, int order)
{
    switch (op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    case OP_CONTAINS:
        break;
    }
    return false;
}

/* orch_match(left, op, text, number): numbers are compared as numbers when both sides are, texts by
 * their bytes, a number and a word are just different. NULL when there is no left side. */
static void match(sqlite3_context *context, int count, sqlite3_value **args)
{
    (void)count;
    int type = sqlite3_value_type(args[0]);
    if (type == SQLITE_NULL)
        return;
    enum op op = (enum op)sqlite3_value_int(args[1]);
    const char *left = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(args[0]) : NULL;
    if (op == OP_CONTAINS) {
        const char *text = (const char *)sqlite3_value_text(args[0]);
        const char *part = (const char *)sqlite3_value_text(args[2]);
        sqlite3_result_int(context, text && part && strcasestr(text, part) != NULL);
        return;
    }
    bool right_is_number = sqlite3_value_type(args[3]) != SQLITE_NULL;
    double right = sqlite3_value_double(args[3]), value;
    bool left_is_number = !left || (right_is_number && orch_real_parse(left, &value));
    if (!left)
        value = sqlite3_value_double(args[0]);
    if (left_is_number && right_is_number)
        sqlite3_result_int(context, holds(op, (value > right) - (value < right)));
    else if (left_is_number && !left)
        sqlite3_result_int(context, op == OP_NE);
    else
        sqlite3_result_int(context,
                           holds(op, strcmp(left, (const char *)sqlite3_value_text(args[2]))));
}

int store_where_register(sqlite3 *db)
{
    return sqlite3_create_function_v2(db, "orch_match", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                      match, NULL, NULL, NULL);
}

/* ---- without a store ---------------------------------------------------------------------------
 */

GArray *orch_where_names(const struct orch_where *where)
{
    GArray *names = g_array_new(FALSE, FALSE, sizeof(struct orch_where_name));
    for (guint i = 0; i < where->steps->len; i++) {
        const struct step *step = &g_array_index(where->steps, struct step, i);
        struct orch_where_name name = {step->name, step->column,
                                       step->name && find_column(step->name)};
        if (step->what == STEP_COMPARE)
            g_array_append_val(names, name);
    }
    return names;
}

enum truth { NO, MAYBE, YES };

static enum truth compare_known(const struct step *step, orch_where_lookup lookup, void *ctx)
{
    const char *name =
        g_str_has_prefix(step->name, "param.") ? step->name + strlen("param.") : step->name;
    g_autofree char *left = lookup(ctx, name);
    double a, b;
    if (!left)
        return MAYBE;
    if (step->op == OP_CONTAINS)
        return strcasestr(left, step->value) ? YES : NO;
    bool numbers = orch_real_parse(left, &a) && parse_quantity(step->value, &b);
    return holds(step->op, numbers ? (a > b) - (a < b) : strcmp(left, step->value)) ? YES : NO;
}

bool orch_where_may_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx)
{
    enum truth stack[COMPARISONS_MAX + 1];
    int top = 0;
    for (guint i = 0; i < where->steps->len; i++) {
        const struct step *step = &g_array_index(where->steps, struct step, i);
        if (step->what == STEP_COMPARE) {
            stack[top++] = compare_known(step, lookup, ctx);
        } else if (step->what == STEP_NOT) {
            stack[top - 1] = YES - stack[top - 1];
        } else {
            top--;
            bool both = step->what == STEP_AND;
            stack[top - 1] =
                both ? MIN(stack[top - 1], stack[top]) : MAX(stack[top - 1], stack[top]);
        }
    }
    return !top || stack[0] != NO;
}
