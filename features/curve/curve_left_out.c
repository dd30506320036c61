/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leave-one-out evaluation of the law: each network in turn is left out, predicted from the others
 * and compared with its own runs. */
#include "features/curve/curve_set.h"

#include <math.h>

/* Fits the law without one network. The reduced set borrows its cells and lists. */
static struct orch_curve_set_law *law_without(const struct orch_curve_set *set, int net)
{
    struct orch_curve_set rest = *set;
    rest.cells = g_ptr_array_new();
    for (guint i = 0; i < set->cells->len; i++) {
        struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (cell->net != net)
            g_ptr_array_add(rest.cells, cell);
    }
    struct orch_curve_set_law *law = orch_curve_set_law_fit(&rest, NULL);
    g_ptr_array_unref(rest.cells);
    return law;
}

static double error_of(const struct orch_curve_set_law *law, const struct orch_curve_set *set,
                       const struct orch_curve_set_cell *cell)
{
    const struct orch_run_curve *c = cell->curve;
    if (!c)
        return NAN;
    struct orch_stages *stages =
        orch_curve_set_law_curve(law, orch_curve_set_net(set, cell->net)->features, cell->device);
    double from_k = fmax(c->warmup_k, ORCH_SET_WARMUP * c->k[c->count - 1]);
    struct orch_goodness good = orch_stages_goodness(stages, c->k, c->loss, c->count, from_k);
    orch_stages_free(stages);
    return good.relative_error;
}

struct orch_heldout_error orch_curve_set_law_leave_out(const struct orch_curve_set *set,
                                                       const struct orch_curve_set_law *law)
{
    struct orch_heldout_error out = {.mean = NAN};
    double sum = 0;
    int curves = 0;
    for (int net = 0; law->law->networks >= 3 && net < (int)set->nets->len; net++) {
        if (!isfinite(orch_curve_set_net(set, net)->features[0]))
            continue;
        struct orch_curve_set_law *rest = law_without(set, net);
        for (guint i = 0; rest && i < set->cells->len; i++) {
            const struct orch_curve_set_cell *cell = set->cells->pdata[i];
            double error =
                cell->net == net && !cell->copy_of ? error_of(rest, set, cell) : (double)NAN;
            if (!isfinite(error))
                continue;
            sum += error;
            curves++;
            out.worst = fmax(out.worst, error);
        }
        out.networks += rest != NULL;
        orch_curve_set_law_free(rest);
    }
    out.mean = curves ? sum / curves : (double)NAN;
    return out;
}
