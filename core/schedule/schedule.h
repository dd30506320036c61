/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a plan on this machine: starts a host for each trial that has to run, keeps the slots busy,
 * and records each trial as soon as it ends. It prints nothing but reports events to a listener. */
#ifndef ORCH_CORE_SCHEDULE_SCHEDULE_H
#define ORCH_CORE_SCHEDULE_SCHEDULE_H

#include "core/plan/plan.h"
#include "core/plan/plan_forecast.h"
#include "core/record/collect.h"
#include "core/record/trialdir.h"
#include "core/schedule/run_limits.h"
#include "lib/base/interval.h"
#include "lib/wire/event.h"

/** Progress at one point in time. */
struct orch_running_point {
    double t_s; /* since the trial's start */
    double done;
};
/** Adds a progress event of a journal to an array of struct orch_running_point. Drops all earlier
 * points when the total changes or the progress goes back, which begins a new phase, and thins out
 * a long array. `*inout_total`: the total of the points. */
void orch_running_add(GArray *points, const struct orch_event *event, double *inout_total);

/** The value of a metric of a running trial that is shown. */
struct orch_running_value {
    char name[64];
    double value;
    unsigned rank; /* of the metric: the lower, the more the run is about it */
};
#define ORCH_RUNNING_VALUES 2

/** A running trial, as seen in its journal. */
struct orch_running {
    const struct orch_plan_item *item;
    char key[ORCH_KEY_CHARS];
    char *trial_dir;
    struct orch_run_slot slot;
    int64_t started_ns, started_mono_ns;
    double done, total; /* progress; total 0: unknown */
    GArray *points;     /* struct orch_running_point; NULL until there is progress */
    char phase[64];
    struct orch_running_value values[ORCH_RUNNING_VALUES]; /* the newest ones, the first first */
    unsigned value_count;
    bool has_forecast;
    struct orch_interval forecast_s;
    bool has_planned, is_renewed; /* there is a forecast from before the run; the current forecast
                                     differs from it */
    struct orch_interval planned_s;
};

/** How much the trial's run is about a metric: the lower, the more. The metrics that the recipe's
 * report names come first, then those that the plugin declares, losses and accuracies, others, and
 * last times, counters and learning rates. */
unsigned orch_running_rank(const struct orch_running *running,
                           const struct orch_expansion *expansion, const char *name);

/** Notes a new value of a metric, if it is among those that the run is about most. */
void orch_running_show(struct orch_running *running, const struct orch_expansion *expansion,
                       const char *metric, double value);

struct orch_totals {
    unsigned planned;                         /* requested trials */
    unsigned reused;                          /* done before, or meanwhile by other processes */
    unsigned ended[ORCH_VERDICT_UNKNOWN + 1]; /* by verdict, the last attempt of each */
    unsigned retried;                         /* further attempts */
    unsigned promoted;      /* attempts of trials that a rule had stopped and let go on */
    unsigned skipped;       /* not started because this machine lacks a resource */
    unsigned pruned_before; /* stopped by their search's rule in an earlier run */
    unsigned unneeded;      /* not started because their search has found what it looks for */
    /* not started: a trial they refer to did not end well, or the run was stopped */
    unsigned not_run;
    unsigned held; /* not started: others run them or the trials they refer to elsewhere */
    bool interrupted, terminated;
    double saved_share;    /* of the time of searches, by stopping trials; NAN: unknown or none */
    double eta_s;          /* NAN: unknown */
    enum orch_limit limit; /* the limit that prevented or stopped trials */
    unsigned held_back;    /* trials among not_run that a limit prevented */
    unsigned cut_off;      /* trials that were cancelled at the limit */
    double device_s;       /* wall seconds x devices of all trials of this run */
};

/** So many trials of an experiment have to fail alike before the user is asked. */
#define ORCH_SAME_FAILURES 3

/** An experiment whose first ORCH_SAME_FAILURES trials failed in the same way within seconds. */
struct orch_failing {
    const char *experiment;
    const char *reason; /* of the last of these failures */
    unsigned left;      /* trials that have not run */
};

