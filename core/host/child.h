/* SPDX-License-Identifier: MIT */
/* Starts a trial's process: a plugin loaded into a fork of this program, or a command. It has its
 * own process group and current folder, and inherits no descriptors except its pipes. */
#ifndef ORCH_HOST_CHILD_H
#define ORCH_HOST_CHILD_H

#include "core/host/apart_view.h"
#include "core/host/mpi_command.h"
#include "core/host/opened_files.h"
#include "core/host/rank_links.h"
#include "lib/wire/trial.h"

#include <stdint.h>
#include <sys/types.h>

/** Descriptors in the child: for its events (ORCH_EVENTS tells commands), and for messages from the
 * host to a compiled plugin (commands receive them on standard input). */
enum { CHILD_EVENTS_FD = 3, CHILD_CONTROL_FD = 4 };

struct child_setup {
    const struct orch_trial_spec *trial;
    const char *trial_dir;       /* absolute */
    const char *work_dir;        /* absolute; the child's current folder, as others see it */
    const struct apart *apart;   /* the folder apart in which it runs; NULL: none */
    struct opened_files *opened; /* notes which files it opens; NULL: nothing does */
    int64_t start_ns;            /* monotonic time of the trial's start */
    const char *link;      /* address for the ranks that MPI starts; NULL: a trial without MPI */
    struct orch_rank rank; /* in a rank: which one it is; count 0 in a trial without MPI */
    int argc;              /* this program's own arguments, which the child overwrites */
    char **argv;
};

/** The host's ends of the pipes, non-blocking and close-on-exec; -1 once closed. */
struct child {
    pid_t pid;
    int events_fd, stdout_fd, stderr_fd;
    int control_fd;           /* -1: the child does not read messages */
    struct rank_links *links; /* of an MPI trial, which receive the messages; else NULL. Borrowed */
};

bool orch_child_start(const struct child_setup *setup, struct child *out, GError **error);
/** Sends one line. Returns false if the child does not read messages or its pipe is full. */
bool orch_child_send(struct child *child, const json_t *object);
void orch_child_close(struct child *child);

/** In the child: reports why it cannot start, and exits. */
G_GNUC_NORETURN void orch_child_fail(const char *text);
/** In the child: reports why it cannot run on this machine, and exits. */
G_GNUC_NORETURN void orch_child_skip(const char *text);
/** In the child: writes one event to CHILD_EVENTS_FD. */
void orch_child_report(const json_t *event);

/** In the child of a compiled plugin: runs it, reports, exits. */
G_GNUC_NORETURN void orch_compiled_main(const struct child_setup *setup);
/** In the child of an MPI plugin: executes the launcher, which starts `orch-host --rank` as often
 * as the trial has ranks. Without a launcher the trial is skipped. */
G_GNUC_NORETURN void orch_launch_main(const struct child_setup *setup);
/** In the child of a command: executes it. */
G_GNUC_NORETURN void orch_wrapped_main(const struct child_setup *setup);

/** Values for ${name} in a command and in the paths of its artifacts: the parameters, and seed,
 * seed64, repeat, checkpoint_dir, trial_dir, manifest_dir. New reference. */
json_t *orch_wrapped_values(const struct orch_trial_spec *trial, const char *trial_dir);
/** The `run` message. New reference. */
json_t *orch_wrapped_run_line(const struct orch_trial_spec *trial);
/** True if the command reads messages on its standard input. */
bool orch_wrapped_listens(const struct orch_trial_spec *trial);

#endif
