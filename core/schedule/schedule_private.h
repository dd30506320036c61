/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the scheduler: the state of a run. schedule.c has the loop, which calls
 * the functions in _jobs, _start, _promote, _promoted, _search, _end, _failing, _slots,
 * _leases, _gpus, _hosts, _limits, _sharing and _progress. Everything runs on one thread. */
#ifndef ORCH_CORE_SCHEDULE_SCHEDULE_PRIVATE_H
#define ORCH_CORE_SCHEDULE_SCHEDULE_PRIVATE_H

#include "core/inputs/input_watch.h"
#include "core/inputs/written_files.h"
#include "core/schedule/schedule.h"
#include "lib/hw/topology.h"
#include "lib/wire/journal.h"

#include <glib.h>
#include <sys/stat.h>
#include <sys/types.h>

enum job_status {
    JOB_TODO,
    JOB_RUNNING,
    JOB_HELD,   /* by another process on this store */
    JOB_AWAY,   /* others run it elsewhere, or an executor does: this run does not wait for it */
    JOB_PRUNED, /* its search's rule stopped it, in this run or another one */
    JOB_ENDED,
    JOB_STATES,
};

struct job {
    unsigned index; /* of the plan's item */
    enum job_status status;
    unsigned attempts;
    bool ran;          /* its last attempt was started here */
    unsigned spoiled;  /* attempts during which its inputs changed */
    bool well;         /* ended so that others may refer to it */
    bool is_elsewhere; /* PRUNED: in an earlier run, or by another one meanwhile */
    double stopped_s;  /* seconds of its attempts that were stopped; NAN: some are of other runs */
    double whole_s;    /* seconds until it ended well, without these; 0: it has not */
    bool is_refused;   /* a limit prevented it the last time it could start */
    char *goes_on_why; /* its rule has stopped it and lets it go on, but it has not started yet */
};

/* A running host. */
struct host {
    struct orch_running running; /* first: what the listener sees */
    struct job *job;
    char *record;
    pid_t pid;
    int pidfd;                   /* -1: none, polled */
    int stdin_fd;                /* when it is closed, the host knows that the runner is gone */
    bool cancelled, is_pruned;   /* it was asked to end its trial so: a trial that is being pruned
                                    may still be cancelled */
    size_t alerts_read;          /* bytes of TRIALDIR/alerts that were told */
    struct orch_journal *values; /* read for its search (schedule_values.c); NULL: not yet */
    uint64_t inputs_stamp;       /* of its inputs when it started in the user's folder */
    GPtrArray *code, *data;      /* char *: its inputs that changed while it ran there */
    char *spoiled; /* the code among them that it has not written itself; NULL: none */
    char *overdue; /* the reason once it was killed at its time limit, or NULL */
};

/* A GPU that was lost in the middle of a trial. */
struct lost_gpu {
    unsigned index; /* into the machine's GPUs */
    char *why;      /* "a GPU was lost: GPU 1: Xid 79 (the GPU has fallen off the bus)" */
};

/* The state of a compiled plugin's file at the start of the run. */
struct plugin_file {
    const char *path;
    struct stat info;
};

struct run {
    struct orch_plan *plan;
    const struct orch_run_options *options;
    const struct orch_listener *listener;
    struct orch_totals totals;
    struct job *jobs;      /* one for each item, same index */
    unsigned *whole_order; /* indices of items in the order of starting */
    unsigned *order;       /* a part of it: from the first one on that is not over */
    unsigned order_count;
    GPtrArray *hosts;     /* struct host *: running */
    GPtrArray *ended;     /* struct host *: exited but not collected yet */
    bool collects_first;  /* no trial may run while journals are collected */
    bool collects_now;    /* before another trial starts */
    GPtrArray *lost_gpus; /* struct lost_gpu *: not used any more in this run */
    GArray *plugin_files;
    GHashTable *wall_by_experiment; /* experiment -> GArray of double, seconds of trials that ended
                                       well and were never stopped */
    char *host_program;
    struct orch_process self;
    int signal_fd;
    bool has_more_values; /* a journal of a trial has more that its search wants */
    unsigned stop_level;  /* 1: start nothing more, 2: running trials are stopped */
    bool failed_fast, unsynced;
    GHashTable *failing;   /* experiment -> how its trials fail (schedule_failing.c) */
    GPtrArray *asked;      /* the experiments of which the user is asked whether they go on */
    double ended_device_s; /* of trials that ended: wall seconds x devices */
    unsigned refused; /* trials that a limit prevented in the last call of orch_schedule_start */
    bool moved;       /* the last call of orch_schedule_start changed something */
    int64_t last_sync_ns, last_tick_ns, last_held_ns, last_sharing_ns;
    bool shares_slots;       /* with other runs of this machine (slot_leases.h) */
    bool has_named_left_out; /* a message named a file of another user that the list leaves out */
    bool is_queued;          /* this run has a waiting entry in the list of slots */
    int64_t turn_ns;     /* since when this run waited for the slot that it has now but did not use,
                            because another run has done the trial meanwhile; 0: it used it */
    bool was_held;       /* the last call of orch_schedule_start ended with ORCH_SLOT_HELD */
    GPtrArray *released; /* char *: keys of trials whose entries can be removed from that list */
    int slots_fd;        /* inotify on the list while queued; -1: none */
    int64_t next_ask_ns, last_touch_ns;
    struct orch_input_watch *inputs;    /* of the trials that run in the user's folder */
    struct orch_written_files *written; /* by them */
    bool has_named_rewritten;           /* the user knows that runs are kept but not reused, */
    bool has_named_overwritten;         /* and that a committed file was overwritten */
    bool has_named_carried;             /* and that a trial went on from a file of another one */
    GHashTable *own_folders;       /* experiments whose trials at once each have a folder -> char *,
                                      the artifact for which they have, "" once a notice was printed */
    GHashTable *apart_experiments; /* those that have run apart, for which a notice was printed of
                                      what leads back into the work tree */
    bool is_apart;                 /* the remaining trials run apart */
    bool has_named_seen_gpus;      /* the user knows that trials at once see the same GPUs */
    char *notice;                  /* the last notice about waiting, or NULL */
    struct orch_topology *topology; /* NULL: not read yet */
};

