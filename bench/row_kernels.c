/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts of the kernel model for each row of tables of measured kernels, in ms, one a line (nan:
 * none). usage: bench_row_kernels TABLE.csv... */
#include "predictors/features/features.h"

#include <math.h>
#include <stdio.h>

static int print_rows(const char *path)
{
    g_autoptr(GError) error = NULL;
    struct orch_csv *csv = orch_csv_read(path, &error);
    if (!csv) {
        fprintf(stderr, "%s\n", error->message);
        return 2;
    }
    size_t rows = orch_csv_rows(csv);
    struct orch_matrix *matrix = orch_matrix_new(rows);
    double *white = g_new(double, rows), *items = g_new(double, rows);
    struct orch_row_device *devices = g_new0(struct orch_row_device, rows);
    orch_features_add(matrix, csv, false, white, items, devices);
    int column = orch_matrix_find(matrix, "white kernels_ms");
    for (size_t i = 0; i < rows; i++)
        printf("%.9g\n", column < 0 ? (double)NAN : orch_matrix_column(matrix, column)[i]);
    g_free(white);
    g_free(items);
    g_free(devices);
    orch_matrix_free(matrix);
    orch_csv_free(csv);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc && !failed; i++)
        failed = print_rows(argv[i]);
    return failed;
}