enum orch_decision {
    ORCH_DECISION_OPEN,  /* there is none yet: ask again */
    ORCH_DECISION_STOP,  /* run no more trials of the experiment */
    ORCH_DECISION_GO_ON, /* run them all the same */
};

/** Callbacks for events. Each may be NULL. */
struct orch_listener {
    void *ctx;
    void (*started)(void *ctx, const struct orch_running *trial);
    /** `collected` is borrowed; `again`: the trial will be retried. */
    void (*ended)(void *ctx, const struct orch_running *trial,
                  const struct orch_collected *collected, bool again,
                  const struct orch_totals *totals);
    /** A message for the user: one sentence. */
    void (*message)(void *ctx, const char *text);
    /** Called about ten times per second when `live` is set. */
    void (*tick)(void *ctx, const struct orch_running *const *running, unsigned count,
                 const struct orch_totals *totals);
    /** Asks whether an experiment whose first trials fail is to go on; NULL stands for
     * ORCH_DECISION_STOP. Called about ten times per second while the answer is open, during which
     * no trial starts and `tick` is not called. `failing` NULL: the question is withdrawn. */
    enum orch_decision (*ask)(void *ctx, const struct orch_failing *failing);
};

/** What to do with trials that others run elsewhere. */
enum orch_retry {
    ORCH_RETRY_NOW,   /* try to claim them again now */
    ORCH_RETRY_LATER, /* ask again later */
    ORCH_RETRY_NEVER, /* leave them to the others */
};

/** Hooks that share a run with other machines, so that no trial is run twice. Failures in them
 * never fail the run. They are called on the scheduler's thread and may block for network access.
 */
struct orch_sharing {
    void *ctx;
    /** Called just before a trial starts. Returns false when another machine runs it; its state is
     * then HELD with `*out_why` as the reason. */
    bool (*claim)(void *ctx, const struct orch_plan_item *item, char **out_why);
    /** Called when a trial was not started although `claim` returned true. */
    void (*dropped)(void *ctx, const struct orch_plan_item *item);
    /** Called when a trial has ended, is recorded and will not be retried. `well`: its run can be
     * reused, or its search's rule stopped it, so that others need not run it either. */
    void (*ended)(void *ctx, const struct orch_plan_item *item, bool well);
    /** Called about once per second. `quiet`: a timing trial is running, so the hook must not cause
     * load. */
    void (*tick)(void *ctx, bool quiet);
    /** Called while others run some of the trials. `idle`: nothing runs here and nothing else is
     * left to do. */
    enum orch_retry (*again)(void *ctx, bool idle);
    /** Called before a search chooses values: gives open points of the plan those that others have
     * tried or are trying. Returns whether it gave any. */
    bool (*take_points)(void *ctx);
};

/** What happens when inputs change while the plan runs. Programs of the user's run in the user's
 * folder, as by hand, as long as their inputs are as captured. */
enum orch_on_change {
    ORCH_ON_CHANGE_APART,  /* the remaining trials run from the captured tree in a folder apart */
    ORCH_ON_CHANGE_LIVE,   /* the remaining trials use the new files, which are captured again */
    ORCH_ON_CHANGE_FROZEN, /* nothing: all trials run apart from the beginning */
};

/** What a search does with a trial that could start. */
enum orch_search_turn {
    ORCH_SEARCH_GOES_ON, /* tries it */
    ORCH_SEARCH_WAITS,   /* not before others of it have ended */
    ORCH_SEARCH_IS_OVER, /* it tries nothing more */
};

/** Chooses the values of the trials of searches (core/recipe/recipe_search.h), one after the other,
 * and which settings of `repeat: auto` are repeated. */
