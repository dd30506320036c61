/* SPDX-License-Identifier: MIT */
/* Starts another program with its streams, folder and process group. lib/base/subprocess.h also
 * waits for it, with limits of time and output. */
#ifndef ORCH_BASE_SPAWN_H
#define ORCH_BASE_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

/** A program to start. No signal is blocked or ignored in it. */
struct orch_spawn {
    const char *const *argv;  /* argv[0] is searched in PATH unless it has a '/'; NULL-terminated */
    int fds[3];               /* its stdin, stdout and stderr; -1: that of this process (0 is a
                                 descriptor, so each must be set) */
    const char *files[3];     /* take precedence over `fds`: the first is opened for reading, the
                                 others are created or truncated; NULL: none */
    mode_t file_mode;         /* of files that are made */
    const char *folder;       /* in which it starts; NULL: that of this process */
    char *const *environment; /* NULL: that of this process */
    bool shares_group;        /* stays in this process group, so that the terminal's signals reach
                                 it; else it leads one of its own */
};

/** Makes a write fail with EPIPE when its reader is gone, and with EFBIG at the limit of a file's
 * size (ulimit -f), where a signal would end this process. Programs that orch_spawn starts have the
 * signals' defaults. */
void orch_ignore_write_signals(void);

/** Starts the program. Returns 0 or an errno. The caller waits for it. */
int orch_spawn(const struct orch_spawn *program, pid_t *out_pid);

#endif
