/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env.h"
#include "plugins/replay/env/env_catch.h"
#include "plugins/replay/env/env_lander.h"
#include "plugins/replay/memory/replay.h"

#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_COPIES = 64, MOST_VALUES = 400 };

static float rewards[MOST_COPIES], observations[MOST_COPIES * MOST_VALUES],
    finals[MOST_COPIES * MOST_VALUES];
static uint8_t ends[MOST_COPIES];
static int32_t actions[MOST_COPIES];
static const struct orch_envs_result RESULT = {rewards, ends, observations, finals};

_Static_assert((int)ORCH_ENV_TERMINATED == (int)ORCH_REPLAY_TERMINATED &&
                   (int)ORCH_ENV_TRUNCATED == (int)ORCH_REPLAY_TRUNCATED &&
                   (int)ORCH_ENV_GOES_ON == (int)ORCH_REPLAY_GOES_ON,
               "ends are handed to the replay buffer as they are");

static struct orch_envs *make(const char *name, int64_t count, uint64_t seed, double sticky)
{
    GError *error = NULL;
    const struct orch_envs_options options = {
        .kind = orch_env_find(name, &error), .count = count, .seed = seed, .sticky = sticky};
    struct orch_envs *envs = orch_envs_new(&options, &error);
    if (!envs)
        fail_msg("%s", error->message);
    assert_true(orch_envs_reset(envs, observations, &error));
    return envs;
}

static void step(struct orch_envs *envs)
{
    GError *error = NULL;
    if (!orch_envs_step(envs, actions, &RESULT, &error))
        fail_msg("%s", error->message);
}

static void fill(int32_t action)
{
    for (int i = 0; i < MOST_COPIES; i++)
        actions[i] = action;
}

static void test_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; orch_env_at(i); i++) {
        const struct orch_env_kind *kind = orch_env_at(i);
        assert_ptr_equal(orch_env_find(kind->name, NULL), kind);
        assert_int_equal(kind->shape[0] * kind->shape[1] * kind->shape[2],
                         kind->observation_values);
        assert_true(kind->observation_values <= MOST_VALUES && kind->actions >= 2);
        assert_true(kind->states == 0 || kind->states == kind->observation_values);
    }
    g_autoptr(GError) error = NULL;
    assert_null(orch_env_find("pong", &error));
    assert_non_null(strstr(error->message, "unknown environment 'pong' (known: cartpole, "));
}

/** docs/plugins/replay.md has a row for each kind, with what its struct says. */
static void test_docs(void **state)
{
    (void)state;
    g_autofree char *text = NULL;
    g_autofree char *page =
        g_strdup_printf("%s/docs/plugins/replay.md", g_getenv("ORCH_SOURCE_DIR"));
    assert_true(g_file_get_contents(page, &text, NULL, NULL));
    for (size_t i = 0; orch_env_at(i); i++) {
        const struct orch_env_kind *kind = orch_env_at(i);
        g_autoptr(GString) row = g_string_new(NULL);
        g_string_printf(row, "| `%s` | %d", kind->name, kind->shape[0]);
        for (int d = 1; d < 3 && kind->shape[d] > 1; d++)
            g_string_append_printf(row, " x %d", kind->shape[d]);
        g_string_append_printf(row, " %s | %d | ", kind->is_bytes ? "bytes" : "floats",
                               kind->actions);
        if (kind->step_limit)
            g_string_append_printf(row, "%d |", kind->step_limit);
        else
            g_string_append(row, "none |");
        if (!strstr(text, row->str))
            fail_msg("the page lacks '%s'", row->str);
    }
}

/** Every kind: copy i is the same whatever the number of copies, and differs from copy i + 1 in
 * those that start at random. */
