/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The divergences of plugin sourcesel against those that SciPy computed of pairs of random
 * distributions: kl_cases.csv in $ORCH_REFERENCE_DATA (or ../shared/data); without it the test is
 * skipped. unit.sourcesel has pairs of orch's own.
 *
 * test_divergence_reference [FOLDER]: prints the number of pairs and the largest differences.
 */
#include "lib/base/csv.h"
#include "lib/base/text.h"
#include "plugins/sourcesel/source_divergence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SKIPPED 77
#define TOLERANCE 1e-12 /* that of the file's own anchors: sums of at most 40 terms in double */

static void stop(const char *what, const char *found)
{
    fprintf(stderr, "%s: '%s'\n", what, found);
    exit(1);
}

static double number_of(const char *text)
{
    double value;
    if (!orch_real_parse(text, &value))
        stop("not a number", text);
    return value;
}

/* "0.2;0.3;0.5"; the caller frees. */
static double *numbers_of(const char *text, size_t count)
{
    g_auto(GStrv) words = g_strsplit(text, ";", -1);
    if (g_strv_length(words) != count)
        stop("wrong number of values", text);
    double *values = g_new(double, count);
    for (size_t i = 0; i < count; i++)
        values[i] = number_of(words[i]);
    return values;
}

static const char *cell(const struct orch_csv *csv, size_t row, const char *column)
{
    int at = orch_csv_find(csv, column);
    if (at < 0)
        stop("the file has no column", column);
    return orch_csv_text(csv, row, at);
}

/* The largest differences over all pairs: KL both ways, Jensen-Shannon. */
static void compare(const struct orch_csv *csv, double worst[3])
{
    static const char *const columns[3] = {"kl_pq_nats", "kl_qp_nats", "js_nats"};
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        const size_t count = (size_t)number_of(cell(csv, row, "n"));
        g_autofree double *p = numbers_of(cell(csv, row, "p"), count);
        g_autofree double *q = numbers_of(cell(csv, row, "q"), count);
        const double found[3] = {orch_sourcesel_kl(p, q, count), orch_sourcesel_kl(q, p, count),
                                 orch_sourcesel_js(p, q, count)};
        for (int i = 0; i < 3; i++)
            worst[i] = fmax(worst[i], fabs(found[i] - number_of(cell(csv, row, columns[i]))));
    }
}

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : g_getenv("ORCH_REFERENCE_DATA");
    g_autofree char *path =
        g_build_filename(given && *given ? given : ORCH_REFERENCE_DEFAULT, "kl_cases.csv", NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        printf("skipped: no reference cases in '%s'; set ORCH_REFERENCE_DATA to their folder\n",
               path);
        return SKIPPED;
    }
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_read(path, &error);
    if (!csv)
        stop("cannot be read", error->message);
    double worst[3] = {0};
    compare(csv, worst);
    printf("%zu pairs: largest differences KL(p||q) %.2g, KL(q||p) %.2g, JS %.2g\n",
           orch_csv_rows(csv), worst[0], worst[1], worst[2]);
    const bool good =
        orch_csv_rows(csv) > 0 && fmax(worst[0], fmax(worst[1], worst[2])) <= TOLERANCE;
    orch_csv_free(csv);
    return good ? 0 : 1;
}
