/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials of a setting that give no number: their runs failed, were pruned, or have no number of a
 * metric. A setting that is named best is named with them. */
#ifndef ORCH_CORE_STATS_LOST_RUNS_H
#define ORCH_CORE_STATS_LOST_RUNS_H

#include "store/store.h"

enum orch_lost_why {
    ORCH_LOST_FAILED, /* by itself: failed, crashed, timeout, protocol-error */
    ORCH_LOST_PRUNED, /* a search's rule stopped it */
    ORCH_LOST_NUMBER, /* it ended well, and has no number of the metric */
    ORCH_LOST_WHYS,
};

/** Why a run in this state is no result; ORCH_LOST_WHYS: it is one, or it says nothing of its
 * setting (cancelled, lost). */
enum orch_lost_why orch_lost_why_of(const char *state);

struct orch_lost_runs;
struct orch_lost_runs *orch_lost_runs_new(struct orch_store *store);
void orch_lost_runs_free(struct orch_lost_runs *lost);
/** Adds a run that gives no number, which must outlive `lost`. False when the store cannot be read.
 */
bool orch_lost_runs_add(struct orch_lost_runs *lost, const struct orch_run *run,
                        enum orch_lost_why why, GError **error);

/** The trials of one setting. */
struct orch_lost {
    unsigned trials;                 /* with those that have a number */
    GPtrArray *runs[ORCH_LOST_WHYS]; /* struct orch_run *, borrowed: one for each trial that has no
                                           number in any run */
};
/** Finds the trials of a setting that give no number. `runs` (struct orch_run *) are those that do:
 * equal settings have equal parameters but for seeds, whatever the code. The caller clears `out`,
 * after an error, too. */
bool orch_lost_find(const struct orch_lost_runs *lost, const GPtrArray *runs, struct orch_lost *out,
                    GError **error);
void orch_lost_clear(struct orch_lost *lost);
/** "1 of its 3 runs failed (3af1376b), and 1 has no number (40a5e8b6)"; NULL: each has a number.
 * `whose`: "its". The caller frees. */
char *orch_lost_text(const struct orch_lost *lost, const char *whose);

#endif