struct orch_chooser {
    void *ctx;
    /** Called when a trial of a search could start, before it takes a slot. `*out_why` (the caller
     * frees): why the search is over. */
    bool (*ask)(void *ctx, struct orch_plan *plan, unsigned index, enum orch_search_turn *out,
                char **out_why, GError **error);
    /** Called when a trial whose point is open has its slot: sets the point and takes it into the
     * plan (orch_plan_take_point). False with `*out_why` (the caller frees) when there are no
     * values left to try, or with an error. */
    bool (*choose)(void *ctx, struct orch_plan *plan, unsigned index, char **out_why,
                   GError **error);
    /** Called when such a trial has ended and will not be retried; `collected` NULL: it has
     * not run here: it was given up, or an earlier run is reused. */
    void (*ended)(void *ctx, struct orch_plan *plan, unsigned index,
                  const struct orch_collected *collected);
    /** Called when such a trial is not needed any more and will not start; NULL: no matter. */
    void (*left_out)(void *ctx, unsigned index);
    /** Called when a trial has started whose experiment is a search or has `repeat: auto`. */
    void (*started)(void *ctx, const struct orch_plan *plan, unsigned index);
    /** Called when a trial of an experiment with `repeat: auto` could start, like `ask`: whether
     * its setting needs this repeat. */
    bool (*repeat)(void *ctx, const struct orch_plan *plan, unsigned index,
                   enum orch_search_turn *out, char **out_why, GError **error);
    /** The metric of which the search wants each value while a trial runs, to stop it early; NULL:
     * none. Both hooks may be NULL. */
    const char *(*watched)(void *ctx, const struct orch_plan *plan, unsigned index);
    /** Called with each value of that metric, in the order of the journal. Returns NULL when the
     * trial goes on, else why it is stopped: a sentence, which the caller frees. */
    char *(*value)(void *ctx, const struct orch_plan *plan, const struct orch_running *trial,
                   int64_t step, double value);
    /** Called when a trial could start, before any other is looked at: whether one that was stopped
     * (ORCH_PLAN_PRUNED, and not `stays_pruned`) goes on after all, since it is good by what is
     * known now. `*out_why` (the caller frees): why, as a sentence; NULL: none. The caller then
     * lets it go on. NULL: none ever does. */
    bool (*promote)(void *ctx, struct orch_plan *plan, unsigned *out_index, char **out_why,
                    GError **error);
};

struct orch_run_options {
    unsigned slots;
    enum orch_on_change on_change;
    const unsigned *gpus; /* GPUs that may be used; NULL: all */
    unsigned gpu_count;
    bool fail_fast;        /* start no more trials after the first failure */
    bool stops_failing;    /* ask after ORCH_SAME_FAILURES failures in the same way */
    bool live;             /* call tick */
    bool is_unpinned;      /* pin no trial to its CPUs */
    bool oversubscribes;   /* do not wait for CPUs that other runs of this machine use */
    const char *argv_json; /* the command line, stored with each run */
    /* NULL: no forecasts. Each forecast is stored with its run */
    const struct orch_forecaster *forecaster;
    const struct orch_limits *limits; /* NULL: none */
    struct orch_device_price gpu_price,
        machine_price;                  /* passed to trials, which may report costs */
    const struct orch_sharing *sharing; /* NULL: the run is not shared */
    const struct orch_chooser *chooser; /* NULL: the plan has no search */
    /** Called when an alert of a running trial has fired (lib/wire/alert.h); NULL: nobody is
     * told. `text`: what happened. */
    void (*alert)(void *ctx, const struct orch_running *trial, const char *text);
    void *alert_ctx;
};

/** Runs the plan. The first SIGINT stops starting trials, the second stops the running ones;
 * SIGTERM stops the running trials as preempted. Trials that a limit prevented are counted as
 * not_run; running the same plan again continues with them. False when an error stopped it (store,
 * plugin changed on disk); runs that ended are kept. */
bool orch_run_plan(struct orch_plan *plan, const struct orch_run_options *options,
                   const struct orch_listener *listener, struct orch_totals *out_totals,
                   GError **error);

/** Records which source files an experiment's `inputs:` name, for sharing them later. */
void orch_run_note_inputs(const struct orch_plan *plan);

#endif
