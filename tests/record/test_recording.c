/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of programs that orch did not start: what is refused before anything is written, and
 * what a run keeps of its description. */
#include "tests/store/fixture.h"
#include "tests/unit/vcs_fixture.h"

#include "features/record/recording.h"
#include "lib/base/json.h"
#include "store/handle/store_dir.h"

#include <signal.h>

static struct orch_workspace *workspace;
static char *dir;

static int set_up(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    dir = new_bare_minimum("sha1");
    put(dir, "train.py", "print(1)\n");
    put(dir, ".gitignore", ".orch/\n");
    commit_all(dir, "first");
    put(dir, ".env", "TOKEN=1\n");
    assert_ok(workspace = orch_workspace_new(dir, NULL, error));
    assert_ok(orch_workspace_store(workspace, ORCH_STORE_CREATE, error));
    return 0;
}

static int tear_down(void **state)
{
    orch_workspace_free(workspace);
    g_free(dir);
    return scratch_remove(state);
}

/* Nothing is left of a recording that did not begin. */
static void assert_nothing_left(void)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(workspace->store, NULL);
    assert_int_equal(rows->len, 0);
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    g_autofree char *trial = orch_store_dir_path(workspace->store, ORCH_STORE_DIR_TRIAL, key);
    assert_non_null(trial);
    g_autofree char *trials = g_path_get_dirname(trial);
    g_autoptr(GDir) folder = g_dir_open(trials, 0, NULL);
    if (folder && g_dir_read_name(folder))
        fail_msg("a folder is left in '%s'", trials);
}

static void assert_refused(const struct orch_recording_spec *spec, const char *says)
{
    assert_fails(orch_recording_begin(workspace, spec, error), ORCH_ERROR_USAGE, says);
    assert_nothing_left();
}

