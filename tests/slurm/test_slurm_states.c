/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict of a trial in a Slurm job: every state of Slurm, with accounting and without, beside
 * every kind of journal; and the options and arrays of sbatch. */
#include "features/slurm/slurm_options.h"
#include "features/slurm/slurm_states.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define WAIT "wait"
#define FORGET "forget"

/* What is decided, as text: "wait", "forget", or the verdict that the run gets. */
static const char *decide(const struct orch_slurm_evidence *e)
{
    struct orch_slurm_judgement j = orch_slurm_judge(e);
    if (j.action == ORCH_SLURM_WAIT)
        return WAIT;
    if (j.action == ORCH_SLURM_FORGET)
        return FORGET;
    if (j.has_verdict && (!e->has_end || j.overrules))
        return orch_verdict_name(j.verdict);
    assert_true(e->has_end); /* nobody else can say how it ended */
    return orch_verdict_name(e->end);
}

/* Expected for a journal that is missing, has no end, says ok, says that the host got SIGTERM, and
 * says crashed. */
static const struct {
    const char *state;
    const char *none, *open, *ok, *stopped, *crashed;
} ROWS[] = {
    {"PENDING", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"CONFIGURING", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"RUNNING", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"SUSPENDED", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"COMPLETING", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"REQUEUED", WAIT, WAIT, WAIT, WAIT, WAIT},
    {"COMPLETED", "lost", "lost", "ok", "preempted", "crashed"},
    {"FAILED", "failed", "failed", "failed", "preempted", "crashed"},
    {"CANCELLED", FORGET, "cancelled", "ok", "cancelled", "crashed"},
    {"CANCELLED by 1000", FORGET, "cancelled", "ok", "cancelled", "crashed"},
    {"TIMEOUT", "timeout", "timeout", "ok", "timeout", "crashed"},
    {"DEADLINE", "timeout", "timeout", "ok", "timeout", "crashed"},
    {"NODE_FAIL", "lost", "lost", "ok", "preempted", "crashed"},
    {"BOOT_FAIL", "lost", "lost", "ok", "preempted", "crashed"},
    {"PREEMPTED", "preempted", "preempted", "ok", "preempted", "crashed"},
    {"OUT_OF_MEMORY", "failed", "failed", "failed", "failed", "failed"},
};

static void check_row(unsigned i, bool has_accounting)
{
    struct orch_slurm_evidence e = {.state = orch_slurm_state_find(ROWS[i].state),
                                    .has_accounting = has_accounting,
                                    .absent_s = ORCH_SLURM_UNACCOUNTED_S};
    assert_non_null(e.state);
    assert_string_equal(decide(&e), ROWS[i].none);
    e.has_journal = true;
    assert_string_equal(decide(&e), ROWS[i].open);
    e.has_end = true;
    e.end = ORCH_VERDICT_OK;
    assert_string_equal(decide(&e), ROWS[i].ok);
    e.end = ORCH_VERDICT_PREEMPTED;
    assert_string_equal(decide(&e), ROWS[i].stopped);
    e.end = ORCH_VERDICT_CRASHED;
    assert_string_equal(decide(&e), ROWS[i].crashed);
}

static void test_matrix(void **state)
{
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        check_row(i, true);
        check_row(i, false);
    }
}

/* A good end beside a state after which Slurm starts the job again: the accounts may still tell of
 * the earlier start. Without accounts the state is squeue's, which tells of the later one. */
static void test_earlier_start(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"PREEMPTED", "NODE_FAIL", "BOOT_FAIL"};
    for (unsigned i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        struct orch_slurm_evidence e = {.state = orch_slurm_state_find(NAMES[i]),
                                        .has_accounting = true,
                                        .has_journal = true,
                                        .has_end = true,
                                        .end = ORCH_VERDICT_OK,
                                        .absent_s = ORCH_SLURM_UNACCOUNTED_S - 1};
        assert_string_equal(decide(&e), WAIT);
        e.absent_s++;
        assert_string_equal(decide(&e), "ok");
        e.absent_s = 0;
        e.has_accounting = false;
        assert_string_equal(decide(&e), "ok");
    }
}

