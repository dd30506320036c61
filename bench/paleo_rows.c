/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of PALEO a second: whole steps, each from the layer table. Row i is the i-th of all
 * combinations of workers (1 to 16), scheme, scaling, network and batch, in that order of change;
 * bench/paleo_rows.py goes through the same.
 * usage: bench_paleo_rows [--each] ROWS TABLE.csv... prints the seconds, or the time of each step
 * (ms), so that another program can be held to them. */
#include "predictors/paleo/paleo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TABLES_MAX 16

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 2;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    bool prints_each = argc > 1 && strcmp(argv[1], "--each") == 0;
    char **words = argv + 1 + prints_each;
    int count = argc - 2 - prints_each;
    if (count < 1 || count > TABLES_MAX)
        return fail("usage: bench_paleo_rows [--each] ROWS TABLE.csv...");
    struct orch_layer_table *tables[TABLES_MAX];
    for (int i = 0; i < count; i++)
        if (!(tables[i] = orch_layer_table_read(words[1 + i], NULL, &error)))
            return fail(error->message);
    long rows = atol(words[0]);
    double begin = now(), sum = 0;
    for (long i = 0; i < rows; i++) {
        struct orch_paleo_options options = orch_paleo_defaults();
        int64_t workers = 1 + i % 16;
        options.scheme = (enum orch_paleo_scheme)(i / 16 % 4);
        options.scaling = i / 64 % 2 ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK;
        options.batch = 32 + i / 128 / count % 97;
        struct orch_paleo_step step;
        if (!orch_paleo_simulate(tables[i / 128 % count], &options, workers, &step, &error))
            return fail(error->message);
        sum += step.total_ms;
        if (prints_each)
            printf("%.17g\n", step.total_ms);
    }
    if (!prints_each && sum > 0) /* what nothing reads might not be computed */
        printf("%.6f\n", now() - begin);
    for (int i = 0; i < count; i++)
        orch_layer_table_free(tables[i]);
    return 0;
}
