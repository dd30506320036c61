/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of loss curves: its networks with their features, and its devices. */
#include "features/curve/curve_set.h"

#include "lib/base/json.h"
#include "lib/net/net.h"

#include <math.h>
#include <string.h>

static void net_free(void *pointer)
{
    struct orch_curve_set_network *net = pointer;
    g_free(net->name);
    g_free(net);
}

static void cell_free(void *pointer)
{
    struct orch_curve_set_cell *cell = pointer;
    orch_curve_result_release(&cell->fit);
    orch_run_curve_free(cell->curve);
    g_free(cell->why_not);
    g_free(cell);
}

struct orch_curve_set *orch_curve_set_new(bool owns_curves)
{
    struct orch_curve_set *set = g_new0(struct orch_curve_set, 1);
    set->nets = g_ptr_array_new_with_free_func(net_free);
    set->variants = g_ptr_array_new_with_free_func(g_free);
    set->devices = g_ptr_array_new_with_free_func(g_free);
    set->cells = g_ptr_array_new_with_free_func(owns_curves ? cell_free : g_free);
    return set;
}

void orch_curve_set_free(struct orch_curve_set *set)
{
    if (!set)
        return;
    g_ptr_array_unref(set->nets);
    g_ptr_array_unref(set->variants);
    g_ptr_array_unref(set->devices);
    g_ptr_array_unref(set->cells);
    g_free(set);
}

const struct orch_curve_set_network *orch_curve_set_net(const struct orch_curve_set *set, int net)
{
    return set->nets->pdata[net];
}

const char *orch_curve_set_device(const struct orch_curve_set *set, int device)
{
    return set->devices->len > 1 ? orch_place_short(set->devices->pdata[device], set->devices)
                                 : set->devices->pdata[device];
}

/* ---- equal curves ---------------------------------------------------------------------------- */

void orch_curve_set_find_copies(struct orch_curve_set *set)
{
    for (guint i = 0; i < set->cells->len; i++) {
        struct orch_curve_set_cell *cell = set->cells->pdata[i];
        cell->copy_of = NULL;
        for (guint j = 0; j < i && cell->curve && !cell->copy_of; j++) {
            const struct orch_curve_set_cell *other = set->cells->pdata[j];
            if (other->curve && !other->copy_of &&
                orch_run_curve_is_copy(other->curve, cell->curve))
                cell->copy_of = other;
        }
    }
}

/* The number of fitted cells that are copies, or that are none. */
static int count_fitted(const struct orch_curve_set *set, bool are_copies)
{
    int count = 0;
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        count += cell->fit.stages && (cell->copy_of != NULL) == are_copies;
    }
    return count;
}

int orch_curve_set_copies(const struct orch_curve_set *set)
{
    return count_fitted(set, true);
}

int orch_curve_set_independent(const struct orch_curve_set *set)
{
    return count_fitted(set, false);
}

const char *orch_curve_set_copies_why(const struct orch_curve_set *set)
{
    for (guint i = 0; i < set->cells->len; i++) {
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (cell->copy_of && cell->copy_of->curve->seed != cell->curve->seed)
            return "although the seeds of the runs differ, so that the seed has no effect";
    }
    return "because the runs have the same seed";
}

/* ---- networks -------------------------------------------------------------------------------- */

void orch_curve_set_network_count(struct orch_curve_set_network *net, const struct orch_net *graph)
{
    net->params = (double)orch_net_params(graph);
    net->features[0] = orch_net_depth(graph);
    net->features[1] = log10(net->params);
    net->features[2] = log10(2 * (double)orch_net_macs(graph));
}

/* Computes the features from the cost that a trial declares. */
static void count_cost(struct orch_curve_set_network *net, const json_t *cost)
{
    struct orch_net_options request = {.name = orch_json_text(cost, "network", NULL),
                                       .classes = orch_json_int(cost, "classes", 0)};
    orch_net_input_parse(orch_json_text(cost, "input", ""), &request);
    struct orch_net *graph = request.name ? orch_net_make(&request, NULL) : NULL;
    for (int i = 0; i < ORCH_LAW_FEATURES; i++)
        net->features[i] = NAN;
    net->params = NAN;
    if (!graph)
        return;
    orch_curve_set_network_count(net, graph);
    orch_net_free(graph);
}

int orch_curve_set_net_of(struct orch_curve_set *set, const char *name, const json_t *cost)
{
    for (guint i = 0; i < set->nets->len; i++)
        if (strcmp(orch_curve_set_net(set, (int)i)->name, name) == 0)
            return (int)i;
    struct orch_curve_set_network *net = g_new0(struct orch_curve_set_network, 1);
    net->name = g_strdup(name);
    count_cost(net, cost);
    g_ptr_array_add(set->nets, net);
    return (int)set->nets->len - 1;
}
