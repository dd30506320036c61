/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of the store share: scratch folders, and a run with a bit of everything. */
#ifndef ORCH_TESTS_STORE_FIXTURE_H
#define ORCH_TESTS_STORE_FIXTURE_H

#include "store/handle/open.h"
#include "store/handle/sql.h"
#include "store/read/where_sql.h"
#include "store/write/digest.h"
#include "store/write/note_rules.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FIXTURE_KEY "01890a5d-ac96-774b-bcce-b302099a8057"
#define FIXTURE_PRINT "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bd822cd15d6c15b0f00a8"

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        GError *problem_ = NULL;                                                                   \
        GError **error = &problem_;                                                                \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, problem_ ? problem_->message : "(no error)");                \
    } while (0)

/** The call fails, with this code and these words in the message. */
#define assert_fails(call, wanted, words)                                                          \
    do {                                                                                           \
        GError *problem_ = NULL;                                                                   \
        GError **error = &problem_;                                                                \
        if (call)                                                                                  \
            fail_msg("%s did not fail", #call);                                                    \
        assert_non_null(problem_);                                                                 \
        if (problem_->code != (int)(wanted) || !strstr(problem_->message, words))                  \
            fail_msg("code %d, not %d with '%s': %s", problem_->code, (int)(wanted), words,        \
                     problem_->message);                                                           \
        g_error_free(problem_);                                                                    \
    } while (0)

/* A folder in memory where tests/sandbox.sh offers one, for these tests wait for their disk again
 * and again, and none is about the disk. */
static inline char *fixture_folder(void)
{
    enum { BYTES_WANTED = 1 << 30 };
    const char *memory = g_getenv("ORCH_TEST_MEMORY");
    struct statvfs room;
    char *folder = NULL;
    if (memory && statvfs(memory, &room) == 0 && room.f_bavail * room.f_frsize >= BYTES_WANTED)
        folder = g_build_filename(memory, "orch-store-XXXXXX", NULL);
    if (folder && !g_mkdtemp(folder))
        g_clear_pointer(&folder, g_free);
    if (!folder)
        folder = g_dir_make_tmp("orch-store-XXXXXX", NULL);
    assert_non_null(folder);
    return folder;
}

static inline void fixture_remove(char *folder)
{
    orch_tree_remove(folder, NULL);
    g_free(folder);
}

static inline struct orch_store *fixture_open(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "results.db", NULL);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
    return store;
}

/** An array of points as orch_record's stream. */
struct fixture_points {
    const struct orch_point *points;
    size_t count, at;
};

static inline bool fixture_next(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct fixture_points *points = ctx;
    if (points->at >= points->count)
        return false;
    *out = points->points[points->at++];
    return true;
}

static const struct orch_named_text FIXTURE_PARAMS[] = {
    {"lr", "real", "0.1"},
    {"epochs", "int", "10"},
    {"net", "string", "\"resnet20\""},
    {"flip", "bool", "true"},
    {"milestones", "list of string", "[\"30%\",\"60%\"]"},
};
static const struct orch_input_row FIXTURE_INPUTS[] = {
    {"weights", "01890a5d-ac96-774b-bcce-b302099a8000",
     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"train", NULL, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
};
static const struct orch_named_real FIXTURE_RESULTS[] = {{"accuracy", 0.9375}, {"best_epoch", 7}};
static const struct orch_artifact_row FIXTURE_ARTIFACTS[] = {
    {"weights", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", 3},
};
static const struct orch_metric_row FIXTURE_METRICS[] = {
    {"loss", NULL, "min"}, {"speed", "images/s", "max"}, {"accuracy", "%", "max"}};
static const struct orch_point FIXTURE_POINTS[] = {
    {"loss", 1, 10.5, 2.5},      {"speed", 1, 10.5, 1234.0},        {"loss", 2, 20.25, (double)NAN},
    {"speed", 2, 20.25, 1250.5}, {"loss", 3, 30, (double)INFINITY}, {"speed", 3, (double)NAN, -0.0},
};

/** Fills a record that differs by key and fingerprint only; `points` must live as long. */
static inline void fixture_record(struct orch_record *r, const char *key,
                                  struct fixture_points *points)
{
    *points = (struct fixture_points){FIXTURE_POINTS, G_N_ELEMENTS(FIXTURE_POINTS), 0};
    *r = (struct orch_record){
        .key = key,
        .recipe_key = "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447",
        .recipe = "hw4",
        .experiment = "finetune",
        .plugin = "finetune",
        .plugin_version = "1.2.0",
        .build = "b1",
        .source_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        .source_commit = "83c3b1d4e6cba4bff1c4a7f6a4ee4dcd5bbd1e2f",
        .source_branch = "main",
        .source_remote = "git@example.org:lab/hw4.git",
        .source_dirty = true,
        .fingerprint = FIXTURE_PRINT,
        .device_key = "2x Tesla V100-SXM2-16GB",
        .seed = UINT64_C(0xfedcba9876543210),
        .repeat = 2,
        .attempt = 1,
        .state = "ok",
        .exit_code = 0,
        .machine_key = "0123456789abcdef0123456789abcdef",
        .machine_facts = "{\"cpu_model\":\"Xeon\",\"gpus\":[{\"model\":\"Tesla V100\"},"
                         "{\"model\":\"Tesla V100\"}],\"hostname\":\"node1\"}",
        .who = "gr\xc3\xbc\xc3\x9f",
        .argv = "[\"orch\",\"run\",\"hw4.recipe\"]",
        .started_ns = INT64_C(1763700000000000000),
        .ended_ns = INT64_C(1763700012345678901),
        .wall_ms = 12345.678901,
        .facts = "{\"load\":0.5}",
        .params = FIXTURE_PARAMS,
        .param_count = G_N_ELEMENTS(FIXTURE_PARAMS),
        .inputs = FIXTURE_INPUTS,
        .input_count = G_N_ELEMENTS(FIXTURE_INPUTS),
        .results = FIXTURE_RESULTS,
        .result_count = G_N_ELEMENTS(FIXTURE_RESULTS),
        .artifacts = FIXTURE_ARTIFACTS,
        .artifact_count = G_N_ELEMENTS(FIXTURE_ARTIFACTS),
        .metrics = FIXTURE_METRICS,
        .metric_count = G_N_ELEMENTS(FIXTURE_METRICS),
        .next_point = fixture_next,
        .next_ctx = points,
    };
}

/** Records the fixture under `key`. */
static inline void fixture_put(struct orch_store *store, const char *key)
{
    struct fixture_points points;
    struct orch_record record;
    fixture_record(&record, key, &points);
    assert_ok(orch_store_record(store, &record, error));
}

/** An active row of this process. */
static inline void fixture_active(struct orch_active *a, const char *fingerprint,
                                  const char *device_key)
{
    *a = (struct orch_active){.fingerprint = fingerprint,
                              .device_key = device_key,
                              .record = "{}",
                              .started_ns = orch_now_ns()};
    orch_key_make(a->key);
    assert_true(orch_process_get(getpid(), &a->runner));
}

#endif
