/* SPDX-License-Identifier: MIT */
/* Starts the process in which a trial happens: a plugin mapped into a fork of this program, or a
 * command. Its own process group, its own current folder, nothing of ours left open but its pipes.
 */
#ifndef ORCH_HOST_CHILD_H
#define ORCH_HOST_CHILD_H

#include "lib/wire/trial.h"

#include <stdint.h>
#include <sys/types.h>

/** Descriptors in the child: where its events go (ORCH_EVENTS names it to commands), and where a
 * compiled plugin hears from its host (a command hears on its standard input). */
enum { CHILD_EVENTS_FD = 3, CHILD_CONTROL_FD = 4 };

struct child_setup {
    const struct orch_trial *trial;
    const char *trial_dir; /* absolute */
    const char *work_dir;  /* absolute: the child's current folder */
    int64_t start_ns;      /* monotonic: the trial's start */
    int argc;              /* this program's own, to be written over in the child */
    char **argv;
};

/** Our ends, without waiting, close-on-exec; -1 once closed. */
struct child {
    pid_t pid;
    int events_fd, stdout_fd, stderr_fd;
    int control_fd; /* -1: the child does not listen */
};

bool child_start(const struct child_setup *setup, struct child *out, GError **error);
/** Sends one line. False when the child does not listen, or its pipe has no room. */
bool child_tell(struct child *child, const json_t *object);
void child_close(struct child *child);

/** In the child: reports why it cannot start, and exits. */
G_GNUC_NORETURN void child_fail(const char *text);
/** In the child: one event on CHILD_EVENTS_FD. */
void child_say(const json_t *event);

/** In the child of a compiled plugin: runs it, reports, exits. */
G_GNUC_NORETURN void compiled_main(const struct child_setup *setup);
/** In the child of a command: becomes it. */
G_GNUC_NORETURN void wrapped_main(const struct child_setup *setup);

/** What ${name} may stand for in a command and in the paths of its artifacts: the parameters, and
 * seed, seed64, repeat, checkpoint_dir, trial_dir, manifest_dir. New reference. */
json_t *wrapped_values(const struct orch_trial *trial, const char *trial_dir);
/** The `run` line. New reference. */
json_t *wrapped_run_line(const struct orch_trial *trial);
/** True when the command is told things on its standard input. */
bool wrapped_listens(const struct orch_trial *trial);

#endif
