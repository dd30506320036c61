/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replay buffer: which steps it draws and how often, returns and stacked states against sums
 * from scratch, priorities, snapshots, and what it refuses. */
#include "plugins/replay/memory/replay.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME = 3, BATCH_MAX = 4096, STACK_MAX = 4 };

/* A batch with room for the tests' frames. */
struct drawn {
    float states[BATCH_MAX * FRAME * STACK_MAX], next[BATCH_MAX * FRAME * STACK_MAX];
    int32_t actions[BATCH_MAX];
    float returns[BATCH_MAX], discounts[BATCH_MAX], weights[BATCH_MAX];
    int64_t places[BATCH_MAX];
};

static struct drawn drawn;
static const struct orch_replay_batch BATCH = {drawn.states,  drawn.next,      drawn.actions,
                                               drawn.returns, drawn.discounts, drawn.weights,
                                               drawn.places};

static struct orch_replay_options options_of(int64_t capacity)
{
    return (struct orch_replay_options){.capacity = capacity,
                                        .lanes = 1,
                                        .frame_values = FRAME,
                                        .stack = 1,
                                        .n_step = 1,
                                        .gamma = 0.9,
                                        .alpha = 0.6,
                                        .epsilon = 0.01,
                                        .seed = 5};
}

static struct orch_replay *make(const struct orch_replay_options *options)
{
    GError *error = NULL;
    struct orch_replay *r = orch_replay_new(options, &error);
    if (!r)
        fail_msg("%s", error->message);
    return r;
}

/* Step `number` of a lane: its frame is (number, lane, number), its action its number, its reward a
 * function of it. */
static float reward_of(int number)
{
    return (float)(number % 7) - 2.5f;
}

static void add_one(struct orch_replay *r, int lane, int number, uint8_t end)
{
    const float frame[FRAME] = {(float)number, (float)lane, (float)number};
    const int32_t action = number;
    const float reward = reward_of(number);
    const struct orch_replay_steps steps = {1, frame, &action, &reward, &end, NULL};
    GError *error = NULL;
    if (!orch_replay_add(r, lane, &steps, &error))
        fail_msg("%s", error->message);
}

static void sample(struct orch_replay *r, int64_t count)
{
    GError *error = NULL;
    if (!orch_replay_sample(r, count, 0.4, &BATCH, &error))
        fail_msg("%s", error->message);
}

/* ---- steps -------------------------------------------------------------------------------------
 */

/* A history of episodes of uneven lengths, every third of which is cut off, in `lanes` lanes. */
struct history {
    int count;
    uint8_t ends[2000];
};

static struct history make_history(int count)
{
    struct history h = {.count = count};
    uint64_t random = 3;
    int left = 5, episode = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && h.ends[i - 1] == ORCH_REPLAY_TRUNCATED) {
            h.ends[i] = ORCH_REPLAY_FINAL;
            left = 1 + (int)orch_random_below(&random, 12);
        } else if (--left == 0) {
            h.ends[i] = ++episode % 3 ? ORCH_REPLAY_TERMINATED : ORCH_REPLAY_TRUNCATED;
            left = 1 + (int)orch_random_below(&random, 12);
        }
    }
    return h;
}

static bool is_first(const struct history *h, int oldest, int at)
{
    return at <= oldest || h->ends[at - 1] == ORCH_REPLAY_TERMINATED ||
           h->ends[at - 1] == ORCH_REPLAY_FINAL;
}

/* Frames of the state at `at`, oldest first. */
static void check_state(const struct history *h, int oldest, int at, int stack, const float *state)
{
    for (int i = stack - 1; i >= 0; i--) {
        assert_true(state[i * FRAME] == (float)at && state[i * FRAME + 2] == (float)at);
        if (!is_first(h, oldest, at))
            at--;
    }
}

