/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-host on plugins and commands that do everything wrong. Also describe and batch. */
#include "tests/plugins/host_fixture.h"

enum { CACHE_LIMIT = 4 << 20 }; /* of the cache of digests, in bytes */

/* ---- what single rows are looked at for -------------------------------------------------------
 */

static void check_118_points(const struct trial_case *row)
{
    assert_int_equal(count_points(row, "value", NULL), 118);
    assert_int_equal(fact(row, "points"), 118);
    assert_int_equal(orch_json_int(find_event(row, "end", 0), "signal", 0), SIGSEGV);
    const char *tail = orch_json_text(find_event(row, "end", 0), "stderr_tail", "");
    assert_true(g_str_has_prefix(tail, "last words\n"));
#ifndef __SANITIZE_ADDRESS__                   /* a sanitizer's build leaves crashes to it         \
                                                * (core/host/crash/crash_trap.c)                   \
                                                */
    assert_non_null(strstr(tail, "do_crash")); /* a frame of the backtrace */
#endif
}

static void check_pid_dead(const struct trial_case *row)
{
    check_dead(row, "pid");
}

static void check_family_dead(const struct trial_case *row)
{
    check_dead(row, "pid");
    check_dead(row, "grandchild");
}

static void check_stray(const struct trial_case *row)
{
    check_dead(row, "pid");
    assert_int_equal(fact(row, "stray_count"), 1);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    assert_true(g_str_has_prefix(text, "1 process outlived the trial and was ended: "));
}

static void check_nan(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "value", &last), 2);
    assert_string_equal(json_string_value(last), "-inf");
    assert_string_equal(orch_json_text(find_event(row, "result", 0), "value", ""), "nan");
}

static void check_output_bounded(const struct trial_case *row)
{
    g_autofree char *text = file_text(row, "stdout");
    assert_in_range(strlen(text), 65536 / 2, 65536 + 200);
    assert_true(g_str_has_prefix(text, "line 0 of"));
    assert_non_null(strstr(text, " bytes were dropped here]\nline "));
    assert_true(g_str_has_suffix(text, "of a log without end\nthe last line\n"));
    assert_true(fact(row, "stdout_dropped_bytes") > 0);
}

static void check_log_bounded(const struct trial_case *row)
{
    g_autofree char *text = journal_text(row);
    assert_in_range(strlen(text), 8192, 20000);
    assert_true(fact(row, "log_dropped_lines") > 0);
}

static void check_artifact(const struct trial_case *row)
{
    json_t *event = find_event(row, "artifact", 0);
    assert_string_equal(orch_json_text(event, "sha256", ""),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(orch_json_int(event, "bytes", 0), 3);
    /* in the trial's folder, where the runner looks for it */
    assert_string_equal(orch_json_text(event, "path", ""),
                        row->how ? "work/out.txt" : "work/model.bin");
}

static void check_seed(const struct trial_case *row)
{
    /* the first 8 bytes of SHA-256(07 00 00 00 00 00 00 00 "init"), little endian */
    assert_string_equal(orch_json_text(find_event(row, "note", 0), "text", ""),
                        "seed 308da4122b850cc7");
}

static void check_memory(const struct trial_case *row)
{
    assert_true(fact(row, "max_pss_bytes") > 64 << 20);
}

static void check_three_losses(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 3);
    assert_true(json_number_value(last) == 0.25);
}

static void check_one_loss(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 1);
    assert_true(json_number_value(last) == 0.25);
    g_autofree char *text = file_text(row, "stdout");
    assert_true(g_str_has_suffix(text, "loss 0.25\n"));
}

static void check_lines(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "loss", &last), 4);
    assert_string_equal(json_string_value(last), "nan");
    assert_int_equal(count_points(row, "acc", &last), 2);
    assert_true(json_number_value(last) == 0.9);
    assert_true(json_number_value(json_object_get(find_event(row, "result", 0), "value")) == 42);
    json_t *points = json_object_get(find_event(row, "metrics", 0), "points");
    static const int steps[] = {0, 1, 5, 5, 7}; /* counted, said, and said again */
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        assert_int_equal(json_integer_value(json_array_get(json_array_get(points, i), 1)),
                         steps[i]);
}