/* No state makes a success of a journal without a good end. */
static void test_no_wrong_success(void **state)
{
    (void)state;
    const struct orch_slurm_state *at;
    for (unsigned i = 0; (at = orch_slurm_state_at(i)); i++)
        for (int end = -2; end < ORCH_VERDICT_UNKNOWN; end++) {
            struct orch_slurm_evidence e = {.state = at,
                                            .has_journal = end > -2,
                                            .has_end = end >= 0,
                                            .end = (enum orch_verdict)MAX(end, 0)};
            bool was_well = end >= 0 && orch_verdict_facts((enum orch_verdict)end)->is_reused;
            const char *word = decide(&e);
            bool is_open = strcmp(word, WAIT) == 0 || strcmp(word, FORGET) == 0;
            if (!was_well && !is_open)
                assert_false(orch_verdict_facts(orch_verdict_parse(word))->is_reused);
            assert_int_equal(strcmp(word, WAIT) == 0, !at->is_ended);
        }
}

/* Unknown stays unknown: no answer, a word of a later Slurm, sacct empty for a while, squeue having
 * forgotten. */
static void test_absence(void **state)
{
    (void)state;
    struct orch_slurm_evidence e = {.has_journal = true, .has_end = true, .end = ORCH_VERDICT_OK};
    assert_string_equal(decide(&e), WAIT); /* no answer */
    assert_null(orch_slurm_state_find("FLYING"));
    assert_null(orch_slurm_state_find(""));
    assert_null(orch_slurm_state_find(NULL));
    assert_null(orch_slurm_state_find("RUN"));
    e.is_absent = true;
    assert_string_equal(decide(&e), "ok"); /* no accounts, and the controller answered */
    e.has_accounting = true;
    assert_string_equal(decide(&e), WAIT); /* out of memory may still be told */
    e.absent_s = ORCH_SLURM_ABSENT_WITH_ACCOUNTING_S;
    assert_string_equal(decide(&e), "ok");
    assert_null(orch_slurm_judge(&e).decided);
    e.has_end = false;
    assert_string_equal(decide(&e), "lost");
    e.absent_s--;
    assert_string_equal(decide(&e), WAIT);
    e.has_accounting = false;
    assert_string_equal(decide(&e), "lost");
    e.absent_s = ORCH_SLURM_ABSENT_WITHOUT_S - 1;
    assert_string_equal(decide(&e), WAIT);
    e.has_journal = false;
    assert_string_equal(decide(&e), WAIT);
    e.absent_s++;
    assert_string_equal(decide(&e), "lost");
}

/* squeue shows the end of a job before sacct has it: a step may still turn out to have run out of
 * memory. */
static void test_late_accounts(void **state)
{
    (void)state;
    struct orch_slurm_evidence e = {.has_journal = true,
                                    .has_end = true,
                                    .end = ORCH_VERDICT_OK,
                                    .state = orch_slurm_state_find("COMPLETED"),
                                    .has_accounting = true,
                                    .is_unaccounted = true};
    assert_string_equal(decide(&e), WAIT);
    e.absent_s = ORCH_SLURM_UNACCOUNTED_S - 1;
    assert_string_equal(decide(&e), WAIT);
    e.absent_s++;
    assert_string_equal(decide(&e), "ok");
    e.absent_s = 0;
    e.is_unaccounted = false;
    assert_string_equal(decide(&e), "ok");
}

