/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks settings by a metric: which is the best, and which others can be ruled out as the best.
 * Runs of different tasks (task.h) are ranked separately, since their numbers are not comparable.
 */
#ifndef ORCH_CORE_STATS_RANKING_H
#define ORCH_CORE_STATS_RANKING_H

#include "core/stats/group.h"

/** The request for a ranking. */
struct orch_ranking_request {
    const char *metric;
    enum orch_aggregate aggregate;
    const char *const *by; /* NULL-terminated; NULL: experiment and each swept name that varies */
    bool larger_wins;
    bool across; /* rank all runs together, whatever their tasks */
};

struct orch_ranking {
    char *task; /* "experiment finetune, dataset cifar10"; NULL: all runs belong to one task */
    json_t *of; /* `task` as an object; empty without a task */
    char **by;
    GPtrArray *groups; /* struct orch_group *, the best first, those without a number last */
    /* [i]: the margin of the first group over groups[i] (positive: the first is better), see
     * orch_best_margins. */
    struct orch_difference *margins;
    size_t compared; /* number of settings that the first was compared with, those with a number */
    size_t worse;    /* number of these that are worse by more than noise */
    char *shared;    /* a sentence when repeats start from the same trained model; or NULL */
};

/** Ranks the runs that have the metric. Returns struct orch_ranking *, the one with most runs
 * first; NULL when the store cannot be read. The caller unrefs. `runs` must outlive the result. */
GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_request *request, GError **error);

/** Computes the margins of the best of `count` settings: margins[i] is its advantage over setting i
 * (positive: better), margins[0] is empty. `means` has the means by seed of each setting (struct
 * orch_seed_mean), with the best setting first. The winner was selected by these same numbers, so
 * each margin could be that of any pair of settings; p_corrected is therefore corrected over all
 * pairs (Holm). Returns how many settings are worse by more than noise. */
size_t orch_best_margins(const GArray *const *means, size_t count, bool larger_wins,
                         struct orch_difference *margins);
/** Describes how the p-values of the margins were computed: "paired t by seed, two-sided; Holm's
 * correction for all 21 pairs of 7 settings, ...". `count` and `margins` are as above. NULL:
 * nothing was tested. The caller frees. */
char *orch_margins_method(const struct orch_difference *margins, size_t count);

#endif
