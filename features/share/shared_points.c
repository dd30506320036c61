/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/share/shared_points.h"

#include <math.h>

/* Claims with a point that are looked at; a hostile member may write many. */
#define POINTS_MAX 1000

struct orch_shared_points {
    GHashTable *seen; /* set of resources: claims of others with a point, as last read */
};

static GHashTable *new_set(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

struct orch_shared_points *orch_shared_points_new(void)
{
    struct orch_shared_points *points = g_new0(struct orch_shared_points, 1);
    points->seen = new_set();
    return points;
}

void orch_shared_points_free(struct orch_shared_points *points)
{
    g_hash_table_unref(points->seen);
    g_free(points);
}

void orch_shared_points_forget(struct orch_shared_points *points)
{
    g_hash_table_remove_all(points->seen);
}

json_t *orch_shared_point(const struct orch_plan_item *item)
{
    const struct orch_search_point *point = item->cell->point;
    if (!point || !point->is_chosen)
        return NULL;
    json_t *json = json_object();
    for (unsigned i = 0; i < point->search->space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(point->search->space, i);
        g_autofree char *text = isnan(point->at[i]) ? NULL : orch_space_text(param, point->at[i]);
        if (text)
            json_object_set_new(json, param->name, json_string(text));
    }
    return json;
}

/* Reads the coordinates of a claimed point. False when the space has no such point. */
static bool read_point(const struct orch_space *space, const json_t *json, double *out)
{
    size_t known = 0;
    for (unsigned i = 0; i < space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(space, i);
        const char *text = json_string_value(json_object_get(json, param->name));
        out[i] = NAN;
        if (orch_space_exists(space, i, out) != (text != NULL) ||
            (text && !orch_space_unit(param, text, &out[i])))
            return false;
        known += text != NULL;
    }
    orch_space_snap(space, out);
    return known == json_object_size(json);
}

/* Gives an open point of the plan the one of a claim, if the trial would be the same one. False:
 * none was given. */
static bool take_claim(struct orch_plan *plan, const struct orch_claim *claim, GError **error)
{
    const struct orch_search_point *last = NULL;
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_plan_item *item = &plan->items[i];
        const struct orch_search_point *point = item->cell->point;
        double at[ORCH_SPACE_PARAMS_MAX] = {0};
        bool is_taken;
        if (!orch_cell_is_open(item->cell) ||
            (last && last->search == point->search && last->group == point->group))
            continue;
        last = point;
        if (!read_point(point->search->space, claim->point, at))
            continue;
        if (!orch_plan_take_trial(plan, i, at, claim->fingerprint, &is_taken, error))
            return false;
        if (is_taken)
            return true;
    }
    return false;
}

/* Adds the claims of one place that have a point to `now`, and takes those that are new. */
static bool take_at(const struct orch_shared_points *points, struct orch_plan *plan,
                    struct orch_claims *place, GHashTable *now, bool *out_taken, GError **error)
{
    g_autoptr(GPtrArray) list = orch_claims_list(place, error);
    for (guint i = 0; list && i < list->len && g_hash_table_size(now) < POINTS_MAX; i++) {
        const struct orch_claim *claim = list->pdata[i];
        GError *problem = NULL;
        if (claim->is_ours || !claim->point)
            continue;
        g_hash_table_add(now, g_strdup(claim->resource));
        if (!g_hash_table_contains(points->seen, claim->resource))
            *out_taken = take_claim(plan, claim, &problem) || *out_taken;
        if (problem) {
            g_propagate_error(error, problem);
            return false;
        }
    }
    return list;
}

static bool has_gone(GHashTable *before, GHashTable *now)
{
    GHashTableIter iter;
    gpointer resource;
    g_hash_table_iter_init(&iter, before);
    while (g_hash_table_iter_next(&iter, &resource, NULL))
        if (!g_hash_table_contains(now, resource))
            return true;
    return false;
}

bool orch_shared_points_take(struct orch_shared_points *points, struct orch_plan *plan,
                             struct orch_claims *const *places, unsigned count, bool *out_taken,
                             bool *out_ended, GError **error)
{
    g_autoptr(GHashTable) now = new_set();
    bool ok = true;
    *out_taken = *out_ended = false;
    for (unsigned i = 0; ok && i < count; i++)
        ok = !places[i] || take_at(points, plan, places[i], now, out_taken, error);
    if (!ok)
        return false;
    *out_ended = has_gone(points->seen, now);
    g_hash_table_unref(points->seen);
    points->seen = g_steal_pointer(&now);
    return true;
}
