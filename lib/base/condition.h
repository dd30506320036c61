/* SPDX-License-Identifier: MIT */
/*
 * The grammar of conditions, of filters (--where, store/read/where.c) and of alerts
 * (lib/wire/alert.h):
 *
 *     or    := and ("or" and)*
 *     and   := not ("and" not)*
 *     not   := "not" not | "(" or ")" | name op value
 *     op    := "=" "!=" "<" "<=" ">" ">=" "~"
 *     value := word | 'text' | "text"
 *
 * In alerts a value is a formula of words (3 * first), and `name is [not] nan|inf` is a comparison,
 * too. Text, comparisons and nesting are bounded. The reader makes what it needs of a condition
 * while it is parsed.
 */
#ifndef ORCH_BASE_CONDITION_H
#define ORCH_BASE_CONDITION_H

#include <glib.h>
#include <stdbool.h>

#define ORCH_CONDITION_COMPARISONS_MAX 100

enum orch_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_CONTAINS, OP_IS };

/** A comparison. Texts are borrowed; columns count from 1. */
struct orch_condition_term {
    const char *name, *value;
    const char *sign; /* the operator as it was written */
    enum orch_op op;
    int name_at, value_at;
    bool is_word; /* the value stands without quotes */
    bool is_not;  /* IS: "is not" */
};

/** What stands between comparisons: before, between and after what it joins. */
enum orch_condition_mark {
    CONDITION_OPEN,
    CONDITION_CLOSE,
    CONDITION_NOT,
    CONDITION_AND,
    CONDITION_OR,
    CONDITION_NOT_END,
    CONDITION_AND_END,
    CONDITION_OR_END,
};

struct orch_condition_reader {
    void *ctx;
    bool has_formulas; /* of an alert */
    bool (*compare)(void *ctx, const struct orch_condition_term *comparison, GError **error);
    void (*mark)(void *ctx, enum orch_condition_mark mark);
};

/** Parses a condition and passes its parts in their order. Fails with ORCH_ERROR_USAGE and the
 * column, or as `compare` does. */
bool orch_condition_parse(const char *text, const struct orch_condition_reader *reader,
                          GError **error);
/** Sets the error "character 5 of condition '...': ...". Returns false. */
bool orch_condition_fail(const char *text, int column, GError **error, const char *hint,
                         const char *format, ...) G_GNUC_PRINTF(5, 6);
/** Whether `left op right` holds when `order` is negative, 0 or positive as left is below, equal to
 * or above right. False for OP_CONTAINS and OP_IS. */
bool orch_op_holds(enum orch_op op, int order);

#endif
