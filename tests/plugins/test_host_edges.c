/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orch-host at its edges: missing texts, odd artifacts, many processes, long values, old kernels.
 */
#include "tests/plugins/host_fixture.h"

#define ABC_SHA256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* ---- what single rows are looked at for -------------------------------------------------------
 */

static void expect_text(const struct trial_case *row, const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("%s: no '%s' in '%s'", row->name, part, text ? text : "nothing");
}

static void check_null_texts(const struct trial_case *row)
{
    assert_string_equal(orch_json_text(find_event(row, "note", 0), "text", NULL), "");
    assert_string_equal(orch_json_text(find_event(row, "log", 0), "level", ""), "debug");
    assert_string_equal(orch_json_text(find_event(row, "log", 1), "level", ""), "warning");
    assert_null(find_event(row, "metrics", 0));
}

/* The longest beginning of whole characters that fits a line. */
static void check_long_note(const struct trial_case *row)
{
    const char *text = orch_json_text(find_event(row, "note", 0), "text", "");
    assert_in_range(strlen(text), 65536 / 2, 65535);
    assert_true(strlen(text) % 2 == 0 && g_str_has_suffix(text, "\xc3\xa9"));
}

static void check_late_point(const struct trial_case *row)
{
    assert_int_equal(count_points(row, "value", NULL), 1);
}

static void check_progress(const struct trial_case *row)
{
    json_t *event = NULL;
    for (int n = 0; find_event(row, "progress", n); n++)
        event = find_event(row, "progress", n);
    assert_true(json_number_value(json_object_get(event, "done")) == 10);
    assert_true(json_number_value(json_object_get(event, "total")) == 10);
}

static void check_20000_points(const struct trial_case *row)
{
    json_t *last = NULL;
    assert_int_equal(count_points(row, "value", &last), 20000);
    assert_true(json_number_value(last) == 19999);
}

static void check_not_pinned(const struct trial_case *row)
{
    expect_text(row, orch_json_text(find_event(row, "note", 0), "text", ""),
                "not pinned to its CPUs: ");
}

static void check_abc(const struct trial_case *row)
{
    json_t *event = find_event(row, "artifact", 0);
    assert_string_equal(orch_json_text(event, "sha256", ""), ABC_SHA256);
    assert_int_equal(orch_json_int(event, "bytes", 0), 3);
}

/* A file outside the trial's folder is copied, even if its path begins with the folder's. */
static void check_beside(const struct trial_case *row)
{
    check_abc(row);
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "path", ""),
                        "artifact.model");
    g_autofree char *copy = file_text(row, "artifact.model");
    assert_string_equal(copy, "abc");
}

static void check_two_artifacts(const struct trial_case *row)
{
    check_abc(row);
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "a");
    assert_string_equal(orch_json_text(find_event(row, "artifact", 1), "name", ""), "b");
    assert_null(find_event(row, "artifact", 2));
}

static void check_two_problems(const struct trial_case *row)
{
    expect_text(row, orch_json_text(find_event(row, "log", 0), "text", ""), "artifact 'a': ");
    expect_text(row, orch_json_text(find_event(row, "log", 1), "text", ""), "artifact 'b': ");
}

static void check_many_strays(const struct trial_case *row)
{
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    expect_text(row, text, "22 processes outlived the trial and were ended: s");
    assert_true(g_str_has_suffix(text, ", ..."));
    assert_int_equal(fact(row, "stray_count"), 22);
    assert_int_equal(json_array_size(json_object_get(
                         json_object_get(find_event(row, "end", 0), "facts"), "strays")),
                     20);
}

static const char *tail_of(const struct trial_case *row)
{
    return orch_json_text(find_event(row, "end", 0), "stderr_tail", "");
}

static void check_tail_of_lines(const struct trial_case *row)
{
    assert_in_range(strlen(tail_of(row)), 8192 - 16, 8191);
    assert_true(g_str_has_prefix(tail_of(row), "line "));
    assert_true(g_str_has_suffix(tail_of(row), "line 5000\n"));
}

static void check_tail_of_one_line(const struct trial_case *row)
{
    assert_int_equal(strlen(tail_of(row)), 8192);
    assert_int_equal(strspn(tail_of(row), "x"), 8192);
}

