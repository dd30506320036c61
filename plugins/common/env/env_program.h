/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An environment that is a program: one process a copy, which reads commands from its standard
 * input and answers on its standard output, one JSON object a line. docs/environments.md describes
 * the protocol and has an example.
 *
 * A program that answers nonsense, nothing within the time limit, or ends, makes the call fail with
 * an error that names the program, the copy and what happened. Each process leads a group of its
 * own; the whole group is killed when the program is closed, so nothing stays behind.
 */
#ifndef ORCH_PLUGINS_COMMON_ENV_PROGRAM_H
#define ORCH_PLUGINS_COMMON_ENV_PROGRAM_H

#include "plugins/common/env/env_reply.h"

struct orch_env_program;

/** Starts the command (split as by a shell, without expansions) and reads the line in which it
 * describes itself. Fails with ORCH_ERROR_RECIPE for a command that cannot be started, and with
 * ORCH_ERROR_PROTOCOL. Close with orch_env_program_close. */
struct orch_env_program *orch_env_program_open(const char *command, int64_t copy, double timeout_s,
                                               GError **error);
/** Closes its input, waits up to half a second for its end, then kills its process group. */
void orch_env_program_close(struct orch_env_program *program);

const struct orch_env_description *
orch_env_program_description(const struct orch_env_program *program);

/** Sends a command without waiting, so that many programs compute at the same time. */
bool orch_env_program_ask_reset(struct orch_env_program *program, uint64_t seed, GError **error);
bool orch_env_program_ask_step(struct orch_env_program *program, int32_t action, GError **error);
/** Waits for the reply to the last command. */
bool orch_env_program_reply(struct orch_env_program *program, void *observation,
                            struct orch_env_reply *out, GError **error);

#endif
