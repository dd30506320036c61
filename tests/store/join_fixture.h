/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of joining share: stores of chosen runs, and a join of one file into another. */
#ifndef ORCH_TESTS_STORE_JOIN_FIXTURE_H
#define ORCH_TESTS_STORE_JOIN_FIXTURE_H

#include "store/join/join.h"
#include "tests/store/fixture.h"

static inline char *numbered_key(int number)
{
    return g_strdup_printf("01890a5d-ac96-774b-bcce-%012x", (unsigned)number);
}

/** Records run `number`; `variant` makes the same key another run. */
static inline void put_variant(struct orch_store *store, int number, int variant)
{
    struct fixture_points points;
    struct orch_record record;
    g_autofree char *key = numbered_key(number);
    fixture_record(&record, key, &points);
    record.wall_ms += variant;
    assert_ok(orch_store_record(store, &record, error));
}

/** A store FOLDER/NAME.db with runs of these numbers, 0 at the end; closed. Its path. */
static inline char *store_of(const char *folder, const char *name, const int *numbers, int variant)
{
    g_autofree char *file = g_strconcat(name, ".db", NULL);
    char *path = g_build_filename(folder, file, NULL);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
    for (int i = 0; numbers[i]; i++)
        put_variant(store, numbers[i], variant);
    orch_store_close(store);
    return path;
}

/** Joins a file; the receipt, or NULL with `*out_problem` (the caller frees both). */
static inline struct orch_receipt *join_file(struct orch_store *store, const char *path,
                                             GError **out_problem)
{
    struct orch_join *join = orch_join_begin(store, path, out_problem);
    assert_non_null(join);
    if (orch_join_store(join, path, -1, out_problem))
        return orch_join_commit(join, out_problem);
    orch_join_rollback(join);
    return NULL;
}

static inline struct orch_receipt *join_well(struct orch_store *store, const char *path)
{
    struct orch_receipt *receipt;
    assert_ok(receipt = join_file(store, path, error));
    if (!receipt)
        abort(); /* assert_ok does not return */
    return receipt;
}

/** Nothing is wrong with a store: every digest, every reference, every page. */
static inline void assert_sound(struct orch_store *store)
{
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    if (findings->len)
        fail_msg("%s", (char *)findings->pdata[0]);
}

static inline char *digest_of(struct orch_store *store)
{
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_store_digest_all(store, digest, error));
    return g_strdup(digest);
}

#endif
