/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parameters of a search matter. */
#include "features/search/search_parts.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Gathers the points that ended. Returns their number; the caller frees both arrays. */
static size_t gather(const struct orch_searched *searched, double **out_points, double **out_values)
{
    const unsigned params = searched->search->space->params->len;
    double *points = g_new(double, (gsize)searched->points->len *params + 1);
    double *values = g_new(double, searched->points->len + 1);
    size_t count = 0;
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        if (point->state != ORCH_SEARCHED_ENDED)
            continue;
        memcpy(points + count * params, point->at, params * sizeof *points);
        values[count++] = point->value;
    }
    *out_points = points;
    *out_values = values;
    return count;
}

/* "0.0001 to 1, logarithmic", "32 to 512, step 32", "sgd, adam" */
static char *range_text(const struct orch_space_param *param)
{
    char low[ORCH_REAL_CHARS], high[ORCH_REAL_CHARS], step[ORCH_REAL_CHARS];
    GString *text = g_string_new(NULL);
    if (param->kind != ORCH_SPACE_CHOICE)
        g_string_append_printf(text, "%s to %s%s", orch_real_format(param->low, low),
                               orch_real_format(param->high, high),
                               param->is_log ? ", logarithmic" : "");
    if (param->kind != ORCH_SPACE_CHOICE &&
        param->step > (param->kind == ORCH_SPACE_INTEGER ? 1 : 0))
        g_string_append_printf(text, ", step %s", orch_real_format(param->step, step));
    if (param->kind != ORCH_SPACE_CHOICE)
        return g_string_free(text, FALSE);
    for (guint k = 0; k < param->choices->len; k++)
        g_string_append_printf(text, "%s%s", k ? ", " : "", (char *)param->choices->pdata[k]);
    return g_string_free(text, FALSE);
}

/* Rounds a share to per cent, without the sign of a zero. */
static double percent(double share)
{
    return round(100 * share) + 0.0;
}

static void add_table(struct orch_section *section, const struct orch_space *space,
                      const struct orch_importance *importance)
{
    static const char *const headers[] = {"parameter", "range", ">importance", ">95 % interval",
                                          NULL};
    struct orch_table *table = orch_table_new(headers);
    bool shown[ORCH_SPACE_PARAMS_MAX] = {0};
    for (unsigned row = 0; row < importance->params; row++) { /* the most important first */
        unsigned next = importance->params;
        for (unsigned p = 0; p < importance->params; p++)
            if (!shown[p] && (next == importance->params ||
                              importance->share[p].mid > importance->share[next].mid))
                next = p;
        const struct orch_space_param *param = orch_space_param(space, next);
        const struct orch_interval *share = &importance->share[next];
        g_autofree char *mid = g_strdup_printf("%.0f %%", percent(share->mid));
        g_autofree char *interval =
            g_strdup_printf("%.0f to %.0f %%", percent(share->low), percent(share->high));
        g_autofree char *range = range_text(param);
        shown[next] = true;
        orch_table_add(table, param->name, NULL);
        orch_table_add(table, range, NULL);
        orch_table_add(table, mid, orch_json_finite(share->mid));
        orch_table_add(table, interval, NULL);
    }
    orch_section_table(section, table);
}

static bool is_any_above_zero(const struct orch_importance *importance)
{
    for (unsigned p = 0; p < importance->params; p++)
        if (importance->share[p].low > 0)
            return true;
    return false;
}

void orch_search_add_importance(struct orch_section *section, const struct orch_searched *searched,
                                struct orch_importance *out)
{
    const struct orch_space *space = searched->search->space;
    g_autofree double *points = NULL, *values = NULL;
    const size_t count = gather(searched, &points, &values);
    orch_importance_of(space, points, values, count, out);
    if (count < ORCH_IMPORTANCE_TRIALS) {
        orch_section_note(
            section,
            "importance of the parameters: not computed, %zu point%s ended, and %d are "
            "needed",
            count, orch_plural((int64_t)count), ORCH_IMPORTANCE_TRIALS);
        return;
    }
    if (isnan(out->explained)) {
        orch_section_note(section, "importance of the parameters: none, all values are equal");
        return;
    }
    if (out->explained <= 0) {
        orch_section_note(section,
                          "importance of the parameters: none can be named, because a forest "
                          "forecasts the points that it has not seen no better than their mean");
        return;
    }
    add_table(section, space, out);
    if (!is_any_above_zero(out))
        orch_section_note(section,
                          "no interval lies above 0, so the order of the parameters may be "
                          "chance");
    orch_section_note(
        section,
        "importance: share of the variance of the ranks of %zu points that a random "
        "forest can no longer explain when the parameter is shuffled; with all of "
        "them it explains %.0f %% in points that its trees have not seen. A parameter "
        "under whose condition others exist is shuffled with them. The sampler looks "
        "most where values are good, so this is the importance there.",
        count, 100 * out->explained);
}
