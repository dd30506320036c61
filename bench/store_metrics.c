/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of SQLite's own speed is left when points go through orch_store_record: triggers, digest
 * and all. Prints points per second of both and their ratio; exit 1 below --least.
 *
 * Both sides insert the same points in the same order into the same table of the same schema, in
 * one transaction each, with the same settings; they take turns, and the best of each counts.
 */
#include "store/handle/handle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS = 4, ROUNDS = 3 };
static const char *const NAMES[METRICS] = {"loss", "accuracy", "epoch_time", "speed"};

struct stream {
    int64_t at, count;
};

/* Metrics take turns, as in a training loop. */
static struct orch_point point_at(int64_t i)
{
    int64_t step = i / METRICS;
    return (struct orch_point){NAMES[i % METRICS], step, (double)step * 1.25,
                               sin((double)i * 0.001)};
}

static bool next_point(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    struct stream *stream = ctx;
    if (stream->at >= stream->count)
        return false;
    *out = point_at(stream->at++);
    return true;
}

static void stop_on(bool failed, const GError *problem, sqlite3 *db)
{
    if (!failed)
        return;
    fprintf(stderr, "%s\n", problem ? problem->message : db ? sqlite3_errmsg(db) : "failed");
    exit(2);
}

static double record_s(struct orch_store *store, int64_t count)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    struct stream stream = {0, count};
    struct orch_record record = {.key = key,
                                 .state = "ok",
                                 .plugin = "bench",
                                 .exit_code = 0,
                                 .next_point = next_point,
                                 .next_ctx = &stream};
    GError *problem = NULL;
    int64_t start = orch_mono_ns();
    bool ok = orch_store_record(store, &record, &problem);
    double took_s = (double)(orch_mono_ns() - start) / 1e9;
    stop_on(!ok, problem, NULL);
    return took_s;
}

/* Plain prepared inserts; the run's row stays open, so that the schema's triggers let them in. */
static double raw_s(struct orch_store *store, int64_t count)
{
    sqlite3 *db = store->db;
    sqlite3_stmt *s = NULL;
    int64_t start = orch_mono_ns();
    bool ok = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_exec(db,
                           "INSERT INTO run(key, seed, repeat, attempt, state, started, ended,"
                           " digest_v, digest) VALUES(hex(randomblob(16)), 0, 0, 0, 'ok', 0, 0, 1,"
                           " '')",
                           NULL, NULL, NULL) == SQLITE_OK;
    int64_t run = sqlite3_last_insert_rowid(db);
    stop_on(!ok || sqlite3_prepare_v2(db, "INSERT INTO metric VALUES(?, ?, ?, ?, ?)", -1, &s,
                                      NULL) != SQLITE_OK,
            NULL, db);
    for (int64_t i = 0; i < count; i++) {
        struct orch_point point = point_at(i);
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, 1 + i % METRICS);
        sqlite3_bind_int64(s, 3, point.step);
        sqlite3_bind_double(s, 4, point.t_ms);
        sqlite3_bind_double(s, 5, point.value);
        stop_on(sqlite3_step(s) != SQLITE_DONE, NULL, db);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    stop_on(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK, NULL, db);
    return (double)(orch_mono_ns() - start) / 1e9;
}

/* A fresh file for each measurement: neither pays for the other's pages. */
static double measure(double (*side)(struct orch_store *, int64_t), int64_t count)
{
    g_autofree char *folder = g_dir_make_tmp("orch-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "results.db", NULL);
    GError *problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_CREATE, &problem);
    stop_on(!store, problem, NULL);
    record_s(store, METRICS); /* the names are there for both */
    double took_s = side(store, count);
    orch_store_close(store);
    orch_tree_remove(folder, NULL);
    return took_s;
}

int main(int argc, char **argv)
{
    int64_t count = 1000000;
    double least = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--points") == 0)
            count = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "--least") == 0)
            least = atof(argv[i + 1]);
    }
    double raw = INFINITY, record = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        raw = fmin(raw, measure(raw_s, count));
        record = fmin(record, measure(record_s, count));
    }
    printf("points          %lld\n", (long long)count);
    printf("raw inserts     %.3f s  %.0f points/s\n", raw, (double)count / raw);
    printf("orch_store      %.3f s  %.0f points/s\n", record, (double)count / record);
    printf("ratio           %.2f\n", raw / record);
    return raw / record < least;
}
