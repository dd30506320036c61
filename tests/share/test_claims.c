/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Claims: of many takers one wins, whatever the place and the clocks. */
#include "features/share/remotes/claims.h"

#include "lib/base/json.h"
#include "tests/unit/vcs_fixture.h"

#include <sys/wait.h>
#include <time.h>
#include <utime.h>

#define TAKERS 8
#define TRIALS 3

static const char FP[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
static const char FP2[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/* A place of claims: a folder, or a bare repository with two clones. */
struct place {
    bool is_git;
    char *shared, *clones[2];
};

static struct orch_claims *open_at(const struct place *place, unsigned member, const char *who)
{
    g_autoptr(GError) error = NULL;
    struct orch_claims *claims =
        place->is_git ? orch_claims_open_git(place->clones[member % 2], NULL, "origin", who, &error)
                      : orch_claims_open_folder(place->shared, who, &error);
    if (!claims)
        fail_msg("%s", error->message);
    return claims;
}

static bool takes(struct orch_claims *claims, const char *fingerprint, const char *where,
                  char **out_who)
{
    g_autoptr(GError) error = NULL;
    struct orch_claim *holder = NULL;
    if (!orch_claims_take(claims, fingerprint, where, NULL, &holder, &error))
        fail_msg("%s", error->message);
    bool ours = !holder;
    if (out_who)
        *out_who = holder ? g_strdup(holder->who) : NULL;
    orch_claim_free(holder);
    return ours;
}

static void must(bool ok, const GError *error)
{
    if (!ok)
        fail_msg("%s", error ? error->message : "failed");
}

static unsigned listed(struct orch_claims *claims)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) list = orch_claims_list(claims, &error);
    must(list, error);
    return list ? list->len : 0;
}

static struct place make_place(bool is_git, const char *name)
{
    struct place place = {.is_git = is_git, .shared = g_build_filename(scratch, name, NULL)};
    if (!is_git) {
        g_mkdir_with_parents(place.shared, 0755);
        return place;
    }
    GIT(scratch, "init", "-q", "--bare", "--shared", place.shared);
    for (int i = 0; i < 2; i++) {
        place.clones[i] = g_strdup_printf("%s-%d", place.shared, i);
        GIT(scratch, "clone", "-q", place.shared, place.clones[i]);
    }
    return place;
}

static void free_place(struct place *place)
{
    g_free(place->shared);
    g_free(place->clones[0]);
    g_free(place->clones[1]);
}

/* ---- one after another -------------------------------------------------------------------------
 */

static void check_life(const struct place *place)
{
    g_autoptr(GError) error = NULL;
    struct orch_claims *ada = open_at(place, 0, "ada"), *bob = open_at(place, 1, "bob");
    g_autofree char *who = NULL;
    assert_true(takes(ada, FP, NULL, NULL));
    assert_true(takes(ada, FP, NULL, NULL)); /* once more is the same */
    assert_false(takes(bob, FP, NULL, &who));
    assert_string_equal(who, "ada");
    assert_true(takes(bob, FP, "V100 x1", NULL)); /* a claim at a place is another one */
    assert_true(takes(ada, FP, "K80 x1", NULL));
    assert_int_equal(listed(bob), 3);
    must(orch_claims_renew(ada, &error), error); /* nothing is due: nothing happens */
    must(orch_claims_give_back(ada, FP, NULL, &error), error);
    must(orch_claims_give_back(ada, FP2, NULL, &error), error); /* not held: no error */
    assert_int_equal(listed(bob), 2);
    assert_true(takes(bob, FP, NULL, NULL));
    assert_true(takes(ada, FP2, NULL, NULL));
    orch_claims_close(bob); /* gives back both */
    assert_int_equal(listed(ada), 2);
    assert_true(takes(ada, FP, NULL, NULL));
    must(orch_claims_give_back_all(ada, &error), error);
    assert_int_equal(listed(ada), 0);
    orch_claims_close(ada);
}