static void check_row(const struct history *h, const struct orch_replay_options *o, int oldest,
                      int row)
{
    int at = drawn.actions[row], next = at;
    double sum = 0, discount = 1;
    assert_int_not_equal(h->ends[at], ORCH_REPLAY_FINAL);
    for (int i = 0; i < o->n_step; i++) {
        sum += discount * (double)reward_of(next);
        discount = h->ends[next] == ORCH_REPLAY_TERMINATED ? 0 : discount * o->gamma;
        if (h->ends[next] == ORCH_REPLAY_TERMINATED)
            break;
        if (h->ends[next++] == ORCH_REPLAY_TRUNCATED)
            break;
    }
    assert_true(fabs((double)drawn.returns[row] - sum) < 1e-5);
    assert_true(fabs((double)drawn.discounts[row] - discount) < 1e-6);
    check_state(h, oldest, at, o->stack, drawn.states + row * FRAME * o->stack);
    if (discount > 0)
        check_state(h, oldest, next, o->stack, drawn.next + row * FRAME * o->stack);
}

static void check_steps(enum orch_replay_sampling sampling, int stack, int n_step, int lanes)
{
    struct orch_replay_options options = options_of((int64_t)97 * lanes);
    const struct history h = make_history(1000);
    options.stack = stack;
    options.n_step = n_step;
    options.sampling = sampling;
    options.lanes = lanes;
    struct orch_replay *r = make(&options);
    for (int i = 0; i < h.count; i++) {
        for (int lane = 0; lane < lanes; lane++)
            add_one(r, lane, i, h.ends[i]);
        if (orch_replay_ready(r) < 8 || i % 3)
            continue;
        sample(r, 8);
        for (int row = 0; row < 8; row++) {
            const int oldest = MAX(0, i + 1 - 97);
            assert_in_range(drawn.actions[row], MAX(oldest, oldest ? oldest + stack - 1 : 0), i);
            check_row(&h, &options, oldest, row);
        }
    }
    orch_replay_free(r);
}

static void test_steps(void **state)
{
    (void)state;
    static const int stacks[] = {1, 4}, n_steps[] = {1, 3, 5}, lanes[] = {1, 3};
    for (int sampling = 0; sampling <= ORCH_REPLAY_RANK; sampling++)
        for (size_t s = 0; s < G_N_ELEMENTS(stacks); s++)
            for (size_t n = 0; n < G_N_ELEMENTS(n_steps); n++)
                for (size_t l = 0; l < G_N_ELEMENTS(lanes); l++)
                    check_steps((enum orch_replay_sampling)sampling, stacks[s], n_steps[n],
                                lanes[l]);
}

static void test_bytes_and_files(void **state)
{
    (void)state;
    g_autofree char *path = g_strdup_printf("%s/orch-replay-%d", g_get_tmp_dir(), (int)getpid());
    struct orch_replay_options options = options_of(64);
    options.is_bytes = true;
    options.frame_values = 7;
    options.file = path;
    struct orch_replay *r = make(&options);
    assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    uint8_t frames[100 * 7], states[50 * 7], next[50 * 7], ends[100] = {0};
    int32_t actions[100];
    float rewards[100];
    for (int i = 0; i < 100; i++) {
        memset(frames + i * 7, i, 7);
        actions[i] = i;
        rewards[i] = (float)i;
    }
    for (int first = 0; first < 100; first += 50) {
        const struct orch_replay_steps steps = {
            50, frames + first * 7, actions + first, rewards, ends, NULL};
        assert_true(orch_replay_add(r, 0, &steps, NULL));
    }
    const struct orch_replay_batch batch = {states,          next, actions, drawn.returns,
                                            drawn.discounts, NULL, NULL};
    assert_true(orch_replay_sample(r, 50, 0, &batch, NULL));
    for (int i = 0; i < 50; i++) {
        assert_in_range(actions[i], 36, 98);
        assert_true(states[i * 7] == actions[i] && states[i * 7 + 6] == actions[i]);
        assert_true(next[i * 7] == actions[i] + 1);
    }
    orch_replay_free(r);
    g_unlink(path);
}

/* ---- frequencies -------------------------------------------------------------------------------
 */

