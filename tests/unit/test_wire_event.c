/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events, the fast path of points and its numbers, and reading journals. */
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/event.h"
#include "lib/wire/journal.h"
#include "lib/wire/number.h"
#include "lib/wire/points.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- numbers ----------------------------------------------------------------------------------
 */

static double bits_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A fixed stream (Knuth's MMIX constants): equal on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ (*state >> 29);
}

static void check_number(double value)
{
    char text[ORCH_NUMBER_CHARS + 1];
    char *end = orch_number_write(text, value);
    assert_in_range(end - text, 1, ORCH_NUMBER_CHARS);
    *end = 0;
    if (g_ascii_strtod(text, NULL) != value)
        fail_msg("%.17g was written as %s", value, text);
    double back;
    const char *stop = orch_number_read(text, end + 1, &back);
    if (stop != end || back != value)
        fail_msg("%s was read as %.17g", text, back);
    char reference[ORCH_REAL_CHARS];
    orch_real_format(value, reference);
    if (strspn(text, "0123456789.-") == strlen(text) && !strchr(reference, 'e') &&
        strlen(text) > strlen(reference))
        fail_msg("%s is longer than %s", text, reference);
}

static void test_numbers_round_trip(void **state)
{
    (void)state;
    const double known[] = {0,
                            1,
                            -1,
                            0.1,
                            0.3,
                            1e-5,
                            1e-11,
                            9.99e-12,
                            1e15,
                            1e22,
                            1e23,
                            123.456,
                            1e300,
                            5e-324,
                            0.5,
                            1.0 / 3,
                            2e-10,
                            1e14 + 0.5,
                            999999999999999.9,
                            0.000123,
                            4503599627370497.5,
                            9007199254740993.0,
                            1.7976931348623157e308,
                            2.2250738585072014e-308};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        check_number(known[i]);
        check_number(-known[i]);
    }
    uint64_t seed = 7;
    for (int i = 0; i < 60000; i++) {
        double any = bits_to_double(next_random(&seed));
        if (isfinite(any))
            check_number(any);
        double unit = (double)(next_random(&seed) >> 11) * 0x1p-53; /* [0, 1) */
        check_number(unit);
        check_number(unit * pow(10, (double)(i % 27) - 12));
        check_number(round(unit * 1e6) / 1e3); /* what times look like */
    }
}

/* Decimal texts near the middle between two doubles, against strtod. */
static void test_numbers_read_like_strtod(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int i = 0; i < 60000; i++) {
        char digits[32], full[96];
        int count = 1 + (int)(next_random(&seed) % 19);
        int exponent = (int)(next_random(&seed) % 70) - 45;
        g_snprintf(digits, sizeof digits, "%020" G_GUINT64_FORMAT, next_random(&seed));
        g_snprintf(full, sizeof full, "1%.*se%d,", count, digits + 1, exponent);
        double found, expected = g_ascii_strtod(full, NULL);
        assert_non_null(orch_number_read(full, full + strlen(full), &found));
        if (found != expected)
            fail_msg("%s was read as %.17g, not %.17g", full, found, expected);
    }
}

static void test_numbers_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "-",    "+1,", "01,",    ".5,", "1.,", "1e,",
                                      "1e+,", "nan,", "1",   "1e999,", "x,",  "--1,"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        double value = 77;
        if (orch_number_read(bad[i], bad[i] + strlen(bad[i]), &value))
            fail_msg("'%s' was read as %g", bad[i], value);
    }
    const char *const bad_integers[] = {"1234567890123456789,", "1", "-,", "01,", "x,"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad_integers); i++) {
        int64_t value;
        const char *text = bad_integers[i];
        const char *end = orch_number_read_int(text, text + strlen(text), &value);
        if (end)
            fail_msg("'%s' was read as an integer", text);
    }
}

/* ---- events -----------------------------------------------------------------------------------
 */

static struct orch_event decode(const char *line)
{
    struct orch_event event;
    g_autoptr(GError) error = NULL;
    if (!orch_event_decode(line, strlen(line), &event, &error))
        fail_msg("%s: %s", line, error->message);
    return event;
}

static void test_decode_points(void **state)
{
    (void)state;
    struct orch_event fast =
        decode("{\"event\":\"metrics\",\"points\":[[\"loss\",3,12.5,0.5],[\"acc\",4,null,\"nan\"],"
               "[\"loss\",5,1e1,\"-inf\"]]}\n");
    assert_null(fast.json); /* without a tree */
    assert_int_equal(fast.kind, ORCH_EVENT_METRICS);
    assert_int_equal(fast.point_count, 3);
    assert_string_equal(fast.points[0].name, "loss");
    assert_int_equal(fast.points[0].step, 3);
    assert_true(fast.points[0].t_ms == 12.5 && fast.points[0].value == 0.5);
    assert_true(isnan(fast.points[1].t_ms) && isnan(fast.points[1].value));
    assert_true(fast.points[2].name == fast.points[0].name); /* one text a name */
    assert_true(fast.points[2].value == -(double)INFINITY);
    orch_event_clear(&fast);

    struct orch_event slow =
        decode("{\"points\": [[\"loss\", 3, null, 1]], \"event\": \"metrics\", \"more\": 1}");
    assert_non_null(slow.json);
    assert_int_equal(slow.point_count, 1);
    orch_event_clear(&slow);

    struct orch_event single =
        decode("{\"event\":\"metric\",\"name\":\"loss\",\"step\":3,\"value\":\"inf\"}");
    assert_int_equal(single.kind, ORCH_EVENT_METRICS);
    assert_true(isinf(single.points[0].value) && isnan(single.points[0].t_ms));
    orch_event_clear(&single);
}