static void test_refused_names(void **state)
{
    (void)state;
    assert_refused(&(struct orch_recording_spec){.experiment = "My Run"},
                   "experiment 'My Run' is not a valid name");
    assert_refused(&(struct orch_recording_spec){.name = "two words"},
                   "name 'two words' is not valid");
    static const struct {
        const char *tags, *says;
    } rows[] = {{"[\"good\",\"not good\"]", "tag 'not good' is not valid"},
                {"[1]", "tag '' is not valid"},
                {"[\"\"]", "tag '' is not valid"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(json_t) tags = json_loads(rows[i].tags, 0, NULL);
        assert_refused(&(struct orch_recording_spec){.tags = tags}, rows[i].says);
    }
    g_autoptr(json_t) many = json_array();
    for (int i = 0; i < 101; i++)
        json_array_append_new(many, json_string("t"));
    assert_refused(&(struct orch_recording_spec){.tags = many}, "tag 't'");
}

static void test_refused_params(void **state)
{
    (void)state;
    static const struct {
        const char *params, *says;
    } rows[] = {{"{\"two words\":1}", "parameter 'two words': its name cannot be recorded"},
                {"{\"a\":{\"b\":1}}", "parameter 'a': its value cannot be recorded"},
                {"{\"a\":null}", "parameter 'a': its value cannot be recorded"},
                {"{\"a\":[1,[2]]}", "parameter 'a': its value cannot be recorded"}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(json_t) params = json_loads(rows[i].params, 0, NULL);
        assert_refused(&(struct orch_recording_spec){.params = params}, rows[i].says);
    }
    g_autoptr(json_t) many = json_object();
    for (int i = 0; i <= 10000; i++) {
        g_autofree char *name = g_strdup_printf("p%d", i);
        json_object_set_new(many, name, json_true());
    }
    assert_refused(&(struct orch_recording_spec){.params = many},
                   "there are 10001 parameters, but a run can have at most 10000");
}

/* The claim was made by then, and is taken back. */
static void test_no_such_process(void **state)
{
    (void)state;
    assert_refused(&(struct orch_recording_spec){.pid = INT64_C(0x3fffffff)},
                   "there is no process 1073741823");
}

/* Records a program that writes `events` and ends, or, with a signal, is interrupted by it; the
 * caller frees. */
static struct orch_run *record(const struct orch_recording_spec *spec, const char *events,
                               int signal_number)
{
    int pipe_fds[2], input = dup(STDIN_FILENO);
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
    assert_int_equal(write(pipe_fds[1], events, strlen(events)), strlen(events));
    dup2(pipe_fds[0], STDIN_FILENO);
    close(pipe_fds[0]);
    if (!signal_number)
        close(pipe_fds[1]);
    struct orch_recording *recording;
    struct orch_collected end = {0};
    struct orch_run *run;
    assert_ok(recording = orch_recording_begin(workspace, spec, error));
    if (signal_number)
        kill(getpid(), signal_number); /* blocked by now */
    assert_ok(orch_recording_finish(workspace, recording, &end, error));
    if (signal_number)
        close(pipe_fds[1]);
    assert_ok(run = orch_store_run(workspace->store, recording->key, error));
    assert_true(run->seed == recording->seed);
    orch_collected_clear(&end);
    orch_recording_free(recording);
    dup2(input, STDIN_FILENO);
    close(input);
    assert_nothing_left();
    return run;
}

static void test_a_whole_recording(void **state)
{
    (void)state;
    g_autoptr(json_t) params =
        json_loads("{\"seed\":7,\"lr\":0.5,\"flip\":false,\"fast\":true,\"net\":\"mlp\","
                   "\"drops\":[1,2],\"none\":[],\"marks\":[0.5],\"words\":[\"a\"]}",
                   0, NULL);
    g_autoptr(json_t) facts =
        json_loads("{\"interpreter\":\"python3\",\"colour\":\"blue\"}", 0, NULL);
    g_autoptr(json_t) argv = json_loads("[\"train.py\",\"--lr\"]", 0, NULL);
    g_autoptr(json_t) tags = json_loads("[\"first\"]", 0, NULL);
    struct orch_run *run =
        record(&(struct orch_recording_spec){.experiment = "net-1",
                                             .params = params,
                                             .facts = facts,
                                             .argv = argv,
                                             .tags = tags,
                                             .name = "sunny"},
               "{\"event\":\"metric\",\"name\":\"loss\",\"step\":1,\"value\":0.5}\n"
               "{\"event\":\"done\",\"status\":\"ok\"}\n",
               0);
    assert_string_equal(run->state, "ok");
    assert_string_equal(run->recipe, "record");
    assert_string_equal(run->experiment, "net-1");
    assert_string_equal(run->argv, "[\"train.py\",\"--lr\"]");
    assert_true(run->seed == 7);
    assert_non_null(run->source_commit);
    g_autoptr(json_t) kept = orch_store_params(workspace->store, run->id, NULL);
    json_object_del(params, "seed"); /* it is the run's, and no parameter */
    assert_true(json_equal(kept, params));
    g_autoptr(json_t) known = json_loads(run->facts, 0, NULL);
    assert_string_equal(orch_json_text(known, "colour", ""), "blue");
    const json_t *left_out = json_array_get(json_object_get(known, "left_out"), 0);
    assert_non_null(left_out);
    assert_string_equal(json_string_value(json_array_get(left_out, 0)), ".env");
    orch_run_free(run);
}

/* Without a description, and with an end that the program did not tell. */
static void test_an_empty_recording(void **state)
{
    (void)state;
    struct orch_run *run = record(&(struct orch_recording_spec){0}, "", 0);
    assert_string_equal(run->experiment, "run");
    assert_null(run->argv);
    assert_true(run->seed == 0);
    g_autoptr(json_t) kept = orch_store_params(workspace->store, run->id, NULL);
    assert_int_equal(json_object_size(kept), 0);
    orch_run_free(run);
    orch_recording_free(NULL);
}

/* Ctrl-C reaches only this process, which passes it on to the host. */
static void test_an_interrupted_recording(void **state)
{
    (void)state;
    struct orch_run *run =
        record(&(struct orch_recording_spec){0},
               "{\"event\":\"metric\",\"name\":\"loss\",\"step\":1,\"value\":0.5}\n", SIGINT);
    assert_string_equal(run->state, "cancelled");
    orch_run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_names),      cmocka_unit_test(test_refused_params),
        cmocka_unit_test(test_no_such_process),    cmocka_unit_test(test_a_whole_recording),
        cmocka_unit_test(test_an_empty_recording), cmocka_unit_test(test_an_interrupted_recording),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