static void check_model(const struct trial_case *row)
{
    check_artifact(row);
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "model");
}

static void check_artifact_log(const struct trial_case *row)
{
    json_t *event = find_event(row, "log", 0);
    assert_string_equal(orch_json_text(event, "level", ""), "warning");
    const char *text = orch_json_text(event, "text", "");
    if (!strstr(text, "artifact 'model'") || !strstr(text, "not a regular file"))
        fail_msg("%s: the log says '%s'", row->name, text);
    assert_null(find_event(row, "artifact", 0));
}

static void check_no_artifact(const struct trial_case *row)
{
    assert_null(find_event(row, "artifact", 0));
    assert_null(find_event(row, "log", 0));
}

static void check_no_host(const struct trial_case *row)
{
    check_dead(row, "pid");
    assert_null(find_event(row, "end", 0));
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

static struct trial_case CASES[] = {
    {"nothing", .how = "nothing", .verdict = "ok"},
    {"crash_open", .how = "crash_open", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)"},
    {"crash_run", .how = "crash_run", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)",
     .check = check_118_points},
    {"crash_close", .how = "crash_close", .verdict = "crashed", .reason = "signal 11 (SIGSEGV)"},
    {"hang", .how = "hang", .extra = LIMIT, .verdict = "timeout",
     .reason =
         "ran past its limit of 400 ms; it did not end within 200 ms of SIGTERM and was killed",
     .check = check_pid_dead},
    {"hang_with_family", .how = "hang_with_family", .extra = LIMIT, .verdict = "timeout",
     .reason = "was killed", .check = check_family_dead},
    {"exit", .how = "exit", .verdict = "protocol-error", .reason = "without a 'done'"},
    {"exit_3", .how = "exit_3", .verdict = "failed", .reason = "exit status 3"},
    {"huge_line", .how = "huge_line", .verdict = "protocol-error", .reason = "longer than 65536"},
    {"bad_utf8", .how = "bad_utf8", .verdict = "protocol-error", .reason = "UTF-8"},
    {"partial_line", .how = "partial_line", .verdict = "protocol-error", .reason = "no line end"},
    {"partial_crash", .how = "partial_crash", .verdict = "crashed", .reason = "SIGSEGV"},
    {"done_twice", .how = "done_twice", .verdict = "protocol-error", .reason = "came twice"},
    {"forge", .how = "forge", .verdict = "protocol-error", .reason = "may send the event 'end'"},
    {"nan", .how = "nan", .verdict = "ok", .check = check_nan},
    {"undeclared", .how = "undeclared", .verdict = "protocol-error",
     .reason = "undeclared metric 'valu' (did you mean 'value'?)"},
    {"undeclared_result", .how = "undeclared_result", .verdict = "protocol-error",
     .reason = "undeclared result 'question'"},
    {"negative_step", .how = "negative_step", .verdict = "protocol-error",
     .reason = "metric 'value': its step is -1, beyond 0 to"},
    {"grandchild", .how = "grandchild", .verdict = "ok", .check = check_stray},
    {"grandchild_session", .how = "grandchild_session", .verdict = "ok", .check = check_stray},
    {"memory", .how = "memory", .extra = "{\"limit_memory_bytes\":67108864}", .verdict = "failed",
     .reason = "memory over the limit: ", .check = check_memory},
    {"endless_output", .how = "endless_output",
     .extra = "{\"limit_s\":1,\"grace_s\":0.2,\"limit_log_bytes\":65536}", .verdict = "timeout",
     .reason = "limit", .check = check_output_bounded},
    {"endless_log", .how = "endless_log",
     .extra = "{\"limit_s\":1,\"grace_s\":0.2,\"limit_log_bytes\":8192}", .verdict = "timeout",
     .reason = "limit", .check = check_log_bounded},
    {"artifact", .how = "artifact", .verdict = "ok", .check = check_artifact},
    {"missing_artifact", .how = "missing_artifact", .verdict = "protocol-error",
     .reason = "artifact 'file': cannot read"},
    {"fail", .how = "fail", .verdict = "failed", .reason = "the roof is on fire"},
    {"skip", .how = "skip", .verdict = "skipped", .reason = "no CUDA device"},
    {"diverge", .how = "diverge", .verdict = "diverged", .reason = "gave no reason"},
    {"look_around", .how = "look_around", .extra = "{\"smoke\":true,\"cpus\":[0]}", .verdict = "ok",
     .check = check_seed},
    {"cancel", .how = "wait", .poke = CANCEL, .verdict = "cancelled",
     .reason = "the 'orch' process asked"},
    {"runner_dies", .how = "wait", .poke = RUNNER_DIES, .verdict = "cancelled",
     .reason = "the 'orch' process that started it has ended"},
    {"detached", .how = "wait_a_little", .extra = "{\"detached\":true}", .poke = RUNNER_DIES,
     .verdict = "ok"},
    {"preempted", .how = "wait", .poke = HOST_TERM, .verdict = "preempted", .reason = "SIGTERM"},
    {"host_killed", .script = "echo $$$$ > pid; " WAITING "exec sleep 100", .from = "protocol",
     .poke = HOST_KILL, .check = check_no_host},
    {"bad_version", .how = "nothing", .extra = "{\"manifest\":{\"version\":\"2.0.0\"}}",
     .verdict = "failed", .reason = "changed since this trial was planned"},
    {"bad_params", .how = "nothing", .extra = "{\"params\":{\"how\":\"nothing\",\"colour\":1}}",
     .verdict = "failed", .reason = "has no parameter 'colour'"},

    {"sh_protocol", .from = "protocol", .verdict = "ok", .check = check_three_losses,
     .script = "read line; case $line in *'\"do\":\"run\"'*) ;; *) exit 5;; esac; " SAY(
         "{\"event\":\"metric\",\"name\":\"loss\",\"step\":0,\"value\":1}")
         SAY("{\"event\": \"metrics\", \"points\": [[\"loss\",1,null,0.5],[\"loss\",2,9.5,0.25]]}")
             DONE},
    {"sh_environment", .from = "protocol", .extra = "{\"smoke\":true,\"seed\":\"" SEED "\"}",
     .verdict = "ok",
     .script =
         "test \"$ORCH_PARAMS\" = '{\"lr\":0.5}' && test $ORCH_SEED = 7 && "
         "test $ORCH_SEED64 = " SEED " && test ${seed64} = " SEED " && "
         "test -d \"$ORCH_CHECKPOINT_DIR\" && test $ORCH_SMOKE = 1 && "
         "test \"$PWD/../files\" -ef \"$ORCH_TRIAL_DIR\" && grep -q \"$ORCH_RUN\" ../trial.json && "
         "test $HELLO = you && test ${lr} = 0.5 && test ${seed} = 7 || exit 4; " DONE},
    {"sh_no_done", .from = "protocol", .script = "true", .verdict = "protocol-error",
     .reason = "without a 'done'"},
    {"sh_bad_line", .from = "protocol", .script = SAY("hello") "sleep 60",
     .verdict = "protocol-error", .reason = "not valid JSON"},
    {"sh_done_and_status", .from = "protocol", .script = DONE "exit 3", .verdict = "failed",
     .reason = "exit status 3 after 'done' reported ok"},
    {"sh_cancel", .from = "protocol", .poke = CANCEL, .verdict = "cancelled", .reason = "asked",
     .script =
         "read run; " WAITING "read line; case $line in *cancel*) ;; *) sleep 60;; esac; " SAY(
             "{\"event\":\"done\",\"status\":\"cancelled\"}")},
    {"sh_prune", .from = "protocol", .poke = PRUNE, .verdict = "pruned",
     .reason = "0.6 is worse than \"0.7\"",
     .script = "read run; " WAITING
               "read line; case $line in *cancel*pruned*) ;; *) sleep 60;; esac; " SAY(
                   "{\"event\":\"done\",\"status\":\"cancelled\"}")},
    {"sh_prune_signal", .from = "lines", .poke = PRUNE, .verdict = "pruned",
     .reason = "0.6 is worse than \"0.7\"", .script = WAITING "exec sleep 60"},
    {"sh_done_text", .from = "protocol", .verdict = "skipped", .reason = "no data set",
     .script = SAY("{\"event\":\"done\",\"status\":\"skipped\",\"text\":\"no data set\"}")},
    {"sh_unknown_event", .from = "protocol", .verdict = "ok",
     .script = SAY("{\"event\":\"sing\",\"key\":\"c\"}") DONE},
    {"sh_lines", .from = "lines", .verdict = "ok", .check = check_lines,
     .script = "echo 'starting up, 3 files read'; echo 'loss 1.5'; echo loss: 0.5 lr 0.1; "
               "echo step=5 loss=0.25, acc: 0.8; echo '{\"step\": 7, \"acc\": 0.9, \"x\": 1}'; "
               "echo 'final = 42'; printf 'loss nan'"},
    {"sh_lines_status", .from = "lines", .script = "echo loss 1; exit 2", .verdict = "failed",
     .reason = "exit status 2"},
    {"sh_last_words", .from = "lines", .verdict = "failed",
     .script = "echo Traceback >&2; printf 'ValueError: no \\033[31mfile\\n\\n' >&2; exit 1",
     .reason = "exit status 1: ValueError: no ?[31mfile"},
    {"sh_killed_words", .from = "lines", .script = "echo out of luck >&2; kill -9 $$$$",
     .verdict = "crashed", .reason = "signal 9 (SIGKILL): out of luck"},
    {"sh_long_line", .from = "lines", .verdict = "ok", .check = check_one_loss,
     .script = "head -c 1048576 /dev/zero | tr '\\0' x; echo; echo loss 0.25"},
    {"sh_bad_utf8", .from = "lines", .verdict = "ok", .check = check_one_loss,
     .script = "printf 'caf\\351 \\303( loss \\377\\n'; printf '{\"loss\": \"\\377\"}\\n'; "
               "echo loss 0.25"},
    {"sh_regex", .from = "regex", .verdict = "ok", .check = check_three_losses,
     .script = "echo 'epoch 1: loss is 1.0'; echo 'loss is 0.5 now'; echo 'loss is bad'; "
               "echo 'loss is 0.25'"},
    {"sh_artifact", .from = "lines", .script = "printf abc > model.bin", .verdict = "ok",
     .check = check_model},
    {"sh_artifact_folder", .from = "lines", .script = "mkdir model.bin",
     .verdict = "protocol-error", .reason = "artifact 'model': cannot read",
     .check = check_artifact_log},
    {"sh_artifact_failed", .from = "lines", .script = "mkdir model.bin; exit 3",
     .verdict = "failed", .reason = "exit status 3", .check = check_artifact_log},
    {"sh_no_artifact", .from = "lines", .script = "true", .verdict = "ok",
     .check = check_no_artifact},
    {"sh_no_program", .from = "lines", .script = "exec /nowhere/at/all", .verdict = "failed",
     .reason = "exit status 127"},
    {"no_program", .from = "lines", .script = "", .verdict = "failed",
     .extra = "{\"manifest\":{\"argv\":[\"/nowhere/at/all\"]}}",
     .reason = "cannot start '/nowhere/at/all'"},
    {"no_folder", .from = "lines", .script = "", .extra = "{\"cwd\":\"/nowhere\"}",
     .verdict = "failed", .reason = "cannot enter folder '/nowhere'"},
    {"sh_killed", .from = "lines", .script = "kill -9 $$$$", .verdict = "crashed",
     .reason = "signal 9 (SIGKILL)"},
    /* what runners, terminals and disks do */
    {"cancelled_twice", .from = "protocol", .poke = CANCEL_TWICE, .verdict = "cancelled",
     .extra = "{\"grace_s\":30}", .reason = "the 'orch' process asked",
     .script = WAITING "while :; do sleep 1; done"},
    {"babble", .how = "wait", .poke = BABBLE, .verdict = "cancelled",
     .reason = "the 'orch' process asked"},
    {"hangup", .how = "wait", .poke = HOST_HUP, .verdict = "cancelled",
     .reason = "its terminal was closed (SIGHUP)"},
    {"hangup_detached", .how = "wait_a_little", .extra = "{\"detached\":true}", .poke = HOST_HUP,
     .verdict = "ok"},
    {"interrupted", .how = "wait_a_little", .poke = HOST_INT, .verdict = "ok"}, /* no terminal */
    {"no_work_folder", .how = "nothing", .blocker = "work", .verdict = "failed",
     .reason = "/work': Not a directory"},
    {"no_artifact_folder", .how = "artifact", .blocker = "artifacts", .verdict = "ok"},
    {"sh_deaf", .from = "lines", .script = "trap '' TERM; while :; do sleep 1; done",
     .extra = LIMIT, .verdict = "timeout", .reason = "was killed"},
};