/* The claim of one's own process that was killed here is free at once, for oneself only. */
static void check_killed(const struct place *place)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        _exit(!takes(open_at(place, 0, "ada"), FP, NULL, NULL));
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    struct orch_claims *ada = open_at(place, 1, "ada"), *bob = open_at(place, 0, "bob");
    assert_false(takes(ada, FP, NULL, NULL)); /* its process is still there, as a zombie */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(listed(bob), 1);
    assert_false(takes(bob, FP, NULL, NULL));
    assert_true(takes(ada, FP, NULL, NULL));
    orch_claims_close(ada);
    assert_int_equal(listed(bob), 0);
    orch_claims_close(bob);
}

/* The claims of one who died are taken over by one only, and only when they have expired. */
static void check_expiry(const struct place *place)
{
    g_autoptr(GError) error = NULL;
    g_setenv("ORCH_CLAIM_S", "3", TRUE);
    struct orch_claims *dead = open_at(place, 0, "dead"), *bob = open_at(place, 1, "bob");
    struct orch_claims *eve = open_at(place, 0, "eve");
    assert_true(takes(dead, FP, NULL, NULL));
    assert_false(takes(bob, FP, NULL, NULL));
    g_usleep(1800000);
    must(orch_claims_renew(dead, &error), error);
    g_usleep(2100000); /* would be over without having been renewed, tolerance and all */
    assert_false(takes(bob, FP, NULL, NULL));
    g_usleep(1500000);
    assert_int_equal(listed(bob), 0);
    bool b = takes(bob, FP, NULL, NULL), e = takes(eve, FP, NULL, NULL);
    assert_true(b);
    assert_false(e);
    /* the first owner comes back: it renews and gives back what is not its own any more */
    must(orch_claims_renew(dead, &error), error);
    must(orch_claims_give_back(dead, FP, NULL, &error), error);
    assert_false(takes(eve, FP, NULL, NULL));
    orch_claims_close(dead);
    assert_int_equal(listed(bob), 1);
    orch_claims_close(bob);
    orch_claims_close(eve);
    g_unsetenv("ORCH_CLAIM_S");
}

/* The point of the only claim that is listed; NULL: it has none. The caller frees. */
static char *listed_point(struct orch_claims *claims)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) list = orch_claims_list(claims, &error);
    must(list && list->len == 1, error);
    const struct orch_claim *claim = list->pdata[0];
    return claim->point ? orch_json_canonical(claim->point) : NULL;
}

/* A claim of a trial of a search has its point. What is no point, or too large, is left out, and
 * the trial is claimed all the same. */
static void check_points(const struct place *place)
{
    static const struct {
        const char *json, *expected;
    } rows[] = {{"{\"lr\":\"0.01\",\"opt\":\"sgd\"}", "{\"lr\":\"0.01\",\"opt\":\"sgd\"}"},
                {"[\"lr\"]", NULL},
                {"{\"lr\":0.01}", NULL}};
    struct orch_claims *ada = open_at(place, 0, "ada"), *bob = open_at(place, 1, "bob");
    g_autofree char *word = g_strnfill(5000, 'x');
    for (size_t i = 0; i <= G_N_ELEMENTS(rows); i++) {
        bool is_long = i == G_N_ELEMENTS(rows);
        g_autoptr(GError) error = NULL;
        json_t *point =
            is_long ? json_pack("{s:s}", "opt", word) : json_loads(rows[i].json, 0, NULL);
        struct orch_claim *holder = NULL;
        must(orch_claims_take(ada, FP, NULL, point, &holder, &error) && !holder, error);
        g_autofree char *seen = listed_point(bob);
        assert_true(g_strcmp0(seen, is_long ? NULL : rows[i].expected) == 0);
        must(orch_claims_give_back(ada, FP, NULL, &error), error);
        json_decref(point);
    }
    orch_claims_close(ada);
    orch_claims_close(bob);
}

static void for_both(void (*check)(const struct place *place), const char *name)
{
    for (int is_git = 0; is_git < 2; is_git++) {
        g_autofree char *folder = g_strdup_printf("%s-%s", name, is_git ? "git" : "folder");
        struct place place = make_place(is_git, folder);
        check(&place);
        free_place(&place);
    }
}

