/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output of real programs (tests/wire/printed/README.md): NAME.txt must give just the values of
 * NAME.values, and as many lines that are not understood. With files as arguments, prints what is
 * read of them. */
#include "tests/unit/printed_session.h"

#include "lib/base/file.h"

enum { FILE_BYTES_MAX = 1 << 20, FILES_MIN = 40 };

/* "loss[3] = 0.41" lines, and "not understood: 2". Caller frees. */
static char *read_output(const char *text)
{
    struct session s;
    begin(&s, any_metric());
    feed(&s, text, 97);
    g_autofree char *values = recorded(&s);
    g_auto(GStrv) lines = g_strsplit(values, ", ", -1);
    GString *out = g_string_new(NULL);
    for (char **line = lines; *line; line++)
        if (strcmp(*line, "nothing") != 0 && !g_str_has_prefix(*line, "and counted"))
            g_string_append_printf(out, "%s\n", *line);
    g_string_append_printf(out, "not understood: %" G_GINT64_FORMAT "\n",
                           orch_text_metrics_losses(s.metrics)->counts[ORCH_LOSS_UNREAD]);
    end(&s);
    return g_string_free(out, FALSE);
}

static char *read_file(const char *path)
{
    char *text = NULL;
    if (!orch_file_read(path, FILE_BYTES_MAX, &text, NULL, NULL))
        fail_msg("cannot read %s", path);
    return text;
}

static void check_file(const char *name)
{
    g_autofree char *path = g_strconcat(ORCH_PRINTED, "/", name, NULL);
    g_autofree char *values_name = g_strconcat(name, NULL);
    *strrchr(values_name, '.') = 0;
    g_autofree char *values_path = g_strconcat(ORCH_PRINTED, "/", values_name, ".values", NULL);
    g_autofree char *text = read_file(path), *expected = read_file(values_path);
    g_autofree char *found = read_output(text);
    if (strcmp(found, expected) == 0)
        return;
    g_auto(GStrv) a = g_strsplit(found, "\n", -1), b = g_strsplit(expected, "\n", -1);
    unsigned line = 0;
    while (a[line] && b[line] && strcmp(a[line], b[line]) == 0)
        line++;
    fail_msg("%s, value %u: gives '%s' instead of '%s'", path, line + 1, a[line] ? a[line] : "",
             b[line] ? b[line] : "");
}

static void test_corpus(void **state)
{
    (void)state;
    g_autoptr(GDir) folder = g_dir_open(ORCH_PRINTED, 0, NULL);
    const char *name;
    unsigned count = 0;
    assert_non_null(folder);
    while ((name = g_dir_read_name(folder))) {
        if (!g_str_has_suffix(name, ".txt"))
            continue;
        check_file(name);
        count++;
    }
    assert_true(count >= FILES_MIN);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        g_autofree char *text = read_file(argv[i]), *found = read_output(text);
        fputs(found, stdout);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