static void check_frequencies(const double *hits, const double *shares, int count, double draws)
{
    double chi = 0, total = 0;
    int degrees = -1;
    for (int i = 0; i < count; i++)
        total += shares[i];
    for (int i = 0; i < count; i++) {
        const double expected = draws * shares[i] / total;
        if (shares[i] > 0) {
            chi += (hits[i] - expected) * (hits[i] - expected) / expected;
            degrees++;
        } else {
            assert_true(hits[i] == 0);
        }
    }
    const double p = gsl_cdf_chisq_Q(chi, degrees);
    if (p < 1e-4)
        fail_msg("chi-square %g with %d degrees of freedom, p %g", chi, degrees, p);
}

/* Two lanes of which one has many final frames: all steps are equally likely all the same. */
static void test_uniform_frequencies(void **state)
{
    (void)state;
    enum { STEPS = 200, ROUNDS = 2000, SIZE = 128 };
    struct orch_replay_options options = options_of(1000);
    double hits[2 * STEPS] = {0}, shares[2 * STEPS] = {0};
    options.lanes = 2;
    struct orch_replay *r = make(&options);
    for (int i = 0; i < STEPS; i++) {
        const uint8_t end = i % 3 == 1   ? ORCH_REPLAY_TRUNCATED
                            : i % 3 == 2 ? ORCH_REPLAY_FINAL
                                         : ORCH_REPLAY_GOES_ON;
        add_one(r, 0, i, end);
        add_one(r, 1, i, i == STEPS - 1 ? ORCH_REPLAY_TERMINATED : ORCH_REPLAY_GOES_ON);
        shares[i] = end == ORCH_REPLAY_FINAL || i == STEPS - 1 ? 0 : 1;
        shares[STEPS + i] = 1;
    }
    shares[STEPS - 1] = (STEPS - 1) % 3 == 0 ? 0 : shares[STEPS - 1]; /* its next frame lacks */
    for (int round = 0; round < ROUNDS; round++) {
        sample(r, SIZE);
        for (int i = 0; i < SIZE; i++)
            hits[(int)drawn.states[i * FRAME + 1] * STEPS + drawn.actions[i]]++;
    }
    check_frequencies(hits, shares, 2 * STEPS, (double)ROUNDS * SIZE);
    orch_replay_free(r);
}

static void fill_prioritised(struct orch_replay *r, int steps)
{
    for (int i = 0; i < steps; i++)
        add_one(r, 0, i, ORCH_REPLAY_GOES_ON);
}

/* Sets the error of every step that can be drawn. */
static void set_errors(struct orch_replay *r, int steps)
{
    GError *error = NULL;
    g_autofree int64_t *places = g_new(int64_t, steps);
    g_autofree float *errors = g_new(float, steps);
    for (int i = 0; i < steps; i++) {
        places[i] = i; /* one lane: the place is the position */
        errors[i] = (float)((i * 7) % 23) * (i % 2 ? 0.1f : -0.1f);
    }
    if (!orch_replay_update(r, places, errors, steps, &error))
        fail_msg("%s", error->message);
}

static double error_of(int i)
{
    return (double)((float)((i * 7) % 23) * 0.1f);
}

static void test_proportional(void **state)
{
    (void)state;
    enum { STEPS = 150, ROUNDS = 4000, SIZE = 64 };
    struct orch_replay_options options = options_of(400);
    double hits[STEPS] = {0}, shares[STEPS] = {0};
    options.sampling = ORCH_REPLAY_PROPORTIONAL;
    struct orch_replay *r = make(&options);
    fill_prioritised(r, STEPS + 1);
    sample(r, 1); /* the tree follows */
    set_errors(r, STEPS);
    for (int i = 0; i < STEPS; i++)
        shares[i] = pow(error_of(i) + options.epsilon, options.alpha);
    for (int round = 0; round < ROUNDS; round++) {
        sample(r, SIZE);
        double most = 0;
        for (int i = 0; i < SIZE; i++)
            most = fmax(most, pow(shares[drawn.actions[i]], -0.4));
        for (int i = 0; i < SIZE; i++) {
            hits[drawn.actions[i]]++;
            const double weight = pow(shares[drawn.actions[i]], -0.4) / most;
            assert_true(fabs((double)drawn.weights[i] - weight) < 1e-4);
        }
    }
    /* stratified draws vary less than independent ones, so that chi-square only tests the means */
    check_frequencies(hits, shares, STEPS, (double)ROUNDS * SIZE);
    orch_replay_free(r);
}

