/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an estimate as JSON. `orch predict --explain --json` prints this JSON, and the text
 * output is made from it, so that both agree. */
#include "features/predict/step_answer.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

#define NEAREST 5

/* ---- gathering ---------------------------------------------------------------------------------
 */

/* Leaves missing features out. */
static json_t *features_json(const struct orch_rows *rows)
{
    json_t *list = json_array();
    for (int c = 0; c < orch_matrix_cols(rows->matrix); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(rows->matrix, c);
        double value = orch_matrix_column(rows->matrix, c)[0];
        if (isnan(value))
            continue;
        json_t *shown =
            f->levels ? json_string((char *)f->levels->pdata[(int)value]) : orch_json_real(value);
        json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "name", f->name, "value", shown,
                                              "unit", orch_feature_unit(f->name)));
    }
    return list;
}

struct near {
    const struct orch_trained_cell *known;
    double distance;
};

/* Distance used to find comparable runs: a different network weighs most, then a different GPU,
 * then the batch, where a factor of two counts as 1. */
static double distance_of(const struct orch_step_tiers *tiers, const struct orch_step_answer *a,
                          const struct orch_trained_cell *known)
{
    const struct orch_trained *t = tiers->trained;
    double distance = 0, batch = 0;
    if (strcmp(orch_trained_cell_value(t, known, "net"), a->q->net->name) != 0)
        distance += 8;
    if (g_ascii_strcasecmp(orch_trained_cell_value(t, known, "gpu"),
                           orch_step_tiers_device_name(a->c->gpu)) != 0)
        distance += 4;
    enum orch_precision precision;
    if (!orch_precision_find(orch_trained_cell_value(t, known, "precision"), &precision) ||
        orch_precision_run(a->c->gpu, precision) != a->c->precision)
        distance += 2;
    if (orch_real_parse(orch_trained_cell_value(t, known, "batch"), &batch) && batch > 0)
        distance += fabs(log2(batch / (double)a->batch));
    return distance;
}

static gint by_distance(gconstpointer a, gconstpointer b)
{
    double x = ((const struct near *)a)->distance, y = ((const struct near *)b)->distance;
    return (x > y) - (x < y);
}

static json_t *record_json(const struct orch_trained *t, const struct orch_trained_cell *k)
{
    json_t *o = json_object();
    json_object_set_new(o, "source", *k->newest ? json_string(k->newest) : json_null());
    static const char *const columns[] = {"net", "gpu", "batch", "precision"};
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
        json_object_set_new(o, columns[i], json_string(orch_trained_cell_value(t, k, columns[i])));
    json_object_set_new(o, "step_s", orch_json_finite(k->time.mid / 1e3));
    json_object_set_new(o, "count", json_integer(k->count));
    json_object_set_new(o, "runs", json_integer(k->runs));
    return o;
}

static json_t *nearest_json(const struct orch_step_tiers *tiers, const struct orch_step_answer *a)
{
    const struct orch_trained *t = tiers->trained;
    json_t *out = json_array();
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct near));
    for (guint i = 0; t && i < t->known->len; i++) {
        struct near near = {t->known->pdata[i], distance_of(tiers, a, t->known->pdata[i])};
        g_array_append_val(list, near);
    }
    g_array_sort(list, by_distance);
    for (guint i = 0; i < list->len && i < NEAREST; i++)
        json_array_append_new(out, record_json(t, g_array_index(list, struct near, i).known));
    return out;
}

static json_t *readings_json(const struct orch_trained *t)
{
    json_t *out = json_array();
    for (int i = 0; t && t->readings && t->readings[i]; i++)
        json_array_append_new(out, json_string(t->readings[i]));
    return out;
}

static json_t *learned_part(const struct orch_trained *t, const struct orch_rows *rows)
{
    if (!t || !t->learned)
        return json_null();
    struct orch_answer answer;
    orch_learned_predict(t->learned, rows, &answer);
    return json_pack("{s:o, s:o, s:b}", "step_s", orch_json_finite(answer.value.mid / 1e3),
                     "roofline_s", orch_json_finite(rows->white[0] / 1e3), "extrapolates",
                     answer.extrapolates);
}

json_t *orch_step_answer_explain(const struct orch_step_tiers *tiers,
                                 const struct orch_step_answer *answer, GError **error)
{
    const struct orch_prior_step *step = &answer->step;
    static char *const asked[] = {"gpu",       "net",  "batch", "workers",
                                  "precision", "mode", "input", NULL};
    char target[] = ORCH_PREDICTOR_STEP;
    struct orch_trained nothing = {.target = target, .columns = (char **)(uintptr_t)asked};
    const struct orch_trained *t = tiers->trained;
    struct orch_csv *csv = orch_step_tiers_row(t ? t : &nothing, answer, error);
    struct orch_rows_options options = {.target = t ? t->target : target};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return NULL;
    json_t *o = json_object();
    json_object_set_new(o, "analytical_model",
                        json_pack("{s:o, s:o, s:o, s:o, s:o}", "forward_s",
                                  orch_json_finite(step->own.forward_s), "backward_s",
                                  orch_json_finite(step->own.backward_s), "update_s",
                                  orch_json_finite(step->own.update_s), "exposed_exchange_s",
                                  orch_json_finite(step->exposed_s), "shift",
                                  orch_json_finite(answer->prior.shift)));
    json_object_set_new(o, "learned", learned_part(t, rows));
    json_object_set_new(o, "readings", readings_json(t));
    json_object_set_new(o, "features", features_json(rows));
    json_object_set_new(o, "nearest", nearest_json(tiers, answer));
    json_object_set_new(o, "measured_steps", orch_step_tiers_near_json(tiers, &answer->near));
    orch_rows_free(rows);
    return o;
}
