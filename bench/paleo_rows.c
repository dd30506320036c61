/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of PALEO a second: whole steps, each from the layer table. usage: bench_paleo_rows TABLE.csv
 * ROWS prints seconds, and the sum of the steps' times (ms) so that another program can be held to
 * it. */
#include "predictors/paleo.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    struct orch_layer_table *table =
        argc == 3 ? orch_layer_table_read(argv[1], NULL, &error) : NULL;
    if (!table) {
        fprintf(stderr, "%s\n", error ? error->message : "usage: bench_paleo_rows TABLE.csv ROWS");
        return 2;
    }
    long rows = atol(argv[2]);
    double begin = now(), sum = 0;
    for (long i = 0; i < rows; i++) {
        struct orch_paleo_options options = orch_paleo_defaults();
        options.batch = 32 + i % 97;
        options.scaling = i % 2 ? ORCH_PALEO_STRONG : ORCH_PALEO_WEAK;
        options.scheme = (enum orch_paleo_scheme)(i / 2 % ORCH_PALEO_SCHEME_COUNT);
        struct orch_paleo_step step;
        if (!orch_paleo_simulate(table, &options, 1 + i % 16, &step, &error)) {
            fprintf(stderr, "%s\n", error->message);
            return 1;
        }
        sum += step.total_ms;
    }
    printf("%.6f %.9f\n", now() - begin, sum);
    orch_layer_table_free(table);
    return 0;
}
