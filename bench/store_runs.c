/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long the questions take that a user waits for, in a store of many runs: opening it and
 * listing the newest 20 (`orch ls`), with filters; the run reused for a trial and the trial's
 * history (`orch plan`, 100 trials); a run by a few characters. Each opens the store anew. Prints
 * milliseconds, the best of five, and beside them those of reading every parameter, which is what
 * a question without an index costs; exit 1 when a line is above --most-share of that.
 */
#include "store/handle/sql.h"
#include "store/read/where.h"

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

/* `count` runs of 5 experiments, 8 parameters each, made by SQL: recording them one by one would be
 * another benchmark. Their digests are not real. */
static void fill(const char *path, int64_t count)
{
    GError *problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_CREATE, &problem);
    stop_on(!store, problem);
    g_autofree char *sql = g_strdup_printf(
        "BEGIN;"
        "INSERT INTO source(tree, commit_oid, branch, dirty) VALUES('t', 'c', 'main', 0);"
        "INSERT INTO machine(key, facts) VALUES('m', '{\"cpu_model\":\"Xeon\",\"gpus\":[]}');"
        "INSERT INTO metric_name VALUES(1, 'loss', '', 'min');"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %" G_GINT64_FORMAT
        ")"
        "INSERT INTO run SELECT i, printf('%%08x-0000-7000-8000-%%012x', i, i * 7919 %% 1000003),"
        " 'k', 'hw4', 'e' || (i / 40 %% 5), 'train', '1.0.0', NULL, 1, printf('%%064x', i), 'w', i,"
        " 1 + i %% 5, 1, CASE i %% 50 WHEN 0 THEN 'failed' ELSE 'ok' END, NULL, 0, NULL, 1, 'me',"
        " 1700000000000000000 + i * 1000000, 1700000000000000000 + i * 2000000, 1000.0,"
        " '[\"orch\",\"run\"]', '{}', 1, '' FROM n;"
        "WITH p(name, type) AS (VALUES('lr', 'real'), ('epochs', 'int'), ('batch', 'int'),"
        " ('net', 'string'), ('data', 'string'), ('momentum', 'real'), ('decay', 'real'),"
        " ('width', 'int'))"
        "INSERT INTO param SELECT r.id, p.name, p.type, CASE p.name"
        " WHEN 'lr' THEN CAST(0.001 * (r.id %% 8) AS TEXT) WHEN 'width' THEN CAST(r.id %% 40 AS "
        "TEXT)"
        " ELSE '7' END FROM run r, p;"
        "INSERT INTO metric SELECT run.id, 1, s.value, 0, 1.0 / s.value FROM run,"
        " json_each('[1,2,3]') s;"
        "INSERT INTO result SELECT id, 'accuracy', id %% 100 / 100.0, '%%', 'max' FROM run;"
        "COMMIT",
        count);
    bool ok = orch_store_exec(store, sql, "fill", &problem);
    stop_on(!ok, problem);
    orch_store_close(store);
}

static void list(struct orch_store *store, const struct orch_run_query *query)
{
    GError *problem = NULL;
    int64_t total;
    GPtrArray *runs = orch_store_runs(store, query, &total, &problem);
    stop_on(!runs, problem);
    g_ptr_array_unref(runs);
}

static void ls(struct orch_store *store)
{
    list(store, &(struct orch_run_query){.limit = 20});
}

static void ls_experiment(struct orch_store *store)
{
    list(store, &(struct orch_run_query){.limit = 20, .recipe = "hw4", .experiment = "e3"});
}

static void ls_failed(struct orch_store *store)
{
    list(store, &(struct orch_run_query){.limit = 20, .state = "failed"});
}

static void ls_where(struct orch_store *store)
{
    struct orch_where *where = orch_where_parse("lr = 0.003 and state = ok", NULL);
    list(store, &(struct orch_run_query){.limit = 20, .where = where});
    orch_where_free(where);
}

static void plan_done(struct orch_store *store)
{
    for (int i = 1; i <= 100; i++) {
        g_autofree char *fingerprint = g_strdup_printf("%064x", i * 900);
        orch_run_free(orch_store_find_reusable(store, fingerprint, "w", 0, NULL));
    }
}

/* Trials that were never run: the history of each must be looked for, and does not exist. */
static void plan_history(struct orch_store *store)
{
    for (int i = 0; i < 100; i++) {
        g_autofree char *width = g_strdup_printf("{\"lr\":0.001,\"width\":%d}", i % 5 ? 9 : 77 + i);
        json_t *params = json_loads(width, 0, NULL);
        GError *problem = NULL;
        GPtrArray *rows = orch_store_history(store, "hw4", "e1", 1, params, 5, &problem);
        stop_on(!rows, problem);
        g_ptr_array_unref(rows);
        json_decref(params);
    }
}

static void by_tail(struct orch_store *store)
{
    orch_run_free(orch_store_run(store, "0000beef", NULL));
    orch_run_free(orch_store_run(store, "@last", NULL));
}

static void read_all(struct orch_store *store)
{
    int64_t sum;
    GError *problem = NULL;
    bool ok = orch_store_get_int(store, &sum, 0, &problem,
                                 "SELECT sum(length(name) + length(value)) FROM param", "");
    stop_on(!ok, problem);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Milliseconds of processor time for opening the store and asking, the best of five. Not of the
 * clock, so that the shares hold on a busy machine, too. */
static double time_ms(const char *path, void (*ask)(struct orch_store *))
{
    double best_ms = INFINITY;
    for (int i = 0; i < 5; i++) {
        const double start_ms = cpu_ms();
        GError *problem = NULL;
        struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, &problem);
        stop_on(!store, problem);
        ask(store);
        orch_store_close(store);
        best_ms = fmin(best_ms, cpu_ms() - start_ms);
    }
    return best_ms;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*ask)(struct orch_store *);
        bool bounded; /* counts against --most-share */
    } questions[] = {
        {"open, newest 20", ls, true},
        {"newest 20 of one experiment", ls_experiment, true},
        {"newest 20 that failed", ls_failed, true},
        {"newest 20 by a condition", ls_where, false},
        {"the runs reused for 100 trials", plan_done, true},
        {"history of 100 unknown trials", plan_history, false},
        {"a run by its last digits", by_tail, true},
    };
    int64_t count = 100000;
    double most_share = INFINITY;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--runs") == 0)
            count = atoll(argv[i + 1]);
        else if (strcmp(argv[i], "--most-share") == 0)
            most_share = atof(argv[i + 1]);
    }
    g_autofree char *folder = g_dir_make_tmp("orch-bench-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "results.db", NULL);
    fill(path, count);
    printf("%-32s %lld\n", "runs", (long long)count);
    double all_ms = time_ms(path, read_all);
    printf("%-32s %.1f ms\n", "every parameter read", all_ms);
    bool slow = false;
    for (size_t q = 0; q < G_N_ELEMENTS(questions); q++) {
        double ms = time_ms(path, questions[q].ask);
        printf("%-32s %.1f ms, %.3f of that\n", questions[q].name, ms, ms / all_ms);
        slow = slow || (questions[q].bounded && ms > most_share * all_ms);
    }
    orch_tree_remove(folder, NULL);
    return slow;
}