static void check_tail_with_line_end(const struct trial_case *row)
{
    assert_int_equal(strlen(tail_of(row)), 8192);
    assert_true(g_str_has_suffix(tail_of(row), "x\n"));
}

static void check_output_without_lines(const struct trial_case *row)
{
    assert_int_equal(fact(row, "stdout_dropped_bytes"), 200000 - 65536);
    g_autofree char *text = file_text(row, "stdout");
    assert_non_null(strstr(text, "x\n[orch: 134464 bytes were dropped here]\nx"));
}

static void check_lost_output(const struct trial_case *row)
{
    assert_int_equal(fact(row, "stdout_dropped_bytes"), 3);
}

static void check_progress_kept(const struct trial_case *row)
{
    json_t *event = find_event(row, "progress", 0);
    assert_true(json_number_value(json_object_get(event, "done")) == 3);
    assert_true(json_number_value(json_object_get(event, "t_ms")) == 7.5);
}

static void check_long_progress(const struct trial_case *row)
{
    json_t *event = find_event(row, "progress", 0);
    assert_int_equal(strlen(orch_json_text(event, "text", "")), 40000);
    assert_null(json_object_get(event, "t_ms"));
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

/* The file that is there is kept; that of a missing one is no fault of the run. */
static void check_any_artifact(const struct trial_case *row)
{
    assert_string_equal(orch_json_text(find_event(row, "artifact", 0), "name", ""), "w");
    assert_null(find_event(row, "artifact", 1));
    assert_int_equal(fact(row, "bad_events"), 2); /* the name 'a b', and the second 'done' */
    assert_true(g_str_has_prefix(orch_json_text(find_event(row, "log", 0), "text", ""),
                                 "artifact 'none': "));
}

static void check_bad_name(const struct trial_case *row)
{
    assert_int_equal(fact(row, "bad_events"), 2);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    assert_non_null(
        strstr(text, "2 of its events were left out; the first: metric 'A b': this name is not "));
}

static void check_1001_names(const struct trial_case *row)
{
    assert_int_equal(fact(row, "points"), 1000);
    const char *text = orch_json_text(find_event(row, "log", 0), "text", "");
    assert_non_null(
        strstr(text, "metric 'm1001': a run can have at most 1,000 metrics and results"));
}

static void check_no_mark(const struct trial_case *row)
{
    assert_null(find_event(row, "reported", 0));
}

static void check_mark(const struct trial_case *row)
{
    assert_string_equal(orch_json_text(find_event(row, "reported", 0), "name", ""), "loss");
    assert_null(find_event(row, "reported", 1));
}

#define ARTIFACTS(rows) "{\"manifest\":{\"artifacts\":[" rows "]}}"
#define ROW(name, path) "{\"name\":\"" name "\",\"path\":\"" path "\"}"
#define PRINTF(text) "printf '" text "' >&$ORCH_EVENTS; "
#define FAILED_LINE SAY("{\"event\":\"done\",\"status\":\"failed\"}")
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define AWAIT(word) "while ! grep -q '" word "' $ORCH_RUNS/../journal; do sleep 0.02; done; "
#define LOOSE "{\"manifest\":{\"metrics\":[],\"any_metric\":true,\"artifacts\":[]}}"

static struct trial_case CASES[] = {
    /* a compiled plugin */
    {"odd_status", .how = "odd_status", .verdict = "failed", .reason = "gave no reason"},
    {"negative_status", .how = "negative_status", .verdict = "failed", .reason = "gave no reason"},
    {"skip_open", .how = "skip_open", .verdict = "skipped", .reason = "gave no reason"},
    {"null_texts", .how = "null_texts", .verdict = "failed",
     .reason = "input: expected a SHA-256 digest of 64 lower-case hex digits",
     .check = check_null_texts},
    {"null_result", .how = "null_result", .verdict = "protocol-error",
     .reason = "undeclared result ''"},
    {"null_artifact", .how = "null_artifact", .verdict = "protocol-error",
     .reason = "artifact '' without a path"},
    {"undeclared_artifact", .how = "undeclared_artifact", .verdict = "protocol-error",
     .reason = "undeclared artifact 'fil' (did you mean 'file'?)"},
    {"artifact_twice", .how = "artifact_twice", .extra = "{\"cwd\":\"/\"}", .verdict = "ok",
     .check = check_abc},
    {"bad_input", .how = "bad_input", .verdict = "failed",
     .reason = "input: expected a SHA-256 digest"},
    {"long_note", .how = "long_note", .verdict = "ok", .check = check_long_note},
    {"late_point", .how = "late_point", .verdict = "protocol-error", .reason = "without a 'done'",
     .check = check_late_point},
    {"progress", .how = "progress", .verdict = "ok", .check = check_progress},
    {"alarms", .how = "alarms", .verdict = "ok", .check = check_20000_points},
    {"checkpoint_blocked", .how = "no_checkpoint", .blocker = "checkpoint", .verdict = "skipped",
     .reason = "gave no reason"},
    {"checkpoint_none", .how = "no_checkpoint", .extra = "{\"checkpoint_dir\":null,\"env\":[]}",
     .verdict = "skipped", .reason = "gave no reason"},
    {"no_path", .how = "nothing", .extra = "{\"manifest\":{\"path\":null}}", .verdict = "failed",
     .reason = "trial.json: the path of the compiled plugin is missing"},
    {"nowhere", .how = "nothing", .extra = "{\"manifest\":{\"path\":\"/nowhere.so\"}}",
     .verdict = "failed", .reason = "cannot load plugin '/nowhere.so'"},
    {"other_digest", .how = "nothing", .extra = "{\"plugin_sha256\":\"" ZEROS "\"}",
     .verdict = "failed", .reason = "changed since it was checked: expected SHA-256 000000000000"},
    {"digest_of_nothing", .how = "nothing",
     .extra = "{\"plugin_sha256\":\"" ZEROS "\",\"manifest\":{\"path\":\"/nowhere.so\"}}",
     .verdict = "failed", .reason = "/nowhere.so"},
    {"other_build", .how = "nothing", .extra = "{\"manifest\":{\"build\":\"b1\"}}",
     .verdict = "failed", .reason = "expected build 'b1', found 'none'"},

    /* a command: what it gets */
    {"not_pinned", .from = "lines", .script = "true", .extra = "{\"cpus\":[4000]}", .verdict = "ok",
     .check = check_not_pinned},
    {"no_words", .from = "lines", .script = "", .extra = "{\"manifest\":{\"argv\":[]}}",
     .verdict = "failed", .reason = "the plugin's command is empty"},
    {"null_words", .from = "lines", .script = "", .extra = "{\"manifest\":{\"argv\":null}}",
     .verdict = "failed", .reason = "the plugin's command is empty"},
    {"unknown_value", .from = "lines", .script = "", .verdict = "failed",
     .extra = "{\"manifest\":{\"argv\":[\"sh\",\"${nope}\"]}}", .reason = "nope"},
    {"optional_value", .from = "lines", .verdict = "ok",
     .script = "test -z '${opt}' && ! printenv ORCH_PARAM_opt && ! printenv ORCH_PARAM_outer && "
               "test $ORCH_PARAM_lr = 0.5",
     .extra = "{\"checkpoint_dir\":null,\"manifest\":{\"params\":[{\"name\":\"lr\",\"type\":"
              "\"real\"},{\"name\":\"opt\",\"type\":\"string\",\"optional\":true}]}}"},
    {"null_value", .from = "lines", .verdict = "ok", .script = "! printenv ORCH_PARAM_lr",
     .extra = "{\"params\":{\"lr\":null}}"},
    {"long_value", .from = "lines", .verdict = "ok",
     .script = "! printenv ORCH_PARAM_text && test $$(printenv ORCH_PARAMS | wc -c) -gt 40000"},
    {"longer_value", .from = "protocol", .script = "sleep 60", .verdict = "failed",
     .reason = "its parameters do not fit a line of 65536 bytes"},
    {"long_limits", .from = "lines", .script = "true", .verdict = "ok",
     .extra = "{\"limit_s\":1e300,\"grace_s\":1e300}"},
    {"long_limit", .from = "lines", .script = "true", .verdict = "ok",
     .extra = "{\"limit_s\":60,\"grace_s\":0}"},
    {"default_grace", .from = "lines", .verdict = "timeout",
     .extra = "{\"limit_s\":0.3,\"grace_s\":0}",
     .script = "trap '' TERM; while :; do sleep 1; done",
     .reason = "it did not end within 500 ms of SIGTERM and was killed"},

    /* its artifacts */
    {"artifact_unknown_value", .from = "lines", .script = "true", .verdict = "protocol-error",
     .extra = ARTIFACTS(ROW("model", "${nope}")), .reason = "artifact 'model': "},
    {"artifact_loop", .from = "lines", .script = "ln -s model.bin model.bin",
     .verdict = "protocol-error", .reason = "Too many levels of symbolic links"},
    {"artifact_below_file", .from = "lines", .script = "touch file", .verdict = "ok",
     .extra = ARTIFACTS(ROW("model", "file/x"))},
    {"artifact_beside", .from = "lines", .verdict = "ok", .check = check_beside,
     .script = "printf abc > \"$${ORCH_TRIAL_DIR}/../../beside\"",
     .extra = ARTIFACTS(ROW("model", "${trial_dir}/../../beside"))},
    {"artifact_blocked", .from = "lines", .verdict = "protocol-error",
     .script = "mkdir ../artifact.model; echo a > ../../outside",
     .extra = ARTIFACTS(ROW("model", "../../outside")),
     .reason = "outside' to the trial's folder: Is a directory"},
    {"artifacts_left", .from = "protocol", .verdict = "ok", .check = check_two_artifacts,
     .script = "printf abc > a; printf b > b; " SAY(
         "{\"event\":\"artifact\",\"name\":\"a\",\"path\":\"a\"}") DONE,
     .extra = ARTIFACTS(ROW("b", "b") "," ROW("a", "nowhere"))},
    {"artifacts_bad", .from = "lines", .script = "mkdir a b", .verdict = "protocol-error",
     .extra = ARTIFACTS(ROW("a", "a") "," ROW("b", "b")),
     .reason = "artifact 'a': ", .check = check_two_problems},

    /* its end and its output */
    {"many_strays", .from = "lines", .verdict = "ok", .check = check_many_strays,
     .script = "i=0; while [ $$i -lt 22 ]; do sleep 60 & i=$$((i+1)); done"},
    {"real_time_signal", .from = "lines", .script = "kill -40 $$$$", .verdict = "crashed",
     .reason = "signal 40"},
    {"failed_and_status", .from = "protocol", .script = FAILED_LINE "exit 3", .verdict = "failed",
     .reason = "exit status 3"},
    {"tail_of_lines", .from = "lines", .verdict = "ok", .check = check_tail_of_lines,
     .script = "seq 1 5000 | sed 's/^/line /' >&2"},
    {"tail_of_one_line", .from = "lines", .verdict = "ok", .check = check_tail_of_one_line,
     .script = "head -c 20000 /dev/zero | tr '\\0' x >&2"},
    {"tail_with_line_end", .from = "lines", .verdict = "ok", .check = check_tail_with_line_end,
     .script = "(head -c 20000 /dev/zero | tr '\\0' x; echo) >&2"},
    {"output_without_lines", .from = "protocol", .extra = "{\"limit_log_bytes\":65536}",
     .verdict = "ok", .check = check_output_without_lines,
     .script = "head -c 200000 /dev/zero | tr '\\0' x; " DONE},
    {"output_blocked", .from = "protocol", .verdict = "ok", .check = check_lost_output,
     .script = "mkdir ../stdout; echo hi; " DONE},

    /* its events */
    {"line_ends", .from = "protocol", .verdict = "ok", .points = "loss@1=0.5",
     .script = PRINTF("\\n\\r\\n{\"event\":\"metric\",\"name\":\"loss\",\"step\":1,"
                      "\"value\":0.5}\\r\\n") DONE},
    {"progress_time", .from = "protocol", .verdict = "ok", .check = check_progress_kept,
     .script = SAY("{\"event\":\"progress\",\"done\":3,\"total\":9,\"t_ms\":7.5}") DONE},
    {"progress_long", .from = "protocol", .verdict = "ok", .check = check_long_progress,
     .script = PRINTF(
         "{\"event\":\"progress\",\"done\":1,\"total\":2,\"text\":\"") "head -c 40000 "
                                                                       "/dev/zero | tr '\\0' x "
                                                                       ">&$ORCH_EVENTS; " PRINTF(
                                                                           "\"}\\n") DONE},
    {"second_step", .from = "protocol", .verdict = "protocol-error", .reason = "its step is -1",
     .script = SAY(
         "{\"event\":\"metrics\",\"points\":[[\"loss\",1,null,1],[\"loss\",-1,null,1]]}") "sleep "
                                                                                          "60"},
    /* names of a program's own: as of a recorded one, a line that is wrong is left out */
    {"any_artifact", .from = "lines", .extra = LOOSE, .verdict = "ok", .check = check_any_artifact,
     .script = "echo w >w; " PRINTF(ARTIFACT("w", "w") ARTIFACT("none", "none")
                                        ARTIFACT("a b", "w")) DONE DONE},
    {"any_bad_name", .from = "lines", .extra = LOOSE, .verdict = "ok", .points = "ok@1=1",
     .check = check_bad_name,
     .script = SAY("{\"event\":\"metric\",\"name\":\"A b\",\"step\":1,\"value\":1}") SAY("nonsense")
         SAY("{\"event\":\"metric\",\"name\":\"ok\",\"step\":1,\"value\":1}")},
    {"any_1001_names", .from = "lines", .extra = LOOSE, .verdict = "ok", .check = check_1001_names,
     .script = "seq -f '{\"event\":\"metric\",\"name\":\"m%.0f\",\"step\":1,\"value\":1}' 1 1001 "
               ">&$ORCH_EVENTS"},
    /* what a program sends itself is not read from its output, too */
    {"printed_and_sent", .from = "lines", .extra = LOOSE, .verdict = "ok",
     .points = "loss@0=0.5 acc@0=1", .check = check_no_mark,
     .script = SAY("{\"event\":\"metric\",\"name\":\"loss\",\"step\":0,\"value\":0.5}")
         AWAIT("0.5") "echo loss=0.4 acc=1"},
    {"printed_before_sent", .from = "lines", .extra = LOOSE, .verdict = "ok",
     .points = "loss@3=0.4 loss@0=0.5", .check = check_mark,
     .script = "echo step 3 loss=0.4; " AWAIT("0.4")
         SAY("{\"event\":\"metric\",\"name\":\"loss\",\"step\":0,\"value\":0.5}")},
    {"joined", .from = "lines", .extra = LOOSE, .verdict = "ok", .points = "loss@0=0.5",
     .script = "printf '{\"event\":\"metric\",\"name\":\"loss\",\"step\":0,\"value\":0.5}\\n' "
               ">$ORCH_RUNS/join"},
    {"outer_ranks", .from = "lines", .extra = LOOSE, .verdict = "ok", .points = "seen@0=3",
     .script = "case $ORCH_OUTER_RANKS in *PMI_RANK=3*) echo seen=3 ;; esac"},
};

/* ---- orch-host itself -------------------------------------------------------------------------
 */

/* Runs a shell command with orch-host as "$1" and a folder of a trial as "$2". The status, and what
 * it printed; the caller frees. */
static int run_shell(const char *command, const char *folder, char **out_output)
{
    g_autofree char *whole = g_strdup_printf("{ %s\n} 2>&1", command);
    char *argv[] = {(char *)"/bin/sh",
                    (char *)"-c",
                    whole,
                    (char *)"sh",
                    (char *)(uintptr_t)host_program,
                    (char *)(uintptr_t)folder,
                    NULL};
    int status = -1;
    assert_true(g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, out_output, NULL,
                             &status, NULL));
    return status;
}

