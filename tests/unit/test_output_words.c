/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which words of a command are files that it writes. */
#include "core/recipe/output_words.h"

#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *before, *word;
        bool is_output;
    } rows[] = {
        {"-o", "a.csv", true},
        {"--out", "a.csv", true},
        {"--output-dir", "runs", true},
        {"--model_output", "m.pt", true},
        {"--save-to", "m.pt", true},
        {"--OUT", "a.csv", true},
        {NULL, "--out=a.csv", true},
        {NULL, "--save.path=m.pt", true},
        {"--data", "a.csv", false},
        {"--resume", "m.pt", false},
        {"--layout", "a.json", false},
        {"--out=a.csv", "b.csv", false},
        {"out", "a.csv", false},
        {"-O", "a.csv", false},
        {NULL, "--data=out.csv", false},
        {NULL, "out.csv", false},
        {NULL, "-o", false},
        {NULL, "", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (orch_word_is_output(rows[i].before, rows[i].word) != rows[i].is_output)
            fail_msg("%s %s", rows[i].before ? rows[i].before : "", rows[i].word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
