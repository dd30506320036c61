/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a run, listed once: every file of the store that writes, reads, copies, hashes or
 * displays a run takes its fields from this table.
 *
 * A row is F(kind, member, table, column, shown, what):
 *   kind     enum store_field_kind without its prefix: how it is stored, hashed and written as text
 *   member   of struct orch_record and of struct orch_run, and its key in a run's text and in a
 *            trial's record
 *   table    the table that stores it: r (run), s (source), m (machine)
 *   column   of that table
 *   shown    its name in JSON, in exported tables and in conditions (docs/run-fields.md)
 *   what     a few words for messages and docs/run-fields.md
 *
 * The order is that of digest v1 (docs/store.md) and never changes. Adding a field needs a new
 * version of the digest and of the text.
 */
#ifndef ORCH_STORE_RUN_FIELDS_H
#define ORCH_STORE_RUN_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

enum store_field_kind {
    STORE_FIELD_NAME,   /* text, never NULL */
    STORE_FIELD_TEXT,   /* short text; an empty one is stored as NULL */
    STORE_FIELD_LONG,   /* text of any length; an empty one is stored as NULL */
    STORE_FIELD_JSON,   /* text that holds JSON; an empty one is stored as NULL */
    STORE_FIELD_BOOL,   /* bool */
    STORE_FIELD_SEED,   /* uint64_t, stored as the signed integer of the same bits */
    STORE_FIELD_INT,    /* int */
    STORE_FIELD_EXIT,   /* int, -1 is stored as NULL */
    STORE_FIELD_SIGNAL, /* int, 0 is stored as NULL */
    STORE_FIELD_TIME,   /* int64_t, UTC nanoseconds since 1970 */
    STORE_FIELD_MS,     /* double, milliseconds; NaN is stored as NULL */
};

#define STORE_RUN_FIELDS(F)                                                                        \
    F(NAME, key, r, key, "key", "key")                                                             \
    F(TEXT, recipe_key, r, recipe_key, "recipe_key", "recipe key")                                 \
    F(TEXT, recipe, r, recipe, "recipe", "recipe")                                                 \
    F(TEXT, experiment, r, experiment, "experiment", "experiment")                                 \
    F(TEXT, plugin, r, plugin, "plugin", "plugin")                                                 \
    F(TEXT, plugin_version, r, plugin_version, "plugin_version", "version")                        \
    F(TEXT, build, r, build, "build", "build")                                                     \
    F(TEXT, source_tree, s, tree, "tree", "tree")                                                  \
    F(TEXT, source_commit, s, commit_oid, "commit", "commit")                                      \
    F(TEXT, source_branch, s, branch, "branch", "branch")                                          \
    F(TEXT, source_remote, s, remote, "remote", "remote")                                          \
    F(BOOL, source_dirty, s, dirty, "dirty", "uncommitted changes")                                \
    F(TEXT, fingerprint, r, fingerprint, "fingerprint", "fingerprint")                             \
    F(TEXT, device_key, r, device_key, "device_key", "device")                                     \
    F(SEED, seed, r, seed, "seed", "seed")                                                         \
    F(INT, repeat, r, repeat, "repeat", "repeat")                                                  \
    F(INT, attempt, r, attempt, "attempt", "attempt")                                              \
    F(NAME, state, r, state, "state", "state")                                                     \
    F(LONG, reason, r, reason, "reason", "reason")                                                 \
    F(EXIT, exit_code, r, exit_code, "exit_code", "exit status")                                   \
    F(SIGNAL, signal, r, signal, "signal", "signal")                                               \
    F(TEXT, machine_key, m, key, "machine", "machine")                                             \
    F(JSON, machine_facts, m, facts, "machine_facts", "description of the machine")                \
    F(TEXT, who, r, who, "who", "author")                                                          \
    F(JSON, argv, r, argv, "argv", "command line")                                                 \
    F(TIME, started_ns, r, started, "started", "time of the start")                                \
    F(TIME, ended_ns, r, ended, "ended", "time of the end")                                        \
    F(MS, wall_ms, r, wall_ms, "wall_s", "seconds it took")                                        \
    F(JSON, facts, r, facts, "facts", "facts")

#define STORE_FIELD_ONE(kind, member, table, column, shown, what) +1

/** A row of the table. */
struct store_run_field {
    const char *text, *shown, *what;
    enum store_field_kind kind;
    bool is_own;              /* a column of the table run itself */
    size_t in_record, in_run; /* offsets in struct orch_record and struct orch_run */
};
enum { STORE_RUN_FIELD_COUNT = 0 STORE_RUN_FIELDS(STORE_FIELD_ONE) };
extern const struct store_run_field store_run_fields[STORE_RUN_FIELD_COUNT];

static inline bool store_field_is_text(enum store_field_kind kind)
{
    return kind <= STORE_FIELD_JSON;
}

/* Macros that build the SQL of the fields, for literals. */

/** ", r.key, r.recipe_key, ...": all fields in order, to be appended to another column. */
#define STORE_FIELD_SELECT(kind, member, table, column, shown, what) ", " #table "." #column
/** ", key, recipe_key, ...": the fields in table run; STORE_FIELD_PLACE gives ", ?" for each.
 */
#define STORE_FIELD_OWN(kind, member, table, column, shown, what) STORE_FIELD_OWN_##table(column)
#define STORE_FIELD_OWN_r(column) ", " #column
#define STORE_FIELD_OWN_s(column)
#define STORE_FIELD_OWN_m(column)
#define STORE_FIELD_PLACE(kind, member, table, column, shown, what) STORE_FIELD_PLACE_##table
#define STORE_FIELD_PLACE_r ", ?"
#define STORE_FIELD_PLACE_s
#define STORE_FIELD_PLACE_m

/** SQL: the joins that give the tables s and m to `FROM run r`. */
#define STORE_RUN_JOINS                                                                            \
    " LEFT JOIN source s ON s.id = r.source LEFT JOIN machine m ON m.id = r.machine"

#endif
