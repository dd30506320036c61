/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Applies a parsed filter: as SQL in the store, and to known values without a store. */
#include "store/read/where.h"

#include "lib/base/text.h"

#include <string.h>

const char *orch_store_where_sql(const struct orch_where *where)
{
    return where->sql->str;
}

int orch_store_where_bind(const struct orch_where *where, sqlite3_stmt *statement, int first)
{
    for (guint i = 0; i < where->bindings->len; i++) {
        const struct where_binding *b = &g_array_index(where->bindings, struct where_binding, i);
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

static bool holds(enum where_op op, int order)
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

/* A stored number, also one that keeps the spelling that was typed ("1_000", "0123"). */
static bool number_of(const char *text, double *out)
{
    int64_t whole;
    if (orch_real_parse(text, out))
        return true;
    bool is_whole = orch_int_parse(text, &whole);
    if (is_whole)
        *out = (double)whole;
    return is_whole;
}

/* orch_number(x) is the number that a text spells, and any other value itself: for sorting. */
static void as_number(sqlite3_context *context, int count, sqlite3_value **args)
{
    (void)count;
    double number;
    bool is_text = sqlite3_value_type(args[0]) == SQLITE_TEXT;
    if (is_text && number_of((const char *)sqlite3_value_text(args[0]), &number))
        sqlite3_result_double(context, number);
    else
        sqlite3_result_value(context, args[0]);
}

/* orch_match(left, op, text, number) compares numbers as numbers when both sides are numbers, and
 * texts by their bytes; a number and a word are unequal. NULL when there is no left side. */
static void match(sqlite3_context *context, int count, sqlite3_value **args)
{
    (void)count;
    int type = sqlite3_value_type(args[0]);
    if (type == SQLITE_NULL)
        return;
    enum where_op op = (enum where_op)sqlite3_value_int(args[1]);
    const char *left = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(args[0]) : NULL;
    if (op == OP_CONTAINS) {
        const char *text = (const char *)sqlite3_value_text(args[0]);
        const char *part = (const char *)sqlite3_value_text(args[2]);
        sqlite3_result_int(context, text && part && strcasestr(text, part) != NULL);
        return;
    }
    bool right_is_number = sqlite3_value_type(args[3]) != SQLITE_NULL;
    double right = sqlite3_value_double(args[3]), value;
    bool left_is_number = !left || (right_is_number && number_of(left, &value));
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

/* orch_is_who(who, text); NULL when the author is unknown. */
static void is_who(sqlite3_context *context, int count, sqlite3_value **args)
{
    (void)count;
    const char *who = (const char *)sqlite3_value_text(args[0]);
    const char *text = (const char *)sqlite3_value_text(args[1]);
    if (who)
        sqlite3_result_int(context, orch_who_matches(who, text));
}

int orch_store_where_register(sqlite3 *db)
{
    int status = sqlite3_create_function_v2(
        db, "orch_is_who", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, is_who, NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status =
            sqlite3_create_function_v2(db, "orch_number", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                       NULL, as_number, NULL, NULL, NULL);
    if (status != SQLITE_OK)
        return status;
    return sqlite3_create_function_v2(db, "orch_match", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                      match, NULL, NULL, NULL);
}

/* ---- without a store ---------------------------------------------------------------------------
 */

GArray *orch_where_names(const struct orch_where *where)
{
    GArray *names = g_array_new(FALSE, FALSE, sizeof(struct orch_where_name));
    for (guint i = 0; i < where->steps->len; i++) {
        const struct where_step *step = &g_array_index(where->steps, struct where_step, i);
        struct orch_where_name name = {step->name, step->column,
                                       step->name && orch_where_column(step->name)};
        if (step->what == STEP_COMPARE)
            g_array_append_val(names, name);
    }
    return names;
}

enum truth { NO, MAYBE, YES };

static enum truth compare_known(const struct where_step *step, orch_where_lookup lookup, void *ctx)
{
    const char *name =
        g_str_has_prefix(step->name, "param.") ? step->name + strlen("param.") : step->name;
    g_autofree char *left = lookup(ctx, name);
    double a, b;
    if (!left)
        return MAYBE;
    if (step->op == OP_CONTAINS)
        return strcasestr(left, step->value) ? YES : NO;
    const struct orch_where_column *column = orch_where_column(step->name);
    if (column && column->kind == KIND_WHO && (step->op == OP_EQ || step->op == OP_NE))
        return orch_who_matches(left, step->value) == (step->op == OP_EQ) ? YES : NO;
    bool numbers = number_of(left, &a) && orch_where_quantity(step->value, &b);
    return holds(step->op, numbers ? (a > b) - (a < b) : strcmp(left, step->value)) ? YES : NO;
}

static enum truth truth_of(const struct orch_where *where, orch_where_lookup lookup, void *ctx)
{
    enum truth stack[WHERE_COMPARISONS_MAX + 1];
    int top = 0;
    for (guint i = 0; i < where->steps->len; i++) {
        const struct where_step *step = &g_array_index(where->steps, struct where_step, i);
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
    return top ? stack[0] : YES;
}

bool orch_where_may_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx)
{
    return truth_of(where, lookup, ctx) != NO;
}

bool orch_where_must_hold(const struct orch_where *where, orch_where_lookup lookup, void *ctx)
{
    return truth_of(where, lookup, ctx) == YES;
}
