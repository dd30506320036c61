/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials that an answer is about: those that a recipe asks for, run or not, or the runs that a
 * filter names. What tables, plots and winners are made of. */
#ifndef ORCH_CORE_ANSWER_TRIALS_H
#define ORCH_CORE_ANSWER_TRIALS_H

#include "core/report/disturbed.h"
#include "core/report/document.h"
#include "core/report/group.h"
#include "core/run/plan.h"

/** One value that an item asks for: "last val_accuracy", "result x", "wall_s". */
struct orch_wanted {
    enum orch_aggregate aggregate;
    char *name;
};

struct orch_trial {
    const struct orch_plan_item *item; /* NULL: from a filter */
    struct orch_run *run;              /* NULL: nobody has run it */
    struct orch_run_numbers *numbers;  /* of the run; read when first asked for */
    bool is_disturbance_counted;       /* in the section's sums */
};
struct orch_trials {
    struct orch_store *store;        /* borrowed; NULL: there is no store yet */
    GPtrArray *all;                  /* struct orch_trial *, in declared order, or newest first */
    const char *who;                 /* whose runs are "ours"; borrowed, or NULL */
    struct orch_disturbed disturbed; /* runs that times leave out; empty: none */
    struct orch_section *section;    /* that counts them; borrowed, or NULL */
};

/** The trials of the experiments that the item's `key` names ("experiments"; all without it) in
 * this profile, less those that its `where` excludes (it is asked of runs, and of the parameters of
 * what was not run). NULL with ORCH_ERROR_USAGE for a bad filter. The caller frees. */
struct orch_trials *orch_trials_of_item(const struct orch_plan *plan,
                                        const struct orch_report_item *item, const char *key,
                                        GError **error);
/** The newest run of each fingerprint that a filter names (NULL: all) and that ended ok or
 * diverged. The caller frees. */
struct orch_trials *orch_trials_of_filter(struct orch_store *store, const char *where,
                                          GError **error);
/** Leaves disturbed runs out of what orch_trial_number gives for times and rates, and counts them
 * in `section`. */
void orch_trials_leave_out_disturbed(struct orch_trials *trials, struct orch_section *section);
/** Drops the trials that are not in a set of them. */
void orch_trials_keep(struct orch_trials *trials, GHashTable *kept);
void orch_trials_free(struct orch_trials *trials);

/** A trial's value of an axis as text: experiment, repeat, a parameter, setting ("lr=0.1
 * mode=full": all that is swept); of a run also who, gpu, machine, threads, commit, branch, ...
 * NULL: it has none. The caller frees. */
char *orch_trial_value(const struct orch_trials *trials, const struct orch_trial *trial,
                       const char *axis);
/** "0.01", "full 0.01": its values of some axes (char *); NULL when it lies on none of them (and
 * axes->len > 0). The caller frees. */
char *orch_trial_label(const struct orch_trials *trials, const struct orch_trial *trial,
                       const GPtrArray *axes);
/** Declares the trial's experiment a metric or result of that name (or is it "wall_s")? For runs of
 * a filter: whether the run has it. */
bool orch_trial_has(const struct orch_trials *trials, struct orch_trial *trial, const char *name);
/** "lr=0.1 #2". The caller frees. */
char *orch_trial_name(const struct orch_trial *trial);
int orch_trial_repeat(const struct orch_trial *trial);
/** A number of a trial; NaN when it was not run or has none. `out_better` and `out_unit` as
 * orch_run_number gives them; untouched where there is none. False when the store cannot be read.
 */
bool orch_trial_number(const struct orch_trials *trials, struct orch_trial *trial,
                       const struct orch_wanted *wanted, double *out, const char **out_better,
                       const char **out_unit, GError **error);

/** What an item asks for, from a text or a list of texts. struct orch_wanted *; the caller unrefs.
 */
GPtrArray *orch_wanted_parse(const json_t *value);
/** "last", "best", ... */
const char *orch_aggregate_name(enum orch_aggregate aggregate);
/** A text or a list of texts as char *; empty for NULL. The caller unrefs. */
GPtrArray *orch_texts(const json_t *value);

/** Is it a run of the trial, wherever it was made? By fingerprint; where the plan has none (what
 * the trial reads is not here), by experiment, repeat and parameters. */
bool orch_run_is_of(struct orch_store *store, const struct orch_run *run,
                    const struct orch_plan_item *item);
/** Absolute path of an artifact's bytes. NULL: the run has none of that name, or (`*out_gone`, may
 * be NULL, is then true) they are not here. The caller frees. */
char *orch_run_artifact(struct orch_store *store, const struct orch_run *run, const char *name,
                        bool *out_gone);

/** Notes a trial in a section: counts it as planned, as done when it was run, and its run. */
void orch_section_trial(struct orch_section *section, const struct orch_trials *trials,
                        const struct orch_trial *trial);

#endif
