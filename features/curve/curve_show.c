/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/curve_show.h"

#include "core/cli/recipe_plan.h"
#include "features/curve/curve_items.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/* Number of rows of the curve that are shown. */
#define ROWS 12

static struct orch_table *params_table(const struct orch_predicted_curve *p)
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

struct orch_table *orch_cli_predicted_curve_table(const struct orch_predicted_curve *p)
{
    const char *const headers[] = {p->units.is_by_epoch ? ">epoch" : ">step", ">loss", NULL};
    struct orch_table *table = orch_table_new(headers);
    double last = fmax(p->last_k, 1), before = 0;
    for (int i = 0; i < ROWS; i++) {
        double k = round(pow(last, (i + 1.0) / ROWS)); /* denser where the loss falls */
        if (!(k > before))
            continue;
        before = k;
        orch_table_add_real(table, k);
        orch_table_add_real(table, orch_stages_loss(p->stages, k));
    }
    return table;
}

void orch_cli_predicted_curve_print(struct orch_cli *cli, const struct orch_predicted_curve *p)
{
    struct orch_document *document = orch_document_new("predict");
    g_autofree char *title =
        g_strdup_printf("predicted for %s: b0, b1 and b2 from those of the runs' networks", p->net);
    struct orch_section *section = orch_document_add(document, "curve_law", NULL, title);
    orch_curve_law_describe(section, p->law);
    orch_section_table(section, params_table(p));
    orch_section_table(section, orch_cli_predicted_curve_table(p));
    orch_section_note(section, "%s",
                      p->device ? p->device : "on average over the devices (--gpu names one)");
    if (p->left_out.networks)
        orch_section_note(section,
                          "error when each of %d networks is left out and predicted from the "
                          "others: %.3g %% on average, %.3g %% at worst",
                          p->left_out.networks, 100 * p->left_out.mean, 100 * p->left_out.worst);
    else
        orch_section_note(section, "the error of this prediction is unknown: that needs runs of 3 "
                                   "networks or more");
    orch_cli_show_document(cli, document, (struct orch_show_text){0});
    orch_document_free(document);
}

json_t *orch_cli_predicted_curve_json(const struct orch_predicted_curve *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "net", json_string(p->net));
    json_object_set_new(o, "where", orch_json_text_or_null(p->device));
    json_object_set_new(o, "runs", json_integer(p->law->used));
    json_object_set_new(o, "networks", json_integer(p->law->law->networks));
    json_object_set_new(o, "stages", orch_cli_table_to_json(params_table(p)));
    json_object_set_new(o, "curve", orch_cli_table_to_json(orch_cli_predicted_curve_table(p)));
    json_object_set_new(o, "left_out_networks", json_integer(p->left_out.networks));
    json_object_set_new(o, "left_out_error", orch_json_finite(p->left_out.mean));
    json_object_set_new(o, "left_out_worst_error",
                        p->left_out.networks ? orch_json_finite(p->left_out.worst) : json_null());
    return o;
}
