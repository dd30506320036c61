/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A running trial as the page follows it: its journal is read as it grows. */
#ifndef ORCH_FEATURES_WEB_FOLLOWED_TRIAL_H
#define ORCH_FEATURES_WEB_FOLLOWED_TRIAL_H

#include "features/web/internal.h"

#include "lib/base/thin_series.h"
#include "lib/wire/journal.h"

struct web_curve {
    char *name;
    struct orch_thin *all, *fresh; /* fresh: NULL when there are no new points */
    double last;
};

struct web_trial {
    struct orch_active_row *row;
    json_t *identity; /* result of orch_web_active_json */
    json_t *forecast; /* or NULL */
    struct orch_journal *journal;
    GPtrArray *curves; /* struct web_curve * */
    GArray *progress;  /* struct orch_running_point */
    double points_total, done, total;
    int64_t points;
    GHashTable *machine; /* system metric (char *) -> its last value (double *) */
    unsigned metrics_left_out;
    char *phase;
    json_t *notes; /* texts, such as its alerts */
    bool is_seen, has_more;
};

/** Takes `row` over. */
struct web_trial *orch_web_trial_new(struct orch_store *store, struct orch_active_row *row);
void orch_web_trial_free(gpointer trial);
/** Reads the journal until its end, or until the time is over (then `has_more`). */
void orch_web_trial_read(struct web_trial *t, int64_t until_ns);
/** Describes the trial as it stands. New reference. */
json_t *orch_web_trial_json(const struct web_trial *t);
/** Describes one of its curves by the points of `thin`. New reference. */
json_t *orch_web_trial_curve_json(const struct web_trial *t, const struct web_curve *c,
                                  const struct orch_thin *thin);

#endif
