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
    bool across;           /* rank all runs together, whatever their tasks */
    bool counts_disturbed; /* compare times of disturbed runs with those of undisturbed ones */
};

/** What is known of the metric that settings are ranked by. */
struct orch_best_metric {
    const char *name, *unit; /* may be NULL */
    bool larger_wins;
};

struct orch_ranking {
    char *task; /* "experiment finetune, dataset cifar10"; NULL: all runs belong to one task */
    json_t *of; /* `task` as an object; empty without a task */
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

/** Ranks the runs that have the metric. Returns struct orch_ranking *, the one with most runs
 * first; NULL when the store cannot be read. The caller unrefs. `runs` must outlive the result. */
GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_request *request, GError **error);

/** Computes the margins of the best of `count` settings: margins[i] is its advantage over setting i
 * (positive: better), margins[0] is empty. `means` has the means by seed of each setting (struct
 * orch_seed_mean), with the best setting first. The winner was selected by these same numbers, so
 * each margin could be that of any pair of settings, and p_corrected is corrected over all pairs.
 * With three settings or more whose scatter is alike that is Tukey's test with the scatter of all
 * of them; a pair that is not in the pool is tested alone, with Bonferroni's correction. Without a
 * pool all pairs are tested alone, with that correction, too. Margins are corrected as p is. `name`
 * and `unit` are the metric's (may be NULL). `out_method` receives a description ("Tukey's range
 * test for all 36 pairs of 9 settings, ..."), NULL when nothing was tested; the caller frees.
 * Returns how many settings are worse by more than noise.
 *
 * `is_disturbed` (NULL: none) marks settings whose times were disturbed (disturbed.h). Those that
 * differ in it from the best setting are not tested: their margin has is_uneven. */
size_t orch_best_margins(const GArray *const *means, const bool *is_disturbed, size_t count,
                         const struct orch_best_metric *metric, struct orch_difference *margins,
                         char **out_method);

#endif