static void test_streams(void **state)
{
    (void)state;
    for (size_t k = 0; orch_env_at(k); k++) {
        const struct orch_env_kind *kind = orch_env_at(k);
        struct orch_envs *many = make(kind->name, MOST_COPIES, 7, 0.25);
        struct orch_envs *few = make(kind->name, 3, 7, 0.25);
        uint64_t random = 1;
        for (int i = 0; i < 300; i++) {
            for (int c = 0; c < MOST_COPIES; c++)
                actions[c] = (int32_t)orch_random_below(&random, (size_t)kind->actions);
            step(many);
            step(few);
            assert_memory_equal(orch_envs_states(many), orch_envs_states(few),
                                3 * kind->state_bytes);
        }
        orch_envs_free(many);
        orch_envs_free(few);
    }
}

static void test_ranges_of_starts(void **state)
{
    (void)state;
    orch_envs_free(make("cartpole", MOST_COPIES, 3, 0));
    float least = 1, most = -1;
    for (int i = 0; i < 4 * MOST_COPIES; i++) {
        least = fminf(least, observations[i]);
        most = fmaxf(most, observations[i]);
    }
    assert_true(least >= -0.05f && least < -0.045f && most < 0.05f && most > 0.045f);
    orch_envs_free(make("mountaincar", MOST_COPIES, 3, 0));
    for (int i = 0; i < MOST_COPIES; i++)
        assert_true(observations[2 * i] >= -0.6f && observations[2 * i] < -0.4f &&
                    observations[2 * i + 1] == 0);
}

/** Never pushed, the car stays in the valley: an episode is truncated after 200 steps,
 * its last observation is kept, and the next one begins. */
static void test_truncation(void **state)
{
    (void)state;
    struct orch_envs *envs = make("mountaincar", 2, 1, 0);
    float before[2] = {0};
    fill(1);
    for (int i = 0; i < 199; i++) {
        step(envs);
        assert_int_equal(ends[0], ORCH_ENV_GOES_ON);
    }
    memcpy(before, observations, sizeof before);
    finals[0] = 9;
    step(envs);
    assert_int_equal(ends[0], ORCH_ENV_TRUNCATED);
    assert_int_equal(ends[1], ORCH_ENV_TRUNCATED);
    assert_true(finals[1] != 0 && fabsf(finals[0] - before[0] - finals[1]) < 1e-6f);
    assert_true(observations[1] == 0 && observations[0] != finals[0]);
    step(envs);
    assert_int_equal(ends[0], ORCH_ENV_GOES_ON);
    orch_envs_free(envs);
}

static void test_own_limit(void **state)
{
    (void)state;
    const struct orch_envs_options options = {
        .kind = orch_env_find("gridworld", NULL), .count = 1, .step_limit = 5};
    struct orch_envs *envs = orch_envs_new(&options, NULL);
    assert_true(orch_envs_reset(envs, observations, NULL));
    fill(3); /* left, into the wall */
    for (int i = 1; i <= 10; i++) {
        step(envs);
        assert_int_equal(ends[0], i % 5 ? ORCH_ENV_GOES_ON : ORCH_ENV_TRUNCATED);
    }
    orch_envs_free(envs);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct orch_env_kind *kind = orch_env_find("cartpole", NULL);
    const struct orch_envs_options bad[] = {{.kind = kind, .count = 0},
                                            {.kind = kind, .count = 1, .sticky = 1},
                                            {.kind = kind, .count = 1, .sticky = (double)NAN},
                                            {.kind = kind, .count = 1, .step_limit = -1}};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_null(orch_envs_new(&bad[i], &error));
        assert_non_null(strstr(error->message, "environment 'cartpole'"));
    }
    const struct orch_envs_options good = {.kind = kind, .count = 3};
    struct orch_envs *envs = orch_envs_new(&good, NULL);
    g_autoptr(GError) error = NULL;
    fill(0);
    assert_false(orch_envs_step(envs, actions, &RESULT, &error));
    assert_non_null(strstr(error->message, "before its first reset"));
    g_clear_error(&error);
    assert_true(orch_envs_reset(envs, observations, NULL));
    g_autofree void *copy = g_memdup2(orch_envs_states(envs), 3 * kind->state_bytes);
    for (int round = 0; round < 2; round++) {
        actions[2] = round ? 2 : -1;
        assert_false(orch_envs_step(envs, actions, &RESULT, &error));
        assert_non_null(strstr(error->message, "of copy 2 is not in 0 .. 1"));
        assert_memory_equal(copy, orch_envs_states(envs), 3 * kind->state_bytes);
        g_clear_error(&error);
    }
    orch_envs_free(envs);
}

