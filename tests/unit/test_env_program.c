/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Environments that are programs: a good one, and all the ways in which one can be bad. Nothing
 * depends on how fast a program is: those that answer have a minute, and the limits that are meant
 * to pass belong to programs that never answer. */
#include "plugins/replay/env/env.h"

#include "lib/base/error.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ABOUT "echo \\{\\\"name\\\":\\\"x\\\",\\\"shape\\\":[2],\\\"actions\\\":2\\}"

enum { COPIES = 3 };
static float observations[COPIES * 2], finals[COPIES * 2], rewards[COPIES];
static uint8_t ends[COPIES];
static const struct orch_envs_result RESULT = {rewards, ends, observations, finals};

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static struct orch_envs *open_program(const char *command, int64_t count, double timeout_s,
                                      GError **error)
{
    const struct orch_envs_options options = {
        .command = command, .count = count, .timeout_s = timeout_s, .seed = 1};
    return orch_envs_new(&options, error);
}

static struct orch_envs *open_walk(void)
{
    GError *error = NULL;
    g_autofree char *command =
        g_strdup_printf("python3 '%s/tests/data/env/walk.py'", g_getenv("ORCH_SOURCE_DIR"));
    struct orch_envs *envs = open_program(command, COPIES, 60, &error);
    if (!envs || !orch_envs_reset(envs, observations, &error))
        fail_msg("%s", error->message);
    return envs;
}

static void test_walk(void **state)
{
    (void)state;
    const int before = open_files();
    struct orch_envs *envs = open_walk();
    const struct orch_env_kind *kind = orch_envs_kind(envs);
    assert_string_equal(kind->name, "walk");
    assert_int_equal(kind->observation_values, 2);
    assert_int_equal(kind->step_limit, 20);
    const int32_t actions[COPIES] = {1, 1, 0};
    int terminated[COPIES] = {0}, truncated[COPIES] = {0};
    for (int i = 0; i < 40; i++) {
        assert_true(orch_envs_step(envs, actions, &RESULT, NULL));
        for (int c = 0; c < COPIES; c++) {
            terminated[c] += ends[c] == ORCH_ENV_TERMINATED;
            truncated[c] += ends[c] == ORCH_ENV_TRUNCATED;
            if (ends[c] == ORCH_ENV_TERMINATED)
                assert_true(finals[2 * c] == 3 && observations[2 * c + 1] == 0 && rewards[c] == 1);
        }
    }
    /* 3 or 4 steps to the right, 20 to nowhere */
    assert_true(terminated[0] >= 10 && terminated[0] <= 13 && terminated[1] >= 10);
    assert_true(terminated[2] == 0 && truncated[2] == 2 && truncated[0] == 0);
    orch_envs_free(envs);
    assert_int_equal(open_files(), before);
}

/** Starts differ by copy and are the same for the same seed. */
static void test_seeds(void **state)
{
    (void)state;
    float first[COPIES * 2];
    struct orch_envs *envs = open_walk();
    memcpy(first, observations, sizeof first);
    orch_envs_free(envs);
    orch_envs_free(open_walk());
    assert_memory_equal(first, observations, sizeof first);
}

/** The page that describes the protocol shows the program of these tests. */
static void test_docs(void **state)
{
    (void)state;
    g_autofree char *page = NULL, *program = NULL;
    g_autofree char *page_path =
        g_strdup_printf("%s/docs/plugins/replay.md", g_getenv("ORCH_SOURCE_DIR"));
    g_autofree char *program_path =
        g_strdup_printf("%s/tests/data/env/walk.py", g_getenv("ORCH_SOURCE_DIR"));
    assert_true(g_file_get_contents(page_path, &page, NULL, NULL));
    assert_true(g_file_get_contents(program_path, &program, NULL, NULL));
    assert_non_null(strstr(page, strstr(program, "import json")));
}

struct bad {
    const char *command; /* what sh runs */
    const char *words;
    double timeout_s;
};

/** Runs a program up to its first step; it must fail somewhere, and leave nothing open. */
static void expect_failure(const struct bad *bad)
{
    const int before = open_files();
    g_autoptr(GError) error = NULL;
    g_autofree char *quoted = g_shell_quote(bad->command);
    g_autofree char *command = g_strdup_printf("sh -c %s", quoted);
    const int32_t action = 1;
    struct orch_envs *envs = open_program(command, 1, bad->timeout_s, &error);
    const bool is_good = envs && orch_envs_reset(envs, observations, &error) &&
                         orch_envs_step(envs, &action, &RESULT, &error);
    if (is_good || !strstr(error->message, bad->words))
        fail_msg("%s: %s", bad->command, is_good ? "no error" : error->message);
    assert_non_null(strstr(error->message, "environment program 'sh -c "));
    if (envs) {
        g_clear_error(&error);
        assert_false(orch_envs_step(envs, &action, &RESULT, &error));
        assert_non_null(strstr(error->message, "after it failed"));
    }
    orch_envs_free(envs);
    assert_int_equal(open_files(), before);
}

