/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trained predictors kept in the store: texts by name. Local only, never merged: they can be
 * trained again from what is. */
#ifndef ORCH_STORE_PREDICTOR_H
#define ORCH_STORE_PREDICTOR_H

#include "store/store.h"

struct orch_predictor_row {
    char *name;
    int64_t made_ns; /* UTC */
    char *model;     /* the text; NULL in a list without texts */
};
void orch_predictor_row_free(struct orch_predictor_row *row);

/** Keeps a predictor, in the place of an older one of that name. */
bool orch_store_put_predictor(struct orch_store *store, const char *name, const char *model,
                              GError **error);
/** By name. NULL without error when there is none. */
struct orch_predictor_row *orch_store_predictor(struct orch_store *store, const char *name,
                                                GError **error);
/** struct orch_predictor_row *, by name; the caller unrefs. */
GPtrArray *orch_store_predictors(struct orch_store *store, bool with_texts, GError **error);
/** Removes one. `*out_removed` false: there was none. */
bool orch_store_remove_predictor(struct orch_store *store, const char *name, bool *out_removed,
                                 GError **error);

/** Runs that ended behind local id `after`, and the newest id. */
bool orch_store_newer_runs(struct orch_store *store, int64_t after, int64_t *out_count,
                           int64_t *out_last, GError **error);

#endif
