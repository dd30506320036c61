/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/predict_law.h"

#include "core/cli/nets.h"
#include "core/cli/report.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* Rows of the curve that are shown. */
#define ROWS 12

static void free_net(gpointer data)
{
    struct orch_set_net *net = data;
    g_free(net->name);
    g_free(net);
}

/* ---- the runs as a set -------------------------------------------------------------------------
 */

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
    const struct orch_set_cell *x = *(struct orch_set_cell *const *)a;
    const struct orch_set_cell *y = *(struct orch_set_cell *const *)b;
    return x->net != y->net ? x->net - y->net : x->device - y->device;
}

/* Cells borrow the curves and their fits. */
static struct orch_curve_set *set_of(const GPtrArray *curves, const GArray *results,
                                     const GPtrArray *costs)
{
    struct orch_curve_set *set = g_new0(struct orch_curve_set, 1);
    set->nets = g_ptr_array_new_with_free_func(free_net);
    set->variants = g_ptr_array_new_with_free_func(g_free);
    set->devices = g_ptr_array_new_with_free_func(g_free);
    set->cells = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < curves->len; i++) {
        struct orch_run_curve *curve = curves->pdata[i];
        struct orch_set_cell *cell = g_new0(struct orch_set_cell, 1);
        cell->net = net_of(set, curve, costs->pdata[i]);
        cell->device = device_of(set, curve->where);
        cell->curve = curve;
        cell->fit = g_array_index(results, struct orch_curve_result, i);
        g_ptr_array_add(set->cells, cell);
    }
    g_ptr_array_sort(set->cells, compare_cells);
    return set;
}

/* ---- the network and the device ----------------------------------------------------------------
 */

/* Its input and classes: as the options say, else as those of the runs. */
static bool count_new(const struct predict_options *o, const GPtrArray *costs,
                      struct orch_set_net *out, GError **error)
{
    const json_t *like = costs->len ? costs->pdata[0] : NULL;
    bool is_file = g_str_has_suffix(o->net, ".onnx") || g_str_has_suffix(o->net, ".csv");
    int64_t classes = is_file ? 0 : orch_json_int(like, "classes", 0);
    if (!orch_cli_count(o->classes, "--classes", 1 << 24, &classes, error))
        return false;
    struct orch_net_request request = {.name = o->net,
                                       .input = o->input  ? o->input
                                                : is_file ? NULL
                                                          : orch_json_text(like, "input", NULL),
                                       .classes = (int)classes};
    struct orch_net *graph = orch_cli_net(&request, error);
    if (!graph)
        return false;
    orch_set_net_count(out, graph);
    orch_net_free(graph);
    return true;
}

/* -1: --gpu was not given, so on average. -2 with an error: no run was there. */
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
    g_autofree char *hint = g_strdup_printf("they are of: %s", all);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "option '--gpu': none of these runs is of '%s', so its effect is not known",
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
        orch_error_set(error, ORCH_ERROR_USAGE, "choose the series with --metric",
                       "the losses of some runs are by step, of others by epoch");
        return false;
    }
    return true;
}

/* ---- all ---------------------------------------------------------------------------------------
 */

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

struct predicted_curve *predicted_curve_new(const struct predict_options *o,
                                            const GPtrArray *curves, const GArray *results,
                                            const GPtrArray *costs, int64_t epochs, GError **error)
{
    struct orch_set_net wanted = {0};
    if (!same_units(curves, error) || !count_new(o, costs, &wanted, error))
        return NULL;
    struct predicted_curve *p = g_new0(struct predicted_curve, 1);
    p->net = g_strdup(o->net);
    p->set = set_of(curves, results, costs);
    p->units = *(const struct orch_run_curve *)curves->pdata[0];
    p->units.key = p->net;
    p->units.s_per_k = (double)NAN;
    p->last_k = last_of(curves, epochs);
    int device = find_device(p->set, o->gpu, error);
    p->law = device >= -1 ? orch_set_law_fit(p->set, error) : NULL;
    if (!p->law) {
        predicted_curve_free(p);
        return NULL;
    }
    p->device = device >= 0 ? p->set->devices->pdata[device] : NULL;
    p->stages = orch_set_law_curve(p->law, wanted.features, device);
    p->left_out = orch_set_law_leave_out(p->set, p->law);
    return p;
}

