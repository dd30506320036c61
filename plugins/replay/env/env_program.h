/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An environment that is a program: one process a copy, which reads commands from its standard
 * input and answers on its standard output, one JSON object a line. docs/plugins/replay.md
 * describes the protocol and has an example.
 *
 * A program that answers nonsense, nothing within the time limit, or ends, makes the call fail with
 * an error that names the program, the copy and what happened. Each process leads a group of its
 * own; the whole group is killed when the program is closed, so nothing stays behind.
 */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_PROGRAM_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_PROGRAM_H

#include "plugins/replay/env/env_reply.h"

struct orch_env_program;

/** Starts the command (split as by a shell, without expansions). Fails with ORCH_ERROR_RECIPE for
 * a command that cannot be started. Close with orch_env_program_close. */
struct orch_env_program *orch_env_program_start(const char *command, int64_t copy, double timeout_s,
                                                GError **error);
/** Reads the line in which the program describes itself. */
bool orch_env_program_meet(struct orch_env_program *program, GError **error);

/** Closes the program's input, which asks it to end. Accepts NULL. */
void orch_env_program_hang_up(struct orch_env_program *program);
/** Hangs up, waits up to half a second for its end (unless it has failed), then kills its process
 * group. Accepts NULL. */
void orch_env_program_close(struct orch_env_program *program);

/** What it said about itself. */
const struct orch_env_description *
orch_env_program_description(const struct orch_env_program *program);

/** Sends a command without waiting, so that many programs compute at the same time. */
bool orch_env_program_ask_reset(struct orch_env_program *program, uint64_t seed, GError **error);
bool orch_env_program_ask_step(struct orch_env_program *program, int32_t action, GError **error);
/** Waits for the reply to the last command. */
bool orch_env_program_reply(struct orch_env_program *program, void *observation,
                            struct orch_env_reply *out, GError **error);

#endif
