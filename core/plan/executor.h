/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An executor runs trials somewhere else than in processes of this command. A feature lists it in
 * its descriptor, and `orch run --executor NAME` chooses it; without one, trials run on this
 * machine. The facts of a submission are stored among the facts of the trial's record under the
 * name of the executor. */
#ifndef ORCH_CORE_PLAN_EXECUTOR_H
#define ORCH_CORE_PLAN_EXECUTOR_H

#include "core/recipe/recipe.h"
#include "lib/base/ident.h"
#include "store/store.h"

struct orch_cli;
struct orch_plan;
struct orch_forecaster;
struct orch_limits;
struct orch_chooser;

/** What `orch run` asks of an executor besides the plan. */
struct orch_submit_request {
    unsigned at_once;  /* trials that run at the same time (-j); 0: no limit */
    bool requires_all; /* --require ok: skipped trials count as failed */
    const struct orch_forecaster *forecaster;
    const struct orch_limits *limits;   /* NULL: none */
    const struct orch_chooser *chooser; /* of the plan's searches; NULL: it has none */
};

/** An option of `orch run` that the executor does not support, without dashes, and what to do. */
struct orch_refused_option {
    const char *name, *hint;
};

struct orch_executor {
    const char *name;
    const struct orch_refused_option *refused; /* ends with a NULL name */
    /** Returns the place that timings depend on, as a device key. It is also the member "place" of
     * the facts of a submission. The caller frees. */
    char *(*place)(const struct orch_expansion *expansion,
                   const struct orch_experiment *experiment);
    /** Says where a trial in progress runs, as the reason why it is not run now: "submitted to
     * ...". NULL when `runner` is not one of this executor. The caller frees. */
    char *(*held)(const struct orch_process *runner);
    /** Submits the trials of the plan, and prints what was submitted. Returns the exit status, or
     * -1 with an error. */
    int (*submit)(struct orch_cli *cli, struct orch_plan *plan,
                  const struct orch_submit_request *request, GError **error);
    /** Cancels trials in progress that were submitted to it: their keys (char *). `*out_count`: how
     * many it has asked for. */
    bool (*cancel)(struct orch_store *store, const GPtrArray *keys, unsigned *out_count,
                   GError **error);
    const char
        *after_cancel; /* how the runs of such trials are recorded: "'orch ...' takes in ..." */
};

/** Returns the executor of that name, or NULL. */
const struct orch_executor *orch_executor_find(const char *name);
/** Returns the names that --executor accepts, "local" first: a NULL-terminated list, whose texts
 * are borrowed. The caller frees the list. */
const char **orch_executor_names(void);
/** Says where an executor runs a trial in progress (`held`); NULL when none does. The caller
 * frees. */
char *orch_executor_held(const struct orch_process *runner);
/** Whether a trial in progress was submitted to an executor: nothing on this machine runs it. */
bool orch_executor_has_submitted(const struct orch_process *runner);
/** True while the runner of an active row lives: its process on this machine, or an executor's job
 * that was not collected yet. */
bool orch_active_is_alive(const struct orch_active_row *row);
/** The executor to which a trial in progress was submitted; NULL: none. */
const struct orch_executor *orch_executor_of(const struct orch_process *runner);
/** Whether a trial with this record was submitted to an executor. */
bool orch_executor_has(const json_t *record);

#endif
