/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts that anybody may have written, on a terminal. */
#include "lib/base/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct {
    const char *text, *plain, *line;
} TEXTS[] = {
    {"", "", ""},
    {"a\tb\nc", "a\tb\nc", "a b c"},
    {"\x1b[31mred\x1b]0;t\a", "?[31mred?]0;t?", "?[31mred?]0;t?"},
    {"\r\b\x7f", "???", "???"},
    {"caf\xc3\xa9 \xe2\x80\x94 \xe6\x97\xa5", "caf\xc3\xa9 \xe2\x80\x94 \xe6\x97\xa5",
     "caf\xc3\xa9 \xe2\x80\x94 \xe6\x97\xa5"},
    {"\xc2\x9b"
     "1m\xc2\xa0",
     "??1m\xc2\xa0", "??1m\xc2\xa0"}, /* C1, and a space that is none of it */
    {"x\xe2\x80\xaegnp.exe", "x???gnp.exe", "x???gnp.exe"},
    {"\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", "?????????", "?????????"},
    {"\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
     "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
     "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"}, /* the neighbours */
    {"\xc2", "\xc2", "\xc2"},                             /* cut short */
    {"\xe2\x80", "\xe2\x80", "\xe2\x80"},
};

static void test_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(TEXTS); i++) {
        g_autofree char *plain = orch_text_plain(g_strdup(TEXTS[i].text));
        g_autofree char *line = orch_text_line(g_strdup(TEXTS[i].text));
        assert_string_equal(plain, TEXTS[i].plain);
        assert_string_equal(line, TEXTS[i].line);
    }
    assert_null(orch_text_plain(NULL));
    assert_null(orch_text_line(NULL));
}

static void test_duration(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{1e-300, "0.0 ms"},  {0.25, "250 ms"},    {90, "1 min 30 s"},
                {1e300, "1e+300 s"}, {INFINITY, "inf s"}, {9e4, "1 d 1 h"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = orch_duration_format(rows[i].seconds);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_duration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
