/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of a store, and how an older file gets them.
 */
#ifndef ORCH_STORE_SCHEMA_H
#define ORCH_STORE_SCHEMA_H

#include "store/handle/handle.h"

/** An expression of SQL: the record of a trial with the present name of the device key, which
 * development versions before the first release wrote as 'where_key'. */
#define STORE_RENAMED(record) "replace(" record ", '\"where_key\":', '\"device_key\":')"

/** Migrates from schema `from` to `from + 1`. */
struct store_migration {
    int from;
    const char *sql;
};
struct store_migrations {
    int target;         /* the schema version that this program uses */
    const char *create; /* SQL that creates a new store of version `target` */
    /* the schema text of an earlier program with the same version number, and the SQL that converts
     * it to `create`; NULL when there was none */
    const char *before, *renames;
    const struct store_migration *steps;
    size_t step_count;
};
extern const struct store_migrations store_migrations;

/** Brings an open file to the target schema: creates it in an empty file (only with `may_create`),
 * migrates an older schema, and refuses everything else. */
bool orch_store_migrate(struct orch_store *store, const struct store_migrations *migrations,
                        bool may_create, GError **error);

/** Brings a file with the shape `before` to that of `create`, after a backup. */
bool orch_store_rename(struct orch_store *store, const struct store_migrations *migrations,
                       GError **error);

/** Classifies the file. Returns 1 for an orch store, whose schema is `*out_schema`, 0 for an empty
 * file, and -1 with an error for everything else. */
int orch_store_recognise(struct orch_store *store, int target, int64_t *out_schema, GError **error);

#endif