/* ---- describe and batch -----------------------------------------------------------------------
 */

static void test_unloadable(void **state)
{
    (void)state;
    static const struct {
        const char *plugin, *says[3];
    } rows[] = {
        {"bad_abi", {"bad_abi.so'", "built for ABI 2, but this orch accepts 1", "hint: rebuild"}},
        {"bad_magic", {"'magic'", "expected 0x47554c504843524f", "found 0x0000000000000000"}},
        {"short_struct", {"'struct_bytes'", "expected at least", "hint: begin the descriptor"}},
        {"short_stride", {"'param_stride'", ", found 8", "hint: "}},
        {"no_symbol",
         {"does not export the symbol 'orch_plugin_v1'", "ORCH_PLUGIN_EXPORT", "hint: "}},
        {"next_major", {"built for ABI 2", "accepts 1", "hint: rebuild"}},
        {"undefined_symbol", {"undefined symbol", "this_symbol_is_nowhere", "hint: link"}},
        {"no_run", {"'run'", "expected a function, found NULL", "hint: "}},
        {"late_param", {"parameter 'late'", "8 bytes at offset 12", "16 bytes"}},
        {"far_param", {"parameter 'late'", "8 bytes at offset 100", "16 bytes"}},
        {"other_name", {"'name'", "expected the file's name, found 'another'", "hint: rename"}},
        {"no_name", {"'name'", "expected text, found NULL", "hint: set this field"}},
        {"odd_version", {"odd_version.so'", "version 'one' is not", "N.N.N"}},
        {"huge_stride", {"'metric_stride'", ", found 70000", "hint: "}},
        {"null_table", {"table 'params'", "found 1 at NULL", "hint: fill the tables"}},
        {"many_rows", {"table 'params'", "at most 4096 rows, found 5000", "hint: fill the tables"}},
        {"returns_null", {"returns_null.so'", "'orch_plugin_v1' returned NULL", "cannot load"}},
        {"not_there", {"not_there.so'", "No such file", "cannot load"}},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct answer answer = ask("--describe", rows[i].plugin, "");
        assert_int_not_equal(answer.status, 0);
        assert_string_equal(answer.output, "");
        for (size_t j = 0; j < 3; j++)
            if (!strstr(answer.errors, rows[i].says[j]))
                fail_msg("%s: no '%s' in: %s", rows[i].plugin, rows[i].says[j], answer.errors);
        answer_clear(&answer);
    }
}

