/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks settings by a metric: which is the best, and which others can be ruled out as the best.
 * Runs of different tasks (task.h) are ranked separately, since their numbers are not comparable.
 */
#ifndef ORCH_FEATURES_COMPARE_RANKING_H
#define ORCH_FEATURES_COMPARE_RANKING_H

#include "core/stats/group.h"
#include "core/stats/task.h"
#include "features/compare/family.h"

/** Says of so many tasks that they are ranked separately. */
#define ORCH_RANKED_APART                                                                          \
    "each of the %u tasks has a ranking of its own (" ORCH_TASK_WORDS                              \
    "): --across ranks all together"

/** The request for a ranking. */
struct orch_ranking_request {
    const char *metric;
    enum orch_aggregate aggregate;
    const char *const *by; /* NULL-terminated; NULL: experiment and each swept name that varies */
    bool larger_wins;
    bool across;           /* rank all runs together, whatever their tasks */
    bool counts_disturbed; /* compare times of disturbed runs with those of undisturbed ones */
};

struct orch_ranking {
    char *task;      /* "experiment finetune, dataset cifar10"; NULL: all runs belong to one task */
    json_t *of;      /* `task` as an object; empty without a task */
    GPtrArray *runs; /* of the task: struct orch_run *, borrowed */
    char **by;
    GPtrArray *groups; /* struct orch_group *, the best first, those without a number last */
    /* [i]: the margin of the first group over groups[i] (positive: the first is better), see
     * orch_best_margins. */
    struct orch_difference *margins;
    size_t compared;  /* number of settings that the first was compared with: those with a number,
                         but for those that were measured under another load */
    bool is_uneven;   /* there are settings that were measured under another load than the first */
    size_t worse;     /* number of these that are worse by more than noise */
    char *method;     /* how p was computed, see orch_best_margins; or NULL */
    char *shared;     /* a sentence when repeats start from the same trained model; or NULL */
    GPtrArray *mixed; /* char *: names besides `by` whose values differ within a group */
};

/** Splits the runs by task: rankings that have `task`, `of` and `runs` alone. The caller unrefs. */
GPtrArray *orch_rankings_split(struct orch_store *store, const GPtrArray *runs,
                               const struct orch_ranking_request *request);
/** Ranks the runs that have the metric. Returns struct orch_ranking *, the one with most runs
 * first; NULL when the store cannot be read. The caller unrefs. `runs` must outlive the result. */
GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_request *request, GError **error);

/** Computes the margins of the best of `count` settings: margins[i] is its advantage over setting i
 * (positive: better), margins[0] is empty. The best setting is first. The winner was selected by
 * these same numbers, so each margin could be that of any pair of settings: they are tests of the
 * family of all settings (family.h, with the other arguments). `out_method` receives a description,
 * NULL when nothing was tested; the caller frees. Returns how many settings are worse by more than
 * noise. */
size_t orch_best_margins(GArray *const *means, const bool *is_disturbed, size_t count,
                         const struct orch_best_metric *metric, struct orch_difference *margins,
                         char **out_method);

#endif