/** The agents of MinAtar's measurements: six actions, of which the last three do nothing here, and
 * one action in ten repeated. Its paper's game returns 0.5 a game to them. */
static void test_random_breakout(void **state)
{
    (void)state;
    static const int32_t OF_SIX[6] = {0, 1, 0, 2, 0, 0};
    struct orch_envs *envs = make("breakout", MOST_COPIES, 11, 0.1);
    uint64_t random = 12;
    double sum = 0;
    int64_t games = 0;
    for (int i = 0; i < 6000; i++) {
        for (int c = 0; c < MOST_COPIES; c++)
            actions[c] = OF_SIX[orch_random_below(&random, 6)];
        step(envs);
        for (int c = 0; c < MOST_COPIES; c++) {
            sum += (double)rewards[c];
            games += ends[c] != ORCH_ENV_GOES_ON;
        }
    }
    if (!(fabs(sum / (double)games - 0.5) <= 0.023))
        fail_msg("%g a game in %" G_GINT64_FORMAT " games", sum / (double)games, games);
    orch_envs_free(envs);
}

/** With probability 0.3 the last action is taken instead, which differs from a random one in two
 * cases of three. The paddle's move tells which one was taken. */
static void test_sticky(void **state)
{
    (void)state;
    int64_t others = 0, steps = 0;
    uint64_t random = 6;
    struct orch_envs *envs = make("catch", MOST_COPIES, 5, 0.3);
    const struct orch_catch *s = orch_envs_states(envs);
    for (int i = 0; i < 900; i++) {
        int32_t before[MOST_COPIES];
        for (int c = 0; c < MOST_COPIES; c++) {
            before[c] = s[c].paddle_column;
            actions[c] = (int32_t)orch_random_below(&random, 3);
        }
        step(envs);
        for (int c = 0; c < MOST_COPIES; c++)
            if (!ends[c] && before[c] >= 1 && before[c] <= 3) {
                steps++;
                others += s[c].paddle_column - before[c] != actions[c] - 1;
            }
    }
    const double sd = sqrt(0.2 * 0.8 / (double)steps);
    if (!(fabs((double)others / (double)steps - 0.2) < 5 * sd))
        fail_msg("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " were others", others, steps);
    orch_envs_free(envs);
}

/** A cliff walker on the safe path needs 17 steps, on the edge 13 (Sutton and Barto). */
static void test_gridworld_paths(void **state)
{
    (void)state;
    struct orch_envs *envs = make("gridworld", 1, 1, 0);
    double total = 0;
    const char *path = "0111111111112";
    for (; *path; path++) {
        fill(*path - '0');
        step(envs);
        total += (double)rewards[0];
    }
    assert_int_equal(ends[0], ORCH_ENV_TERMINATED);
    assert_true(total == -13);
    fill(1); /* from the start of the next episode onto the cliff, and back */
    step(envs);
    assert_true(rewards[0] == -100 && ends[0] == ORCH_ENV_GOES_ON);
    assert_true(((const uint8_t *)observations)[36] == 1);
    orch_envs_free(envs);
}

/** Without engines the lander falls freely: y0 + v t - g t^2 / 2, less the integrator's half
 * substep. */
static void test_lander_falls(void **state)
{
    (void)state;
    struct orch_envs *envs = make("lander", 1, 2, 0);
    const struct orch_lander start = *(const struct orch_lander *)orch_envs_states(envs);
    fill(0);
    const int steps = 20;
    for (int i = 0; i < steps; i++)
        step(envs);
    const struct orch_lander *s = orch_envs_states(envs);
    const double t = steps * 0.02;
    assert_true(fabs(s->y - (start.y + start.y_speed * t - 10 * t * (t + 0.002) / 2)) < 1e-9);
    assert_true(fabs(s->x - (start.x + start.x_speed * t)) < 1e-9);
    assert_true(s->angle == 0);
    orch_envs_free(envs);
}

/** Gymnasium's published heuristic for its lander: PD control of angle and height. */
static int32_t land(const float *s)
{
    float angle_target = s[0] * 0.5f + s[2];
    angle_target = CLAMP(angle_target, -0.4f, 0.4f);
    const float height_target = 0.55f * fabsf(s[0]);
    float turn = (angle_target - s[4]) * 0.5f - s[5];
    float rise = (height_target - s[1]) * 0.5f - s[3] * 0.5f;
    if (s[6] > 0 || s[7] > 0) {
        turn = 0;
        rise = -s[3] * 0.5f;
    }
    if (rise > fabsf(turn) && rise > 0.05f)
        return 2;
    return turn < -0.05f ? 3 : turn > 0.05f ? 1 : 0;
}

/** The task can be solved: the heuristic lands nearly always, with a return above 200 on average;
 * doing nothing always crashes. */
static void test_lander_lands(void **state)
{
    (void)state;
    struct orch_envs *envs = make("lander", MOST_COPIES, 4, 0);
    double totals[MOST_COPIES] = {0}, sum = 0;
    int landed = 0, episodes = 0;
    for (int i = 0; i < 1000; i++) {
        for (int c = 0; c < MOST_COPIES; c++)
            actions[c] = land(observations + 8 * c);
        step(envs);
        for (int c = 0; c < MOST_COPIES; c++) {
            totals[c] += (double)rewards[c];
            if (!ends[c])
                continue;
            episodes++;
            landed += ends[c] == ORCH_ENV_TERMINATED && rewards[c] == 100;
            sum += totals[c];
            totals[c] = 0;
        }
    }
    if (episodes < MOST_COPIES || landed < 0.9 * episodes || sum / episodes < 200)
        fail_msg("%d of %d landed, mean return %g", landed, episodes, sum / episodes);
    orch_envs_free(envs);
}

/** A truncated episode in the replay buffer: the record of the step and the one of the final frame
 * make a step that goes on to that frame. */
static void test_replay_of_truncated(void **state)
{
    (void)state;
    struct orch_envs *envs = make("mountaincar", 1, 1, 0);
    const struct orch_replay_options options = {
        .capacity = 1000, .lanes = 1, .frame_values = 2, .stack = 1, .n_step = 1, .gamma = 0.9};
    struct orch_replay *replay = orch_replay_new(&options, NULL);
    fill(1);
    float last[2];
    for (int i = 0; i < 200; i++) {
        memcpy(last, observations, sizeof last);
        step(envs);
        const struct orch_replay_steps record = {1, last, actions, rewards, ends, NULL};
        assert_true(orch_replay_add(replay, 0, &record, NULL));
    }
    const uint8_t final = ORCH_REPLAY_FINAL;
    const struct orch_replay_steps record = {1, finals, actions, rewards, &final, NULL};
    assert_int_equal(ends[0], ORCH_ENV_TRUNCATED);
    assert_true(orch_replay_add(replay, 0, &record, NULL));
    assert_int_equal(orch_replay_ready(replay), 200);
    orch_replay_free(replay);
    orch_envs_free(envs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_docs),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_ranges_of_starts),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_own_limit),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_random_breakout),
        cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_gridworld_paths),
        cmocka_unit_test(test_lander_falls),
        cmocka_unit_test(test_lander_lands),
        cmocka_unit_test(test_replay_of_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
