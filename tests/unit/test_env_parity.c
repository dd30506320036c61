/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of tests/data/env: 10,000 steps of each environment equal those of Gymnasium, MinAtar
 * and bsuite. Rewards, ends and the number of episodes are always equal. Observations are equal to
 * TOLERANCE at the checkpoints of the peer as it is installed. States, observations, rewards and
 * ends are equal bit for bit (SHA-256) where the C library's sine and cosine round as those of the
 * machine that made the traces, which the digest 'libm' tells. */
#include "plugins/replay/env/env.h"

#include "lib/base/random.h"
#include "lib/base/sha256.h"

#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The peer's own runs with pow(x, 2) and x * x differ by 2.1e-10 in Acrobot (its file says so);
 * another C library's sines may differ 100 times as often. Float observations up to 28 round by
 * 1e-6. */
static const double TOLERANCE = 2e-6;
enum { MOST_VALUES = 400 };

struct trace {
    json_t *root;
    const struct orch_env_kind *kind;
    struct orch_envs *envs;
    struct orch_hash hash;
    double reward;
    int64_t ends[3];
};

static void libm_digest(char out[ORCH_SHA256_CHARS])
{
    struct orch_hash hash;
    uint64_t random = 1;
    orch_hash_begin(&hash);
    for (int i = 0; i < 10000; i++) {
        const double x = 20 * orch_random_unit(&random) - 10, values[2] = {sin(x), cos(x)};
        orch_hash_add(&hash, values, sizeof values);
    }
    orch_hash_end_text(&hash, out);
}

static const char *text(const json_t *root, const char *key)
{
    return json_string_value(json_object_get(root, key));
}

static double number(const json_t *root, const char *key)
{
    return json_number_value(json_object_get(root, key));
}

static struct trace open_trace(const char *name)
{
    g_autofree char *path =
        g_strdup_printf("%s/tests/data/env/%s.json", g_getenv("ORCH_SOURCE_DIR"), name);
    struct trace t = {.root = json_load_file(path, 0, NULL), .kind = orch_env_find(name, NULL)};
    assert_non_null(t.root);
    assert_non_null(t.kind);
    const struct orch_envs_options options = {
        .kind = t.kind, .count = 1, .seed = (uint64_t)number(t.root, "seed")};
    t.envs = orch_envs_new(&options, NULL);
    orch_hash_begin(&t.hash);
    return t;
}

/** The part of a state that observations do not show. */
static void add_state(struct trace *t)
{
    if (!t->kind->is_bytes)
        orch_hash_add(&t->hash, orch_envs_states(t->envs), t->kind->state_bytes);
}

static void compare_checkpoint(const struct trace *t, const json_t *checkpoint, const float *values)
{
    for (int i = 0; i < t->kind->observation_values; i++) {
        const double expected = json_number_value(json_array_get(checkpoint, (size_t)i + 1));
        if (!(fabs((double)values[i] - expected) <= TOLERANCE * (1 + fabs(expected))))
            fail_msg("%s, step %" JSON_INTEGER_FORMAT ", value %d: %.9g, the peer's is %.9g",
                     t->kind->name, json_integer_value(json_array_get(checkpoint, 0)), i,
                     (double)values[i], expected);
    }
}

/** Takes one step and adds what happened to the digest. Returns the step's observation. */
static const float *follow(struct trace *t, char action, float rows[2][MOST_VALUES])
{
    float reward;
    uint8_t end;
    const int32_t chosen = action - '0';
    const struct orch_envs_result result = {&reward, &end, rows[0], rows[1]};
    assert_true(orch_envs_step(t->envs, &chosen, &result, NULL));
    const float *seen = end ? rows[1] : rows[0];
    orch_hash_add(&t->hash, seen,
                  (size_t)t->kind->observation_values * (t->kind->is_bytes ? 1 : sizeof(float)));
    orch_hash_add(&t->hash, &reward, sizeof reward);
    orch_hash_add(&t->hash, &end, 1);
    t->reward += (double)reward;
    t->ends[end]++;
    return seen;
}

static void compare_digest(struct trace *t, const char *name)
{
    char libm[ORCH_SHA256_CHARS], digest[ORCH_SHA256_CHARS];
    libm_digest(libm);
    orch_hash_end_text(&t->hash, digest);
    if (t->kind->is_bytes || strcmp(libm, text(t->root, "libm")) == 0)
        assert_string_equal(digest, text(t->root, "sha256"));
    else
        print_message("%s: compared to %g, because this C library's sines round otherwise\n", name,
                      TOLERANCE);
}

static void test_trace(void **state)
{
    const char *name = *state;
    struct trace t = open_trace(name);
    const json_t *lines = json_object_get(t.root, "actions");
    const json_t *checkpoints = json_object_get(t.root, "checkpoints");
    float rows[2][MOST_VALUES];
    size_t checkpoint = 0;
    int64_t step = 0;
    assert_true(orch_envs_reset(t.envs, rows[0], NULL));
    for (size_t line = 0; line < json_array_size(lines); line++)
        for (const char *a = json_string_value(json_array_get(lines, line)); *a; a++, step++) {
            const float *seen = follow(&t, *a, rows);
            add_state(&t);
            const json_t *next = json_array_get(checkpoints, checkpoint);
            if (next && json_integer_value(json_array_get(next, 0)) == step) {
                compare_checkpoint(&t, next, seen);
                checkpoint++;
            }
        }
    assert_int_equal(step, 10000);
    assert_int_equal(checkpoint, json_array_size(checkpoints));
    assert_true(t.reward == number(t.root, "reward"));
    assert_true((double)t.ends[ORCH_ENV_TERMINATED] == number(t.root, "terminated"));
    assert_true((double)t.ends[ORCH_ENV_TRUNCATED] == number(t.root, "truncated"));
    compare_digest(&t, name);
    orch_envs_free(t.envs);
    json_decref(t.root);
}

int main(void)
{
    static char *names[] = {"cartpole", "mountaincar", "acrobot", "gridworld", "catch", "breakout"};
    struct CMUnitTest tests[G_N_ELEMENTS(names)];
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        tests[i] = (struct CMUnitTest){names[i], test_trace, NULL, NULL, names[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