static void test_usage(void **state)
{
    (void)state;
    static const struct {
        const char *command;
        int status;
        const char *says;
    } rows[] = {
        {"\"$1\"", 2, "usage: orch-host TRIALDIR"},
        {"\"$1\" --help", 0, "usage: orch-host TRIALDIR"},
        {"\"$1\" --sing", 2, "usage: orch-host TRIALDIR"},
        {"\"$1\" --sing x.so", 2, "usage: orch-host TRIALDIR"},
        {"\"$1\" --batch x.so y z", 2, "usage: orch-host TRIALDIR"},
        {"\"$1\" --describe \"$2/x.so\"", 1, "orch-host: cannot load plugin"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *output = NULL;
        int status = run_shell(rows[i].command, scratch, &output);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != rows[i].status ||
            !strstr(output, rows[i].says))
            fail_msg("%s: status %x, '%s'", rows[i].command, (unsigned)status, output);
    }
}

static void forget(struct trial_case *row)
{
    g_ptr_array_unref(row->events);
    g_free(row->dir);
}

/* Writes a trial that `command` runs, and reads its journal. The caller forgets it. */
static struct trial_case run_alone(const char *name, const char *how, const char *extra,
                                   const char *command)
{
    struct trial_case row = {.name = name, .how = how, .extra = extra};
    row.dir = g_build_filename(scratch, name, NULL);
    assert_int_equal(mkdir(row.dir, 0700), 0);
    write_trial(&row);
    g_autofree char *output = NULL;
    row.exit_status = run_shell(command, row.dir, &output);
    if (row.exit_status != 0)
        fail_msg("%s: %s", name, output);
    read_events(&row);
    return row;
}

