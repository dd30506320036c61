/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups numbers of runs. Winners and the web page share its rule: of several runs of one trial in
 * a group only the newest counts, and the runs of one seed are averaged first (seeds.h), so n is
 * the number of seeds. */
#ifndef ORCH_CORE_STATS_GROUPING_H
#define ORCH_CORE_STATS_GROUPING_H

#include <glib.h>
#include <stdint.h>

struct orch_grouping;

struct orch_grouping_run {
    const char *group;    /* equal for runs of the same group */
    const char *trial;    /* equal for runs of one trial on one device; NULL: a trial of its own */
    int64_t age_order;    /* the run with the greater number is newer */
    uint64_t seed;        /* 0: none */
    const double *values; /* NaN: the run has none */
};

/** Creates a grouping for runs with `value_count` values each. Free it with orch_grouping_free. */
struct orch_grouping *orch_grouping_new(unsigned value_count);
void orch_grouping_free(struct orch_grouping *grouping);

/** Adds a run and copies all its data. Returns the index of its group: 0, 1, ... in order of first
 * appearance. */
guint orch_grouping_add(struct orch_grouping *grouping, const struct orch_grouping_run *run);

/** Returns how many runs a group has, including those that newer runs replace. */
guint orch_grouping_runs(const struct orch_grouping *grouping, guint group);
/** Returns the runs of a group that count, as indices in the order of adding (guint, ascending);
 * the caller unrefs. */
GArray *orch_grouping_counted(const struct orch_grouping *grouping, guint group);
/** Returns a value of the run with that index. */
double orch_grouping_number(const struct orch_grouping *grouping, guint place, unsigned value);
/** Returns one value of a group, averaged by seed (struct orch_seed_mean). The caller unrefs. */
GArray *orch_grouping_means(const struct orch_grouping *grouping, guint group, unsigned value);

#endif
