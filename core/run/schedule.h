/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a plan here: starts a host for each trial that has to run, keeps the slots busy, records
 * each trial the moment it ends. Prints nothing: a listener hears what happens. */
#ifndef ORCH_CORE_RUN_SCHEDULE_H
#define ORCH_CORE_RUN_SCHEDULE_H

#include "core/run/collect.h"
#include "core/run/forecast.h"
#include "core/run/limits.h"
#include "core/run/plan.h"
#include "core/run/trialdir.h"
#include "lib/wire/event.h"

/** Progress at a time. */
struct orch_running_point {
    double t_s; /* since the trial's start */
    double done;
};
/** Adds a progress event of a journal to an array of struct orch_running_point; drops what an
 * earlier phase with another total said, and thins out what becomes long. `*inout_total`: of the
 * points. */
void orch_running_add(GArray *points, const struct orch_event *event, double *inout_total);

/** A trial that runs now, as far as its journal tells. */
struct orch_running {
    const struct orch_plan_item *item;
    char key[ORCH_KEY_CHARS];
    char *trial_dir;
    struct orch_slot slot;
    int64_t started_ns, started_mono_ns;
    double done, total; /* progress; total 0: unknown */
    GArray *points;     /* struct orch_running_point: of that progress; NULL until there is one */
    char phase[64];
    char metric[64]; /* the newest point: its name, or "" */
    double value;
    bool has_forecast;
    double forecast_p5_s, forecast_p50_s, forecast_p95_s;
};

struct orch_totals {
    unsigned planned;                         /* trials that were asked for */
    unsigned spared;                          /* done before, or by others meanwhile */
    unsigned ended[ORCH_VERDICT_UNKNOWN + 1]; /* by verdict, the last attempt of each */
    unsigned retried;                         /* further attempts */
    unsigned skipped;                         /* not started: profile or machine */
    unsigned not_run; /* not started: what they need did not end well, or the run was stopped */
    unsigned held;    /* not started: others run them elsewhere, or what they need */
    bool interrupted, terminated;
    double eta_s;          /* NAN: unknown */
    enum orch_limit limit; /* that kept trials from being started, or stopped them */
    unsigned held_back;    /* trials among not_run that a limit kept back */
    unsigned cut_off;      /* trials that were cancelled at the limit */
    double device_s;       /* wall seconds x devices of all trials of this run */
};

/** What happens, as it happens. Any may be NULL. */
struct orch_listener {
    void *ctx;
    void (*started)(void *ctx, const struct orch_running *trial);
    /** `collected` borrowed; `again`: it will be tried once more. */
    void (*ended)(void *ctx, const struct orch_running *trial,
                  const struct orch_collected *collected, bool again,
                  const struct orch_totals *totals);
    /** Something a user should know now: a sentence. */
    void (*message)(void *ctx, const char *text);
    /** About ten times a second when live is asked for. */
    void (*tick)(void *ctx, const struct orch_running *const *running, unsigned count,
                 const struct orch_totals *totals);
};

/** What to do with trials that others run elsewhere. */
enum orch_again {
    ORCH_AGAIN_NOW,   /* try to claim them once more */
    ORCH_AGAIN_LATER, /* ask again in a while */
    ORCH_AGAIN_NEVER, /* they are left to the others */
};

/** How a run is shared with others elsewhere, so that nobody starts what another runs. None of
 * these fails a run. They are called on the scheduler's thread and may take a network's time. */
struct orch_sharing {
    void *ctx;
    /** Just before a trial starts. False: another runs it; its state is then HELD with `*out_why`
     * as the reason. */
    bool (*claim)(void *ctx, const struct orch_plan_item *item, char **out_why);
    /** A trial for which `claim` was true was not started after all. */
    void (*dropped)(void *ctx, const struct orch_plan_item *item);
    /** It has ended for good, and is recorded. `well`: its run spares others. */
    void (*ended)(void *ctx, const struct orch_plan_item *item, bool well);
    /** About once a second. `quiet`: a timing trial runs, nothing heavy may run beside it. */
    void (*tick)(void *ctx, bool quiet);
    /** There are trials that others run. `idle`: nothing runs here, and nothing else is left. */
    enum orch_again (*again)(void *ctx, bool idle);
};

struct orch_run_options {
    unsigned slots;
    const unsigned *gpus; /* GPUs that may be used; NULL: all */
    unsigned gpu_count;
    bool fail_fast;                           /* start nothing more after the first fault */
    bool live;                                /* call tick */
    const char *argv_json;                    /* the command line, kept with each run */
    const struct orch_forecaster *forecaster; /* NULL: no forecasts. Each is kept with its run */
    const struct orch_limits *limits;         /* NULL: none */
    const struct orch_sharing *sharing;       /* NULL: with nobody elsewhere */
};

/** Runs what the plan says. SIGINT once: start nothing more; twice: stop what runs; SIGTERM: stop
 * what runs, as preempted. Under limits it ends with what they kept from running counted as
 * not_run; the same plan goes on from there. False on an error that stopped it (store, plugin
 * changed on disk): what ended is kept. */
bool orch_run_plan(struct orch_plan *plan, const struct orch_run_options *options,
                   const struct orch_listener *listener, struct orch_totals *out_totals,
                   GError **error);

#endif
