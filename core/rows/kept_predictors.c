/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/kept_predictors.h"

struct orch_trained *orch_kept_predictor_read(const struct orch_predictor_row *row, bool whole,
                                              GError **error)
{
    struct orch_trained *t = orch_trained_of_text(row->model, error);
    if (t && t->learned && (!whole || orch_learned_ready(t->learned, error)))
        return t;
    if (t && !t->learned)
        orch_trained_refuse(t, error);
    orch_trained_free(t);
    g_prefix_error(error, "predictor '%s': ", row->name);
    return NULL;
}
