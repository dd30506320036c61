/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The accuracy of the store's past forecasts, by tier, model, device and network. */
#ifndef ORCH_FEATURES_PREDICT_FORECAST_SCORES_H
#define ORCH_FEATURES_PREDICT_FORECAST_SCORES_H

#include "core/plan/grades.h"
#include "store/store.h"

/** The accuracy of a group of forecasts. Texts are "-" when unknown, and borrowed. */
struct orch_forecast_score_row {
    const char *tier, *model;
    const char *made; /* "before the run" or "during the run" */
    const char *where, *network;
    bool is_disturbed; /* of runs during which other programs kept the CPUs busy */
    size_t count;
    struct orch_score score;
};

struct orch_forecast_scores {
    GArray *rows;      /* struct orch_forecast_score_row; those of all forecasts last */
    guint left_out;    /* forecasts of runs during which other programs kept the CPUs busy */
    GPtrArray *grades; /* owns the texts */
};
/** Scores all forecasts whose run has ended. Disturbed runs are left out unless all are disturbed;
 * with `with_disturbed` they are scored, in rows of their own. False when the store cannot be read.
 * The caller clears. */
bool orch_forecast_scores_read(struct orch_store *store, bool with_disturbed,
                               struct orch_forecast_scores *out, GError **error);
void orch_forecast_scores_clear(struct orch_forecast_scores *scores);

#endif
