/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shared run while it runs: the place of its group, what it has claimed, and a network that
 * fails. For the files of shared_run.h. */
#ifndef ORCH_FEATURES_SHARE_SHARED_PLACE_H
#define ORCH_FEATURES_SHARE_SHARED_PLACE_H

#include "features/share/shared_points.h"
#include "features/share/shared_run.h"

/** Intervals as shares of a claim's duration: for sending results (60 s), and for checking whether
 * results of others have arrived (30 s; 6 s without work) or the network is back. */
#define ORCH_SHARE_SEND (1.0 / 15)
#define ORCH_SHARE_LOOK (1.0 / 30)
#define ORCH_SHARE_LOOK_IDLE (1.0 / 150)
/** ... and for looking at what others have begun, before a search chooses (3 s). */
#define ORCH_SHARE_POINTS (1.0 / 300)

struct orch_run_sharing {
    const struct orch_share_options *options;
    struct orch_plan *plan;     /* of the hooks */
    struct orch_claims *near;   /* in the folder of a shared store, or NULL */
    struct orch_claims *remote; /* or NULL */
    GHashTable *claimed;        /* set of items claimed by this process */
    GPtrArray *unsent;          /* const struct orch_plan_item *: ended well */
    GHashTable *holders;        /* item -> struct orch_claim *: as last seen */
    struct orch_shared_points *points;
    int64_t points_mono_ns; /* when the claims were last read for `points` */
    char *reported_wait;    /* the last text passed to `tell`, or NULL */
    int64_t sent_mono_ns, looked_mono_ns, down_mono_ns;
    bool has_news;    /* a trial has ended since results were sent */
    bool looked_last; /* only held trials were left, and they have been checked once more */
    bool has_reported_failure;
};

/** An interval, of which `share` is one of the above. */
int64_t orch_share_interval_ns(double share);
/** Sends or gets results; a shared store is read anew. */
bool orch_share_exchange(const struct orch_share_place *place, struct orch_store *store,
                         enum orch_exchange_way way, GError **error);
/** Reports the first failure and suspends network access for a while. */
void orch_share_report_failure(struct orch_run_sharing *share, const char *what,
                               const GError *error);
/** Whether network access is suspended. */
bool orch_share_is_down(const struct orch_run_sharing *share);

#endif
