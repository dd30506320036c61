/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the files of the scheduler: a run at work. schedule.c has the loop; _start, _end, _slots,
 * _hosts, _limits, _sharing and _progress what it does in turn. All on one thread. */
#ifndef ORCH_CORE_RUN_SCHEDULE_PRIVATE_H
#define ORCH_CORE_RUN_SCHEDULE_PRIVATE_H

#include "core/run/schedule.h"

#include <glib.h>
#include <sys/stat.h>
#include <sys/types.h>

enum job_status {
    JOB_TODO,
    JOB_RUNNING,
    JOB_HELD, /* by another process on this store */
    JOB_AWAY, /* others run it elsewhere */
    JOB_ENDED,
};

struct job {
    unsigned index; /* of the plan's item */
    enum job_status status;
    unsigned tries;
    bool ran;  /* its last attempt was started here */
    bool well; /* ended so that others may refer to it */
};

/* A host at work. */
struct host {
    struct orch_running running; /* first: what the listener sees */
    struct job *job;
    char *record;
    pid_t pid;
    int pidfd;    /* -1: none, polled */
    int stdin_fd; /* its end tells the host that the runner is gone */
    bool cancelled;
    char *overdue; /* why its time is over, once it was killed for that; or NULL */
};

/* A compiled plugin's file when the run began. */
struct plugin_file {
    const char *path;
    struct stat info;
};

struct run {
    struct orch_plan *plan;
    const struct orch_run_options *options;
    const struct orch_listener *listener;
    struct orch_totals totals;
    struct job *jobs; /* one for each item, same index */
    unsigned *order;  /* indices of items in the order of starting */
    unsigned order_count;
    GPtrArray *hosts;    /* struct host *: at work */
    GPtrArray *ended;    /* struct host *: gone, not collected yet */
    bool collects_first; /* nothing may run beside the collecting */
    GArray *plugin_files;
    GHashTable *wall_by_experiment; /* experiment -> GArray of double, seconds */
    char *host_program;
    struct orch_process self;
    int signal_fd;
    unsigned stop_level; /* 1: start nothing more, 2: running trials are stopped */
    bool failed_fast, unsynced;
    double ended_device_s; /* of trials that ended: wall seconds x devices */
    unsigned refused;      /* trials that a limit kept back in the last round of starting */
    bool moved;            /* the last round of starting changed something */
    int64_t last_sync_ns, last_tick_ns, last_held_ns, last_sharing_ns;
};

/** A sentence for the user. */
void schedule_say(struct run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* ---- schedule_slots.c -------------------------------------------------------------------------
 */

/** A slot for a trial of the experiment; false when it must wait. */
bool schedule_take_slot(const struct run *run, const struct orch_experiment *experiment,
                        struct orch_slot *slot);

/* ---- schedule_hosts.c -------------------------------------------------------------------------
 */

/** Starts `orch-host DIR` in a process group of its own, with a pipe on its standard input. */
bool schedule_spawn(struct run *run, struct host *host, GError **error);
/** Closes what it holds; the process is not touched. */
void schedule_host_free(void *host);
/** Tells all hosts to end their trials: SIGINT as cancelled, SIGTERM as preempted. */
void schedule_cancel(struct run *run, int signal_number);
/** Moves hosts that are gone to `ended`: their slots are free at once, and the next trials start
 * before the journals are read, so that the one does not wait for the other. */
void schedule_reap(struct run *run);

/* ---- schedule_watch.c -------------------------------------------------------------------------
 */

/** Kills hosts that have not ended their trials in time themselves. */
void schedule_watch_time(struct run *run);

/* ---- schedule_start.c, schedule_end.c ---------------------------------------------------------
 */

/** Starts the trials that are next, as many as fit. */
bool schedule_start(struct run *run, GError **error);
/** Records the trials of hosts that are gone. */
bool schedule_collect(struct run *run, GError **error);

/* ---- schedule_limits.c ------------------------------------------------------------------------
 */

/** Would its forecast break a limit? */
bool schedule_is_refused(struct run *run, const struct orch_plan_item *item);
/** At the limit itself what runs is cancelled: it is recorded as such, and can be run again. */
void schedule_heed_limits(struct run *run);

/* ---- schedule_sharing.c -----------------------------------------------------------------------
 */

/** May the trial start, for all that others run? Else it is put aside. */
bool schedule_claim(struct run *run, struct job *job);
/** The trial that was claimed has ended, or was not started. */
void schedule_unclaim(struct run *run, const struct job *job);
/** Lets claims be renewed and results be sent, about once a second. */
void schedule_tick_sharing(struct run *run);
/** Trials that are left to others. */
unsigned schedule_away(const struct run *run);
/** Tries those again when it is time. `idle`: nothing else is left to do. False: no more. */
bool schedule_look_away(struct run *run, bool idle);

/* ---- schedule_progress.c ----------------------------------------------------------------------
 */

/** What a trial is expected to take; false: nothing is known. */
bool schedule_forecast(const struct run *run, const struct orch_plan_item *item,
                       struct orch_forecast *out);
/** Lets the listener look at what runs, ten times a second. */
void schedule_tick(struct run *run);

#endif
