/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs a comparison of times leaves out because other programs kept the CPUs busy while they
 * ran (lib/wire/disturbed.h has the threshold). A disturbed run is left out where an undisturbed
 * one of the same setting remains. On a machine that is always loaded none does: then all count,
 * and whoever prints the comparison says so. */
#ifndef ORCH_CORE_REPORT_DISTURBED_H
#define ORCH_CORE_REPORT_DISTURBED_H

#include "store/store.h"

struct orch_disturbed {
    GHashTable *left_out; /* set of const struct orch_run *, borrowed */
    guint left_out_count;
    guint kept_count; /* disturbed, but their setting has no other run */
};

/** Judges `runs` (struct orch_run *, NULL where there is none). Runs are of one setting when they
 * have the same experiment and the same swept values; the repeat does not matter. */
void orch_disturbed_find(const GPtrArray *runs, struct orch_disturbed *out);
void orch_disturbed_clear(struct orch_disturbed *disturbed);

/** Is the run left out? */
bool orch_disturbed_has(const struct orch_disturbed *disturbed, const struct orch_run *run);

/** Says in one sentence how many disturbed runs were left out and how many kept; `option` is how to
 * count all (such as "--disturbed"), or NULL. NULL when there were none. The caller frees. */
char *orch_disturbed_text(guint left_out, guint kept, const char *option);

#endif
