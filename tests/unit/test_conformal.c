/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of rows of which some have no weight. */
#include "lib/base/random.h"
#include "predictors/learn/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#define MOST 800

/* Held-out predictions of rows `a,ms`, of which every second one has no weight and a large error;
 * with `only_weighted` those are left out. */
struct heldout {
    struct orch_rows *rows;
    int folds[MOST];
    double predictions[MOST], spread[MOST], weights[MOST];
};

static void make(struct heldout *h, size_t count, bool only_weighted)
{
    g_autoptr(GString) text = g_string_new("a,ms\n");
    uint64_t random = 7;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double a = orch_random_unit(&random), off = (0.02 + 0.3 * a) * orch_random_unit(&random);
        bool is_lone = i % 2;
        if (is_lone && only_weighted)
            continue;
        g_string_append_printf(text, "%.9g,1\n", a);
        h->predictions[kept] = is_lone ? 3 : off;
        h->spread[kept] = 0.1;
        h->weights[kept] = is_lone ? 0 : 1;
        h->folds[kept++] = (int)(i / 2 % ORCH_FOLDS);
    }
    struct orch_csv *csv = orch_csv_parse("test.csv", text->str, text->len, NULL);
    assert_non_null(csv);
    struct orch_rows_options o = {.target = "ms"};
    h->rows = orch_rows_of_table(csv, &o, NULL);
    assert_non_null(h->rows);
    orch_csv_free(csv);
}

/* Half widths on the weighted rows, by an interval that is fitted to the rows of `h`. */
static void half_widths(const struct heldout *h, const struct heldout *asked, double *out)
{
    struct orch_conformal interval = {0};
    assert_true(orch_conformal_fit(&interval, h->rows, h->predictions, h->spread, h->folds,
                                   h->weights, 0, 1, NULL));
    orch_conformal_half_widths(&interval, asked->rows, asked->predictions, asked->spread, out);
    orch_conformal_release(&interval);
}

/* Rows without weight change neither the factor nor which rows are difficult: the interval is the
 * one of the other rows by themselves. Few rows have a factor alone, many a model, too. */
static void test_rows_without_weight(void **state)
{
    (void)state;
    static const size_t counts[] = {24, 300, MOST};
    for (size_t k = 0; k < G_N_ELEMENTS(counts); k++) {
        struct heldout all, weighted;
        double with[MOST], without[MOST];
        make(&all, counts[k], false);
        make(&weighted, counts[k], true);
        half_widths(&all, &weighted, with);
        half_widths(&weighted, &weighted, without);
        for (size_t i = 0; i < weighted.rows->rows; i++)
            assert_true(fabs(with[i] / without[i] - 1) < 1e-9);
        orch_rows_free(all.rows);
        orch_rows_free(weighted.rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_without_weight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
