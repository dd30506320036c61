/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-host on programs that orch did not start (orch record). */
#include "tests/plugins/host_fixture.h"

/* ---- what single rows are looked at for -------------------------------------------------------
 */

static void check_followed(const struct trial_case *row)
{
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "w");
    assert_null(find_event(row, "artifact", 1));
    static const char *const says[] = {"artifact 'a/b': the name is not valid",
                                       "artifact '.w': the name is not valid",
                                       "artifact 'none': cannot"};
    for (int i = 0; i < 3; i++) {
        const char *text = orch_json_text(find_event(row, "log", i), "text", "");
        if (!strstr(text, says[i]))
            fail_msg("%s: warning %d is '%s'", row->name, i, text);
    }
}

static void check_left_out(const struct trial_case *row)
{
    assert_int_equal(fact(row, "bad_events"), 2);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    if (!strstr(text, "2 of its events were left out; the first: not valid JSON"))
        fail_msg("%s: the log says '%s'", row->name, text);
}

static void check_one_left_out(const struct trial_case *row)
{
    assert_int_equal(fact(row, "bad_events"), 1);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    if (!strstr(text, "1 of its events was left out; the first: not valid JSON"))
        fail_msg("%s: the log says '%s'", row->name, text);
}

static void check_one_left_out_of_many(const struct trial_case *row)
{
    assert_true(fact(row, "bad_events") >= 1);
}

/* Copies that were handed over are moved; a folder is none. */
static void check_handed(const struct trial_case *row)
{
    g_autofree char *handed = g_build_filename(row->dir, "handed", "w", NULL);
    g_autofree char *inner = g_build_filename(row->dir, "handed", "d", "x", NULL);
    assert_int_equal(access(handed, F_OK), -1);
    assert_int_equal(access(inner, F_OK), 0);
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "w");
    assert_string_equal(orch_json_text(find_event(row, "artifact", 1), "name", ""), "x");
    assert_null(find_event(row, "artifact", 2));
    const char *first = orch_json_text(find_event(row, "log", 0), "text", "");
    const char *second = orch_json_text(find_event(row, "log", 1), "text", "");
    assert_true(g_str_has_prefix(first, "artifact 'd': "));
    assert_true(g_str_has_prefix(second, "artifact 'none': "));
}

static void check_blocked(const struct trial_case *row)
{
    assert_null(find_event(row, "artifact", 0));
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    if (!g_str_has_prefix(text, "artifact 'w': cannot make folder '") ||
        !strstr(text, "Not a directory"))
        fail_msg("%s: the log says '%s'", row->name, text);
}

static void check_1001_artifacts(const struct trial_case *row)
{
    assert_non_null(find_event(row, "artifact", 999));
    assert_null(find_event(row, "artifact", 1000));
    assert_string_equal(orch_json_text(find_event(row, "log", 0), "text", ""),
                        "artifact 'w1000': a run can have at most 1000");
}

