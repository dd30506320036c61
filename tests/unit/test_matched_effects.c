/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of effects by prefix sums and search are what the plain sums are. */
#include "lib/base/random.h"
#include "predictors/matched/matched_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

/* The sum of a column's effects is each one times its likeness to the value. */
static void test_sums(void **state)
{
    (void)state;
    uint64_t random = 3;
    static const enum orch_matched_kind kinds[] = {ORCH_MATCHED_NUMBER, ORCH_MATCHED_BATCH,
                                                   ORCH_MATCHED_WORD};
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        struct orch_matched_column column = {"c", kinds[k]};
        struct orch_effects *e = orch_effects_new(1);
        struct orch_value values[300];
        double weights[300];
        for (size_t i = 0; i < 300; i++) {
            g_autofree char *word = g_strdup_printf("w%d", (int)orch_random_below(&random, 40));
            double number = round(400 * orch_random_unit(&random)) / 7 - 5;
            values[i] = kinds[k] == ORCH_MATCHED_WORD
                            ? (struct orch_value){g_intern_string(word), (double)NAN}
                            : (struct orch_value){NULL, number};
            weights[i] = orch_random_unit(&random) - 0.5;
            if (i < 200) /* the others are asked alone */
                orch_effects_add(e->columns[0], &values[i], weights[i]);
        }
        orch_effects_ready(e->columns[0], &column);
        for (size_t i = 0; i < 300; i++) {
            double plain = 0;
            for (size_t j = 0; j < 200; j++)
                plain += weights[j] * orch_matched_likeness(&column, &values[j], &values[i]);
            double sum = orch_effects_sum(e->columns[0], &column, &values[i]);
            assert_true(fabs(sum - plain) < 1e-12);
        }
        const struct orch_value missing = {NULL, (double)NAN};
        assert_true(!(fabs(orch_effects_sum(e->columns[0], &column, &missing)) > 0));
        orch_effects_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
