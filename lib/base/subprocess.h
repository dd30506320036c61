/* SPDX-License-Identifier: MIT */
/* Runs another program and waits for it, with limits of time and of output.
 *
 * The program gets a process group of its own, which is ended when a limit is exceeded or this
 * process is told to end meanwhile (Ctrl-C, SIGTERM). Its stdin is a text or empty; it is started
 * from an argument vector, never through a shell. */
#ifndef ORCH_BASE_SUBPROCESS_H
#define ORCH_BASE_SUBPROCESS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

/** A program to run. Zero-initialise for defaults. */
struct orch_subprocess {
    const char *const *argv;  /* argv[0] is searched in PATH; NULL-terminated */
    const char *name;         /* in messages, such as "git fetch"; NULL: argv[0] */
    const char *folder;       /* working folder; NULL: that of this process */
    char *const *environment; /* NULL: that of this process */
    const char *input;        /* for stdin; NULL: none */
    size_t input_bytes;
    double timeout_s;        /* 0: no limit. $ORCH_PROGRAM_TIMEOUT replaces any other */
    size_t output_bytes_max; /* of stdout; 0: 64 MiB */
    bool is_cut;             /* more output ends the program and is no error */
    double grace_s;          /* how long it may go on after a signal to end: 0, but for a change of
                                what others see, whose outcome must be known */
    bool asks;               /* may ask on the terminal, and so stays in this process group */
};

/** How it ended. */
struct orch_subprocess_end {
    GString *out; /* stdout */
    char *err;    /* the first 64 KiB of stderr */
    int status;   /* exit status; 128 + its number for a signal */
    int signal;   /* that ended it, or 0 */
    bool was_cut; /* with is_cut: there was more output */
};

/** Runs the program. False with ORCH_ERROR_NOT_FOUND when it cannot be started, ORCH_ERROR_IO when
 * it exceeded a limit, ORCH_ERROR_INTERRUPTED when a signal to end reached this process; `out` is
 * then untouched. Any exit status is no error. */
bool orch_subprocess_run(const struct orch_subprocess *command, struct orch_subprocess_end *out,
                         GError **error);
void orch_subprocess_end_clear(struct orch_subprocess_end *end);

/** The first `lines_max` non-blank lines of a program's stderr, joined by "; ". Caller frees. */
char *orch_subprocess_complaint(const char *err, unsigned lines_max);

#endif
