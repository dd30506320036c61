/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long it takes to join another store, against a raw ATTACH and INSERT ... SELECT of the same
 * rows into the same tables and indexes, which checks nothing and keeps the numbers as they are.
 * Into tables that are empty SQLite copies records as they are, undecoded; into tables that have a
 * row already, as a store has that others are joined to, it does not: both are measured.
 *
 *   - 15,000 runs of 20 points (8 parameters, 2 results, 1 artifact each), 1,000 runs of 1,000;
 *   - the same again, when all is known;
 *   - 1,000 new runs into stores of 1,000, 10,000 and 100,000 (--present 0: not).
 *
 * Prints seconds, the best of --rounds; exit 1 when the second is slower than --least times raw
 * (into tables with rows), or the first takes longer than --most-s.
 */
#include "store/join/join.h"
#include "store/join/join_internal.h"

#include "lib/base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void stop_on(bool failed, const GError *problem)
{
    if (!failed)
        return;
    fprintf(stderr, "%s\n", problem ? problem->message : "failed");
    exit(2);
}

/** Points of a run: two metrics that take turns. */
struct points {
    int count, at;
};

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct points *points = ctx;
    if (points->at >= points->count)
        return false;
    *out = (struct orch_point){.name = points->at % 2 ? "accuracy" : "loss",
                               .step = points->at / 2 + 1,
                               .t_ms = points->at * 10.25,
                               .value = 1.0 / (points->at + 1)};
    points->at++;
    return true;
}