#define CHECK(id, how, more)                                                                       \
    "{\"do\":\"check\",\"id\":" id ",\"params\":{\"how\":\"" how "\"" more "}}\n"

static void test_batch(void **state)
{
    (void)state;
    struct answer answer =
        ask("--batch", "misbehave",
            "{\"do\":\"hello\",\"protocol\":1}\n" CHECK("1", "nothing", "")
                CHECK("2", "refuse",
                      "") "{\"do\":\"check\",\"id\":3,\"smoke\":true,\"params\":{"
                          "\"how\":\"refuse\"}}\n"
                          "{\"do\":\"cost\",\"id\":4,\"params\":{\"how\":\"x\"}}\n"
                          "{\"do\":\"cost\",\"id\":5,\"params\":{\"how\":\"no_cost\"}}\n" CHECK(
                              "6", "nothing", ",\"colour\":1") "nonsense\n{\"do\":\"sing\"}\n");
    assert_int_equal(answer.status, 0);
    g_auto(GStrv) lines = g_strsplit(answer.output, "\n", -1);
    static const char *const says[] = {
        "\"event\":\"manifest\"",
        "\"id\":1",
        "\"text\":\"not this way\"",
        "\"text\":\"not even as smoke\"",
        "\"cost\":{\"network\":\"resnet20\",\"images\":50000,\"epochs\":2.5}",
        "\"cost\":null,\"text\":",
        "has no parameter 'colour'",
        "\"event\":\"error\"",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        if (!lines[i] || !strstr(lines[i], says[i]))
            fail_msg("line %zu: no '%s' in: %s", i, says[i], lines[i] ? lines[i] : "nothing");
    assert_string_equal(lines[G_N_ELEMENTS(says)], "");
    assert_non_null(strstr(answer.errors, "a plugin that prints in check"));
    answer_clear(&answer);
}

static void test_batch_crashes(void **state)
{
    (void)state;
    static const char *const questions[] = {
        CHECK("1", "crash_check", ""),
        "{\"do\":\"cost\",\"id\":1,\"params\":{\"how\":\"crash_cost\"}}\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(questions); i++) {
        struct answer answer = ask("--batch", "misbehave", questions[i]);
        assert_string_equal(answer.output, "");
        assert_true(WIFEXITED(answer.status) && WEXITSTATUS(answer.status) == 128 + SIGSEGV);
        answer_clear(&answer);
    }
}

/* Asks for the digest of a file; the answer's digest, or "" when it is refused. */
static char *digest_answer(const char *path)
{
    g_autofree char *question = g_strdup_printf(CHECK("1", "digest", ",\"path\":\"%s\""), path);
    struct answer answer = ask("--batch", "misbehave", question);
    g_autoptr(json_t) json = json_loads(answer.output, 0, NULL);
    json_t *input = json_array_get(json_object_get(json, "inputs"), 0);
    char *digest = g_strdup(orch_json_text(input, "sha256", ""));
    if (!*digest && json_is_true(json_object_get(json, "ok")))
        fail_msg("ok without a digest");
    answer_clear(&answer);
    return digest;
}

static void test_digests(void **state)
{
    (void)state;
    g_autofree char *cache = g_build_filename(scratch, "cache", "orch", "digests", NULL);
    g_autofree char *file = g_build_filename(scratch, "data", NULL);
    assert_true(orch_file_write(file, "abc", 3, false, NULL));
    struct timespec old[2] = {{1000000000, 5}, {1000000000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    g_autofree char *first = digest_answer(file);
    assert_string_equal(first, abc);

    /* what the cache holds is believed, as long as the file has not changed */
    g_autofree char *kept = NULL;
    assert_true(orch_file_read(cache, 1 << 20, &kept, NULL, NULL));
    char *at = strstr(kept, abc);
    assert_non_null(at);
    memcpy(at, "0000", 4);
    g_autofree char *corrupt = g_strconcat("junk\n\xff\xfe\n", kept, "half a li", NULL);
    assert_true(orch_file_write(cache, corrupt, strlen(corrupt), false, NULL));
    g_autofree char *second = digest_answer(file);
    assert_true(g_str_has_prefix(second, "0000"));
    old[1].tv_nsec = 6;
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    g_autofree char *third = digest_answer(file);
    assert_string_equal(third, abc);

    g_autofree char *missing = g_strconcat(file, "-missing", NULL);
    g_autofree char *none = digest_answer(missing);
    assert_string_equal(none, "");
}

/* A question without an end is refused, and the plugin's side ends. */
static void test_long_question(void **state)
{
    (void)state;
    g_autofree char *long_text = g_strnfill(1200000, 'x');
    struct answer answer = ask("--batch", "misbehave", long_text);
    assert_int_not_equal(answer.status, 0);
    assert_string_equal(answer.output, "");
    if (!strstr(answer.errors, "a request is longer than 1048576 bytes"))
        fail_msg("the error is '%s'", answer.errors);
    answer_clear(&answer);
    answer = ask("--batch", "bad_abi", "");
    assert_int_not_equal(answer.status, 0);
    assert_non_null(strstr(answer.output, "\"event\":\"error\""));
    assert_non_null(strstr(answer.output, "built for ABI 2"));
    answer_clear(&answer);
}

/* A cache of digests that has grown too long loses its older half; one that is far too long begins
 * anew; one that cannot be written is done without. */
static void test_long_cache(void **state)
{
    (void)state;
    g_autofree char *cache = g_build_filename(scratch, "cache", "orch", "digests", NULL);
    g_autofree char *file = g_build_filename(scratch, "data2", NULL);
    const char *abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct timespec old[2] = {{1000000000, 5}, {1000000000, 5}};
    static const size_t sizes[] = {CACHE_LIMIT + 1000, 5 * CACHE_LIMIT};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *lines = g_malloc(sizes[i]);
        struct stat info;
        memset(lines, 'x', sizes[i]);
        for (size_t at = 99; at < sizes[i]; at += 100)
            lines[at] = '\n';
        assert_true(orch_file_write(cache, lines, sizes[i], false, NULL));
        assert_true(orch_file_write(file, "abc", 3, false, NULL));
        old[1].tv_nsec++;
        assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
        g_autofree char *digest = digest_answer(file);
        assert_string_equal(digest, abc);
        if (i == 0) {
            assert_int_equal(stat(cache, &info), 0);
            assert_in_range(info.st_size, CACHE_LIMIT / 3, CACHE_LIMIT);
        } else {
            assert_int_equal(access(cache, F_OK), -1);
        }
    }
    assert_int_equal(mkdir(cache, 0700), 0);
    old[1].tv_nsec++;
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0);
    g_autofree char *digest = digest_answer(file);
    assert_string_equal(digest, abc);
    assert_int_equal(rmdir(cache), 0);
}

/* A trial runs once, and one that cannot be read is an error of the host. */
static void test_refused_trials(void **state)
{
    (void)state;
    g_autofree char *again =
        g_strdup_printf("'%s' '%s/nothing' </dev/null 2>&1", host_program, scratch);
    g_autofree char *nowhere =
        g_strdup_printf("'%s' '%s/nowhere' </dev/null 2>&1", host_program, scratch);
    const char *commands[] = {again, nowhere};
    const char *says[] = {"cannot create journal", "cannot read"};
    for (int i = 0; i < 2; i++) {
        char *argv[] = {(char *)"/bin/sh", (char *)"-c", (char *)(uintptr_t)commands[i], NULL};
        g_autofree char *output = NULL;
        int status = 0;
        assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
                                 &status, NULL));
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_non_null(strstr(output, says[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unloadable),     cmocka_unit_test(test_batch),
        cmocka_unit_test(test_batch_crashes),  cmocka_unit_test(test_digests),
        cmocka_unit_test(test_refused_trials), cmocka_unit_test(test_long_question),
        cmocka_unit_test(test_long_cache),
    };
    return host_test(CASES, G_N_ELEMENTS(CASES), tests, G_N_ELEMENTS(tests));
}
