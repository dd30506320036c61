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
 * A recursive-descent parser emits SQL directly; the user's text enters it only as bound values. A
 * bare name is looked up in each run by itself: its parameter, else its result, else the last value
 * of its metric; a run that has none of them matches no comparison, and neither does `not`. The
 * right side is always a value: a bare word there that is itself a name was meant as one, and is
 * refused rather than taken as text. Text, comparisons and nesting are bounded.
 */
#include "store/read/where.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

enum { TEXT_MAX = 4096, DEPTH_MAX = 32 };

/* Longer operators come first. */
static const struct {
    const char *sign;
    enum store_op op;
    const char *sql;
} OPS[] = {
    {"==", OP_EQ, "="},  {"!=", OP_NE, "<>"}, {"<>", OP_NE, "<>"},
    {"<=", OP_LE, "<="}, {">=", OP_GE, ">="}, {"=", OP_EQ, "="},
    {"<", OP_LT, "<"},   {">", OP_GT, ">"},   {"~", OP_CONTAINS, NULL},
};

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_OP, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

struct parser {
    struct orch_where *where;
    const char *at; /* after the token */
    enum token_kind token;
    GString *word;
    size_t op;  /* row of OPS */
    int column; /* of the token, from 1 */
    int comparisons, depth;
    GError **error;
};

static void clear_binding(gpointer data)
{
    g_free(((struct where_binding *)data)->text);
}

static void clear_name(gpointer data)
{
    g_free(((struct where_name *)data)->text);
}

static void clear_step(gpointer data)
{
    struct where_step *step = data;
    g_free(step->name);
    g_free(step->value);
}

static void add_step(struct orch_where *where, struct where_step step)
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