static const struct orch_named_text PARAMS[] = {
    {"lr", "real", "0.1"},       {"epochs", "int", "10"},     {"net", "string", "\"resnet20\""},
    {"flip", "bool", "true"},    {"batch", "int", "128"},     {"data", "string", "\"cifar10\""},
    {"momentum", "real", "0.9"}, {"decay", "real", "0.0005"},
};
static const struct orch_named_real RESULTS[] = {{"accuracy", 0.9375}, {"best_epoch", 7}};
static const struct orch_artifact_row ARTIFACTS[] = {
    {"weights", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", 3}};
static const struct orch_metric_row METRICS[] = {{"loss", "", "min"}, {"accuracy", "%", "max"}};

static void record_run(struct orch_store *store, int64_t number, int point_count)
{
    struct points points = {.count = point_count};
    char key[ORCH_KEY_CHARS], print[ORCH_SHA256_CHARS];
    g_snprintf(key, sizeof key, "%08x-0000-7000-8000-%012x", (unsigned)(number / 40),
               (unsigned)(number * 7919 % 100000007));
    orch_sha256(key, strlen(key), print);
    const struct orch_record record = {
        .key = key,
        .recipe_key = "a948904f2f0f479b8f8197694b30184b0d2ed1c1cd2a1ec0fb85d299a192a447",
        .recipe = "hw4",
        .experiment = "finetune",
        .plugin = "finetune",
        .plugin_version = "1.2.0",
        .source_tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        .source_branch = "main",
        .fingerprint = print,
        .device_key = "2x Tesla V100-SXM2-16GB",
        .seed = (uint64_t)number,
        .repeat = 1,
        .attempt = 1,
        .state = "ok",
        .machine_key = "0123456789abcdef0123456789abcdef",
        .machine_facts = "{\"cpu_model\":\"Xeon\",\"gpus\":[{\"model\":\"Tesla V100\"}]}",
        .who = "me",
        .argv = "[\"orch\",\"run\",\"hw4.recipe\"]",
        .started_ns = INT64_C(1763700000000000000) + number * 1000000,
        .ended_ns = INT64_C(1763700012345678901) + number * 1000000,
        .wall_ms = 12345.678901,
        .facts = "{\"load\":0.5,\"co_runners\":0,\"max_rss_bytes\":123456789}",
        .params = PARAMS,
        .param_count = G_N_ELEMENTS(PARAMS),
        .results = RESULTS,
        .result_count = G_N_ELEMENTS(RESULTS),
        .artifacts = ARTIFACTS,
        .artifact_count = G_N_ELEMENTS(ARTIFACTS),
        .metrics = METRICS,
        .metric_count = G_N_ELEMENTS(METRICS),
        .next_point = next_point,
        .next_ctx = &points};
    GError *problem = NULL;
    bool ok = orch_store_record(store, &record, &problem);
    stop_on(!ok, problem);
}

static struct orch_store *open_store(const char *path)
{
    GError *problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_CREATE, &problem);
    stop_on(!store, problem);
    return store;
}

static void fill(const char *path, int64_t first, int64_t count, int points)
{
    struct orch_store *store = open_store(path);
    for (int64_t i = 0; i < count; i++)
        record_run(store, first + i, points);
    orch_store_close(store);
}

/* Processor time: what the ratio is of, where others use the machine. */
static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct took {
    double s, cpu_s;
};
static const struct took LONG = {INFINITY, INFINITY};

static struct took begin(void)
{
    return (struct took){(double)orch_mono_ns() / 1e9, cpu_s()};
}

static struct took since(struct took start)
{
    return (struct took){(double)orch_mono_ns() / 1e9 - start.s, cpu_s() - start.cpu_s};
}

static struct took least_of(struct took a, struct took b)
{
    return (struct took){fmin(a.s, b.s), fmin(a.cpu_s, b.cpu_s)};
}

static struct took join_into(const char *into, const char *other, int64_t *out_added)
{
    GError *problem = NULL;
    struct orch_store *store = open_store(into);
    struct took start = begin();
    struct orch_join *join = orch_join_begin(store, other, &problem);
    stop_on(!join, problem);
    bool ok = orch_join_store(join, other, 0, &problem);
    stop_on(!ok, problem);
    struct orch_receipt *receipt = orch_join_commit(join, &problem);
    stop_on(!receipt, problem);
    struct took took = since(start);
    *out_added = receipt->added;
    orch_receipt_free(receipt);
    orch_store_close(store);
    return took;
}

/* A row in each of the large tables, of a run that is not there. */
static const char A_ROW[] =
    "INSERT INTO param VALUES(0, 'x', 'int', '1'); INSERT INTO result VALUES(0, 'x', 1, '', 'min');"
    "INSERT INTO artifact VALUES(0, 'x', 'x', 1); INSERT INTO metric VALUES(0, 0, 0, 0, 0);"
    "INSERT INTO run(id, key, seed, repeat, attempt, state, started, ended, digest_v, digest)"
    " VALUES(0, 'x', 0, 0, 0, 'ok', 0, 0, 1, '');";

/* Into the tables and indexes of a fresh store, as SQLite opens it when nobody asks for more. */
static struct took raw_into(const char *into, const char *other, const char *first)
{
    /* runs last: triggers refuse additions to one that has its digest */
    static const char *const tables[] = {"source", "machine",  "recipe",      "param",  "input",
                                         "result", "artifact", "metric_name", "metric", "run"};
    orch_store_close(open_store(into));
    sqlite3 *db;
    stop_on(sqlite3_open(into, &db) != SQLITE_OK, NULL);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_append_printf(sql,
                           "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;"
                           "ATTACH '%s' AS other; %s BEGIN;",
                           other, first);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        g_string_append_printf(sql, "INSERT INTO main.%s SELECT * FROM other.%s;", tables[i],
                               tables[i]);
    g_string_append(sql, "COMMIT");
    struct took start = begin();
    bool ok = sqlite3_exec(db, sql->str, NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    stop_on(!ok, NULL);
    struct took took = since(start);
    sqlite3_close(db);
    return took;
}

static void forget(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", ".d"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(path, endings[i], NULL);
        orch_tree_remove(name, NULL);
    }
}

struct both {
    struct took empty, raw, join, again; /* raw into empty tables, and into such with rows */
};

static struct both measure(const char *folder, int64_t runs, int points, int rounds)
{
    struct both both = {LONG, LONG, LONG, LONG};
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);
    g_autofree char *into = g_build_filename(folder, "into.db", NULL);
    int64_t added;
    fill(other, 0, runs, points);
    for (int i = 0; i < rounds; i++) {
        both.empty = least_of(both.empty, raw_into(into, other, ""));
        forget(into);
        both.raw = least_of(both.raw, raw_into(into, other, A_ROW));
        forget(into);
        both.join = least_of(both.join, join_into(into, other, &added));
        stop_on(added != runs, NULL);
        both.again = least_of(both.again, join_into(into, other, &added));
        stop_on(added != 0, NULL);
        forget(into);
    }
    forget(other);
    printf(
        "%6lld runs, %8lld points: raw %.3f s (%.3f s of processor), raw into empty tables %.3f s "
        "(%.3f s), join %.3f s (%.3f s): %.2f of raw's speed (%.2f by processor time), %.2f (%.2f) "
        "of raw's into empty tables; again %.3f s\n",
        (long long)runs, (long long)runs * points, both.raw.s, both.raw.cpu_s, both.empty.s,
        both.empty.cpu_s, both.join.s, both.join.cpu_s, both.raw.s / both.join.s,
        both.raw.cpu_s / both.join.cpu_s, both.empty.s / both.join.s,
        both.empty.cpu_s / both.join.cpu_s, both.again.s);
    return both;
}

static void measure_present(const char *folder, int64_t present)
{
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);
    g_autofree char *into = g_build_filename(folder, "into.db", NULL);
    int64_t added;
    fill(into, 0, present, 2);
    fill(other, present, 1000, 20);
    struct took join = join_into(into, other, &added), again = join_into(into, other, &added);
    printf("%6lld runs present: 1,000 new ones of 20 points %.3f s (%.3f s of processor), again "
           "%.3f s\n",
           (long long)present, join.s, join.cpu_s, again.s);
    forget(into);
    forget(other);
}

int main(int argc, char **argv)
{
    double least = 0, most_s = INFINITY;
    int rounds = 3, present = 100000, runs = 15000;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--least") == 0)
            least = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--most-s") == 0)
            most_s = atof(argv[i + 1]);
        else if (strcmp(argv[i], "--runs") == 0)
            runs = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--present") == 0)
            present = atoi(argv[i + 1]);
    }
    char *folder = g_dir_make_tmp("orch-bench-XXXXXX", NULL);
    stop_on(!folder, NULL);
    struct both many = measure(folder, runs, 20, rounds);
    struct both dense = measure(folder, 1000, 1000, rounds);
    for (int64_t count = 1000; count <= present; count *= 10)
        measure_present(folder, count);
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return many.join.s > most_s || dense.raw.cpu_s / dense.join.cpu_s < least;
}