static void test_decode_others(void **state)
{
    (void)state;
    struct orch_event event = decode("{\"event\":\"result\",\"name\":\"a\",\"value\":2}");
    assert_true(event.kind == ORCH_EVENT_RESULT && event.value == 2);
    orch_event_clear(&event);
    event = decode("{\"event\":\"progress\",\"done\":3,\"total\":10}");
    assert_true(event.value == 3 && event.total == 10);
    orch_event_clear(&event);
    event = decode("{\"event\":\"artifact\",\"name\":\"w\",\"path\":\"a/b\"}");
    assert_string_equal(event.text, "a/b");
    orch_event_clear(&event);
    event = decode("{\"event\":\"done\",\"status\":\"diverged\"}");
    assert_int_equal(event.verdict, ORCH_VERDICT_DIVERGED);
    orch_event_clear(&event);
    event = decode("{\"event\":\"end\",\"verdict\":\"eaten\",\"reason\":\"by a dog\"}");
    assert_int_equal(event.verdict, ORCH_VERDICT_UNKNOWN);
    assert_string_equal(event.verdict_word, "eaten");
    orch_event_clear(&event);
    event = decode("{\"event\":\"sing\",\"song\":1}");
    assert_int_equal(event.kind, ORCH_EVENT_UNKNOWN);
    orch_event_clear(&event);
}

static void test_decode_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"", "not valid JSON"},
        {"[]", "text 'event'"},
        {"{\"event\":1}", "text 'event'"},
        {"{\"event\":\"metric\",\"step\":1,\"value\":1}", "metric without a name"},
        {"{\"event\":\"metric\",\"name\":\"a\",\"value\":1}", "metric 'a' without a step"},
        {"{\"event\":\"metric\",\"name\":\"a\",\"step\":1.5,\"value\":1}", "not an integer"},
        {"{\"event\":\"metric\",\"name\":\"a\",\"step\":1}", "metric 'a' without a value"},
        {"{\"event\":\"metric\",\"name\":\"a\",\"step\":1,\"value\":\"x\"}", "not a number"},
        {"{\"event\":\"metric\",\"name\":\"a\",\"step\":1,\"t_ms\":\"x\",\"value\":1}", "the time"},
        {"{\"event\":\"metrics\",\"points\":[[\"a\",1,2]]}", "point 1 of metrics"},
        {"{\"event\":\"metrics\",\"points\":[[\"a\",1,2,01]]}", "not valid JSON"},
        {"{\"event\":\"metrics\"}", "array 'points'"},
        {"{\"event\":\"result\",\"name\":\"a\"}", "result 'a' without a value"},
        {"{\"event\":\"artifact\",\"name\":\"a\"}", "artifact 'a' without a path"},
        {"{\"event\":\"done\"}", "done without a status"},
        {"{\"event\":\"done\",\"status\":\"crashed\"}", "'done' has status 'crashed'"},
        {"{\"event\":\"note\",\"text\":\"\xff\"}", "UTF-8"},
        {"{\"event\":\"note\",\"event\":\"note\",\"text\":\"a\"}", "duplicate"},
        {"{\"event\":\"checked\",\"ok\":true}", "integer 'id'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_event event = {.id = 99};
        g_autoptr(GError) error = NULL;
        if (orch_event_decode(rows[i].line, strlen(rows[i].line), &event, &error))
            fail_msg("accepted: %s", rows[i].line);
        assert_int_equal(error->code, ORCH_ERROR_PROTOCOL);
        if (!strstr(error->message, rows[i].says))
            fail_msg("%s: says '%s', not '%s'", rows[i].line, error->message, rows[i].says);
        assert_int_equal(event.id, 99); /* untouched */
    }
}