static void test_life(void **state)
{
    (void)state;
    for_both(check_life, "life");
}

static void test_points(void **state)
{
    (void)state;
    for_both(check_points, "points");
}

static void test_killed(void **state)
{
    (void)state;
    for_both(check_killed, "killed");
}

static void test_expiry(void **state)
{
    (void)state;
    for_both(check_expiry, "expiry");
}

/* ---- many at once ------------------------------------------------------------------------------
 */

static const char *trial(int i)
{
    static char fingerprint[65];
    memset(fingerprint, 'c' + i, 64);
    return fingerprint;
}

/* A process that takes all trials and never gives one back; its exit status: a bit
 * for each that it got. */
static pid_t start_taker(const struct place *place, unsigned member, const int go[2],
                         const int end[2])
{
    pid_t pid = fork();
    if (pid)
        return pid;
    close(go[1]);
    close(end[1]);
    g_autofree char *who = g_strdup_printf("member %u", member);
    struct orch_claims *claims = open_at(place, member, who);
    char byte;
    int got = 0;
    ssize_t n = read(go[0], &byte, 1); /* end of file: all start */
    for (int i = 0; i < TRIALS; i++)
        got |= takes(claims, trial(i), NULL, NULL) << i;
    n += read(end[0], &byte, 1);
    _exit(got | (n ? 128 : 0));
}

/* All take the same trials at once: each trial is got by exactly one. */
static void race(const struct place *place)
{
    int go[2], end[2], winners[TRIALS] = {0};
    pid_t pids[TAKERS];
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(end), 0);
    for (unsigned i = 0; i < TAKERS; i++) {
        pids[i] = start_taker(place, i, go, end);
        assert_true(pids[i] > 0);
    }
    close(go[0]);
    close(end[0]);
    close(go[1]);
    close(end[1]);
    for (unsigned i = 0; i < TAKERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && !(WEXITSTATUS(status) & 128));
        for (int k = 0; k < TRIALS; k++)
            winners[k] += WEXITSTATUS(status) >> k & 1;
    }
    for (int k = 0; k < TRIALS; k++)
        assert_int_equal(winners[k], 1);
}

static void check_races(const struct place *place)
{
    race(place);
}

