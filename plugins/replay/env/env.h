/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Environments of reinforcement learning, and a driver that steps many copies of one.
 *
 *     const struct orch_env_kind *kind = orch_env_find("cartpole");
 *     struct orch_envs_options options = {.kind = kind, .count = 8, .seed = 1};
 *     struct orch_envs *envs = orch_envs_new(&options, &error);
 *     orch_envs_reset(envs, observations, &error);
 *     loop: choose actions; orch_envs_step(envs, actions, &result, &error);
 *
 * The state of an environment is a plain struct, private to its file (env_cartpole.c and so on),
 * with functions that neither allocate nor fail. The driver adds what is the same for all: the
 * limit of steps, the start of the next episode, a random stream for each copy, sticky actions, the
 * check of actions, and programs that are environments (env_program.h). Array sizes: N copies, V
 * values an observation.
 */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How a step ended. The values equal those of enum orch_replay_end. */
enum orch_env_end {
    ORCH_ENV_GOES_ON = 0,
    ORCH_ENV_TERMINATED, /* the episode is over, and its last state has the value 0 */
    ORCH_ENV_TRUNCATED,  /* the step limit was reached; set by the driver, or by a program */
};

struct orch_env_kind {
    const char *name;
    const char *summary;    /* verb first, lower case */
    const char *source;     /* the publication or program whose dynamics and rewards these are */
    int shape[3];           /* of an observation, row-major; trailing dimensions may be 1 */
    int observation_values; /* V, the product of the shape */
    bool is_bytes;          /* values are uint8_t; else float */
    int states;             /* of a tabular environment, whose observation is one-hot: V; else 0 */
    int actions;            /* an action is 0 .. actions - 1 */
    int step_limit;         /* an episode is truncated after so many steps; 0: never */
    double sticky;          /* published probability that the last action is repeated */
    size_t state_bytes;     /* size of the struct; it has no pointers, so copying it is allowed */

    /** Starts an episode. `random` is the copy's stream (lib/base/random.h). */
    void (*reset)(void *state, uint64_t *random);
    /** Writes the observations of `count` states (count x V). */
    void (*observe)(const void *states, int64_t count, void *observations);
    /** Advances `count` states that lie one after the other. Writes `count` rewards and ends. The
     * actions must be in range, and no state may have terminated before. */
    void (*step)(void *states, int64_t count, const int32_t *actions, float *rewards,
                 uint8_t *ends);
};

/** The kind of that name, or NULL with ORCH_ERROR_RECIPE, which lists the names. */
const struct orch_env_kind *orch_env_find(const char *name, GError **error);
/** Kind 0, 1, ... of the table; NULL after the last. */
const struct orch_env_kind *orch_env_at(size_t index);

/** Observations (count x height x width x channels, the kind's shape) as floats that a network
 * takes: count x channels x height x width. */
void orch_env_planes(const struct orch_env_kind *kind, const void *observations, int64_t count,
                     float *out);

struct orch_envs_options {
    const struct orch_env_kind *kind;
    const char *command; /* instead of a kind: a program that is the environment (env_program.h) */
    double timeout_s;    /* of a program's answer; 0: 10 s */
    int64_t count;       /* N, 1 to 1,048,576; programs: 1 to 1,024, a process each */
    uint64_t seed;       /* copy i uses orch_random_stream(seed, i), whatever N is */
    double sticky;  /* in [0, 1): probability of repeating the copy's last action; kind->sticky is
                       the published one */
    int step_limit; /* 0: the kind's own */
};

/** The outcome of one step of each copy. Arrays of the caller's. */
struct orch_envs_result {
    float *rewards;     /* N */
    uint8_t *ends;      /* N, enum orch_env_end */
    void *observations; /* N x V: what the agent sees next. Where a copy's episode ended, this is
                           the first observation of its next episode */
    void *finals; /* N x V: row i is the last observation of the episode of copy i where ends[i] is
                     not GOES_ON; other rows stay untouched. May be NULL */
};

struct orch_envs;

/** Makes N copies. Fails with ORCH_ERROR_RECIPE for an option out of its range and a program that
 * cannot be started, and with ORCH_ERROR_PROTOCOL for one that does not describe itself. Free with
 * orch_envs_free, which ends the programs. */
struct orch_envs *orch_envs_new(const struct orch_envs_options *options, GError **error);
void orch_envs_free(struct orch_envs *envs);

const struct orch_env_kind *orch_envs_kind(const struct orch_envs *envs);
/** The N structs of the kind, for readers; of programs nothing. */
const void *orch_envs_states(const struct orch_envs *envs);

/** What copies need to go on after the state was set in another process: their structs, random
 * streams, counters of steps and last actions. Getting writes orch_envs_state_bytes. Of programs
 * only the random streams are kept, so they must be reset after the state was set. */
size_t orch_envs_state_bytes(const struct orch_envs *envs);
void orch_envs_state_get(const struct orch_envs *envs, void *out);
void orch_envs_state_set(struct orch_envs *envs, const void *state);
/** Whether the copies are processes. */
bool orch_envs_are_programs(const struct orch_envs *envs);

/** Starts an episode in every copy and writes its first observation (N x V). The random streams
 * continue where they are. Only programs fail, with ORCH_ERROR_PROTOCOL. */
bool orch_envs_reset(struct orch_envs *envs, void *observations, GError **error);

/** Steps every copy with its action (N). Fails with ORCH_ERROR_TRIAL, without a step, for an action
 * out of range and before the first orch_envs_reset; with ORCH_ERROR_PROTOCOL when a program fails,
 * after which the copies must be reset. */
bool orch_envs_step(struct orch_envs *envs, const int32_t *actions,
                    const struct orch_envs_result *result, GError **error);

#endif
