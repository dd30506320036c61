/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The examples of docs/printed-values.md: each row's lines are given to the reader of a wrapped
 * program's output, byte by byte in odd parts, and must give just what the row says. */
#include "tests/unit/printed_session.h"

#include "lib/base/file.h"
#include "lib/wire/printed_form.h"

#include <math.h>

/* A table's cell without the marks of Markdown: `a`<br>`b` is two lines. */
static char *plain(const char *cell)
{
    g_autoptr(GString) text = g_string_new(cell);
    g_string_replace(text, "`<br>`", "\n", 0);
    g_string_replace(text, "`", "", 0);
    g_string_replace(text, "\\|", "|", 0);
    return g_strdup(g_strstrip(text->str));
}

/* "2 of 60 done". */
static char *progress_of(const struct session *s)
{
    const char *done = s->intake.progress ? strstr(s->intake.progress, "\"done\":") : NULL;
    const char *total = done ? strstr(done, "\"total\":") : NULL;
    if (!total || !(g_ascii_strtod(total + 8, NULL) > 0))
        return g_strdup("not known");
    return g_strdup_printf("%g of %g done", g_ascii_strtod(done + 7, NULL),
                           g_ascii_strtod(total + 8, NULL));
}

/* A row of the values that are recorded, or of the progress that is known. */
static bool is_of_progress(const char *expected)
{
    return g_str_has_suffix(expected, " done") || strcmp(expected, "not known") == 0;
}

static unsigned check_row(const char *line)
{
    static const char separator[] = " | ";
    const char *middle = g_strrstr(line, separator);
    if (!g_str_has_prefix(line, "| `") || !g_str_has_suffix(line, " |") || !middle)
        return 0;
    g_autofree char *left = g_strndup(line + 2, (gsize)(middle - line - 2));
    g_autofree char *right = g_strndup(middle + 3, strlen(middle + 3) - 2);
    g_autofree char *printed = plain(left), *expected = plain(right);
    for (size_t part = 1; part < 100; part += 31) {
        struct session s;
        begin(&s, any_metric());
        feed(&s, printed, part);
        g_autofree char *found = is_of_progress(expected) ? progress_of(&s) : recorded(&s);
        end(&s);
        if (strcmp(found, expected) != 0)
            fail_msg("%s\n  gives   %s\n  instead %s", printed, found, expected);
    }
    return 1;
}

/* The row of a form on the page. */
static char *row_of(const struct orch_printed_form *form)
{
    g_autoptr(GString) printed = g_string_new(form->example);
    g_autoptr(GString) expected = g_string_new(form->recorded);
    g_string_replace(printed, "|", "\\|", 0);
    g_string_replace(printed, "\n", "`<br>`", 0);
    g_string_replace(expected, ", ", "`, `", 0);
    return g_strdup_printf("| `%s` | `%s` |\n", printed->str, expected->str);
}