static int by_error(const void *a, const void *b)
{
    const int i = *(const int *)a, k = *(const int *)b;
    const double x = error_of(i), y = error_of(k);
    return x != y ? (x > y ? -1 : 1) : i - k;
}

static void test_ranks(void **state)
{
    (void)state;
    enum { STEPS = 100, ROUNDS = 4000, SIZE = 64 };
    struct orch_replay_options options = options_of(200);
    double hits[STEPS] = {0}, shares[STEPS] = {0};
    int order[STEPS];
    options.sampling = ORCH_REPLAY_RANK;
    struct orch_replay *r = make(&options);
    fill_prioritised(r, STEPS + 1);
    sample(r, 1);
    set_errors(r, STEPS);
    for (int i = 0; i < STEPS; i++)
        order[i] = i;
    qsort(order, STEPS, sizeof *order, by_error);
    for (int i = 0; i < STEPS; i++)
        shares[order[i]] = pow(i + 1, -options.alpha);
    for (int round = 0; round < ROUNDS; round++) {
        sample(r, SIZE);
        for (int i = 0; i < SIZE; i++)
            hits[drawn.actions[i]]++;
    }
    check_frequencies(hits, shares, STEPS, (double)ROUNDS * SIZE);
    orch_replay_free(r);
}

/* Actors may give the errors themselves (Ape-X); steps that were overwritten keep their new ones.
 */