/* The same of claims that have expired. Those of the race hold long enough for slow machines. */
static void check_races_for_expired(const struct place *place)
{
    g_setenv("ORCH_CLAIM_S", "1", TRUE);
    pid_t pid = fork();
    if (pid == 0) {
        struct orch_claims *claims = open_at(place, 0, "dead");
        for (int i = 0; i < TRIALS; i++)
            takes(claims, trial(i), NULL, NULL);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    g_setenv("ORCH_CLAIM_S", "8", TRUE); /* clocks may differ by 2/15 of it */
    g_usleep(2100000);
    race(place);
    g_unsetenv("ORCH_CLAIM_S");
}

static void test_races(void **state)
{
    (void)state;
    for_both(check_races, "races");
    for_both(check_races_for_expired, "races-expired");
}

/* ---- wrong clocks and strangers ----------------------------------------------------------------
 */

static char *claim_json(const char *fingerprint, int64_t made_ns, int64_t expires_ns)
{
    return g_strdup_printf(
        "{\"format\":1,\"fingerprint\":\"%s\",\"device_key\":null,"
        "\"who\":\"m\\u001b[31mallory\\nx\",\"host\":\"h\",\"made\":%" G_GINT64_FORMAT
        ",\"expires\":%" G_GINT64_FORMAT "}",
        fingerprint, made_ns, expires_ns);
}

static char *write_folder_claim(const struct place *place, const char *fingerprint,
                                const char *text)
{
    char resource[65];
    orch_claim_resource(fingerprint, NULL, resource);
    char *path = g_strdup_printf("%s/claims/%s.1.json", place->shared, resource);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void test_folder_has_one_clock(void **state)
{
    (void)state;
    struct place place = make_place(false, "clock");
    struct orch_claims *ada = open_at(&place, 0, "ada");
    const int64_t hour = INT64_C(3600) * 1000000000, now = orch_now_ns();
    g_autofree char *who = NULL;
    /* a member whose clock is a day behind claims: it counts from the file's time */
    g_autofree char *behind = claim_json(FP, now - 24 * hour, now - 24 * hour + hour / 4);
    g_autofree char *path = write_folder_claim(&place, FP, behind);
    assert_false(takes(ada, FP, NULL, &who));
    assert_string_equal(who, "m?[31mallory x");
    /* the file is older than the claim lasts */
    struct utimbuf old = {time(NULL) - 3600, time(NULL) - 3600};
    assert_int_equal(utime(path, &old), 0);
    orch_claims_close(ada);
    ada = open_at(&place, 0, "ada");
    assert_true(takes(ada, FP, NULL, NULL));
    /* one that claims for a century holds for twice the usual time at most */
    g_autofree char *century = claim_json(FP2, now, now + 24 * 365 * 100 * hour);
    g_autofree char *path2 = write_folder_claim(&place, FP2, century);
    g_autoptr(GPtrArray) list = orch_claims_list(ada, NULL);
    assert_int_equal(list->len, 2);
    for (guint i = 0; i < list->len; i++)
        assert_true(((struct orch_claim *)list->pdata[i])->expires_ns <
                    orch_now_ns() + (int64_t)(2.01e9 * ORCH_CLAIM_S));
    orch_claims_close(ada);
    free_place(&place);
}

/* What is no claim blocks nobody. */
static void test_folder_strangers(void **state)
{
    (void)state;
    struct place place = make_place(false, "strangers");
    struct orch_claims *ada = open_at(&place, 0, "ada");
    g_autofree char *other = claim_json(FP2, orch_now_ns(), orch_now_ns() + 1000000000000);
    g_autofree char *huge = g_strnfill(100000, '[');
    const char *const wrong[] = {"x", "[]", "{\"format\":1}", other, huge};
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *path = write_folder_claim(&place, FP, wrong[i]);
        struct orch_claims *bob = open_at(&place, 0, "bob");
        assert_int_equal(listed(bob), 0);
        assert_true(takes(bob, FP, NULL, NULL));
        orch_claims_close(bob);
        g_autofree char *folder = g_build_filename(place.shared, "claims", NULL);
        assert_true(orch_tree_remove(folder, NULL));
        assert_int_equal(mkdir(folder, 0755), 0);
    }
    g_autofree char *path = write_folder_claim(&place, FP, "x");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(listed(ada), 0);
    assert_true(takes(ada, FP, NULL, NULL));
    orch_claims_close(ada);
    free_place(&place);
}

/* Puts an object under a claim's ref. */
static void push_object(const struct place *place, const char *fingerprint, const char *type,
                        const char *bytes)
{
    char resource[65];
    orch_claim_resource(fingerprint, NULL, resource);
    g_autofree char *file = g_build_filename(scratch, "object", NULL);
    assert_true(g_file_set_contents(file, bytes, -1, NULL));
    g_autofree char *id =
        GIT_SAYS(place->clones[1], "hash-object", "-t", type, "-w", "--literally", file);
    g_autofree char *spec = g_strdup_printf("+%s:refs/orch/claims/%s", id, resource);
    GIT(place->clones[1], "push", "-q", "origin", spec);
}

static void test_git_strangers(void **state)
{
    (void)state;
    struct place place = make_place(true, "git-strangers");
    const int64_t now = orch_now_ns(), second = 1000000000;
    g_autofree char *tree =
        GIT_SAYS(place.clones[1], "hash-object", "-t", "tree", "-w", "/dev/null");
    g_autofree char *head =
        g_strdup_printf("tree %s\nauthor a <a> 0 +0000\ncommitter a <a> 0 +0000\n\n", tree);
    g_autofree char *huge = g_strnfill(100000, 'x');
    g_autofree char *huge_commit = g_strconcat(head, huge, NULL);
    g_autofree char *other = claim_json(FP2, now, now + 600 * second);
    g_autofree char *other_commit = g_strconcat(head, other, NULL);
    const char *const wrong[][2] = {
        {"blob", "hello"}, {"commit", head}, {"commit", huge_commit}, {"commit", other_commit}};
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        push_object(&place, FP, wrong[i][0], wrong[i][1]);
        struct orch_claims *ada = open_at(&place, 0, "ada");
        assert_int_equal(listed(ada), 0);
        assert_true(takes(ada, FP, NULL, NULL));
        orch_claims_close(ada);
    }
    /* a clock that is ten years ahead: the claim counts as made when it was first seen */
    const int64_t decade = INT64_C(10) * 365 * 86400 * second;
    g_autofree char *ahead = claim_json(FP, now + decade, now + decade + 600 * second);
    g_autofree char *ahead_commit = g_strconcat(head, ahead, NULL);
    push_object(&place, FP, "commit", ahead_commit);
    g_setenv("ORCH_CLAIM_S", "1", TRUE);
    struct orch_claims *ada = open_at(&place, 0, "ada");
    assert_false(takes(ada, FP, NULL, NULL));
    g_usleep(1300000);
    assert_true(takes(ada, FP, NULL, NULL));
    orch_claims_close(ada);
    g_unsetenv("ORCH_CLAIM_S");
    /* what somebody left behind long ago is taken away by the next who has taken something */
    g_autofree char *old =
        claim_json(FP2, now - INT64_C(2) * 86400 * second, now - INT64_C(2) * 86400 * second + 1);
    g_autofree char *old_commit = g_strconcat(head, old, NULL);
    push_object(&place, FP2, "commit", old_commit);
    ada = open_at(&place, 0, "ada");
    assert_true(takes(ada, FP, NULL, NULL));
    orch_claims_close(ada);
    g_autofree char *left = GIT_SAYS(place.shared, "for-each-ref");
    assert_string_equal(left, "");
    /* nothing became a ref of the user's repository */
    g_autofree char *refs = GIT_SAYS(place.clones[0], "for-each-ref", "refs/orch");
    assert_string_equal(refs, "");
    free_place(&place);
}

