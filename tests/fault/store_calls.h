/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sweeps of tests/fault/test_store_reads.c and test_store_writes.c: a store with a bit of
 * everything, and an operation on it of which each call of SQLite, or of the system's file
 * functions, fails in turn. */
#ifndef ORCH_TESTS_STORE_CALLS_H
#define ORCH_TESTS_STORE_CALLS_H

#include "tests/store/join_fixture.h"

#include "lib/base/sha256.h"
#include "store/handle/meta.h"
#include "store/write/dataset.h"
#include "store/write/forecast.h"
#include "store/write/imported.h"
#include "store/write/predictor.h"
#include "tests/fault/fault_calls.h"

#define CALLS_OTHER_KEY "01890a5d-ac96-774b-bcce-b302099a8058"

/** One operation. It returns false with an error, or true. */
struct calls_operation {
    const char *name;
    bool (*run)(struct orch_store *store, GError **error);
    bool is_advisory;     /* may succeed although a call failed: what it adds is optional */
    const char *optional; /* SQL of a call that may fail unnoticed */
    bool may_lack_files;  /* may succeed although a file could not be looked at, or removed */
    const char *place;    /* named by an error about files instead of the store's folder */
    bool is_once;         /* a second time it has nothing to do, or is refused */
    bool is_partial;      /* when it fails, part of the change may have been made */
};

enum { CALLS_MAX = 3000 };

static inline struct orch_dataset *calls_dataset(const char *name, double first)
{
    struct orch_dataset *set = orch_dataset_new(name, "step_ms", "ms", 3);
    double *batch = orch_dataset_add_numbers(set, "batch");
    const char **gpu = orch_dataset_add_texts(set, "gpu");
    for (size_t i = 0; i < 3; i++) {
        set->targets[i] = first + (double)i;
        batch[i] = 32;
        gpu[i] = orch_dataset_keep(set, "V100");
    }
    return set;
}

static inline struct orch_imported_run *calls_imported(const char *id)
{
    struct orch_imported_run *run = orch_imported_run_new("mlflow", id);
    orch_imported_set_text(&run->name, "first");
    orch_imported_set_text(&run->experiment, "nets");
    orch_imported_param(run, "lr", "0.1");
    orch_imported_result(run, "accuracy", 0.5);
    orch_imported_label(run, "team", "blue");
    orch_imported_point(run, "loss", 1, INT64_C(1700000001000000000), 2.5);
    run->started_ns = INT64_C(1700000000000000000);
    run->ended_ns = INT64_C(1700000009000000000);
    return run;
}

static inline bool calls_put_forecast(struct orch_store *store, GError **error)
{
    struct orch_forecast_row row = {.fingerprint = FIXTURE_PRINT,
                                    .machine = "2x Tesla V100-SXM2-16GB",
                                    .model = "ratio",
                                    .tier = "measured",
                                    .run_key = FIXTURE_KEY,
                                    .made_ns = 1,
                                    .time_s.low = 1,
                                    .time_s.mid = 2,
                                    .time_s.high = 3};
    return orch_store_put_forecast(store, &row, error);
}

/** Makes FOLDER/results.db with two runs (the second is hidden), a conflict, objects, notes of
 * every kind, a recipe, data sets, a forecast, a predictor, an imported run and a trial under
 * way. */
