/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits the law of a set of curves: their parameters by regression on network size and device. */
#include "features/curve/curve_set.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

static const char *const PARAMS[] = {"b0", "b1", "b2"};
enum { PARAM_COUNT = 3 };

static bool same_stages(const struct orch_stages *a, const struct orch_stages *b)
{
    if (a->count != b->count)
        return false;
    for (size_t s = 0; s < a->count; s++)
        if (a->starts[s] != b->starts[s])
            return false;
    return true;
}

static bool is_usable(const struct orch_curve_set *set, const struct orch_curve_set_cell *cell,
                      const struct orch_stages *like)
{
    const struct orch_curve_set_network *net = orch_curve_set_net(set, cell->net);
    for (int i = 0; i < ORCH_LAW_FEATURES; i++)
        if (!isfinite(net->features[i]))
            return false;
    return cell->fit.stages && !cell->copy_of && (!like || same_stages(cell->fit.stages, like));
}

/* Returns the stages that the regression uses: those of the first usable curve. */
static const struct orch_stages *first_stages(const struct orch_curve_set *set)
{
    for (guint i = 0; i < set->cells->len; i++)
        if (is_usable(set, set->cells->pdata[i], NULL))
            return ((const struct orch_curve_set_cell *)set->cells->pdata[i])->fit.stages;
    return NULL;
}

/* Writes the usable cells as rows. Networks without a usable cell get no number. */
static void fill_rows(const struct orch_curve_set *set, const struct orch_stages *like,
                      struct orch_law_data *data, struct orch_law_row *rows, double *values,
                      double *features)
{
    int last = -1;
    for (guint i = 0; i < set->cells->len; i++) { /* ordered by network */
        const struct orch_curve_set_cell *cell = set->cells->pdata[i];
        if (!is_usable(set, cell, like))
            continue;
        if (cell->net != last) {
            const struct orch_curve_set_network *net = orch_curve_set_net(set, cell->net);
            memcpy(features + data->networks++ * ORCH_LAW_FEATURES, net->features,
                   sizeof net->features);
            last = cell->net;
        }
        double *row = values + data->row_count * (size_t)data->outputs;
        for (int j = 0; j < data->outputs; j++)
            row[j] = cell->fit.stages->curves[j / PARAM_COUNT].b[j % PARAM_COUNT];
        rows[data->row_count++] = (struct orch_law_row){data->networks - 1, cell->device, row};
    }
}

struct orch_curve_set_law *orch_curve_set_law_fit(const struct orch_curve_set *set, GError **error)
{
    const struct orch_stages *like = first_stages(set);
    if (!like || like->count * PARAM_COUNT > ORCH_LAW_OUTPUTS_MAX) {
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND, NULL, "%s",
            like ? "the learning rate of these runs has too many stages"
                 : "no run has both a loss curve and a network whose layers can be counted");
        return NULL;
    }
    guint count = set->cells->len;
    struct orch_law_data data = {.devices = (int)set->devices->len,
                                 .outputs = (int)like->count * PARAM_COUNT};
    g_autofree struct orch_law_row *rows = g_new0(struct orch_law_row, count);
    g_autofree double *values = g_new0(double, count *(size_t)data.outputs);
    g_autofree double *features = g_new0(double, set->nets->len *(size_t)ORCH_LAW_FEATURES);
    fill_rows(set, like, &data, rows, values, features);
    data.rows = rows;
    data.features = features;
    struct orch_curve_law *law = orch_law_fit(&data, error);
    if (!law)
        return NULL;
    struct orch_curve_set_law *out = g_new0(struct orch_curve_set_law, 1);
    out->law = law;
    out->plain = orch_curve_ols_fit(&data);
    out->stages = like->count;
    out->starts = g_memdup2(like->starts, like->count * sizeof *like->starts);
    out->used = (int)data.row_count;
    out->copies = orch_curve_set_copies(set);
    out->copies_why = orch_curve_set_copies_why(set);
    out->passed = orch_curve_set_independent(set) - out->used;
    return out;
}

void orch_curve_set_law_free(struct orch_curve_set_law *law)
{
    if (!law)
        return;
    orch_law_free(law->law);
    orch_curve_ols_free(law->plain);
    g_free(law->starts);
    g_free(law);
}

struct orch_stages *orch_curve_set_law_curve(const struct orch_curve_set_law *law,
                                             const double *features, int device)
{
    struct orch_stages *stages = g_new0(struct orch_stages, 1);
    stages->count = law->stages;
    stages->starts = g_memdup2(law->starts, law->stages * sizeof *law->starts);
    stages->curves = g_new0(struct orch_curve, law->stages);
    for (size_t s = 0; s < law->stages; s++) {
        struct orch_curve *curve = &stages->curves[s];
        curve->form = ORCH_CURVE_OPTIMUS;
        curve->loss_scale = 1;
        curve->start_k = law->starts[s];
        for (int j = 0; j < PARAM_COUNT; j++)
            curve->b[j] = orch_law_predict(law->law, (int)s * PARAM_COUNT + j, features, device);
        curve->is_flat = !(curve->b[0] > 0);
    }
    return stages;
}

char *orch_curve_set_law_param(const struct orch_curve_set_law *law, int output)
{
    const char *name = PARAMS[output % PARAM_COUNT];
    return law->stages > 1
               ? g_strdup_printf("%s from step %g", name, law->starts[output / PARAM_COUNT])
               : g_strdup(name);
}

struct orch_stages *orch_curve_ols_curve(const struct orch_curve_set_law *law,
                                         const double *features, int device)
{
    if (!law->plain)
        return NULL;
    struct orch_stages *stages = orch_curve_set_law_curve(law, features, device);
    for (size_t s = 0; s < stages->count; s++) {
        const int each = law->plain->outputs / (int)law->stages;
        for (int j = 0; j < each; j++)
            stages->curves[s].b[j] =
                orch_curve_ols_predict(law->plain, (int)s * each + j, features[0], device);
        stages->curves[s].is_flat = !(stages->curves[s].b[0] > 0);
    }
    return stages;
}