/* Whatever it is started with or without. */
static void test_starts(void **state)
{
    (void)state;
    static const struct {
        const char *name, *command;
    } rows[] = {
        {"without_environment", "env -i \"$1\" \"$2\" </dev/null"},
        {"with_little_environment", "env -i A=b \"$1\" \"$2\" </dev/null"},
        {"without_descriptors", "\"$1\" \"$2\" <&- >&- 2>&-"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct trial_case row =
            run_alone(rows[i].name, "nothing", "{\"detached\":true}", rows[i].command);
        assert_string_equal(orch_json_text(find_event(&row, "end", 0), "verdict", ""), "ok");
        forget(&row);
    }
}

/* A kernel before 5.3: no pidfd, no close_range, and memfds without the flag for executable ones.
 */
static void test_old_kernel(void **state)
{
    (void)state;
    const char *library = g_getenv("ORCH_OLD_KERNEL");
    if (!library)
        skip(); /* a sanitizer wants to be the first library */
    g_autofree char *command = g_strdup_printf(
        "LD_PRELOAD='%s' \"$1\" \"$2\" 8</dev/null 9</dev/null </dev/null", library);
    const char *path = orch_json_text(misbehave_manifest, "path", "");
    char sha256[ORCH_SHA256_CHARS];
    assert_true(orch_file_sha256(path, sha256, NULL, NULL));
    g_autofree char *extra =
        g_strdup_printf("{\"detached\":true,\"plugin_sha256\":\"%s\"}", sha256);
    struct trial_case row = run_alone("old_kernel", "descriptors", extra, command);
    json_t *end = find_event(&row, "end", 0);
    if (strcmp(orch_json_text(end, "verdict", ""), "ok") != 0)
        fail_msg("%s", orch_json_text(end, "reason", ""));
    forget(&row);
    struct orch_process self;
    assert_true(orch_process_get(getpid(), &self));
    g_autofree char *follow =
        g_strdup_printf("{\"how\":null,\"follow\":{\"boot_id\":\"%s\",\"pid\":%d,\"start\":%lld}}",
                        self.boot_id, (int)self.pid, (long long)self.start);
    g_autofree char *feed = g_strdup_printf(
        "echo '{\"event\":\"done\",\"status\":\"ok\"}' | LD_PRELOAD='%s' \"$1\" \"$2\"", library);
    row = run_alone("old_kernel_follow", "nothing", follow, feed);
    assert_string_equal(orch_json_text(find_event(&row, "end", 0), "verdict", ""), "ok");
    assert_true(fact(&row, "max_rss_bytes") > 1 << 20);
    forget(&row);
}

static void test_bad_trials(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } rows[] = {
        {"{", "/trial.json': not valid JSON"},
        {"{\"format\":99}", "trial.json: expected format 1, found 99"},
        {"{\"format\":1,\"key\":\"\"}", "trial.json: without a key"},
    };
    g_autofree char *path = g_build_filename(scratch, "trial.json", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        assert_true(orch_file_write(path, rows[i].json, strlen(rows[i].json), false, NULL));
        g_autofree char *output = NULL;
        int status = run_shell("\"$1\" \"$2\" </dev/null", scratch, &output);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || !strstr(output, rows[i].says))
            fail_msg("row %zu: '%s'", i, output);
    }
}

