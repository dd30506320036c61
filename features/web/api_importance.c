/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the importance of parameters for a number, among the runs that match a condition: the
 * same points, space and forest as in the report of a search (lib/space/observed_space.h,
 * predictors/search/param_importance.h), over the parameters that vary among these runs. */
#include "features/web/run_points.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "predictors/search/param_importance.h"

enum { RUNS_MAX = 1000 };

static json_t *shares_json(const struct orch_importance *importance,
                           const struct run_points *points, const struct orch_observed_space *made)
{
    json_t *list = json_array();
    for (unsigned p = 0; p < importance->params; p++) {
        const struct orch_interval *share = &importance->share[p];
        json_array_append_new(list, json_pack("{s:s s:o s:o s:o s:o}", "name",
                                              points->params->pdata[made->columns[p]], "share",
                                              orch_json_finite(share->mid), "low",
                                              orch_json_finite(share->low), "high",
                                              orch_json_finite(share->high), "whole",
                                              orch_json_finite(importance->whole[p])));
    }
    return list;
}

static void answer_importance(struct web_call *call, const struct run_points *points)
{
    const struct orch_observed observed = orch_web_run_points_observed(points, points->params->len);
    struct orch_observed_space *made = orch_observed_space_new(&observed);
    struct orch_importance importance;
    orch_importance_of(made->space, made->units, (const double *)(const void *)points->values->data,
                       points->values->len, &importance);
    orch_web_answer_json(call,
                         json_pack("{s:I s:I s:b s:i s:o s:o}", "runs", (json_int_t)points->runs,
                                   "points", (json_int_t)points->rows->len, "is_cut",
                                   (int)points->is_cut, "least", ORCH_IMPORTANCE_TRIALS,
                                   "explained", orch_json_finite(importance.explained), "params",
                                   shares_json(&importance, points, made)),
                         6);
    orch_observed_space_free(made);
}

bool orch_web_api_importance(struct web_call *call, GError **error)
{
    const char *number = orch_web_query_text(call, "number", NULL);
    if (!number) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?number=METRIC", "the query has no 'number'");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    struct run_points points;
    GPtrArray *params = ids ? orch_web_varied_params(call, ids, error) : NULL;
    const bool ok =
        orch_web_run_points_read(call, ids, RUNS_MAX, number, params, true, &points, error);
    if (ok)
        answer_importance(call, &points);
    orch_web_run_points_clear(&points);
    return ok;
}
