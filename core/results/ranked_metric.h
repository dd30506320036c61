/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The metric by which a user probably wants to rank runs. */
#ifndef ORCH_CORE_RESULTS_RANKED_METRIC_H
#define ORCH_CORE_RESULTS_RANKED_METRIC_H

#include "store/store.h"

struct orch_ranked_metric {
    char *name; /* NULL: no run ended well, or the last one has no metric; else owned */
    const char
        *option; /* what `orch best` needs to know which way is better: " --max", " --min", or
                    "" where the metric declares it */
};

/** Chooses among the metrics and results of the newest run that ended well, by their names and
 * declared directions. False on error. The caller frees the name. */
bool orch_ranked_metric_find(struct orch_store *store, struct orch_ranked_metric *out,
                             GError **error);

#endif
