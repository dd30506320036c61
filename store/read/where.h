/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the --where language: where.c makes SQL of it, where_columns.c has the
 * names, where_use.c applies the result. */
#ifndef ORCH_STORE_WHERE_H
#define ORCH_STORE_WHERE_H

#include "store/handle/compare_values.h"
#include "store/read/where_sql.h"

enum where_kind {
    KIND_TEXT,
    KIND_WHO,    /* name of a person: = matches the full text, the name or the address */
    KIND_STATE,  /* text; its words are values even where a parameter or metric has the same name */
    KIND_TAG,    /* several texts: matches when one of them does */
    KIND_NUMBER, /* also durations and byte sizes with units */
    KIND_SEED,
    KIND_ID, /* a hash: a prefix matches */
    KIND_KEY,
    KIND_TIME,
};

struct orch_where_column {
    const char *name, *sql;
    enum where_kind kind;
};

/** A place where names are looked up. `sql` has the name as its one parameter; `exists` tests
 * whether a store has the name; `all` lists the names. */
struct orch_where_scope {
    const char *prefix, *sql, *exists, *all;
};

/** The value of a bare name: its parameter, else its result, else its metric's last value. The name
 * is bound three times. */
extern const char WHERE_SQL_ANY[];

/** A value to bind, in the order of the '?' in the SQL. */
struct where_binding {
    enum { BIND_TEXT, BIND_INT, BIND_REAL, BIND_NULL } type;
    char *text;
    int64_t integer;
    double real;
};

/** A name that is not a column and is looked up in the store. */
struct where_name {
    const struct orch_where_scope *scope; /* NULL: any */
    char *text;
    int column;
};

/** An instruction of the parsed filter, in postfix order. */
struct where_step {
    enum where_step_kind { STEP_COMPARE, STEP_NOT, STEP_AND, STEP_OR } what;
    char *name, *value; /* COMPARE */
    int column;
    enum orch_op op;
};

struct orch_where {
    GArray *steps; /* struct where_step */
    char *text;
    GString *sql;
    GArray *bindings; /* struct where_binding */
    GArray *names;    /* struct where_name */
    GArray *words;    /* struct where_name: bare words on the right side of a comparison, which must
                         not be names */
};

/** The column with that name, or NULL. */
const struct orch_where_column *orch_where_column(const char *name);
/** The scope of a name with a prefix such as "param.lr", or NULL. */
const struct orch_where_scope *orch_where_scope(const char *name);
/** The hint for a name in place of a value. The caller frees. */
char *orch_where_quote_hint(const char *word);
/** Parses "0.1", "1e-3", "50_000", "90s", "1h30min", "64KiB". The result is in seconds or bytes
 * when there is a unit. */
bool orch_where_quantity(const char *text, double *out);
/** Converts a point in time to the half-open interval that its precision covers: a day, a minute or
 * a second. "2d" is that long ago. */
bool orch_where_time(const char *text, int64_t *out_from_ns, int64_t *out_to_ns);

#endif