void predicted_curve_free(struct predicted_curve *p)
{
    if (!p)
        return;
    g_free(p->net);
    orch_curve_set_free(p->set);
    orch_set_law_free(p->law);
    orch_stages_free(p->stages);
    g_free(p);
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static struct orch_table *params_table(const struct predicted_curve *p)
{
    static const char *const headers[] = {"net", ">from", ">b0", ">b1", ">b2", ">tends to", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (size_t s = 0; s < p->stages->count; s++) {
        const struct orch_curve *curve = &p->stages->curves[s];
        orch_table_add(table, p->net, NULL);
        orch_table_add_real(table, p->stages->starts[s]);
        for (int j = 0; j < orch_curve_params(ORCH_CURVE_OPTIMUS); j++)
            orch_table_add_real(table, curve->b[j]);
        orch_table_add_real(table, orch_curve_limit(curve));
    }
    return table;
}

struct orch_table *predicted_curve_table(const struct predicted_curve *p)
{
    const char *const headers[] = {p->units.is_by_epoch ? ">epoch" : ">step", ">loss", NULL};
    struct orch_table *table = orch_table_new(headers);
    double last = fmax(p->last_k, 1), before = 0;
    for (int i = 0; i < ROWS; i++) {
        double k = round(pow(last, (i + 1.0) / ROWS)); /* closer where it falls */
        if (!(k > before))
            continue;
        before = k;
        orch_table_add_real(table, k);
        orch_table_add_real(table, orch_stages_loss(p->stages, k));
    }
    return table;
}

void predicted_curve_print(struct orch_cli *cli, const struct predicted_curve *p)
{
    struct orch_document *document = orch_document_new("predict");
    g_autofree char *title =
        g_strdup_printf("predicted for %s: b0, b1 and b2 from those of the runs' networks", p->net);
    struct orch_section *section = orch_document_add(document, "curve_law", NULL, title);
    orch_set_law_say(section, p->law);
    orch_section_table(section, params_table(p));
    orch_section_table(section, predicted_curve_table(p));
    orch_section_note(section, "%s",
                      p->device ? p->device : "on average over the devices (--gpu names one)");
    if (p->left_out.networks)
        orch_section_note(section,
                          "of %d networks, each left out and predicted from the others: off by "
                          "%.3g %% on average, %.3g %% at worst",
                          p->left_out.networks, 100 * p->left_out.mean, 100 * p->left_out.worst);
    else
        orch_section_note(section, "how good that is cannot be told: it wants runs of 3 networks "
                                   "or more");
    orch_cli_show_document(cli, document, (struct orch_show_text){0});
    orch_document_free(document);
}

json_t *predicted_curve_json(const struct predicted_curve *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "net", json_string(p->net));
    json_object_set_new(o, "where", p->device ? json_string(p->device) : json_null());
    json_object_set_new(o, "runs", json_integer(p->law->used));
    json_object_set_new(o, "networks", json_integer(p->law->law->networks));
    json_object_set_new(o, "stages", orch_table_to_json(params_table(p)));
    json_object_set_new(o, "curve", orch_table_to_json(predicted_curve_table(p)));
    json_object_set_new(o, "left_out_networks", json_integer(p->left_out.networks));
    json_object_set_new(o, "left_out_error", orch_json_finite(p->left_out.mean));
    json_object_set_new(o, "left_out_worst_error",
                        p->left_out.networks ? orch_json_finite(p->left_out.worst) : json_null());
    return o;
}