/* Checks the rows of a file; returns their number. */
static unsigned check_rows(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = NULL;
    assert_true(orch_file_read(path, 1 << 20, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    unsigned count = 0;
    for (int i = 0; lines[i]; i++)
        count += check_row(lines[i]);
    return count;
}

static void test_page(void **state)
{
    (void)state;
    assert_true(check_rows(ORCH_DOCS, "printed-values.md") >= 30);
    assert_true(check_rows(ORCH_PRINTED, "rows.md") >= 160);
}

static char *text_of(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text = NULL;
    assert_true(orch_file_read(path, 1 << 20, &text, NULL, NULL));
    return text;
}

/* Each form's example gives what its row says. The row is on the page, or a rare form's in rows.md.
 */
static void test_forms(void **state)
{
    (void)state;
    g_autofree char *page = text_of(ORCH_DOCS, "printed-values.md");
    g_autofree char *rare = text_of(ORCH_PRINTED, "rows.md");
    size_t count;
    const struct orch_printed_form *forms = orch_printed_forms(&count);
    for (size_t i = 0; i < count; i++) {
        struct session s;
        begin(&s, any_metric());
        feed(&s, forms[i].example, 5);
        g_autofree char *found = recorded(&s);
        end(&s);
        if (strcmp(found, forms[i].recorded) != 0)
            fail_msg("form '%s': %s\n  gives   %s\n  instead %s", forms[i].pattern,
                     forms[i].example, found, forms[i].recorded);
        g_autofree char *row = row_of(&forms[i]);
        if (!strstr(page, row) && !strstr(rare, row))
            fail_msg("neither docs/printed-values.md nor rows.md has a row\n%s", row);
    }
}

/* What a manifest declares: names, units, a result, epoch as a metric. */
static void test_declared(void **state)
{
    (void)state;
    static const struct {
        const char *name, *unit, *printed, *expected;
    } rows[] = {
        {"loss", NULL, "Average loss: 0.3 lr 0.1\nepoch 4 loss 0.2",
         "loss[0] = 0.3, loss[4] = 0.2"},
        {"accuracy", "%", "accuracy 91.2%", "accuracy[0] = 91.2 %"},
        {"accuracy", NULL, "accuracy 91.2%", "accuracy[0] = 0.912"},
        {"time", "ms", "time: 1.5s", "time[0] = 1500 ms"},
        {"size", "MiB", "size: 3 GiB", "size[0] = 3072 MiB"},
        {"time", "ms", "time: 3 MB", "nothing, and counted as not understood"},
        {"time", NULL, "time: 1.5s", "time[0] = 1.5"},
        {"epoch", NULL, "epoch 3", "epoch[0] = 3"},
        {"eta", NULL, "loss 0.3 ETA: 3s", "eta[0] = 3"},
        {"loss", NULL, "Using 4 workers", "nothing"}, /* ordinary output of no declared name */
        {"loss", NULL, "loss: 1.2.3.x", "nothing"},
        {"loss", NULL, "loss=0,91", "nothing, and counted as not understood"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct session s;
        struct orch_manifest *manifest = orch_manifest_new();
        struct orch_metric_spec *spec = orch_manifest_add_metric(manifest, rows[i].name);
        spec->unit = g_strdup(rows[i].unit);
        spec->step_unit = g_strdup("epoch");
        begin(&s, manifest);
        feed(&s, rows[i].printed, 7);
        g_autofree char *found = recorded(&s);
        end(&s);
        if (strcmp(found, rows[i].expected) != 0)
            fail_msg("%s\n  gives   %s\n  instead %s", rows[i].printed, found, rows[i].expected);
    }
}

/* A resumed run goes on from its epoch, whichever way its steps are counted. */
static void test_resumed(void **state)
{
    (void)state;
    static const struct {
        const char *printed, *expected;
    } rows[] = {
        {"epoch 18 loss 1\nepoch 19 loss 2", "loss[18] = 1, loss[19] = 2"},
        {"Epoch [18/20], Step [100/600], Loss: 1\nEpoch [19/20], Step [100/600], Loss: 2",
         "loss[10300] = 1, loss[10900] = 2"},
        {"Epoch [18/20], Step [10300/12000], Loss: 1\nEpoch [19/20], Step [10900/12000], Loss: 2",
         "loss[10300] = 1, loss[10900] = 2"}, /* these run through */
        {"epoch 1 step 5 loss 1\nepoch 2 step 10 loss 2\nepoch 3 step 4 loss 3",
         "loss[5] = 1, loss[10] = 2, loss[14] = 3"},
        {"step 99999999999999999999 loss 1\nloss 2", "loss[0] = 1, loss[1] = 2"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct session s;
        begin(&s, any_metric());
        feed(&s, rows[i].printed, 1000);
        g_autofree char *found = recorded(&s);
        end(&s);
        if (strcmp(found, rows[i].expected) != 0)
            fail_msg("%s\n  gives   %s\n  instead %s", rows[i].printed, found, rows[i].expected);
    }
}

static void test_losses(void **state)
{
    (void)state;
    struct session s;
    begin(&s, any_metric());
    feed(&s,
         "Using 4 \033[31mworkers\nepoch 1\nloss 3\nloss 2\r 5%|#   | 1/20 loss=1\nSaw 7 dogs\n",
         3);
    const struct orch_text_losses *losses = orch_text_metrics_losses(s.metrics);
    assert_int_equal(losses->counts[ORCH_LOSS_UNREAD], 2);
    assert_string_equal(losses->first[ORCH_LOSS_UNREAD], "Using 4 ?[31mworkers");
    assert_int_equal(losses->counts[ORCH_LOSS_REPLACED],
                     1); /* the bar's value is a later state of it */
    assert_string_equal(losses->first[ORCH_LOSS_REPLACED], "loss at 1");
    end(&s);
    assert_int_equal(orch_text_metrics_losses(NULL)->counts[ORCH_LOSS_UNREAD], 0);
}

/* Every point that is replaced is counted, also under a printed step, and a line with two values of
 * which one is not understood is counted, too. */
static void test_whatever_is_dropped(void **state)
{
    (void)state;
    struct session s;
    begin(&s, any_metric());
    feed(&s,
         "epoch 1 loss 3\nepoch 2 loss 2\nepoch 1 loss 1\nepoch 2 loss 2\r\nval loss: 1\n"
         "val_loss: 2\nacc=0.5 f1=0,5\n",
         4);
    const struct orch_text_losses *losses = orch_text_metrics_losses(s.metrics);
    assert_int_equal(losses->counts[ORCH_LOSS_REPLACED], 3); /* loss twice, and val_loss */
    assert_string_equal(losses->first[ORCH_LOSS_REPLACED], "loss at 1");
    assert_int_equal(losses->counts[ORCH_LOSS_MERGED], 1);
    assert_string_equal(losses->first[ORCH_LOSS_MERGED], "val_loss");
    assert_int_equal(losses->counts[ORCH_LOSS_UNREAD], 1);
    end(&s);
}

static void test_streams(void **state)
{
    (void)state;
    struct session s;
    struct orch_manifest *manifest = any_metric();
    begin(&s, manifest);
    orch_text_metrics_feed(s.metrics, TEXT_STDERR, "loss 1\nno digit\nloss 2\n", 23);
    assert_int_equal(orch_text_metrics_losses(s.metrics)->counts[ORCH_LOSS_UNHEARD], 2);
    assert_int_equal(s.intake.points->len, 0);
    end(&s);
    manifest = any_metric();
    manifest->metrics_on = ORCH_METRICS_ON_BOTH;
    begin(&s, manifest);
    orch_text_metrics_feed(s.metrics, TEXT_STDERR, "loss 1\nac", 9);
    orch_text_metrics_feed(s.metrics, TEXT_STDOUT, "epoch 3\n", 8);
    orch_text_metrics_feed(s.metrics, TEXT_STDERR, "c 2\n", 4);
    g_autofree char *found = recorded(&s);
    assert_string_equal(found, "loss[0] = 1, acc[3] = 2");
    end(&s);
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* NaN: it is no number */
        const char *unit;
    } rows[] = {
        {"1,234,567.8", 1234567.8, ""},
        {"1234,567", NAN, ""},
        {"0,912", NAN, ""},
        {"12,34", NAN, ""},
        {"1,2345", NAN, ""},
        {"91.2%", 0.912, "%"},
        {"79.20%", 0.792, "%"},
        {"0.1%", 0.001, "%"},
        {"1e2%", 1, "%"},
        {"+.5", 0.5, ""},
        {"5.", 5, ""},
        {"-3", -3, ""},
        {".", NAN, ""},
        {"-", NAN, ""},
        {"", NAN, ""},
        {"1e400", NAN, ""},
        {"1e", NAN, ""},
        {"0x1F", NAN, ""},
        {"3rd", NAN, ""},
        {"12kHz", NAN, ""},
        {"3.5s", 3.5, "s"},
        {"2us", 2, "us"},
        {"2\xc2\xb5s", 2, "us"},
        {"7it/s", 7, "it/s"},
        {"7ms/step", 7, "ms/step"},
        {"10k", 10000, ""},
        {"1_000", 1000, ""},
        {"inf", INFINITY, ""},
        {"-Infinity", -INFINITY, ""},
        {"info", NAN, ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        char unit[ORCH_UNIT_CHARS];
        double value = NAN;
        const char *end = rows[i].text + strlen(rows[i].text);
        const char *behind = orch_printed_number(rows[i].text, end, &value, unit);
        bool is_number = behind == end && behind != rows[i].text;
        if (is_number != !isnan(rows[i].value) ||
            (is_number && (value != rows[i].value || strcmp(unit, rows[i].unit) != 0)))
            fail_msg("'%s': %s %.17g '%s'", rows[i].text, is_number ? "read as" : "not read", value,
                     unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page),     cmocka_unit_test(test_forms),
        cmocka_unit_test(test_declared), cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_losses),   cmocka_unit_test(test_whatever_is_dropped),
        cmocka_unit_test(test_streams),  cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