static void test_given_priorities(void **state)
{
    (void)state;
    enum { STEPS = 50, ROUNDS = 2000, SIZE = 32 };
    struct orch_replay_options options = options_of(STEPS + 1);
    double hits[STEPS] = {0}, shares[STEPS] = {0};
    options.sampling = ORCH_REPLAY_PROPORTIONAL;
    struct orch_replay *r = make(&options);
    fill_prioritised(r, STEPS);
    sample(r, 8);
    for (int i = 0; i <= STEPS; i++) { /* over all of the old ones */
        const float frame[FRAME] = {0}, reward = 1, error = (float)(i % 5);
        const int32_t action = i;
        const struct orch_replay_steps steps = {1, frame, &action, &reward, NULL, &error};
        assert_true(orch_replay_add(r, 0, &steps, NULL));
        if (i < STEPS)
            shares[i] = pow(i % 5 + options.epsilon, options.alpha);
    }
    const int64_t gone[] = {0, 1, 2};
    const float errors[] = {1000, 1000, 1000};
    assert_true(orch_replay_update(r, gone, errors, 3, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        sample(r, SIZE);
        assert_true(orch_replay_update(r, gone, errors, 3, NULL)); /* they are gone still */
        for (int i = 0; i < SIZE; i++)
            hits[drawn.actions[i]]++;
    }
    check_frequencies(hits, shares, STEPS, (double)ROUNDS * SIZE);
    orch_replay_free(r);
}

/* ---- snapshots ---------------------------------------------------------------------------------
 */

static void expect_refusal(const struct orch_replay_options *options, const char *path,
                           const char *words)
{
    g_autoptr(GError) error = NULL;
    struct orch_replay *r = make(options);
    assert_false(orch_replay_load(r, path, &error));
    if (!strstr(error->message, words))
        fail_msg("%s", error->message);
    assert_true(orch_replay_ready(r) == 0);
    orch_replay_free(r);
}

static void damage(const char *path, long at, gsize cut)
{
    char *bytes;
    gsize length;
    assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    bytes[at] ^= 1;
    assert_true(g_file_set_contents(path, bytes, (gssize)(length - cut), NULL));
    g_free(bytes);
}

/* A buffer and a copy from its snapshot go on in the same way. */
static void check_snapshot(const struct orch_replay_options *options, const char *path)
{
    const struct history h = make_history(300);
    struct orch_replay *r = make(options), *copy = make(options);
    for (int i = 0; i < h.count; i++)
        add_one(r, 0, i, h.ends[i]);
    sample(r, 64);
    for (int i = 0; i < 64; i++)
        drawn.weights[i] = (float)i;
    assert_true(orch_replay_update(r, drawn.places, drawn.weights, 64, NULL));
    assert_true(orch_replay_save(r, path, NULL));
    assert_true(orch_replay_load(copy, path, NULL));
    for (int round = 0; round < 20; round++) {
        sample(r, 64);
        const struct drawn first = drawn;
        sample(copy, 64);
        assert_memory_equal(first.actions, drawn.actions, 64 * sizeof *drawn.actions);
        assert_memory_equal(first.weights, drawn.weights, 64 * sizeof *drawn.weights);
        assert_memory_equal(first.states, drawn.states, sizeof(float) * 64 * 2 * FRAME);
        for (int i = 0; i < 64; i++)
            drawn.weights[i] = (float)((i * 7 + round) % 11);
        assert_true(orch_replay_update(r, drawn.places, drawn.weights, 64, NULL));
        assert_true(orch_replay_update(copy, drawn.places, drawn.weights, 64, NULL));
        add_one(r, 0, h.count + round, ORCH_REPLAY_GOES_ON);
        add_one(copy, 0, h.count + round, ORCH_REPLAY_GOES_ON);
    }
    orch_replay_free(r);
    orch_replay_free(copy);
}

static void test_snapshots(void **state)
{
    (void)state;
    g_autofree char *path = g_strdup_printf("%s/orch-replay-%d", g_get_tmp_dir(), (int)getpid());
    struct orch_replay_options options = options_of(120);
    options.stack = 2;
    options.n_step = 3;
    const enum orch_replay_sampling samplings[] = {ORCH_REPLAY_UNIFORM, ORCH_REPLAY_RANK,
                                                   ORCH_REPLAY_PROPORTIONAL};
    for (size_t i = 0; i < G_N_ELEMENTS(samplings); i++) {
        options.sampling = samplings[i];
        check_snapshot(&options, path);
    }
    struct orch_replay_options other = options;
    other.n_step = 4;
    expect_refusal(&other, path, "steps a return: 3 in the file, 4 here");
    expect_refusal(&options, "/nowhere/at/all", "cannot open");
    damage(path, 2000, 0);
    expect_refusal(&options, path, "do not match its SHA-256");
    damage(path, 2000, 1);
    expect_refusal(&options, path, "the file is truncated");
    damage(path, 0, 0);
    expect_refusal(&options, path, "the file is not a snapshot");
    g_unlink(path);
}

/* An actor that goes leaves an episode that was cut off: its last step is never drawn, and the one
 * before leads to the last frame. */
static void test_cut(void **state)
{
    (void)state;
    struct orch_replay_options options = options_of(60);
    const enum orch_replay_sampling samplings[] = {ORCH_REPLAY_UNIFORM, ORCH_REPLAY_PROPORTIONAL};
    options.lanes = 3;
    for (size_t k = 0; k < G_N_ELEMENTS(samplings); k++) {
        options.sampling = samplings[k];
        struct orch_replay *r = make(&options);
        for (int i = 0; i < 5; i++)
            add_one(r, 0, i, ORCH_REPLAY_GOES_ON);
        sample(r, 4); /* some of them are in the tree */
        add_one(r, 1, 10, ORCH_REPLAY_TERMINATED);
        add_one(r, 1, 11, ORCH_REPLAY_GOES_ON);
        for (int lane = 0; lane < options.lanes; lane++) /* lane 2 is empty */
            orch_replay_cut(r, lane);
        orch_replay_cut(r, 0); /* an episode that is over stays */
        for (int lane = 0; lane < options.lanes; lane++) {
            add_one(r, lane, 20 + lane, ORCH_REPLAY_GOES_ON);
            add_one(r, lane, 30 + lane, ORCH_REPLAY_TERMINATED);
        }
        assert_int_equal(orch_replay_ready(r), 4 + 1 + 3 * 2);
        bool is_drawn[64] = {false};
        for (int round = 0; round < 20; round++) {
            sample(r, 11);
            for (int i = 0; i < 11; i++) {
                const int action = drawn.actions[i];
                is_drawn[action] = true;
                if (action == 3)
                    assert_true(drawn.discounts[i] > 0.89F && drawn.next[i * FRAME] == 4);
                if (action == 10)
                    assert_true(drawn.discounts[i] == 0);
            }
        }
        for (int i = 0; i < 64; i++)
            assert_int_equal(is_drawn[i],
                             i <= 3 || i == 10 || (i >= 20 && i <= 22) || (i >= 30 && i <= 32));
        orch_replay_free(r);
    }
}

/* ---- bad input ---------------------------------------------------------------------------------
 */

static void test_options(void **state)
{
    (void)state;
    struct orch_replay_options cases[] = {options_of(0), options_of(3),
                                          options_of((INT64_C(1) << 31) - 1), options_of(100),
                                          options_of(100)};
    static const char *const words[] = {"capacity 0 is not in the range",
                                        "are too few for returns of 1 steps", "are free",
                                        "gamma 1.5 is not in", "cannot make '/nowhere/at/all'"};
    cases[2].frame_values = 1 << 20; /* petabytes */
    cases[3].gamma = 1.5;
    cases[4].file = "/nowhere/at/all";
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(orch_replay_new(&cases[i], &error));
        if (!strstr(error->message, words[i]))
            fail_msg("%s", error->message);
    }
}

