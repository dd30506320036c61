/* SPDX-License-Identifier: MIT */
/* The state of supervise.c's poll loop, which it shares with the files that read from the trial
 * (supervise_input.c) and that end it (supervise_end.c). */
#ifndef ORCH_CORE_HOST_SUPERVISOR_H
#define ORCH_CORE_HOST_SUPERVISOR_H

#include "core/host/child.h"
#include "core/host/foreign_cpu.h"
#include "core/host/intake.h"
#include "core/host/join_pipe.h"
#include "core/host/journal_out.h"
#include "core/host/output_capture.h"
#include "core/host/stopping.h"
#include "lib/wire/alert.h"

/** Bytes read at once from a pipe. */
enum { ORCH_HOST_READ_BYTES = 65536 };

struct supervisor {
    struct orch_trial_spec *trial;
    struct child_setup setup;
    struct child child;
    struct journal_out out;
    struct intake intake;
    struct join_pipe join;
    struct capture output, errors;
    struct text_metrics *text_metrics;
    struct logged_files *logged; /* NULL: no files are read */
    struct orch_alerts *alerts;
    struct stopping stopping;
    struct rank_links *links;        /* of an MPI trial, else NULL */
    struct utilisation *utilisation; /* NULL: not sampled */
    struct gpu_watch *gpu_watch;     /* NULL: no GPUs */
    int signal_fd, runner_fd;        /* runner_fd: standard input; -1: not read any more */
    GString *runner_line;
    bool child_ended, done_first;
    int wait_status;
    int64_t start_ns, started_utc_ns, limit_ns, look_ns,
        ask_ns; /* limit_ns, look_ns, ask_ns: INT64_MAX for never */
    int64_t memory_bytes;
    struct foreign_cpu foreign;
    char *buffer;
    GPtrArray *strays;
    struct old_files *old_files;
    struct apart *apart; /* NULL: the trial runs in no folder apart */
};

/* supervise_input.c */

/** Reads once from a captured stream. Returns the number of bytes; 0 at its end or if there are
 * none. */
size_t orch_supervisor_read_output(struct supervisor *s, int *fd, struct capture *capture);
/** Marks the run for the alerts that have fired since, by a note and the tag 'alert', and tells the
 * runner by a line in TRIALDIR/alerts. Returns what happened when one of them ends the trial, else
 * NULL. The caller frees. */
char *orch_supervisor_take_alerts(struct supervisor *s);
/** Reads the trial's events. */
void orch_supervisor_read_events(struct supervisor *s);
/** Reads events of its other processes. False when there were none. */
bool orch_supervisor_read_join(struct supervisor *s);
/** Reads from the ranks of an MPI trial. The events of rank 0 are read like those of a trial
 * without MPI as soon as it has connected. */
void orch_supervisor_read_ranks(struct supervisor *s);
/** Reads what the runner asks for on standard input. */
void orch_supervisor_read_runner(struct supervisor *s);
void orch_supervisor_read_signals(struct supervisor *s);
/** Reaps all ended children, including the trial's orphans. Returns true if there are others. */
bool orch_supervisor_reap(struct supervisor *s);

/* supervise_end.c */

/** Reads what the trial still wrote, ends the processes that it left, and adds the end event to the
 * journal. The main process has ended, or cannot be ended. */
void orch_supervisor_finish(struct supervisor *s);

#endif
