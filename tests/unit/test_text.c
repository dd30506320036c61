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
    {"\xe2\x80\x8b\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8", "????????????", "????????????"},
    {"\xef\xbb\xbfx\xc2\xady\xd8\x9c", "???x??y??", "???x??y??"},       /* U+FEFF, AD, 61C */
    {"a\xf3\xa0\x81\xa1\xf3\xa0\x84\x80z", "a????????z", "a????????z"}, /* tags, U+E0100 */
    {"\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0\xef\xbc\x81",
     "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0\xef\xbc\x81",
     "\xe2\x80\x8a\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\x9f\xe2\x81\xb0\xef\xbc\x81"},
    {"\xf0\x9f\x98\x80\xf3\xb0\x80\x80", "\xf0\x9f\x98\x80\xf3\xb0\x80\x80",
     "\xf0\x9f\x98\x80\xf3\xb0\x80\x80"}, /* the neighbours */
    {"\xc2", "\xc2", "\xc2"},             /* cut short */
    {"\xe2\x80", "\xe2\x80", "\xe2\x80"},
    {"\xf3\xa0\x80", "\xf3\xa0\x80", "\xf3\xa0\x80"},
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

static void test_last_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned count;
        size_t bytes_max;
        const char *joined;
    } rows[] = {
        {NULL, 2, 80, ""},
        {"", 2, 80, ""},
        {"\n \r\n", 2, 80, ""},
        {"one", 2, 80, "one"},
        {"one\ntwo\n\n  three \r\n\n", 2, 80, "two|  three"},
        {"  0%\r 50%\r100%", 1, 80, "100%"}, /* a progress bar */
        {"a\033[2J\xe2\x80\xaex\tb", 3, 80, "a?[2J???x b"},
        {"0123456789", 1, 4, "0123..."},
        {"012\xc3\xa9", 1, 4, "012..."}, /* not in the middle of a character */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(GStrv) lines = orch_text_last_lines(rows[i].text, rows[i].count, rows[i].bytes_max);
        g_autofree char *joined = g_strjoinv("|", lines);
        assert_string_equal(joined, rows[i].joined);
    }
}

static void test_duration(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{1e-300, "0.0 ms"},  {66e-6, "66 us"},    {0.00094, "940 us"},
                {0.00096, "1.0 ms"}, {0.25, "250 ms"},    {90, "1 min 30 s"},
                {1e300, "1e+300 s"}, {INFINITY, "inf s"}, {9e4, "1 d 1 h"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = orch_duration_format(rows[i].seconds);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_last_lines),
                                       cmocka_unit_test(test_duration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