static void test_unreachable(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct place place = make_place(true, "gone");
    struct orch_claim *holder = NULL;
    struct orch_claims *ada = open_at(&place, 0, "ada");
    assert_true(takes(ada, FP, NULL, NULL));
    assert_true(orch_tree_remove(place.shared, NULL));
    assert_false(orch_claims_take(ada, FP2, NULL, NULL, &holder, &error));
    assert_null(holder);
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    g_clear_error(&error);
    assert_false(orch_claims_give_back_all(ada, &error));
    orch_claims_close(ada);
    g_clear_error(&error);
    assert_null(orch_claims_open_git(scratch, NULL, NULL, "ada", &error));
    g_clear_error(&error);
    assert_null(orch_claims_open_folder("/nonexistent/folder", "ada", &error));
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_IO));
    free_place(&place);
}

/* A server that takes no claims says so. */
static void test_refused(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct place place = make_place(true, "refusing");
    struct orch_claim *holder = NULL;
    g_autofree char *hook = g_build_filename(place.shared, "hooks", "pre-receive", NULL);
    assert_true(g_file_set_contents(hook, "#!/bin/sh\necho not here >&2\nexit 1\n", -1, NULL));
    assert_int_equal(chmod(hook, 0755), 0);
    struct orch_claims *ada = open_at(&place, 0, "ada");
    assert_false(orch_claims_take(ada, FP, NULL, NULL, &holder, &error));
    assert_non_null(strstr(error->message, "refuses claims"));
    assert_non_null(strstr(error->message, "declined"));
    orch_claims_close(ada);
    free_place(&place);
}

static int set_up(void **state)
{
    (void)state;
    scratch = g_dir_make_tmp("orch-claims-XXXXXX", NULL);
    if (!scratch)
        return -1;
    g_setenv("HOME", scratch, TRUE);
    g_setenv("GIT_CONFIG_NOSYSTEM", "1", TRUE);
    g_unsetenv("ORCH_CLAIM_S");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_tree_remove(scratch, NULL);
    g_free(scratch);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_folder_has_one_clock),
        cmocka_unit_test(test_folder_strangers),
        cmocka_unit_test(test_git_strangers),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
