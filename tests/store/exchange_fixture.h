/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several stores in one process that exchange what they have. */
#ifndef ORCH_TESTS_STORE_EXCHANGE_FIXTURE_H
#define ORCH_TESTS_STORE_EXCHANGE_FIXTURE_H

#include "tests/store/join_fixture.h"

#include "store/exchange/bundle.h"

#include <stdio.h>

#define RECIPE_TEXT "{\"recipe\":\"hw4\"}"

/** A store of a member's. */
struct member {
    char *folder;
    struct orch_store *store;
};

static inline struct member member_new(void)
{
    struct member member = {.folder = fixture_folder()};
    member.store = fixture_open(member.folder);
    return member;
}

static inline void member_free(struct member *member)
{
    orch_store_close(member->store);
    fixture_remove(member->folder);
}

/** A run of that number, the same in every store; `variant` other than 0: another one of its key.
 */
static inline void put_run(struct orch_store *store, unsigned number, int variant)
{
    char recipe[ORCH_SHA256_CHARS];
    g_autofree char *key = numbered_key((int)number);
    struct fixture_points points;
    struct orch_record record;
    fixture_record(&record, key, &points);
    orch_sha256(RECIPE_TEXT, strlen(RECIPE_TEXT), recipe);
    assert_ok(orch_store_put_recipe(store, recipe, "hw4", RECIPE_TEXT, "recipe: hw4\n", error));
    record.recipe_key = recipe;
    record.repeat = variant;
    assert_ok(orch_store_record(store, &record, error));
}

static inline void assert_same_stores(struct orch_store *a, struct orch_store *b)
{
    g_autofree char *of_a = digest_of(a), *of_b = digest_of(b);
    assert_string_equal(of_a, of_b);
}

static inline int64_t count_rows(struct orch_store *store, const char *table)
{
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM %s", table);
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return count;
}

/** What a receipt says is wrong holds these words. */
static inline void assert_problem(const struct orch_receipt *receipt, const char *words)
{
    for (guint i = 0; i < receipt->problems->len; i++)
        if (strstr(receipt->problems->pdata[i], words))
            return;
    fail_msg("no problem with '%s' among %u, the first: %s", words, receipt->problems->len,
             receipt->problems->len ? (const char *)receipt->problems->pdata[0] : "-");
}

#endif