static void check_alive(const struct trial_case *row)
{
    assert_true(fact(row, "max_rss_bytes") > 1 << 20);
    const json_t *facts = json_object_get(find_event(row, "end", 0), "facts");
    assert_true(json_is_real(json_object_get(facts, "user_s")));
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

static struct trial_case CASES[] = {
    {"followed", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = METRIC("1") ARTIFACT("w", "/etc/passwd") ARTIFACT("a/b", "x") ARTIFACT(".w", "x")
         ARTIFACT("none", "missing") DONE_LINE,
     .points = "loss@1=0.5", .check = check_followed},
    {"followed_join", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .join = METRIC("1") METRIC("2"), .feed = METRIC("3") DONE_LINE,
     .points = "loss@1=0.5 loss@2=0.5 loss@3=0.5"},
    {"followed_end", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "crashed",
     .feed = METRIC("1"), .reason = "its events ended without 'done'"},
    {"followed_failed", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "failed",
     .feed = "{\"event\":\"done\",\"status\":\"failed\"}\n",
     .reason = "the program gave no reason"},
    {"followed_text", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "failed",
     .feed = "{\"event\":\"error\",\"text\":\"no memory\"}\n", .reason = "no memory"},
    {"followed_ok_after_all", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = "{\"event\":\"error\",\"text\":\"no memory\"}\n" DONE_LINE},
    {"followed_bad", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = "nonsense\n{\"event\":\"metric\",\"name\":\"a b\",\"step\":1,\"value\":1}\n" DONE_LINE,
     .check = check_left_out},
    {"followed_one_bad", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = "nonsense\n" DONE_LINE, .check = check_one_left_out},
    {"followed_text_at_the_end", .script = "", .from = "protocol", .extra = FOLLOWED,
     .verdict = "failed", .reason = "no memory",
     .feed = "{\"event\":\"error\",\"text\":\"no memory\"}\n"
             "{\"event\":\"done\",\"status\":\"failed\"}\n"},
    {"followed_handed", .script = "", .from = "protocol", .verdict = "ok",
     .extra = "{\"cwd\":\"handed\",\"follow\":{}}", .blocker = "handed/w,handed/d/x",
     .feed = ARTIFACT("w", "w") ARTIFACT("d", "d") ARTIFACT("x", "d/x") ARTIFACT("none", "none")
         DONE_LINE,
     .check = check_handed},
    {"followed_blocked", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .blocker = "artifacts", .feed = ARTIFACT("w", "/etc/passwd") DONE_LINE,
     .check = check_blocked},
    {"followed_1001_artifacts", .script = "", .from = "protocol", .extra = FOLLOWED,
     .verdict = "ok", .check = check_1001_artifacts},
    {"followed_long_join", .script = "", .from = "protocol", .extra = FOLLOWED, .verdict = "ok",
     .feed = METRIC("3") DONE_LINE, .points = "loss@1=0.5 loss@3=0.5",
     .check = check_one_left_out_of_many},
    {"followed_other", .script = "", .from = "protocol", .verdict = "crashed", .early = METRIC("1"),
     .reason = "process 1 ended without 'done'", .points = "loss@1=0.5",
     .extra = "{\"follow\":{\"boot_id\":\"of another boot\",\"pid\":1,\"start\":1}}"},
    {"followed_alive", .script = "", .from = "protocol", .verdict = "ok",
     .feed = METRIC("1") DONE_LINE, .check = check_alive},
    {"followed_ends", .script = "", .from = "protocol", .verdict = "crashed", .early = METRIC("1"),
     .points = "loss@1=0.5", .reason = "ended without 'done': killed"},
    {"followed_term", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_TERM,
     .verdict = "preempted", .reason = "its recorder received Terminated", .early = PHASE_LINE},
    {"followed_hup", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_HUP,
     .verdict = "cancelled", .reason = "its recorder received Hangup", .early = PHASE_LINE},
    {"followed_int", .script = "", .from = "protocol", .extra = FOLLOWED, .poke = HOST_INT,
     .verdict = "cancelled", .reason = "interrupted from the keyboard", .early = PHASE_LINE},
    {"followed_dead", .script = "", .from = "protocol",
     .extra = "{\"follow\":{\"boot_id\":\"x\",\"pid\":99999999,\"start\":1}}", .verdict = "crashed",
     .reason = "process 99999999 ended without 'done'"},
};

static struct trial_case *find_case(const char *name)
{
    size_t i = 0;
    while (strcmp(CASES[i].name, name) != 0)
        i++;
    return &CASES[i];
}

static char *follow_json(const struct orch_process *process)
{
    return g_strdup_printf(
        "{\"follow\":{\"boot_id\":\"%s\",\"pid\":%d,\"start\":%lld},\"manifest\":{\"metrics\":[],"
        "\"any_metric\":true,\"artifacts\":[]}}",
        process->boot_id, (int)process->pid, (long long)process->start);
}

/* A journal that cannot be made, as its folder holds a file in its place. */
static void test_blocked_join(void **state)
{
    (void)state;
    struct trial_case row = {
        .name = "blocked_join", .script = "", .from = "protocol", .extra = FOLLOWED};
    row.dir = g_build_filename(scratch, row.name, NULL);
    assert_int_equal(mkdir(row.dir, 0700), 0);
    merge_manifest(&row);
    write_trial(&row);
    row.blocker = "join";
    block(&row);
    char *argv[] = {(char *)(uintptr_t)host_program, row.dir, NULL};
    g_autofree char *errors = NULL;
    int status = 0;
    assert_true(
        g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, &errors, &status, NULL));
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    if (!strstr(errors, "cannot make '") || !strstr(errors, "/join': File exists"))
        fail_msg("'%s'", errors);
    free((void *)(uintptr_t)row.extra); /* merge_manifest made it */
    g_free(row.dir);
}

int main(void)
{
    GString *feed = g_string_new(NULL);
    for (int i = 0; i <= 1000; i++)
        g_string_append_printf(
            feed, "{\"event\":\"artifact\",\"name\":\"w%d\",\"path\":\"/etc/hostname\"}\n", i);
    g_string_append(feed, DONE_LINE);
    find_case("followed_1001_artifacts")->feed = feed->str;
    g_autofree char *long_line = g_strnfill(40000, 'x');
    g_autofree char *join = g_strconcat(METRIC("1"), long_line, long_line, "\n", NULL);
    find_case("followed_long_join")->join = join;
    struct orch_process self, ending;
    pid_t pid = fork();
    if (pid == 0) {
        wait_ms(300);
        _exit(0);
    }
    if (pid < 0 || !orch_process_get(getpid(), &self) || !orch_process_get(pid, &ending))
        return 1;
    g_autofree char *alive_json = follow_json(&self), *ending_json = follow_json(&ending);
    find_case("followed_alive")->extra = alive_json;
    find_case("followed_ends")->extra = ending_json;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocked_join)};
    int failed = host_test(CASES, G_N_ELEMENTS(CASES), tests, G_N_ELEMENTS(tests));
    g_string_free(feed, TRUE);
    return failed;
}