static inline void calls_make_store(const char *folder)
{
    g_autofree char *beside = g_build_filename(folder, "beside", NULL);
    assert_ok(orch_dir_make(beside, error));
    struct orch_store *store = fixture_open(folder);
    struct orch_active active;
    enum orch_begin begun;
    enum orch_dataset_put put;
    char key[ORCH_KEY_CHARS], sha256[ORCH_SHA256_CHARS];
    bool added;
    char recipe[ORCH_SHA256_CHARS];
    orch_sha256("{}", 2, recipe);
    fixture_put(store, FIXTURE_KEY);
    fixture_put(store, CALLS_OTHER_KEY);
    put_variant(store, 1, 0);
    assert_ok(orch_store_put_object_bytes(store, "foo", 3, sha256, error));
    assert_ok(orch_store_put_object_bytes(store, "of no run", 9, sha256, error));
    assert_ok(orch_store_put_recipe(store, recipe, "hw4", "{}", "{ }", error));
    assert_ok(orch_store_note(store, FIXTURE_KEY, "note", true, "fine", error));
    assert_ok(orch_store_note(store, FIXTURE_KEY, "tag", true, "best", error));
    assert_ok(orch_store_note(store, FIXTURE_KEY, "signature", true, "{\"key\":1}", error));
    assert_ok(orch_store_set_name(store, FIXTURE_KEY, "hugo", false, error));
    assert_ok(orch_store_note(store, CALLS_OTHER_KEY, "tombstone", false, "wrong", error));
    assert_ok(calls_put_forecast(store, error));
    assert_ok(orch_store_put_predictor(store, "mine", "{\"a\":1}", error));
    assert_ok(orch_store_remember(store, "exchange.commit", "abc", error));
    struct orch_dataset *set = calls_dataset("timings", 1);
    assert_ok(orch_store_put_dataset(store, set, &put, NULL, error));
    orch_dataset_free(set);
    struct orch_imported_run *run = calls_imported("a1");
    assert_ok(orch_store_put_imported(store, run, &added, error));
    orch_imported_run_free(run);
    fixture_active(&active, "0f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bd822cd15d6c15b0f00a8",
                   "somewhere");
    assert_ok(orch_store_begin(store, &active, ORCH_REUSE_ANY, false, &begun, key, error));
    g_autofree char *other = store_of(beside, "other", (const int[]){1, 2, 0}, 1);
    struct orch_receipt *receipt = join_well(store, other);
    assert_true(receipt->conflicts == 1);
    orch_receipt_free(receipt);
    orch_store_close(store);
}

/** Makes TO, with all in it, a copy of the folder FROM. */
static inline void calls_copy(const char *from, const char *to)
{
    const char *argv[] = {"cp", "-a", from, to, NULL};
    int status = 1;
    orch_tree_remove(to, NULL);
    assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                             NULL, NULL, &status, NULL));
    assert_int_equal(status, 0);
}

/** Number of findings of calls_wrong in the present test. */
static unsigned calls_findings;

/** The set-up of each test: another one's findings are not its own. */
static inline int calls_begin_test(void **state)
{
    (void)state;
    calls_findings = 0;
    return 0;
}

/** Reports what is wrong, and goes on: one run of the test lists all. */
static inline void calls_wrong(const struct calls_operation *op, unsigned n, const char *format,
                               ...) G_GNUC_PRINTF(3, 4);
static inline void calls_wrong(const struct calls_operation *op, unsigned n, const char *format,
                               ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    print_error("%s, call %u (%.60s): %s\n", op->name, n, fault_calls.what, text);
    calls_findings++;
}

/** No statement is being stepped and no transaction is open: what failed has tidied up. */
static inline void calls_check_rest(struct orch_store *store, const struct calls_operation *op,
                                    unsigned n)
{
    sqlite3_stmt *s = NULL;
    while ((s = sqlite3_next_stmt(store->db, s)))
        if (sqlite3_stmt_busy(s))
            calls_wrong(op, n, "a statement is left open: %s", sqlite3_sql(s));
    if (!sqlite3_get_autocommit(store->db))
        calls_wrong(op, n, "a transaction is left open");
}

/** A failure names the file, and says what to do about it. */
static inline void calls_check_problem(const struct calls_operation *op, unsigned n, bool ok,
                                       const GError *problem, const char *folder)
{
    const char *text = problem ? problem->message : "(no error)";
    if (ok && problem)
        calls_wrong(op, n, "succeeded with an error: %s", text);
    else if (ok && fault_calls.hit && !op->is_advisory &&
             !(op->may_lack_files && fault_calls.kind_of_hit == FAULT_FILES) &&
             !(op->optional && strcmp(fault_calls.what, op->optional) == 0))
        calls_wrong(op, n, "the failure was not noticed");
    else if (!ok && !fault_calls.hit)
        calls_wrong(op, n, "failed by itself: %s", text);
    else if (!ok && !strstr(text, folder) && !(op->place && strstr(text, op->place)))
        calls_wrong(op, n, "the error does not name the file: %s", text);
    else if (!ok && fault_calls.kind_of_hit == FAULT_SQLITE && !strstr(text, "hint: "))
        calls_wrong(op, n, "the error has no hint: %s", text);
}

#endif
