/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings in order of a metric: which is the best, and which of the others are ruled out as the
 * best. Runs of different tasks (experiment, data set, classes) are ranked apart, since their
 * numbers say nothing about each other. */
#ifndef ORCH_CORE_REPORT_RANKING_H
#define ORCH_CORE_REPORT_RANKING_H

#include "core/report/group.h"

/** What a ranking compares. */
struct orch_ranking_wish {
    const char *metric;
    enum orch_aggregate aggregate;
    const char *const *by; /* NULL-terminated; NULL: experiment and each swept name that varies */
    bool larger_wins;
    bool across; /* one ranking of all runs, whatever their tasks */
};

struct orch_ranking {
    char *task; /* "experiment finetune, dataset cifar10"; NULL: all runs are of one task */
    json_t *of; /* the same as an object; empty without a task */
    char **by;
    GPtrArray *groups; /* struct orch_group *, the best first, those without a number last */
    /* For each group by how much the first is better (positive), see orch_best_margins. */
    struct orch_difference *margins;
    size_t compared; /* settings that the first was compared with: those with a number */
    size_t worse;    /* how many of them are worse by more than noise */
    char *shared;    /* a sentence: repeats share a trained model; or NULL */
};

/** Ranks runs that have the metric. Array of struct orch_ranking *, the one with most runs first;
 * NULL when the store cannot be read. The caller unrefs. `runs` must outlive it. */
GPtrArray *orch_rankings_make(struct orch_store *store, GPtrArray *runs,
                              const struct orch_ranking_wish *wish, GError **error);

/** By how much the first of `count` settings is better than each other: margins[i] is its advantage
 * over the i-th (positive: better), margins[0] is empty. `means`: of each setting its means by seed
 * (struct orch_seed_mean), the best setting first. The winner was picked from the same numbers, so
 * each margin may be that of any pair of settings: p_corrected is Holm's over all pairs. Returns
 * how many settings are worse by more than noise. */
size_t orch_best_margins(const GArray *const *means, size_t count, bool larger_wins,
                         struct orch_difference *margins);
/** How the p-values of margins were made: "paired t by seed, two-sided; Holm's correction for all
 * 21 pairs of 7 settings, ...". `count` and `margins` as above. NULL: nothing was tested. The
 * caller frees. */
char *orch_margins_method(const struct orch_difference *margins, size_t count);

#endif
