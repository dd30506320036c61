/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each reader finds in small files, whatever the size of the parts in which it gets them, and
 * which files the table recognises. The files of files/ were made by the loggers themselves
 * (make_files.py), and their points by the loggers' own readers. */
#include "tests/loggers/recorder.h"

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/loggers/logged_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void reads_small_files(void **state)
{
    (void)state;
    static const struct {
        const struct orch_logger *logger;
        const char *text, *found, *why;
    } cases[] = {
        {&ORCH_LOGGER_CSV, "step,loss,acc\n1,0.5,\n2,nan,0.9\n3,0.25",
         "loss@1=0.5\nloss@2=nan\nacc@2=0.90000000000000002\nloss@3=0.25\n", NULL},
        {&ORCH_LOGGER_CSV, "epoch;a\r\n0;1\r\n\r\n1;2\r\n", "a@0=1\na@1=2\n", NULL},
        {&ORCH_LOGGER_CSV, "#{\"t\": 1}\nr,l\n5,6\n7,8\n", "r@0=5\nl@0=6\nr@1=7\nl@1=8\n", NULL},
        {&ORCH_LOGGER_CSV, "  epoch,  train/box,\"a,b\"\n  1,  2, 3\n", "train/box@1=2\na,b@1=3\n",
         NULL},
        {&ORCH_LOGGER_CSV, "epoch,step,v\n0,10,1\n0,,2\n",
         "epoch@10=0\nv@10=1\nepoch@10=0\nv@10=2\n", NULL},
        {&ORCH_LOGGER_CSV, "episode,timestep,reward\n3,800,21.5\n",
         "episode@800=3\nreward@800=21.5\n", NULL},
        {&ORCH_LOGGER_CSV, "1,2\n3,4\n", "", "its first line has no column names"},
        {&ORCH_LOGGER_CSV, "step,a\n1,2\n2,\"3", "a@1=2\n", "a quoted field at its end is cut off"},
        {&ORCH_LOGGER_JSON_LINES,
         "{\"step\": 3, \"a\": 1, \"b\": {\"c\": 2}, \"t\": \"x\", \"ok\": true}\nwords\n"
         "{\"a\": NaN}\n",
         "a@3=1\nb.c@3=2\na@3=nan\n", NULL},
        {&ORCH_LOGGER_JSON_LINES, /* lines of one form, and others between them */
         "{\"a/b\": 1, \"step\": 1, \"t\": \"x\"}\n{\"a/b\":-2.5e-3 ,\"step\": 2,\"t\":null}\r\n"
         "{\"a/b\": NaN, \"step\": 3, \"t\": \"y\"}\n{\"a/b\": 4, \"step\": 4, \"t\": \"\\\"\"}\n"
         "{\"step\": 5, \"t\": \"-inf\", \"a/b\": 5}\n{\"step\": 6, \"t\": \"\", \"a/b\": 6}\n"
         "{\"step\": 7, \"t\": \"\", \"a/b\": 7} 8\n{\"step\": 8, \"t\": true, \"a/b\": 8}\n",
         "a/b@1=1\na/b@2=-0.0025000000000000001\na/b@3=nan\na/b@4=4\nt@5=-inf\na/b@5=5\na/b@6=6\n"
         "a/b@8=8\n",
         NULL},
        {&ORCH_LOGGER_JSON_LINES, "{\"a\": 1}\n{\"a\": 2}\n{\"a\"", "a@0=1\na@1=2\n",
         "its last line is cut off"},
        {&ORCH_LOGGER_JSON,
         "{\"log_history\": [{\"step\": 5, \"epoch\": 0.5, \"loss\": 1}, {\"step\": 9, \"loss\": "
         "2}]}",
         "epoch@5=0.5\nloss@5=1\nloss@9=2\n", NULL},
        {&ORCH_LOGGER_JSON, "{\"acc\": 0.5, \"eval\": {\"f1\": 0.25}, \"name\": \"x\"}",
         "acc=0.5\neval.f1=0.25\n", NULL},
        {&ORCH_LOGGER_JSON, "{\"acc\": 0.5", "", "it is not a JSON object, or cut off"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (size_t part = 1; part < 9; part++) {
            const char *why;
            g_autofree char *found = record(cases[i].logger, cases[i].text, strlen(cases[i].text),
                                            part == 8 ? 100000 : part, &why);
            assert_string_equal(found, cases[i].found);
            assert_string_equal(why ? why : "", cases[i].why ? cases[i].why : "");
        }
}

static void recognises_files(void **state)
{
    (void)state;
    static const struct {
        const char *path, *head, *name;
    } cases[] = {
        {"/r/events.out.tfevents.17.host", "", "tensorboard"},
        {"/r/metrics.csv", "a,b\n", "csv"},
        {"/r/any.csv", "a,b\n1,2\n", NULL},
        {"/r/any.csv", "epoch,loss\n", "csv"},
        {"/r/any.csv", "epoch,loss", NULL}, /* not yet */
        {"/r/any.csv", "Episode,return\n", "csv"},
        {"/r/any.txt", "epoch,loss\n", NULL},
        {"/r/0.monitor.csv", "#{\"t\": 1}\nr,l,t\n", "csv"},
        {"/r/data.csv", "1,2\n3,4\n", NULL},
        {"/r/log.jsonl", "{\"step\": 1, \"loss\": 2}\n", "json lines"},
        {"/r/20.json", "{\"env\": \"x\"}\n{\"iter\": 1, \"loss\": 2}\n", "json lines"},
        {"/r/data.jsonl", "{\"text\": \"x\", \"label\": 2}\n", NULL},
        {"/r/trainer_state.json", "{\n  \"epoch\": 1,", "json"},
        {"/r/other.json", "{\n  \"epoch\": 1,", NULL},
        {"/r/run.py", "step,loss\n", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct orch_logger *logger =
            orch_logger_of(cases[i].path, false, cases[i].head, strlen(cases[i].head));
        assert_string_equal(logger ? logger->name : "none", cases[i].name ? cases[i].name : "none");
        assert_true(!logger || orch_logger_may_know(cases[i].path));
    }
}

/* The points of a reader and those of the logger's own reader as sorted lines. */
static void agrees(const char *file, const char *name)
{
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *path = g_build_filename(source, "tests/loggers/files", file, NULL);
    g_autofree char *points = g_strdup_printf("%s/tests/loggers/files/%s.points", source, name);
    g_autofree char *bytes = NULL, *expected = NULL;
    size_t length = 0;
    assert_true(orch_file_read(path, 1 << 20, &bytes, &length, NULL));
    assert_true(orch_file_read(points, 1 << 20, &expected, NULL, NULL));
    const struct orch_logger *logger = orch_logger_of(path, false, bytes, MIN(length, 4096));
    assert_non_null(logger);
    for (size_t part = 7; part < 1000000; part *= 1000) {
        const char *why;
        g_autofree char *found = record(logger, bytes, length, part, &why);
        assert_null(why);
        g_auto(GStrv) lines = g_strsplit(expected, "\n", -1);
        guint count = 0;
        for (char **line = lines; *line && **line; line++, count++) {
            g_auto(GStrv) words = g_strsplit(*line, "\t", 3);
            g_autofree char *point = g_strdup_printf("%s@%s=%.17g\n", words[0], words[1],
                                                     g_ascii_strtod(words[2], NULL));
            if (!strstr(found, point))
                fail_msg("%s: no %s", file, point);
        }
        guint own = 0;
        for (const char *at = found; (at = strchr(at, '\n')); at++)
            own++;
        assert_int_equal(own, count);
    }
}

static void agrees_with_their_readers(void **state)
{
    (void)state;
    agrees("torch.tfevents.1", "torch");
    agrees("lightning/metrics.csv", "lightning");
    agrees("keras.csv", "keras");
    agrees("sb3/progress.csv", "sb3");
}

static void ignore_again(void *ctx)
{
    (void)ctx;
}

/* The trial that reads a file first learns of another one, though the file does not change. */
static void notices_another_trial(void **state)
{
    (void)state;
    static const char text[] = "step,both\n1,2\n";
    g_autoptr(GString) found = g_string_new(NULL);
    const struct orch_log_sink sink = {.ctx = found, .point = record_point};
    struct logged_file *files[2];
    assert_true(orch_file_write("both.csv", text, strlen(text), false, NULL));
    for (int i = 0; i < 2; i++) {
        files[i] = orch_logged_file_new("both.csv", &ORCH_LOGGER_CSV, 0, &sink, ignore_again);
        orch_logged_file_read(files[i], SIZE_MAX);
        assert_int_equal(orch_logged_file_is_shared(files[i]), i);
    }
    orch_logged_file_read(files[0], SIZE_MAX);
    assert_true(orch_logged_file_is_shared(files[0]));
    for (int i = 0; i < 2; i++)
        orch_logged_file_free(files[i]);
    assert_int_equal(remove("both.csv"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_small_files),
        cmocka_unit_test(recognises_files),
        cmocka_unit_test(agrees_with_their_readers),
        cmocka_unit_test(notices_another_trial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
