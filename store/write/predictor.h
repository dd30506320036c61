/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trained predictors, stored as texts by name. They are local and never merged, because they can be
 * trained again from the merged data. */
#ifndef ORCH_STORE_PREDICTOR_H
#define ORCH_STORE_PREDICTOR_H

#include "store/store.h"

struct orch_predictor_row {
    char *name;
    int64_t made_ns; /* UTC */
    char *model;     /* the serialized model; NULL in a list without texts */
};
void orch_predictor_row_free(struct orch_predictor_row *row);

/** Stores a predictor and replaces an older one with that name. */
bool orch_store_put_predictor(struct orch_store *store, const char *name, const char *model,
                              GError **error);
/** The predictor with that name, or NULL without error when there is none. */
struct orch_predictor_row *orch_store_predictor(struct orch_store *store, const char *name,
                                                GError **error);
/** struct orch_predictor_row *, by name; the caller unrefs. */
GPtrArray *orch_store_predictors(struct orch_store *store, bool with_texts, GError **error);
/** Removes a predictor. `*out_removed` is false when there was none. */
bool orch_store_remove_predictor(struct orch_store *store, const char *name, bool *out_removed,
                                 GError **error);

/** Number of runs with an id larger than `after`, and the largest id. */
bool orch_store_newer_runs(struct orch_store *store, int64_t after, int64_t *out_count,
                           int64_t *out_last, GError **error);

#endif