/* ---- describe and batch -----------------------------------------------------------------------
 */

#define CHECK_HOW(id, how) "{\"do\":\"check\",\"id\":" id ",\"params\":{\"how\":\"" how "\"}}\n"

/* A plugin without check and cost, which takes long to load and has a metric of a later version. */
static void test_slow_load(void **state)
{
    (void)state;
    struct answer answer = ask("--describe", "slow_load", "");
    g_autoptr(json_t) manifest = json_loads(answer.output, 0, NULL);
    assert_true(json_number_value(json_object_get(manifest, "load_ms")) >= 40);
    json_t *metric = json_array_get(json_object_get(manifest, "metrics"), 0);
    assert_string_equal(orch_json_text(metric, "better", "none"), "none");
    answer_clear(&answer);
    answer = ask("--batch", "slow_load",
                 "{\"do\":\"check\",\"id\":1,\"params\":{}}\n"
                 "{\"do\":\"check\",\"params\":{\"x\":1}}\n"
                 "{\"do\":\"cost\",\"id\":3,\"params\":{}}\n"
                 "{\"do\":\"cost\",\"id\":4,\"params\":{\"x\":1}}\n");
    g_auto(GStrv) lines = g_strsplit(answer.output, "\n", -1);
    static const char *const says[] = {"\"ok\":true", "has no parameter 'x'", "\"cost\":null",
                                       "has no parameter 'x'", ""};
    assert_int_equal(g_strv_length(lines), G_N_ELEMENTS(says));
    for (size_t i = 0; i < G_N_ELEMENTS(says); i++)
        if (!strstr(lines[i], says[i]))
            fail_msg("line %zu: %s", i, lines[i]);
    answer_clear(&answer);
}

