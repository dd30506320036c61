/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the importance of parameters for a number, among the runs that match a condition: the
 * same forest and permutation as in the report of a search (predictors/param_importance.h), over
 * the parameters that vary among these runs. */
#include "features/web/run_points.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "predictors/param_importance.h"
#include "store/names_of.h"

#include <math.h>
#include <string.h>

enum { RUNS_MAX = 1000, NAMES_SAMPLED = 100 };

/* The parameters that vary among the newest runs, but for seeds. */
static GPtrArray *varied_params(struct web_call *call, const GArray *ids, GError **error)
{
    static const char *const seeds[] = {"seed", "random_seed", "manual_seed", "rng_seed", NULL};
    g_autoptr(GPtrArray) names = orch_store_names_of(
        call->store, (const int64_t *)(const void *)ids->data, MIN(ids->len, NAMES_SAMPLED), error);
    GPtrArray *params = names ? g_ptr_array_new_with_free_func(g_free) : NULL;
    for (guint i = 0; names && i < names->len && params->len < ORCH_SPACE_PARAMS_MAX; i++) {
        const struct orch_name_of_runs *n = names->pdata[i];
        if (strcmp(n->name.kind, "param") == 0 && n->distinct > 1 &&
            !g_strv_contains(seeds, n->name.name))
            g_ptr_array_add(params, g_strconcat("param.", n->name.name, NULL));
    }
    return params;
}

/* ---- the answer -------------------------------------------------------------------------------
 */

static json_t *shares_json(const struct orch_importance *importance, const GPtrArray *names)
{
    json_t *list = json_array();
    for (unsigned p = 0; p < importance->params; p++) {
        const struct orch_interval *share = &importance->share[p];
        json_array_append_new(list, json_pack("{s:s s:o s:o s:o}", "name", names->pdata[p], "share",
                                              orch_json_finite(share->mid), "low",
                                              orch_json_finite(share->low), "high",
                                              orch_json_finite(share->high)));
    }
    return list;
}

static bool answer_importance(struct web_call *call, const struct run_points *trials,
                              GError **error)
{
    g_autofree double *units = NULL;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    struct orch_space *space = orch_web_run_points_space(trials, names, &units, error);
    if (!space)
        return false;
    const unsigned width = space->params->len;
    struct orch_importance importance = {.explained = NAN};
    if (width)
        orch_importance_of(space, units, (const double *)(const void *)trials->values->data,
                           trials->rows->len, &importance);
    orch_web_answer_json(call,
                         json_pack("{s:I s:i s:o s:o}", "runs", (json_int_t)trials->rows->len,
                                   "least", ORCH_IMPORTANCE_TRIALS, "explained",
                                   orch_json_finite(importance.explained), "params",
                                   width ? shares_json(&importance, names) : json_array()),
                         6);
    orch_space_free(space);
    return true;
}

bool orch_web_api_importance(struct web_call *call, GError **error)
{
    const char *number = orch_web_query_text(call, "number", NULL);
    if (!number) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?number=METRIC", "the query has no number");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    struct run_points trials;
    GPtrArray *params = ids ? varied_params(call, ids, error) : NULL;
    const bool ok = orch_web_run_points_read(call, ids, RUNS_MAX, number, params, &trials, error) &&
                    answer_importance(call, &trials, error);
    orch_web_run_points_clear(&trials);
    return ok;
}
