/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which runs a comparison of times leaves out because other programs kept the CPUs busy
 * (lib/wire/foreign_cpu_fact.h has the threshold). A disturbed run is left out when an undisturbed
 * run of the same setting exists. On a machine that is always loaded there is none; then all runs
 * count, and the caller that prints the comparison says so. */
#ifndef ORCH_CORE_STATS_DISTURBED_H
#define ORCH_CORE_STATS_DISTURBED_H

#include "lib/wire/foreign_cpu_fact.h"
#include "store/store.h"

struct orch_disturbed {
    GHashTable *left_out; /* set of const struct orch_run *, borrowed */
    guint left_out_count;
    guint kept_count; /* disturbed, but the only run of their setting */
};

/** The share of the CPUs (0 to 1) that other programs used, from a trial's facts (object, or NULL);
 * NaN: unknown. A trial is disturbed above ORCH_FOREIGN_CPU_MAX. */
double orch_disturbed_share(const json_t *facts);

/** Finds the runs to leave out among `runs` (struct orch_run *, elements may be NULL). Runs with
 * the same experiment and the same swept values have the same setting, whatever their repeat.
 * orch_run_is_disturbed (group.h) decides with the `store`, which may be NULL. */
void orch_disturbed_find(struct orch_store *store, const GPtrArray *runs,
                         struct orch_disturbed *out);
void orch_disturbed_clear(struct orch_disturbed *disturbed);

/** Returns whether the run is left out. */
bool orch_disturbed_has(const struct orch_disturbed *disturbed, const struct orch_run *run);

/** Verdict for times that other programs disturbed on one side only: the difference includes the
 * effect of that load. */
#define ORCH_UNEVEN_WORDS "no verdict: other programs disturbed the runs of one side only"
#define ORCH_UNEVEN_HINT "'orch run RECIPE --disturbed' runs the disturbed trials again"

/** Formats one sentence on how many disturbed runs were left out and how many were kept. `option`
 * is the option that counts all of them (such as "--disturbed"), or NULL. NULL when there were
 * none. The caller frees. */
char *orch_disturbed_text(guint left_out, guint kept, const char *option);

#endif