/* What a plugin does in a check: talks, asks, and has its reads interrupted. */
static void test_checks(void **state)
{
    (void)state;
    struct answer answer = ask("--batch", "misbehave", CHECK_HOW("1", "talk"));
    assert_non_null(strstr(answer.output, "\"ok\":true"));
    assert_null(strstr(answer.output, "hello"));
    answer_clear(&answer);

    g_autofree char *plugin =
        g_strdup_printf("%s/tests/plugins/misbehave.so", g_getenv("ORCH_BUILD_DIR"));
    static const struct {
        const char *command, *says;
        int status;
    } rows[] = {
        /* interrupted while it waits for the next question */
        {"{ echo '{\"do\":\"check\",\"id\":1,\"params\":{\"how\":\"alarms\"}}'; sleep 0.05; "
         "echo '{\"do\":\"hello\",\"id\":2}'; } | \"$1\" --batch \"$2\"",
         "\"id\":2", 0},
        {"\"$1\" --batch \"$2\" </", "orch-host: cannot read requests: Is a directory", 1},
        {"\"$1\" --describe \"$2\" >/dev/full", "cannot write to standard output: No space left",
         1},
        /* its reader is gone: it ends, and that is no error */
        {"trap '' PIPE; { echo '{\"do\":\"hello\"}'; echo '{\"do\":\"hello\"}'; } | \"$1\" --batch "
         "\"$2\" >/dev/full",
         "", 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *output = NULL;
        int status = run_shell(rows[i].command, plugin, &output);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != rows[i].status ||
            !strstr(output, rows[i].says))
            fail_msg("row %zu: status %x, '%s'", i, (unsigned)status, output);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usage),      cmocka_unit_test(test_starts),
        cmocka_unit_test(test_bad_trials), cmocka_unit_test(test_old_kernel),
        cmocka_unit_test(test_slow_load),  cmocka_unit_test(test_checks),
    };
    g_setenv("ORCH_PARAM_outer", "1", TRUE); /* of a trial around this one */
    g_setenv("PMI_RANK", "3", TRUE);         /* of a job around it */
    g_autofree char *text = g_strnfill(40000, 'x'), *longer = g_strnfill(70000, 'x');
    g_autofree char *extra = g_strdup_printf("{\"params\":{\"text\":\"%s\"}}", text);
    g_autofree char *longer_extra = g_strdup_printf("{\"params\":{\"text\":\"%s\"}}", longer);
    for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++)
        if (strcmp(CASES[i].name, "long_value") == 0)
            CASES[i].extra = extra;
        else if (strcmp(CASES[i].name, "longer_value") == 0)
            CASES[i].extra = longer_extra;
    return host_test(CASES, G_N_ELEMENTS(CASES), tests, G_N_ELEMENTS(tests));
}
