/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The --where language: text -> condition over `run r`, `source s`, `machine m` with bound values.
 *
 * lib/base/condition.c parses it and calls the functions here, which emit SQL; the user's text
 * enters it only as bound values. A bare name is looked up in each run by itself: its parameter,
 * else its result, else the last value of its metric; a run that has none of them matches no
 * comparison, and neither does `not`. The right side is always a value: a bare word there that is
 * itself a name was meant as one, and is refused rather than taken as text.
 */
#include "store/read/where.h"
#include "store/write/note_rules.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

static const char *const SQL_OPS[] = {
    [OP_EQ] = "=", [OP_NE] = "<>", [OP_LT] = "<",       [OP_LE] = "<=",
    [OP_GT] = ">", [OP_GE] = ">=", [OP_CONTAINS] = NULL};

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
static void append_match(struct orch_where *where, const char *left_sql, enum orch_op op,
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

static bool compare_number(struct orch_where *where, const struct orch_where_column *column,
                           const struct orch_condition_term *c, GError **error)
{
    double number;
    if (c->op != OP_CONTAINS && !orch_where_quantity(c->value, &number))
        return orch_condition_fail(where->text, c->value_at, error, "write 5, 0.5, 90s or 5min",
                                   "'%s' takes a number, not '%s'", column->name, c->value);
    append_match(where, column->sql, c->op, c->value);
    return true;
}

static bool compare_seed(struct orch_where *where, const struct orch_where_column *column,
                         const struct orch_condition_term *c, GError **error)
{
    guint64 seed;
    if (!SQL_OPS[c->op] || !g_ascii_string_to_unsigned(c->value, 10, 0, G_MAXUINT64, &seed, NULL))
        return orch_condition_fail(where->text, c->value_at, error, "write seed = 42",
                                   "'%s' takes a whole number from 0 to 2^64 - 1", column->name);
    g_string_append_printf(where->sql, "%s %s ?", column->sql, SQL_OPS[c->op]);
    bind_int(where, (int64_t)(seed ^ (UINT64_C(1) << 63)));
    return true;
}

static bool compare_id(struct orch_where *where, const struct orch_where_column *column,
                       const struct orch_condition_term *c, GError **error)
{
    g_autofree char *digits = g_ascii_strdown(c->value, -1);
    enum orch_op what = c->op;
    if ((what != OP_EQ && what != OP_NE) || strlen(digits) < 4 ||
        strspn(digits, "0123456789abcdef-") != strlen(digits))
        return orch_condition_fail(where->text, c->value_at, error, "write commit = 1a2b3c4d",
                                   "'%s' needs = or != and the first 4 or more hex digits",
                                   column->name);
    g_string_append_printf(where->sql, "(substr(%s, 1, length(?)) = ?", column->sql);
    bind_text(where, digits);
    bind_text(where, digits);
    if (column->kind == KIND_KEY) { /* outputs show the last 8 characters */
        g_string_append_printf(where->sql, " OR substr(substr(%s, -8), 1, length(?)) = ?",
                               column->sql);
        bind_text(where, digits);
        bind_text(where, digits);
    }
    g_string_append(where->sql, what == OP_NE ? ") = 0" : ")");
    return true;
}

static bool compare_time(struct orch_where *where, const struct orch_where_column *column,
                         const struct orch_condition_term *c, GError **error)
{
    int64_t from, to;
    enum orch_op what = c->op;
    if (what == OP_CONTAINS || !orch_where_time(c->value, &from, &to))
        return orch_condition_fail(
            where->text, c->value_at, error,
            "write 2026-11-21, '2026-11-21 14:30' (UTC), today, or 2d for two days ago",
            "'%s' takes a time, not '%s'", column->name, c->value);
    if (what == OP_EQ || what == OP_NE) {
        g_string_append_printf(where->sql, "(%s >= ? AND %s < ?)%s", column->sql, column->sql,
                               what == OP_NE ? " = 0" : "");
        bind_int(where, from);
        bind_int(where, to);
        return true;
    }
    static const char *const signs[] = {
        [OP_LT] = "<", [OP_LE] = "<", [OP_GT] = ">=", [OP_GE] = ">="};
    g_string_append_printf(where->sql, "%s %s ?", column->sql, signs[what]);
    bind_int(where, what == OP_LT || what == OP_GE ? from : to);
    return true;
}

/* Compares with any of the run's tags; != means that the run has no such tag. */
static bool compare_tag(struct orch_where *where, const struct orch_condition_term *c,
                        GError **error)
{
    enum orch_op what = c->op;
    if (what != OP_EQ && what != OP_NE && what != OP_CONTAINS)
        return orch_condition_fail(where->text, c->value_at, error,
                                   "write tag = paper, tag != paper or tag ~ pap",
                                   "'tag' is compared with =, != or ~");
    g_string_append_printf(where->sql,
                           "%sEXISTS (SELECT 1 FROM note n WHERE n.target = r.key AND %s AND ",
                           what == OP_NE ? "NOT " : "", STORE_TAG_HOLDS("n"));
    if (what == OP_CONTAINS) {
        append_match(where, "n.text", OP_CONTAINS, c->value);
    } else {
        g_string_append(where->sql, "n.text = ?");
        bind_text(where, c->value);
    }
    g_string_append_c(where->sql, ')');
    return true;
}

static bool compare_column(struct orch_where *where, const struct orch_where_column *column,
                           const struct orch_condition_term *c, GError **error)
{
    switch (column->kind) {
    case KIND_TAG:
        return compare_tag(where, c, error);
    case KIND_NUMBER:
        return compare_number(where, column, c, error);
    case KIND_SEED:
        return compare_seed(where, column, c, error);
    case KIND_ID:
    case KIND_KEY:
        return compare_id(where, column, c, error);
    case KIND_TIME:
        return compare_time(where, column, c, error);
    case KIND_WHO:
    case KIND_STATE:
    case KIND_TEXT:
        break;
    }
    enum orch_op what = c->op;
    if (column->kind == KIND_WHO && (what == OP_EQ || what == OP_NE)) {
        g_string_append_printf(where->sql, "orch_is_who(%s, ?) = %d", column->sql, what == OP_EQ);
        bind_text(where, c->value);
        return true;
    }
    if (!SQL_OPS[c->op]) {
        append_match(where, column->sql, OP_CONTAINS, c->value);
        return true;
    }
    g_string_append_printf(where->sql, "%s %s ?", column->sql, SQL_OPS[c->op]);
    bind_text(where, c->value);
    return true;
}

/* Compares a parameter, result or metric. */
static void compare_named(struct orch_where *where, const struct orch_where_scope *scope,
                          const char *name, const struct orch_condition_term *c)
{
    struct where_name known = {.scope = scope, .text = g_strdup(name), .column = c->name_at};
    g_array_append_val(where->names, known);
    for (int i = 0; i < (scope ? 1 : 3); i++)
        bind_text(where, name);
    append_match(where, scope ? scope->sql : WHERE_SQL_ANY, c->op, c->value);
}

static bool note_word(struct orch_where *where, const struct orch_condition_term *c, GError **error)
{
    const char *word = c->value;
    const struct orch_where_column *column = orch_where_column(c->name);
    const struct orch_where_scope *scope = orch_where_scope(word);
    double number;
    if ((column && column->kind != KIND_TEXT && column->kind != KIND_WHO) ||
        orch_where_quantity(word, &number))
        return true;
    if (orch_where_column(word)) {
        g_autofree char *hint = orch_where_quote_hint(word);
        return orch_condition_fail(where->text, c->value_at, error, hint,
                                   "expected a value, found the name '%s'", word);
    }
    struct where_name noted = {.scope = scope,
                               .text = g_strdup(scope ? strchr(word, '.') + 1 : word),
                               .column = c->value_at};
    g_array_append_val(where->words, noted);
    return true;
}

static bool compare(struct orch_where *where, const struct orch_condition_term *c, GError **error)
{
    const char *name = c->name;
    const struct orch_where_column *column = orch_where_column(name);
    if (column)
        return compare_column(where, column, c, error);
    const char *dot = strchr(name, '.');
    const struct orch_where_scope *scope = orch_where_scope(name);
    if (dot && !scope) {
        static const char *const prefixes[] = {"param", "result", "metric", NULL};
        g_autofree char *prefix = g_strndup(name, (gsize)(dot - name));
        const char *near = orch_suggest(prefix, prefixes);
        g_autofree char *hint = g_strdup_printf("did you mean '%s%s'?", near, dot);
        if (near) /* else the dot is part of a name that a program chose, such as val.loss */
            return orch_condition_fail(where->text, c->name_at, error, hint, "unknown name '%s'",
                                       name);
    }
    compare_named(where, scope, scope ? dot + 1 : name, c);
    return true;
}

/* ---- the condition ----------------------------------------------------------------------------
 */

static bool take_comparison(void *ctx, const struct orch_condition_term *c, GError **error)
{
    struct orch_where *where = ctx;
    if (c->is_word && !note_word(where, c, error))
        return false;
    add_step(where, (struct where_step){STEP_COMPARE, (char *)(uintptr_t)c->name,
                                        (char *)(uintptr_t)c->value, c->name_at, c->op});
    return compare(where, c, error);
}

static void take_mark(void *ctx, enum orch_condition_mark mark)
{
    static const struct {
        const char *sql; /* NULL: a step */
        enum where_step_kind step;
    } rows[] = {[CONDITION_OPEN] = {"(", 0},
                [CONDITION_CLOSE] = {")", 0},
                [CONDITION_NOT] = {"NOT ", 0},
                [CONDITION_AND] = {" AND ", 0},
                [CONDITION_OR] = {" OR ", 0},
                [CONDITION_NOT_END] = {NULL, STEP_NOT},
                [CONDITION_AND_END] = {NULL, STEP_AND},
                [CONDITION_OR_END] = {NULL, STEP_OR}};
    struct orch_where *where = ctx;
    if (rows[mark].sql)
        g_string_append(where->sql, rows[mark].sql);
    else
        add_step(where, (struct where_step){.what = rows[mark].step});
}

struct orch_where *orch_where_parse(const char *text, GError **error)
{
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
    const struct orch_condition_reader reader = {
        .ctx = where, .compare = take_comparison, .mark = take_mark};
    if (orch_condition_parse(text, &reader, error))
        return where;
    orch_where_free(where);
    return NULL;
}