static void refuse_step(struct orch_replay *r, float reward, uint8_t end, const float *priority,
                        const char *words)
{
    const float frame[FRAME] = {0};
    const int32_t action = 0;
    const struct orch_replay_steps steps = {1, frame, &action, &reward, &end, priority};
    g_autoptr(GError) error = NULL;
    assert_false(orch_replay_add(r, 0, &steps, &error));
    if (!strstr(error->message, words))
        fail_msg("%s", error->message);
}

static void test_bad_steps(void **state)
{
    (void)state;
    struct orch_replay_options options = options_of(100);
    options.sampling = ORCH_REPLAY_PROPORTIONAL;
    struct orch_replay *r = make(&options);
    const float negative = -1, not_a_number = (float)NAN;
    g_autoptr(GError) error = NULL;
    assert_false(orch_replay_sample(r, 1, 0, &BATCH, &error));
    assert_non_null(strstr(error->message, "1 steps cannot be sampled: there are only 0"));
    refuse_step(r, (float)NAN, 0, NULL, "step 0 of environment 0 has a reward that is not finite");
    refuse_step(r, 0, 0, &negative, "has a priority that is negative");
    refuse_step(r, 0, 0, &not_a_number, "has a priority that is negative or not finite");
    refuse_step(r, 0, ORCH_REPLAY_FINAL, NULL, "was not truncated");
    refuse_step(r, 0, 9, NULL, "an unknown end");
    add_one(r, 0, 0, ORCH_REPLAY_TRUNCATED);
    refuse_step(r, 0, ORCH_REPLAY_GOES_ON, NULL, "must be the final frame");
    assert_true(orch_replay_ready(r) == 0);
    add_one(r, 0, 1, ORCH_REPLAY_FINAL);
    assert_true(orch_replay_ready(r) == 1);
    sample(r, 1);
    g_clear_error(&error);
    assert_false(orch_replay_update(r, drawn.places, &not_a_number, 1, &error));
    assert_non_null(strstr(error->message, "error 0 is not finite"));
    orch_replay_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bytes_and_files),
        cmocka_unit_test(test_uniform_frequencies),
        cmocka_unit_test(test_proportional),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_given_priorities),
        cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_bad_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