static void test_output(void **state)
{
    (void)state;
    static const struct {
        const char *text, *state;
    } rows[] = {
        {"", NULL},
        {"step 3\n", NULL},
        {"*** JOB 5 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n", "CANCELLED"},
        {"*** JOB 5 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***\n", "TIMEOUT"},
        {"JOB 5 ON n1 CANCELLED AT x DUE TO PREEMPTION ***\nstarted again\n", "PREEMPTED"},
        {"DUE TO PREEMPTION ***\nCANCELLED AT x DUE TO NODE FAILURE\n", "NODE_FAIL"},
        {"slurmstepd: error: Detected 1 oom-kill event(s) in StepId=5.batch.", "OUT_OF_MEMORY"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct orch_slurm_state *found = orch_slurm_state_in_output(rows[i].text);
        assert_true((found == NULL) == (rows[i].state == NULL));
        if (found)
            assert_string_equal(found->name, rows[i].state);
    }
    /* the output of a start before the last one does not spoil a success */
    struct orch_slurm_evidence e = {.output = orch_slurm_state_find("PREEMPTED"),
                                    .is_absent = true,
                                    .has_journal = true,
                                    .has_end = true,
                                    .end = ORCH_VERDICT_OK};
    assert_string_equal(decide(&e), "ok");
    e.output = orch_slurm_state_find("OUT_OF_MEMORY");
    assert_string_equal(decide(&e), "failed");
}

/* SIGTERM the margin before the limit is a timeout, although the job ends before Slurm's own. */
static void test_margin(void **state)
{
    (void)state;
    static const char *const states[] = {"FAILED", "COMPLETED"};
    for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
        struct orch_slurm_evidence e = {.state = orch_slurm_state_find(states[i]),
                                        .has_journal = true,
                                        .has_end = true,
                                        .end = ORCH_VERDICT_PREEMPTED,
                                        .is_near_limit = true};
        assert_string_equal(decide(&e), "timeout");
    }
}

/* Slurm signals all processes of a job at once: the trial may die before its host sees the signal.
 */
static void test_killed(void **state)
{
    (void)state;
    static const struct {
        const char *state, *verdict;
    } rows[] = {{"CANCELLED", "cancelled"}, {"TIMEOUT", "timeout"}, {"PREEMPTED", "preempted"},
                {"NODE_FAIL", "lost"},      {"FAILED", "crashed"},  {"COMPLETED", "crashed"},
                {"OUT_OF_MEMORY", "failed"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct orch_slurm_evidence e = {.state = orch_slurm_state_find(rows[i].state),
                                        .has_journal = true,
                                        .has_end = true,
                                        .end = ORCH_VERDICT_CRASHED,
                                        .is_killed = true};
        assert_string_equal(decide(&e), rows[i].verdict);
    }
}

static void test_ranges(void **state)
{
    (void)state;
    static const unsigned indices[] = {0, 1, 2, 5, 7, 8};
    g_autofree char *text = orch_slurm_ranges(indices, G_N_ELEMENTS(indices), 0);
    assert_string_equal(text, "0-2,5,7-8");
    g_autofree char *limited = orch_slurm_ranges(indices, 1, 4);
    assert_string_equal(limited, "0%4");
}

static void test_request(void **state)
{
    (void)state;
    struct orch_slurm_settings settings = {.margin_s = 30, .time_s = 1800};
    struct orch_experiment experiment = {0};
    struct orch_slurm_request request;
    orch_slurm_request_make(&settings, &experiment, 100, 1 << 30, &request);
    assert_string_equal(request.time_from, "95 % forecast");
    g_autofree char *time = orch_slurm_time_format(request.time_s);
    assert_string_equal(time, "00:04:00"); /* 100 s + 60 s to start + 30 s of margin */
    assert_int_equal(request.memory_bytes >> 20, 1280);
    orch_slurm_request_make(&settings, &experiment, (double)NAN, 0, &request);
    assert_string_equal(request.time_from, "slurm.time");
    assert_int_equal(request.memory_bytes, 0);
    experiment.time_s = 90001;
    experiment.memory_bytes = 1 << 20;
    orch_slurm_request_make(&settings, &experiment, 100, 1 << 30, &request);
    assert_string_equal(request.time_from, "resources.time");
    g_autofree char *long_time = orch_slurm_time_format(request.time_s);
    assert_string_equal(long_time, "1-02:00:00");
    assert_int_equal(request.memory_bytes >> 20, 65);
    /* the default of a partition is not known: it is not made shorter */
    struct orch_slurm_request other = {0, 0, "default of the partition",
                                       "default of the partition"};
    orch_slurm_request_join(&request, &other);
    assert_true(request.time_s <= 0);
    assert_int_equal(request.memory_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix),           cmocka_unit_test(test_earlier_start),
        cmocka_unit_test(test_no_wrong_success), cmocka_unit_test(test_absence),
        cmocka_unit_test(test_late_accounts),    cmocka_unit_test(test_output),
        cmocka_unit_test(test_margin),           cmocka_unit_test(test_killed),
        cmocka_unit_test(test_ranges),           cmocka_unit_test(test_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
