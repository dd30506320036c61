/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs: one row for each selected run and, without a selection, each running trial. */
#ifndef ORCH_CORE_RESULTS_RUN_LIST_H
#define ORCH_CORE_RESULTS_RUN_LIST_H

#include "core/results/selection.h"

/** A run that has ended, or a trial that is running. Texts may be NULL unless noted. */
struct orch_listed_run {
    char *key;     /* never NULL */
    char *state;   /* of a trial: "running", or "interrupted" when its runner is dead; never NULL */
    char *setting; /* orch_run_setting_text; never NULL */
    char *experiment, *who, *commit, *name;
    json_t *coords;  /* the swept parameters (object), or NULL */
    GPtrArray *tags; /* char *, sorted; empty without tags and for a trial */
    double *values;  /* one for each requested metric; NaN: the run does not have it */
    double wall_s;   /* of a trial: the time since it started */
    int64_t started_ns;
    bool is_running, is_hidden;
    bool has_tree, is_dirty; /* its source was captured; had uncommitted changes */
};

/** A requested metric that no listed run has, whose column would be empty. */
struct orch_lacking_metric {
    const char *name; /* borrowed from the request */
    char *hint;       /* the nearest name that runs do have, or their list */
};

struct orch_run_list {
    GPtrArray *runs;    /* struct orch_listed_run *: running trials, then runs as selected */
    GPtrArray *lacking; /* struct orch_lacking_metric *; empty when no run is listed */
    guint ended;        /* number of listed runs that have ended */
    int64_t total;      /* number of selected runs without the limit */
    bool has_labels;    /* some run has a name or a tag */
};
/** Lists the selected runs, newest first, with the last value of each of `metrics`
 * (NULL-terminated, or NULL), which may also name results. `with_running`: running trials, too.
 * NULL with an error of orch_selection_runs. The caller frees. */
struct orch_run_list *orch_run_list_make(struct orch_store *store,
                                         const struct orch_selection *selection,
                                         const char *const *metrics, bool with_running,
                                         GError **error);
void orch_run_list_free(struct orch_run_list *list);

#endif