/* A quote within the text is doubled. */
static bool read_string(struct parser *p)
{
    char quote = *p->at++;
    for (;; p->at++) {
        if (!*p->at)
            return fail(p, p->column, "close it with the same quote", "unterminated quoted text");
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

/* ---- bound values -----------------------------------------------------------------------------
 */

static void bind_text(struct orch_where *where, const char *text)
{
    struct where_binding b = {.type = BIND_TEXT, .text = g_strdup(text)};
    g_array_append_val(where->bindings, b);
}

static void bind_int(struct orch_where *where, int64_t value)
{
    struct where_binding b = {.type = BIND_INT, .integer = value};
    g_array_append_val(where->bindings, b);
}

/* ---- comparisons ------------------------------------------------------------------------------
 */

/* orch_match(left, op, text, number): see match() below. The left side's bindings come first. */
static void append_match(struct orch_where *where, const char *left_sql, enum store_op op,
                         const char *text)
{
    struct where_binding number = {.type = BIND_NULL};
    if (orch_where_quantity(text, &number.real))
        number.type = BIND_REAL;
    g_string_append_printf(where->sql, "orch_match(%s, ?, ?, ?)", left_sql);
    bind_int(where, op);
    bind_text(where, text);
    g_array_append_val(where->bindings, number);
}

static bool compare_number(struct parser *p, const struct orch_where_column *column, size_t op,
                           const char *text, int at)
{
    double number;
    if (OPS[op].op != OP_CONTAINS && !orch_where_quantity(text, &number))
        return fail(p, at, "write 5, 0.5, 90s or 5min", "'%s' takes a number, not '%s'",
                    column->name, text);
    append_match(p->where, column->sql, OPS[op].op, text);
    return true;
}

static bool compare_seed(struct parser *p, const struct orch_where_column *column, size_t op,
                         const char *text, int at)
{
    guint64 seed;
    if (!OPS[op].sql || !g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &seed, NULL))
        return fail(p, at, "write seed = 42", "'%s' takes a whole number from 0 to 2^64 - 1",
                    column->name);
    g_string_append_printf(p->where->sql, "%s %s ?", column->sql, OPS[op].sql);
    bind_int(p->where, (int64_t)(seed ^ (UINT64_C(1) << 63)));
    return true;
}

static bool compare_id(struct parser *p, const struct orch_where_column *column, size_t op,
                       const char *text, int at)
{
    g_autofree char *digits = g_ascii_strdown(text, -1);
    enum store_op what = OPS[op].op;
    if ((what != OP_EQ && what != OP_NE) || strlen(digits) < 4 ||
        strspn(digits, "0123456789abcdef-") != strlen(digits))
        return fail(p, at, "write commit = 1a2b3c4d",
                    "'%s' is compared with = or != and 4 or more of its first hex digits",
                    column->name);
    g_string_append_printf(p->where->sql, "(substr(%s, 1, length(?)) = ?", column->sql);
    bind_text(p->where, digits);
    bind_text(p->where, digits);
    if (column->kind == KIND_KEY) { /* outputs show the last 8 characters */
        g_string_append_printf(p->where->sql, " OR substr(substr(%s, -8), 1, length(?)) = ?",
                               column->sql);
        bind_text(p->where, digits);
        bind_text(p->where, digits);
    }
    g_string_append(p->where->sql, what == OP_NE ? ") = 0" : ")");
    return true;
}

static bool compare_time(struct parser *p, const struct orch_where_column *column, size_t op,
                         const char *text, int at)
{
    int64_t from, to;
    enum store_op what = OPS[op].op;
    if (what == OP_CONTAINS || !orch_where_time(text, &from, &to))
        return fail(p, at,
                    "write 2026-11-21, '2026-11-21 14:30' (UTC), today, or 2d for two days "
                    "ago",
                    "'%s' takes a time, not '%s'", column->name, text);
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

/* Compares with any of the run's tags; != means that the run has no such tag. */
static bool compare_tag(struct parser *p, size_t op, const char *text, int at)
{
    enum store_op what = OPS[op].op;
    if (what != OP_EQ && what != OP_NE && what != OP_CONTAINS)
        return fail(p, at, "write tag = paper, tag != paper or tag ~ pap",
                    "'tag' is compared with =, != or ~");
    g_string_append_printf(p->where->sql,
                           "%sEXISTS (SELECT 1 FROM note n WHERE n.target = r.key AND %s AND ",
                           what == OP_NE ? "NOT " : "", STORE_TAG_HOLDS("n"));
    if (what == OP_CONTAINS) {
        append_match(p->where, "n.text", OP_CONTAINS, text);
    } else {
        g_string_append(p->where->sql, "n.text = ?");
        bind_text(p->where, text);
    }
    g_string_append_c(p->where->sql, ')');
    return true;
}

static bool compare_column(struct parser *p, const struct orch_where_column *column, size_t op,
                           const char *text, int at)
{
    switch (column->kind) {
    case KIND_TAG:
        return compare_tag(p, op, text, at);
    case KIND_NUMBER:
        return compare_number(p, column, op, text, at);
    case KIND_SEED:
        return compare_seed(p, column, op, text, at);
    case KIND_ID:
    case KIND_KEY:
        return compare_id(p, column, op, text, at);
    case KIND_TIME:
        return compare_time(p, column, op, text, at);
    case KIND_WHO:
    case KIND_STATE:
    case KIND_TEXT:
        break;
    }
    enum store_op what = OPS[op].op;
    if (column->kind == KIND_WHO && (what == OP_EQ || what == OP_NE)) {
        g_string_append_printf(p->where->sql, "orch_is_who(%s, ?) = %d", column->sql,
                               what == OP_EQ);
        bind_text(p->where, text);
        return true;
    }
    if (!OPS[op].sql) {
        append_match(p->where, column->sql, OP_CONTAINS, text);
        return true;
    }
    g_string_append_printf(p->where->sql, "%s %s ?", column->sql, OPS[op].sql);
    bind_text(p->where, text);
    return true;
}

/* Compares a parameter, result or metric. */
static void compare_named(struct parser *p, const struct orch_where_scope *scope, const char *name,
                          int name_at, size_t op, const char *text)
{
    struct where_name known = {.scope = scope, .text = g_strdup(name), .column = name_at};
    g_array_append_val(p->where->names, known);
    for (int i = 0; i < (scope ? 1 : 3); i++)
        bind_text(p->where, name);
    append_match(p->where, scope ? scope->sql : WHERE_SQL_ANY, OPS[op].op, text);
}

static bool note_word(struct parser *p, const char *name, const char *word, int at)
{
    const struct orch_where_column *column = orch_where_column(name);
    const struct orch_where_scope *scope = orch_where_scope(word);
    double number;
    if ((column && column->kind != KIND_TEXT && column->kind != KIND_WHO) ||
        orch_where_quantity(word, &number))
        return true;
    if (orch_where_column(word)) {
        g_autofree char *hint = orch_where_quote_hint(word);
        return fail(p, at, hint, "expected a value, found the name '%s'", word);
    }
    struct where_name noted = {
        .scope = scope, .text = g_strdup(scope ? strchr(word, '.') + 1 : word), .column = at};
    g_array_append_val(p->where->words, noted);
    return true;
}

static bool compare(struct parser *p, const char *name, int name_at, size_t op, const char *text,
                    int at)
{
    const struct orch_where_column *column = orch_where_column(name);
    if (column)
        return compare_column(p, column, op, text, at);
    const char *dot = strchr(name, '.');
    const struct orch_where_scope *scope = orch_where_scope(name);
    if (dot && !scope) {
        static const char *const prefixes[] = {"param", "result", "metric", NULL};
        g_autofree char *prefix = g_strndup(name, (gsize)(dot - name));
        const char *near = orch_suggest(prefix, prefixes);
        g_autofree char *hint = g_strdup_printf("did you mean '%s%s'?", near, dot);
        if (near) /* else the dot is part of a name that a program chose, such as val.loss */
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
    if (++p->comparisons > WHERE_COMPARISONS_MAX)
        return fail(p, p->column, NULL, "more than %d comparisons", WHERE_COMPARISONS_MAX);
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
    add_step(p->where, (struct where_step){STEP_COMPARE, name, p->word->str, name_at, OPS[op].op});
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
        add_step(p->where, (struct where_step){.what = STEP_NOT});
    } else if (p->token == TOKEN_OPEN) {
        ok = next_token(p) && parse_or(p); /* parse_or adds the parentheses */
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
        add_step(p->where, (struct where_step){.what = STEP_AND});
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
        add_step(p->where, (struct where_step){.what = STEP_OR});
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
    where->steps = g_array_new(FALSE, FALSE, sizeof(struct where_step));
    g_array_set_clear_func(where->steps, clear_step);
    where->sql = g_string_new(NULL);
    where->bindings = g_array_new(FALSE, FALSE, sizeof(struct where_binding));
    where->names = g_array_new(FALSE, FALSE, sizeof(struct where_name));
    g_array_set_clear_func(where->bindings, clear_binding);
    where->words = g_array_new(FALSE, FALSE, sizeof(struct where_name));
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
