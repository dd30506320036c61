/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the --where language share: where.c reads it, where_columns.c knows the names,
 * where_use.c applies what was read. */
#ifndef ORCH_STORE_WHERE_H
#define ORCH_STORE_WHERE_H

#include "store/internal.h"

enum { WHERE_COMPARISONS_MAX = 100 };

enum where_op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_CONTAINS };

enum where_kind {
    KIND_TEXT,
    KIND_WHO,    /* text of a person: = means the full text, the name or the address */
    KIND_STATE,  /* text whose words are values, whatever else has their name */
    KIND_TAG,    /* several texts: one of them is meant */
    KIND_NUMBER, /* also durations and bytes with their units */
    KIND_SEED,
    KIND_ID, /* a hash: the first digits are enough */
    KIND_KEY,
    KIND_TIME,
};

struct where_column {
    const char *name, *sql;
    enum where_kind kind;
};

/** Where a name may be found. `sql` takes the name once; `exists` says whether a store has it;
 * `all` lists the names. */
struct where_scope {
    const char *prefix, *sql, *exists, *all;
};

/** A bare name's value: its parameter, else its result, else its metric's last value. Takes the
 * name three times. */
extern const char WHERE_SQL_ANY[];

/** A value to bind, in order of the '?' in the SQL. */
struct where_binding {
    enum { BIND_TEXT, BIND_INT, BIND_REAL, BIND_NULL } type;
    char *text;
    int64_t integer;
    double real;
};

/** A name that is no column, to be looked for in the store. */
struct where_name {
    const struct where_scope *scope; /* NULL: any */
    char *text;
    int column;
};

/** What the filter says, in postfix order. */
struct where_step {
    enum { STEP_COMPARE, STEP_NOT, STEP_AND, STEP_OR } what;
    char *name, *value; /* COMPARE */
    int column;
    enum where_op op;
};

struct orch_where {
    GArray *steps; /* struct where_step */
    char *text;
    GString *sql;
    GArray *bindings; /* struct where_binding */
    GArray *names;    /* struct where_name */
    GArray *words;    /* struct where_name: bare words on the right side, which must not be names */
};

/** The column of that name; NULL: there is none. */
const struct where_column *where_column(const char *name);
/** The scope that "param.lr" and the like begin with; NULL: none. */
const struct where_scope *where_scope(const char *name);
/** The hint of a name that stands where a value is expected. The caller frees. */
char *where_quote_hint(const char *word);
/** "0.1", "1e-3", "50_000", "90s", "1h30min", "64KiB": seconds and bytes where there is a unit. */
bool where_quantity(const char *text, double *out);

#endif