static void test_bad_programs(void **state)
{
    (void)state;
#define REPLIES ABOUT "; while read line; do "
    static const struct bad BAD[] = {
        {"exit 3", "ended with status 3", 60},
        {"kill -9 $$", "was ended by signal 9", 60},
        {"sleep 1000", "sent no answer within 0.1 s", 0.1},
        {ABOUT "; sleep 1000", "sent no answer within 0.3 s", 0.3},
        {"echo hello", "sent 'hello': not valid JSON", 60},
        {"echo [1]", "not a JSON object", 60},
        {"echo {}", "'name' is not a text", 60},
        {"echo '{\"name\":\"x\",\"shape\":[0],\"actions\":2}'", "'shape' is not a list", 60},
        {"echo '{\"name\":\"x\",\"shape\":[4096,4096],\"actions\":2}'", "a product of", 60},
        {"echo '{\"name\":\"x\",\"shape\":[2]}'", "'actions' is not an integer from 1", 60},
        {"echo '{\"name\":\"x\",\"shape\":[2],\"actions\":2,\"type\":\"int\"}'", "'type' is", 60},
        {ABOUT "; read line; exit 0", "ended with status 0", 60},
        {REPLIES "echo '{\"observation\":[1]}'; done", "a flat list of 2 numbers", 60},
        {REPLIES "echo '{\"observation\":[1,1e99]}'; done", "value 1 of 'observation'", 60},
        {REPLIES "echo '{\"observation\":[1,2]}'; done", "'reward' is not a finite", 60},
        {REPLIES "echo '{\"observation\":[1,2],\"reward\":1,\"terminated\":1}'; done",
         "'terminated' is neither true nor false", 60},
        {REPLIES "printf '{\"observation\":[1,2]}\\n{}\\n'; done", "more than one line", 60},
        {REPLIES "printf 'a\\377b\\n'; done", "not valid JSON", 60},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++)
        expect_failure(&BAD[i]);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *command, *words;
        int64_t count;
    } BAD[] = {{"/no/such/program", "cannot start the environment program '/no/such/program'", 1},
               {"'open", "environment program ''open'", 1},
               {"cat", "2000 copies need as many processes", 2000}};
    for (size_t i = 0; i < G_N_ELEMENTS(BAD); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(open_program(BAD[i].command, BAD[i].count, 60, &error));
        assert_int_equal(error->code, ORCH_ERROR_RECIPE);
        if (!strstr(error->message, BAD[i].words))
            fail_msg("%s", error->message);
    }
    struct orch_envs *envs = open_walk();
    const int32_t actions[COPIES] = {0, 0, 2};
    g_autoptr(GError) error = NULL;
    assert_false(orch_envs_step(envs, actions, &RESULT, &error));
    assert_non_null(strstr(error->message, "action 2 of copy 2 is not in 0 .. 1"));
    orch_envs_free(envs);
}

static bool runs(long pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%ld/stat", pid), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return false;
    const char *after = strrchr(text, ')');
    return after && after[2] != 'Z';
}

/** A program that ignores the end of its input, and a child of it, are both gone afterwards. */
static void test_nothing_stays(void **state)
{
    (void)state;
    static const char *SCRIPT = "sh -c 'trap \"\" TERM HUP; sleep 1000 & echo "
                                "{\\\"name\\\":\\\"$$.$!\\\",\\\"shape\\\":[2],"
                                "\\\"actions\\\":2}; while :; do sleep 1000; done'";
    g_autoptr(GError) error = NULL;
    struct orch_envs *envs = open_program(SCRIPT, 1, 60, &error);
    if (!envs)
        fail_msg("%s", error->message);
    long parent, child;
    assert_int_equal(sscanf(orch_envs_kind(envs)->name, "%ld.%ld", &parent, &child), 2);
    assert_true(runs(parent) && runs(child));
    orch_envs_free(envs);
    assert_false(runs(parent));
    for (int i = 0; i < 6000 && runs(child);
         i++) /* the signal was sent; its effect may take time */
        g_usleep(10000);
    assert_false(runs(child));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_docs),     cmocka_unit_test(test_walk),
        cmocka_unit_test(test_seeds),    cmocka_unit_test(test_bad_programs),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_nothing_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
