/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values are compared, in C and as functions of SQL. */
#include "store/handle/compare_values.h"

#include "lib/base/ident.h"
#include "lib/base/text.h"

#include <string.h>

bool orch_store_number_of(const char *text, double *out)
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
    if (is_text && orch_store_number_of((const char *)sqlite3_value_text(args[0]), &number))
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
    enum orch_op op = (enum orch_op)sqlite3_value_int(args[1]);
    const char *left = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(args[0]) : NULL;
    if (op == OP_CONTAINS) {
        const char *text = (const char *)sqlite3_value_text(args[0]);
        const char *part = (const char *)sqlite3_value_text(args[2]);
        sqlite3_result_int(context, text && part && strcasestr(text, part) != NULL);
        return;
    }
    bool right_is_number = sqlite3_value_type(args[3]) != SQLITE_NULL;
    double right = sqlite3_value_double(args[3]), value;
    bool left_is_number = !left || (right_is_number && orch_store_number_of(left, &value));
    if (!left)
        value = sqlite3_value_double(args[0]);
    if (left_is_number && right_is_number)
        sqlite3_result_int(context, orch_op_holds(op, (value > right) - (value < right)));
    else if (left_is_number && !left)
        sqlite3_result_int(context, op == OP_NE);
    else
        sqlite3_result_int(
            context, orch_op_holds(op, strcmp(left, (const char *)sqlite3_value_text(args[2]))));
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

int orch_store_add_functions(sqlite3 *db)
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
