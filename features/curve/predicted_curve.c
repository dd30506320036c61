/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/predicted_curve.h"

#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* ---- the runs as a set ----------------------------------------------------------------------- */

static int net_of(struct orch_curve_set *set, const struct orch_run_curve *curve,
                  const json_t *cost)
{
    const char *name = orch_json_text(cost, "network", curve->net);
    return orch_curve_set_net_of(set, name ? name : curve->experiment, cost);
}

static int device_of(struct orch_curve_set *set, const char *where)
{
    for (guint i = 0; i < set->devices->len; i++)
        if (strcmp(set->devices->pdata[i], where) == 0)
            return (int)i;
    g_ptr_array_add(set->devices, g_strdup(where));
    return (int)set->devices->len - 1;
}

static int compare_cells(const void *a, const void *b)
{
    const struct orch_curve_set_cell *x = *(struct orch_curve_set_cell *const *)a;
    const struct orch_curve_set_cell *y = *(struct orch_curve_set_cell *const *)b;
    return x->net != y->net ? x->net - y->net : x->device - y->device;
}

/* Makes a set of cells that borrow the curves and their fits. */
static struct orch_curve_set *set_of(const GPtrArray *curves, const GArray *results,
                                     const GPtrArray *costs)
{
    struct orch_curve_set *set = orch_curve_set_new(false);
    for (guint i = 0; i < curves->len; i++) {
        struct orch_run_curve *curve = curves->pdata[i];
        struct orch_curve_set_cell *cell = g_new0(struct orch_curve_set_cell, 1);
        cell->net = net_of(set, curve, costs->pdata[i]);
        cell->device = device_of(set, curve->where);
        cell->curve = curve;
        cell->fit = g_array_index(results, struct orch_curve_result, i);
        g_ptr_array_add(set->cells, cell);
    }
    g_ptr_array_sort(set->cells, compare_cells);
    orch_curve_set_find_copies(set);
    return set;
}

/* ---- the network and the device -------------------------------------------------------------- */

/* Computes the new network's features. Input shape and classes default to those of the runs. */
static bool count_new(const struct orch_net_request *ctx, const GPtrArray *costs, GPtrArray *notes,
                      struct orch_curve_set_network *out, GError **error)
{
    const json_t *like = costs->len ? costs->pdata[0] : NULL;
    bool is_file = g_str_has_suffix(ctx->name, ".onnx") || g_str_has_suffix(ctx->name, ".csv");
    struct orch_net_request request = *ctx;
    if (!request.input && !is_file)
        request.input = orch_json_text(like, "input", NULL);
    if (!request.classes && !is_file)
        request.classes = (int)orch_json_int(like, "classes", 0);
    struct orch_net *graph = orch_network_open(&request, notes, error);
    if (!graph)
        return false;
    orch_curve_set_network_count(out, graph);
    orch_net_free(graph);
    return true;
}

/* Finds the device. -1: --gpu was not given, so the mean over devices is used. -2 with an error:
 * no run was made on it. */
static int find_device(const struct orch_curve_set *set, const char *wanted, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree char *lower = wanted ? g_ascii_strdown(wanted, -1) : NULL;
    for (guint i = 0; wanted && i < set->devices->len; i++) {
        g_autofree char *name = g_ascii_strdown(set->devices->pdata[i], -1);
        if (*wanted && strstr(name, lower))
            return (int)i;
        g_ptr_array_add(names, set->devices->pdata[i]);
    }
    if (!wanted)
        return -1;
    g_ptr_array_add(names, NULL);
    g_autofree char *all = g_strjoinv("; ", (char **)names->pdata);
    g_autofree char *hint = g_strdup_printf("these runs were made on: %s", all);
    orch_error_set(
        error, ORCH_ERROR_USAGE, hint,
        "option '--gpu': none of these runs was made on '%s', so the effect of this GPU is unknown",
        wanted);
    return -2;
}

static bool same_units(const GPtrArray *curves, GError **error)
{
    const struct orch_run_curve *first = curves->pdata[0];
    for (guint i = 1; i < curves->len; i++) {
        const struct orch_run_curve *c = curves->pdata[i];
        if (c->is_by_epoch == first->is_by_epoch)
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, "choose one with --metric",
                       "some runs recorded the loss per step, others per epoch");
        return false;
    }
    return true;
}

/* ---- prediction ------------------------------------------------------------------------------ */

static double last_of(const GPtrArray *curves, int64_t epochs)
{
    const struct orch_run_curve *first = curves->pdata[0];
    double last = 0;
    if (epochs && isfinite(first->k_per_epoch))
        return (double)epochs * first->k_per_epoch;
    for (guint i = 0; i < curves->len; i++) {
        const struct orch_run_curve *c = curves->pdata[i];
        last = fmax(last, c->k[c->count - 1]);
    }
    return last;
}

struct orch_predicted_curve *orch_predicted_curve_new(const struct orch_curve_question *question,
                                                      const GPtrArray *curves,
                                                      const GArray *results, const GPtrArray *costs,
                                                      GPtrArray *notes, GError **error)
{
    struct orch_curve_set_network wanted = {0};
    if (!same_units(curves, error) || !count_new(&question->net, costs, notes, &wanted, error))
        return NULL;
    struct orch_predicted_curve *p = g_new0(struct orch_predicted_curve, 1);
    p->net = g_strdup(question->net.name);
    p->set = set_of(curves, results, costs);
    p->units = *(const struct orch_run_curve *)curves->pdata[0];
    p->units.key = p->net;
    p->units.s_per_k = (double)NAN;
    p->last_k = last_of(curves, question->epochs);
    int device = find_device(p->set, question->device, error);
    p->law = device >= -1 ? orch_curve_set_law_fit(p->set, error) : NULL;
    if (!p->law) {
        orch_predicted_curve_free(p);
        return NULL;
    }
    p->device = device >= 0 ? p->set->devices->pdata[device] : NULL;
    p->stages = orch_curve_set_law_curve(p->law, wanted.features, device);
    p->left_out = orch_curve_set_law_leave_out(p->set, p->law);
    return p;
}

void orch_predicted_curve_free(struct orch_predicted_curve *p)
{
    if (!p)
        return;
    g_free(p->net);
    orch_curve_set_free(p->set);
    orch_curve_set_law_free(p->law);
    orch_stages_free(p->stages);
    g_free(p);
}