static void test_encode_points(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct orch_point *points = g_new0(struct orch_point, COUNT);
    for (int i = 0; i < COUNT; i++)
        points[i] = (struct orch_point){i % 2 ? "loss" : "b\"ad", i, i % 3 ? i / 7.0 : (double)NAN,
                                        i % 5 ? i / 3.0 : (double)-INFINITY};
    g_autoptr(GString) text = g_string_new(NULL);
    orch_event_encode_points(text, points, COUNT);
    int seen = 0, lines = 0;
    for (char *line = text->str; *line; lines++) {
        size_t length = strcspn(line, "\n") + 1;
        assert_in_range(length, 1, ORCH_WIRE_LINE_MAX);
        struct orch_event event;
        assert_true(orch_event_decode(line, length, &event, NULL));
        for (size_t i = 0; i < event.point_count; i++, seen++) {
            const struct orch_point *a = &points[seen], *b = &event.points[i];
            assert_string_equal(a->name, b->name);
            assert_true(a->step == b->step && a->value == b->value);
            assert_true(a->t_ms == b->t_ms || (isnan(a->t_ms) && isnan(b->t_ms)));
        }
        orch_event_clear(&event);
        line += length;
    }
    assert_int_equal(seen, COUNT);
    assert_true(lines > 1);
    g_free(points);
}

/* What the two readers accept must mean the same. */
static void test_readers_agree(void **state)
{
    (void)state;
    const char *line =
        "{\"event\":\"metrics\",\"points\":[[\"a\",-5,0.25,1e-7],[\"b_2\",0,1,-0.5]]}";
    struct orch_event fast = {0};
    assert_true(orch_points_decode(line, strlen(line), &fast));
    g_autofree char *spaced = g_strconcat(line, " ", NULL); /* a space: no fast path */
    struct orch_event slow = decode(spaced);
    assert_non_null(slow.json);
    assert_int_equal(fast.point_count, slow.point_count);
    for (size_t i = 0; i < fast.point_count; i++) {
        assert_string_equal(fast.points[i].name, slow.points[i].name);
        assert_true(fast.points[i].step == slow.points[i].step);
        assert_true(fast.points[i].t_ms == slow.points[i].t_ms);
        assert_true(fast.points[i].value == slow.points[i].value);
    }
    orch_event_clear(&fast);
    orch_event_clear(&slow);
}

/* ---- journals ---------------------------------------------------------------------------------
 */

static void append(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
}

static void test_journal(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-wire-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "journal", NULL);
    struct orch_event event;
    struct orch_journal *journal = orch_journal_open(path, NULL);
    assert_non_null(journal); /* not there yet: empty */
    assert_false(orch_journal_next(journal, &event, NULL));

    const char *first = "{\"event\":\"note\",\"text\":\"one\"}\n{\"event\":\"note\",\"te";
    append(path, first, strlen(first));
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_string_equal(event.text, "one");
    orch_event_clear(&event);
    assert_false(orch_journal_next(journal, &event, NULL)); /* half a line is not there yet */

    const char *rest = "xt\":\"two\"}\nnonsense\n{\"event\":\"phase\",\"name\":\"p\"}\n";
    append(path, rest, strlen(rest));
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_string_equal(event.text, "two");
    orch_event_clear(&event);
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_int_equal(event.kind, ORCH_EVENT_PHASE);
    orch_event_clear(&event);
    assert_int_equal(orch_journal_bad_count(journal), 1);

    g_autofree char *huge = g_strnfill(300000, 'x');
    append(path, huge, 300000);
    append(path, "\n", 1);
    const char *last = "{\"event\":\"note\",\"text\":\"last\"}\n";
    append(path, last, strlen(last));
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_string_equal(event.text, "last");
    orch_event_clear(&event);
    assert_int_equal(orch_journal_bad_count(journal), 2);
    orch_journal_close(journal);

    journal = orch_journal_open(path, NULL);
    orch_journal_seek_tail(journal, (int64_t)strlen(last) + 10);
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_string_equal(event.text, "last");
    orch_event_clear(&event);
    assert_int_equal(orch_journal_bad_count(journal), 0);
    orch_journal_close(journal);
    unlink(path);
    rmdir(folder);
}

static void test_journal_without_metrics(void **state)
{
    (void)state;
    g_autofree char *folder = g_dir_make_tmp("orch-wire-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "journal", NULL);
    const char *text = "{\"event\":\"metrics\",\"points\":[[\"a\",1,1,1]]}\n"
                       "{\"event\":\"note\",\"text\":\"n\"}\n";
    append(path, text, strlen(text));
    struct orch_journal *journal = orch_journal_open(path, NULL);
    struct orch_event event;
    orch_journal_skip_metrics(journal);
    assert_true(orch_journal_next(journal, &event, NULL));
    assert_int_equal(event.kind, ORCH_EVENT_NOTE);
    orch_event_clear(&event);
    assert_false(orch_journal_next(journal, &event, NULL));
    orch_journal_close(journal);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_round_trip),
        cmocka_unit_test(test_numbers_read_like_strtod),
        cmocka_unit_test(test_numbers_refused),
        cmocka_unit_test(test_decode_points),
        cmocka_unit_test(test_decode_others),
        cmocka_unit_test(test_decode_refuses),
        cmocka_unit_test(test_encode_points),
        cmocka_unit_test(test_readers_agree),
        cmocka_unit_test(test_journal),
        cmocka_unit_test(test_journal_without_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
