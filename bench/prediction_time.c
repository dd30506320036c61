/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Milliseconds to answer the rows of a table, one thread or as many as OMP_NUM_THREADS says, by a
 * predictor that was kept in a file: so that two builds can be judged by the same one.
 *
 * usage: bench_prediction_time TRAIN.csv TEST.csv TARGET MODEL FILE.json [ROUNDS]
 *
 * Where FILE.json is not there, MODEL ("boost", ..., "auto") is learned from TRAIN.csv, the kinds
 * at their first setting, and kept in it. The best of ROUNDS (default 50) counts, as other work on
 * the machine disturbs; so does the least processor time of all threads. The sum of the answers and
 * of the widths is printed, to see that they are the same. */
#include "lib/base/ident.h"
#include "lib/base/text.h"
#include "predictors/learn/learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void die(const GError *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static struct orch_rows *read_rows(const char *path, const char *target,
                                   const struct orch_matrix *like)
{
    g_autoptr(GError) error = NULL;
    struct orch_rows_options options = {.target = target, .like = like};
    struct orch_csv *csv = orch_csv_read(path, &error);
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, &error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        die(error);
    return rows;
}

static void learn(const struct orch_rows *rows, const char *model, const char *path)
{
    g_autoptr(GError) error = NULL;
    struct orch_learn_options options = {
        .model = model, .target = ORCH_LEARN_BEST, .no_tuning = true};
    struct orch_learned *learned = orch_learn(rows, &options, &error);
    if (!learned)
        die(error);
    json_t *saved = orch_learned_save(learned, ORCH_SAVE_PACKED);
    if (json_dump_file(saved, path, JSON_COMPACT)) {
        fprintf(stderr, "cannot write '%s'\n", path);
        exit(1);
    }
    json_decref(saved);
    orch_learned_free(learned);
}

static struct orch_learned *read_learned(const char *path)
{
    g_autoptr(GError) error = NULL;
    json_t *saved = json_load_file(path, 0, NULL);
    struct orch_learned *learned = saved ? orch_learned_load(saved, &error) : NULL;
    if (!learned) {
        fprintf(stderr, "'%s': %s\n", path, error ? error->message : "no JSON");
        exit(1);
    }
    json_decref(saved);
    return learned;
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    int64_t rounds = 50;
    if (argc < 6 || (argc > 6 && (!orch_int_parse(argv[6], &rounds) || rounds < 1))) {
        fprintf(
            stderr,
            "usage: bench_prediction_time TRAIN.csv TEST.csv TARGET MODEL FILE.json [ROUNDS]\n");
        return 2;
    }
    struct orch_rows *train = read_rows(argv[1], argv[3], NULL);
    struct orch_rows *test = read_rows(argv[2], argv[3], train->matrix);
    if (access(argv[5], R_OK) != 0)
        learn(train, argv[4], argv[5]);
    struct orch_learned *learned = read_learned(argv[5]);
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, test->rows + 1);
    double best = (double)INFINITY, least = (double)INFINITY, values = 0, widths = 0;
    for (int64_t round = 0; round < rounds; round++) {
        double used = cpu_ms();
        int64_t begin = orch_mono_ns();
        orch_learned_predict(learned, test, answers);
        best = MIN(best, (double)(orch_mono_ns() - begin) / 1e6);
        least = MIN(least, cpu_ms() - used);
    }
    for (size_t i = 0; i < test->rows; i++) {
        values += log(answers[i].value.mid);
        widths += log(answers[i].value.high / answers[i].value.low) + answers[i].distance;
    }
    printf("%s: %zu rows in %.2f ms, %.2f ms of processor time; sums %.15g %.15g\n", argv[4],
           test->rows, best, least, values, widths);
    orch_learned_free(learned);
    orch_rows_free(train);
    orch_rows_free(test);
    return 0;
}