/* ---- schedule_jobs.c --------------------------------------------------------------------------
 */

/** Changes a job's state to one that may follow. */
void orch_schedule_set_job(struct job *job, enum job_status status);
/** True when a job neither runs nor will. */
bool orch_schedule_is_over(const struct job *job);
/** Makes run->order of the jobs that have not ended; the caller frees run->whole_order. */
void orch_schedule_order_jobs(struct run *run);
/** Lets a job start that was stopped, before all others. */
void orch_schedule_take_back(struct run *run, struct job *job);
/** Leaves out the jobs at the front that are over. */
void orch_schedule_skip_over(struct run *run);

/** Sends a message (one sentence) to the user. */
void orch_schedule_emit(struct run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* ---- schedule_slots.c -------------------------------------------------------------------------
 */

enum orch_slot_answer {
    ORCH_SLOT_TAKEN,
    ORCH_SLOT_BUSY, /* this run's own trials use it */
    ORCH_SLOT_HELD, /* other runs of this machine use it; a notice was printed */
};
/** Finds a free slot for a trial of the experiment. */
enum orch_slot_answer orch_schedule_take_slot(struct run *run,
                                              const struct orch_experiment *experiment,
                                              struct orch_run_slot *slot);

/* ---- schedule_gpus.c --------------------------------------------------------------------------
 */

/** Number of GPUs of which the run may use some. */
unsigned orch_schedule_gpu_choices(const struct run *run);
/** The index of the i-th of them in the machine's GPUs. */
unsigned orch_schedule_gpu_choice(const struct run *run, unsigned i);
/** True for a GPU that was not lost and that a trial with `wanted` GPUs can have: CUDA gives a
 * process only one MIG instance. */
bool orch_schedule_gpu_is_usable(const struct run *run, unsigned gpu, unsigned wanted);

/** An empty list of struct lost_gpu *. */
GPtrArray *orch_schedule_lost_gpus_new(void);
/** Excludes the GPU with this name (orch_gpu_device.visible) from the rest of the run, and says
 * so. */
void orch_schedule_lose_gpu(struct run *run, const char *name, const char *why);
/** Why the experiment's trials can never start: too few GPUs are left. NULL when there are enough.
 * Caller frees. */
char *orch_schedule_gpu_shortage(const struct run *run, const struct orch_experiment *experiment);

/* ---- schedule_leases.c ------------------------------------------------------------------------
 */

/** Begins to share slots with other runs of the machine. When that is not possible, now or later,
 * a notice says why once, and the run uses the machine as if it were alone. */
void orch_schedule_leases_open(struct run *run);
/** Removes all of this run's entries. */
void orch_schedule_leases_close(struct run *run);
/** Leases the CPUs and GPUs of `slot`, of which `threads` is set, for a trial of the experiment. */
enum orch_slot_answer orch_schedule_lease(struct run *run, const struct orch_experiment *experiment,
                                          struct orch_run_slot *slot);
/** Ends the lease of a trial that was not started, or whose processes are gone. The list is updated
 * when the next trial starts, or by orch_schedule_leases_flush, which comes first. */
void orch_schedule_unlease(struct run *run, struct orch_run_slot *slot);
void orch_schedule_leases_flush(struct run *run);
/** Leaves the queue when this run waits in it but will start nothing now. */
void orch_schedule_leave_queue(struct run *run);
/** False while nothing can have changed since the last answer ORCH_SLOT_HELD. */
bool orch_schedule_may_ask(struct run *run);

/* ---- schedule_hosts.c -------------------------------------------------------------------------
 */

/** Starts `orch-host DIR` in a process group of its own, with a pipe on its standard input. */
bool orch_schedule_spawn(struct run *run, struct host *host, GError **error);
/** Frees the host's resources; does not affect its process. */
void orch_schedule_host_free(void *host);
/** Asks the host of one trial to end it as cancelled: by a line, or with SIGTERM as preempted. */
void orch_schedule_cancel_host(struct host *host, int signal_number, const char *why);
/** Asks the host of one trial to end it as pruned. */
void orch_schedule_prune_host(struct host *host, const char *why);
/** Makes all hosts end their trials: as cancelled for SIGINT, as preempted for SIGTERM. `why`
 * becomes the reason of a cancelled run; it has no quotes or backslashes. */
void orch_schedule_cancel(struct run *run, int signal_number, const char *why);
/** Moves exited hosts to `ended`. Their slots become free at once, so that the next trials start
 * before the journals are read. */
void orch_schedule_reap(struct run *run);

/* ---- schedule_watch.c -------------------------------------------------------------------------
 */

/** Kills hosts that did not end their trials within the time limit. */
void orch_schedule_watch_time(struct run *run);
/** Tells of the alerts that have fired since, also of trials that have ended but are not collected.
 */
void orch_schedule_watch_alerts(struct run *run);
/** Ends trials whose folder says that they are to be cancelled (lib/wire/trial_request.h). */
void orch_schedule_watch_requests(struct run *run);

/* ---- schedule_values.c ------------------------------------------------------------------------
 */

/** True when the search of a running trial wants its values. */
bool orch_schedule_watches_values(const struct run *run);
/** Gives searches the new values of their running trials, and stops those that they stop. */
void orch_schedule_watch_values(struct run *run);

/* ---- schedule_saved.c -------------------------------------------------------------------------
 */

/** Keeps how long a trial took that has ended well, or that its search's rule has stopped. */
void orch_schedule_keep_wall(struct run *run, struct job *job, double wall_ms);
/** Estimates the share of the searches' time that was saved by stopping trials: one that was ever
 * stopped would have taken as long as the others of its experiment took on average. NAN when none
 * was stopped or none has ended. */
double orch_schedule_saved_share(const struct run *run);

/* ---- schedule_inputs.c ------------------------------------------------------------------------
 */

/** Decides where a trial starts (slot->is_apart), after a look at its inputs. `*out_renewed`: its
 * inputs have changed and were captured again, so that it must be settled before it starts. False
 * on error, also when inputs outside of a repository have changed. */
bool orch_schedule_place(struct run *run, struct job *job, struct orch_run_slot *slot,
                         uint64_t *out_stamp, bool *out_renewed, GError **error);
/** Lets the trials that have not started use files that changed and that nothing has captured: git
 * ignores them, or they lie elsewhere. The captured ones stay as they are. False on error. */
bool orch_schedule_take_new(struct run *run, const struct orch_plan_item *item, const char *changed,
                            GError **error);
/** Looks at the inputs of a trial: notes in host->code and host->data which have changed. */
void orch_schedule_look_after(struct run *run, struct host *host, enum orch_trial_stage stage);
/** A trial was recorded: what it has read is watched from now on. */
void orch_schedule_learn(struct run *run, const struct host *host,
                         const struct orch_opened *opened);
/** Frees what these functions keep. */
void orch_schedule_places_clear(struct run *run);
/** Prepares another attempt of a trial whose inputs changed while it ran; `*out_again`: false when
 * this happened too often or the run is stopping. False on error. */
bool orch_schedule_repeat(struct run *run, struct job *job, bool *out_again, GError **error);

/* ---- schedule_outputs.c -----------------------------------------------------------------------
 */

/** Decides about the inputs of an ended trial that changed while it ran, before it is recorded.
 * Those that it has written itself are its output, and are taken from its inputs; of others that
 * were captured host->spoiled tells; other data marks the run, which is then not reused. Tells the
 * user once about committed files that trials have overwritten. Returns the names of data that
 * somebody else has changed while trials ran, for people; NULL for none. The caller frees. */
char *orch_schedule_judge_inputs(struct run *run, struct host *host,
                                 const struct orch_opened *opened);
/** Before a trial starts: finds the files that earlier commands have left. */
void orch_schedule_look_at_earlier(struct run *run, const struct orch_plan_item *item);
/** Tells the user once that an input of an ended trial, by its facts, changed while it ran. */
void orch_schedule_tell_rewritten(struct run *run, const struct host *host, const json_t *facts);

/* ---- schedule_start.c, schedule_end.c
 * ---------------------------------------------------------
 */

/** Starts as many of the next trials as fit. */
bool orch_schedule_start(struct run *run, GError **error);
/** Ends a trial that need not run: its plan says that it is pruned or skipped. */
void orch_schedule_end_unrun(struct run *run, struct job *job);
/** Records the trials of exited hosts. */
bool orch_schedule_collect(struct run *run, GError **error);

/* ---- schedule_search.c ------------------------------------------------------------------------
 */

/** Finds out whether a trial of a search or of `repeat: auto` may start, or its values be chosen
 * where its point is open; `*out_may` is false when it has to wait, and when it is not needed: it
 * has then ended. */
bool orch_schedule_may_try(struct run *run, struct job *job, bool *out_may, GError **error);
/** Ends a trial that is not needed. */
void orch_schedule_leave_out(struct run *run, struct job *job, const char *why);
/** Chooses the values of a trial that has a slot, or ends it when there are no more to try. */
bool orch_schedule_choose(struct run *run, struct job *job, GError **error);
/** Tells the search of a trial, if it is one's, that it has started. */
void orch_schedule_note_start(struct run *run, const struct job *job);
/** Tells the search of a trial, if it is one's, that it has ended; `collected` NULL: without having
 * run here. */
void orch_schedule_note_search(struct run *run, const struct job *job,
                               const struct orch_collected *collected);

/* ---- schedule_promote.c -----------------------------------------------------------------------
 */

/** Lets trials go on that their search's rule has stopped, as many as there are slots for. */
bool orch_schedule_promote(struct run *run, GError **error);

/* ---- schedule_promoted.c ----------------------------------------------------------------------
 */

/** Lets a trial go on that its search's rule has stopped: it is the next to start. */
void orch_schedule_let_go_on(struct run *run, struct job *job, const char *why);
/** Counts and tells of a trial that starts because it was let go on. */
void orch_schedule_note_promoted(struct run *run, struct job *job);
/** Counts a trial no longer as pruned that was let go on and now starts or ends otherwise. */
void orch_schedule_end_pruned(struct run *run, struct job *job);
/** Lets the plan say of trials that were let go on, but that a limit or the end of the run kept
 * from starting, that they are pruned. Returns their number. */
unsigned orch_schedule_keep_pruned(struct run *run);

/* ---- schedule_failing.c -----------------------------------------------------------------------
 */

/** An empty table of experiments and how their trials fail. */
GHashTable *orch_schedule_failing_new(void);
/** True while failures of the trial's experiment are counted. */
bool orch_schedule_may_stop(const struct run *run, const struct job *job);
/** A trial has ended and is not tried again. */
void orch_schedule_note_end(struct run *run, const struct job *job,
                            const struct orch_collected *collected);
/** Asks the user of the first experiment in `asked`, or asks again. */
void orch_schedule_ask(struct run *run);
/** True when the trial's experiment was stopped; then the trial has ended as not run. */
bool orch_schedule_is_stopped(struct run *run, struct job *job);

/* ---- schedule_limits.c ------------------------------------------------------------------------
 */

/** True when starting the trial would exceed a limit, judged by its forecast. */
bool orch_schedule_is_refused(struct run *run, const struct orch_plan_item *item);
/** Cancels the running trials once a limit is reached. They are recorded as cancelled and can be
 * run again. */
void orch_schedule_enforce_limits(struct run *run);

/* ---- schedule_sharing.c -----------------------------------------------------------------------
 */

/** True when no other machine runs the trial; otherwise sets it aside. */
bool orch_schedule_claim(struct run *run, struct job *job);
/** Reports that a claimed trial has ended or was not started. */
void orch_schedule_unclaim(struct run *run, const struct job *job);
/** Lets the sharing hooks renew claims and send results, about once per second. */
void orch_schedule_tick_sharing(struct run *run);
/** Number of trials that others run elsewhere. */
unsigned orch_schedule_away(const struct run *run);
/** Retries those trials when it is time. `idle`: nothing else is left to do. False when they are
 * not to be retried any more. */
bool orch_schedule_look_away(struct run *run, bool idle);

/* ---- schedule_progress.c ----------------------------------------------------------------------
 */

/** Gets a trial's forecast; false when there is none. */
bool orch_schedule_forecast(const struct run *run, const struct orch_plan_item *item,
                            struct orch_forecast *out);
/** Calls the listener's tick with the running trials, ten times per second. */
void orch_schedule_tick(struct run *run);

#endif
