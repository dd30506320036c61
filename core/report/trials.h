/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trials of a report item: either the planned trials of a recipe, run or not, or the runs that
 * a filter selects. Tables, plots and winners are made from them. */
#ifndef ORCH_CORE_REPORT_TRIALS_H
#define ORCH_CORE_REPORT_TRIALS_H

#include "core/plan/plan.h"
#include "core/render/document.h"
#include "core/stats/disturbed.h"
#include "core/stats/group.h"

/** One value that an item requests: "last val_accuracy", "result x", "wall_s". */
struct orch_item_value {
    enum orch_aggregate aggregate;
    char *name;
};

struct orch_report_trial {
    const struct orch_plan_item *item; /* NULL: the trial comes from a filter */
    struct orch_run *run;              /* NULL: the trial has not run */
    struct orch_run_numbers *numbers;  /* of the run; read on first use */
    uint64_t seed;                     /* of the run: orch_run_seed */
};
struct orch_trials {
    struct orch_store *store; /* borrowed; NULL: there is no store yet */
    GPtrArray *
        all; /* struct orch_report_trial *; a recipe's in declared order, a filter's newest first */
    GHashTable *labels; /* name -> label, of the plugins of the trials (core/report/labels.h) */
    GHashTable *bounds; /* name -> struct orch_bounds, the same (core/report/metric_bounds.h) */
    const char *who;    /* the user whose runs count as "ours"; borrowed, or NULL */
    struct orch_disturbed disturbed; /* runs excluded from times and rates; empty: none */
    struct orch_section *section;    /* the section that counts disturbed runs; borrowed, or NULL */
};

/** Returns the trials of the experiments that the item lists under `key` ("experiments"; all when
 * the key is absent) in the plan's profile. Trials that the item's filter `where` excludes are
 * dropped; for trials that have not run it is evaluated on their parameters. NULL with
 * ORCH_ERROR_USAGE for a bad filter. The caller frees. */
struct orch_trials *orch_trials_of_item(const struct orch_plan *plan,
                                        const struct orch_report_item *item, const char *key,
                                        GError **error);
/** Returns the runs that a filter selects (NULL: all) and that ended ok or diverged, only the
 * newest of each fingerprint. NULL with an error. The caller frees. */
struct orch_trials *orch_trials_of_filter(struct orch_store *store, const char *where,
                                          GError **error);
/** Makes orch_trial_number skip disturbed runs for times and rates; they are counted in `section`.
 */
void orch_trials_leave_out_disturbed(struct orch_trials *trials, struct orch_section *section);
/** Returns whether other programs disturbed the trial's run: its times may be too long. */
bool orch_trial_is_disturbed(const struct orch_trials *trials, struct orch_report_trial *trial);
/** Returns whether times and rates of the trial's run are skipped because the run was disturbed;
 * the run is counted in the section on the first call. The trial must have a run. */
bool orch_trial_is_left_out(const struct orch_trials *trials, struct orch_report_trial *trial);
/** Returns the names whose values separate tasks (core/stats/task.h) among the trials in `about`
 * (set of struct orch_report_trial *, NULL: all), without the names in `chosen` (NULL-terminated),
 * by which the caller groups already. Empty for a recipe's trials, because the recipe's author
 * decides what belongs together. const char *, static; the caller unrefs the array. */
GPtrArray *orch_trials_task_names(const struct orch_trials *trials, GHashTable *about,
                                  const char *const *chosen);
/** Drops the trials that are not in the set `kept`. */
void orch_trials_keep(struct orch_trials *trials, GHashTable *kept);
void orch_trials_free(struct orch_trials *trials);

/** Returns what was swept for a trial, an object (empty: nothing is known). The caller unrefs. */
json_t *orch_trial_coords(const struct orch_report_trial *trial);
/** Returns a trial's value on an axis as text. Axes are experiment, repeat, a parameter, and
 * setting ("lr=0.1 mode=full": everything swept); runs also have who, gpu, machine, threads,
 * commit, branch, ... NULL when the trial has no value. The caller frees. */
char *orch_trial_value(const struct orch_trials *trials, const struct orch_report_trial *trial,
                       const char *axis);
/** Joins a trial's values on several axes (char *): "0.01", "full 0.01". NULL when the trial has a
 * value on none of them (and axes->len > 0). The caller frees. */
char *orch_trial_label(const struct orch_trials *trials, const struct orch_report_trial *trial,
                       const GPtrArray *axes);
/** Returns whether the trial's experiment declares a metric or result of that name, or the name is
 * "wall_s". For runs of a filter: whether the run has it, even when all its values are NaN. */
bool orch_trial_has(const struct orch_trials *trials, struct orch_report_trial *trial,
                    const char *name);
/** Formats a trial's name: "lr=0.1 #2". The caller frees. */
char *orch_trial_name(const struct orch_report_trial *trial);
int orch_trial_repeat(const struct orch_report_trial *trial);
/** Reads one number of a trial: NaN when the trial has not run or has no such number. `out_better`
 * and `out_unit` are set as by orch_run_number, and are not changed without a number. False when
 * the store cannot be read. */
bool orch_trial_number(const struct orch_trials *trials, struct orch_report_trial *trial,
                       const struct orch_item_value *wanted, double *out, const char **out_better,
                       const char **out_unit, GError **error);

/** Returns whether other programs on the machine change the value: a time, a rate, or a share of
 * the machine ("system/cpu_trial" in %). `unit` may be NULL. */
bool orch_value_depends_on_load(const struct orch_item_value *value, const char *unit);

/** Parses the values that an item requests from a string or a list of strings. Returns struct
 * orch_item_value *; the caller unrefs. */
GPtrArray *orch_item_values_parse(const json_t *value);
/** Returns a string or a list of strings as an array of char *; empty for NULL. The caller unrefs.
 */
GPtrArray *orch_texts_from_json(const json_t *value);

/** Returns whether a run belongs to the trial, on whatever machine it was made. They are compared
 * by fingerprint, or by experiment, repeat and parameters when the plan has no fingerprint because
 * the trial's input files are not on this machine, or because a run on another device has the seed
 * of that device. */
bool orch_run_is_of(struct orch_store *store, const struct orch_run *run,
                    const struct orch_plan_item *item);
/** Returns the absolute path of an artifact's bytes. NULL when the run has no such artifact, or
 * when its bytes are not on this machine; then `*out_gone` (may be NULL) is true. The caller
 * frees. */
char *orch_run_artifact(struct orch_store *store, const struct orch_run *run, const char *name,
                        bool *out_gone);

/** Records a trial in a section: it counts as planned, and as done with its run when it has one. */
void orch_section_trial(struct orch_section *section, const struct orch_trials *trials,
                        struct orch_report_trial *trial);

#endif
