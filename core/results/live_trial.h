/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial that is running: what its journal says so far, and its remaining time. */
#ifndef ORCH_CORE_RESULTS_LIVE_TRIAL_H
#define ORCH_CORE_RESULTS_LIVE_TRIAL_H

#include "core/schedule/time_left.h"
#include "lib/base/interval.h"
#include "store/store.h"

struct orch_live_trial {
    json_t *record; /* its description, as written when it started; may be NULL */
    json_t *last;   /* object: the last value of each metric */
    json_t *notes;  /* texts for readers, such as its alerts */
    int64_t points;
    double done, total; /* progress; total 0: not reported */
    bool is_alive;      /* its runner is */
    bool has_left;
    struct orch_remaining left; /* by its own progress, else by its forecast */
    bool has_forecast;
    struct orch_interval forecast_s; /* of the whole trial, with has_forecast */
    bool is_longer;                  /* it has already run longer than forecast */
};
/** Reads the trial's journal and estimates its remaining time. What cannot be read counts as not
 * reported. Clear with orch_live_trial_clear. */
void orch_live_trial_read(struct orch_store *store, const struct orch_active_row *row,
                          struct orch_live_trial *out);
void orch_live_trial_clear(struct orch_live_trial *trial);

/** Estimates the remaining time on another GPU. Errors and release as for
 * orch_time_left_on_other_gpu. */
bool orch_live_trial_elsewhere(const struct orch_live_trial *trial, const char *gpu,
                               struct orch_time_left_on_gpu *out, GError **error);

#endif
