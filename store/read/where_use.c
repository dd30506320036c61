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
    bool numbers = orch_store_number_of(left, &a) && orch_where_quantity(step->value, &b);
    return orch_op_holds(step->op, numbers ? (a > b) - (a < b) : strcmp(left, step->value)) ? YES
                                                                                            : NO;
}

static enum truth truth_of(const struct orch_where *where, orch_where_lookup lookup, void *ctx)
{
    enum truth stack[ORCH_CONDITION_COMPARISONS_MAX + 1];
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
