/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets trials of searches go on that a rule has stopped and that are good after all, as long as the
 * search looks for a better point and may spend what that costs. */
#ifndef ORCH_FEATURES_SEARCH_PROMOTE_TRIALS_H
#define ORCH_FEATURES_SEARCH_PROMOTE_TRIALS_H

#include "features/search/stop_trials.h"
#include "features/search/tried_points.h"

struct orch_promoter {
    struct orch_tried *tried;
    struct orch_stop_trials *stops;
    double usd_per_hour; /* of a device; 0: not known */
    int64_t since_ns;    /* the run began: nanoseconds ago */
};

/** Finds such a trial and notes that it goes on. `*out_why` (the caller frees): why; NULL: there is
 * none now. */
bool orch_promote_trials_ask(const struct orch_promoter *promoter, struct orch_plan *plan,
                             unsigned *out_index, char **out_why, GError **error);

#endif
