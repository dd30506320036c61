/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --explain`: what an answer is made of. It is gathered as JSON, which --json shows
 * as it is; the text is printed from it, so that both say the same. */
#include "core/cli/predict_tiers.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/feature_names.h"

#include <math.h>
#include <string.h>

#define NEAREST 5

/* ---- gathering ---------------------------------------------------------------------------------
 */

/* Those that are missing are left out. */
static json_t *features_json(const struct orch_rows *rows)
{
    json_t *list = json_array();
    for (int c = 0; c < orch_matrix_cols(rows->matrix); c++) {
        const struct orch_feature *f = orch_matrix_feature(rows->matrix, c);
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
    const struct orch_known *known;
    double distance;
};

/* In the eyes of somebody who looks for a comparable run: the network first, then the GPU, then the
 * batch, a factor of two as 1. */
static double distance_of(const struct tiers *tiers, const struct tier_ask *ask,
                          const struct orch_known *known)
{
    const struct orch_trained *t = tiers->trained;
    double distance = 0, batch = 0;
    if (strcmp(orch_known_value(t, known, "net"), ask->q->net->name) != 0)
        distance += 8;
    if (g_ascii_strcasecmp(orch_known_value(t, known, "gpu"), tiers_device_name(ask->gpu)) != 0)
        distance += 4;
    if (strcmp(orch_known_value(t, known, "precision"), orch_precision_names()[ask->precision]) !=
        0)
        distance += 2;
    if (orch_real_parse(orch_known_value(t, known, "batch"), &batch) && batch > 0)
        distance += fabs(log2(batch / (double)ask->batch));
    return distance;
}

static gint by_distance(gconstpointer a, gconstpointer b)
{
    double x = ((const struct near *)a)->distance, y = ((const struct near *)b)->distance;
    return (x > y) - (x < y);
}

static json_t *record_json(const struct orch_trained *t, const struct orch_known *k)
{
    json_t *o = json_object();
    json_object_set_new(o, "source", *k->newest ? json_string(k->newest) : json_null());
    static const char *const columns[] = {"net", "gpu", "batch", "precision"};
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
        json_object_set_new(o, columns[i], json_string(orch_known_value(t, k, columns[i])));
    json_object_set_new(o, "step_s", orch_json_finite(k->median / 1e3));
    json_object_set_new(o, "count", json_integer(k->count));
    json_object_set_new(o, "runs", json_integer(k->runs));
    return o;
}

static json_t *nearest_json(const struct tiers *tiers, const struct tier_ask *ask)
{
    const struct orch_trained *t = tiers->trained;
    json_t *out = json_array();
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct near));
    for (guint i = 0; t && i < t->known->len; i++) {
        struct near near = {t->known->pdata[i], distance_of(tiers, ask, t->known->pdata[i])};
        g_array_append_val(list, near);
    }
    g_array_sort(list, by_distance);
    for (guint i = 0; i < list->len && i < NEAREST; i++)
        json_array_append_new(out, record_json(t, g_array_index(list, struct near, i).known));
    return out;
}

static json_t *learned_part(const struct orch_trained *t, const struct orch_rows *rows)
{
    if (!t || !t->learned)
        return json_null();
    struct orch_answer answer;
    orch_learned_predict(t->learned, rows, &answer);
    return json_pack("{s:o, s:o, s:b}", "step_s", orch_json_finite(answer.value / 1e3),
                     "roofline_s", orch_json_finite(rows->white[0] / 1e3), "extrapolates",
                     answer.extrapolates);
}

json_t *tiers_explain(const struct tiers *tiers, const struct tier_ask *ask,
                      const struct orch_prior *prior, const struct orch_prior_step *step,
                      GError **error)
{
    static char *const asked[] = {"gpu",       "net",  "batch", "workers",
                                  "precision", "mode", "input", NULL};
    char target[] = ORCH_PREDICTOR_STEP;
    struct orch_trained nothing = {.target = target, .columns = (char **)(uintptr_t)asked};
    const struct orch_trained *t = tiers->trained;
    struct orch_csv *csv = tiers_row(t ? t : &nothing, ask, error);
    struct orch_rows_options options = {.target = t ? t->target : target};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return NULL;
    json_t *o = json_object();
    json_object_set_new(
        o, "white_box",
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "forward_s", orch_json_finite(step->own.forward_s),
                  "backward_s", orch_json_finite(step->own.backward_s), "update_s",
                  orch_json_finite(step->own.update_s), "exposed_exchange_s",
                  orch_json_finite(step->exposed_s), "shift", orch_json_finite(prior->shift)));
    json_object_set_new(o, "learned", learned_part(t, rows));
    json_object_set_new(o, "features", features_json(rows));
    json_object_set_new(o, "nearest", nearest_json(tiers, ask));
    orch_rows_free(rows);
    return o;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static char *duration_at(const json_t *object, const char *name)
{
    return orch_duration_format(json_number_value(json_object_get(object, name)));
}

static void say_white_box(const json_t *white)
{
    g_autofree char *forward = duration_at(white, "forward_s");
    g_autofree char *backward = duration_at(white, "backward_s");
    g_autofree char *update = duration_at(white, "update_s");
    g_autofree char *exposed = duration_at(white, "exposed_exchange_s");
    double shift = json_number_value(json_object_get(white, "shift"));
    printf("white box: forward %s, backward %s, update %s; exchange not hidden %s", forward,
           backward, update, exposed);
    if (fabs(shift - 1) > 1e-9)
        printf("; shifted by %.2f", shift);
    printf("\n");
}

static void say_learned(const json_t *learned)
{
    if (json_is_null(learned)) {
        printf("learned part: none; 'orch predictor train' learns from runs and data sets\n");
        return;
    }
    g_autofree char *step = duration_at(learned, "step_s");
    g_autofree char *roofline = json_is_null(json_object_get(learned, "roofline_s"))
                                    ? g_strdup("nothing")
                                    : duration_at(learned, "roofline_s");
    bool extrapolates = json_is_true(json_object_get(learned, "extrapolates"));
    printf("learned part: %s; the roofline of it says %s%s\n", step, roofline,
           extrapolates ? "; beyond what was learned from" : "");
}

static void say_features(const json_t *features)
{
    printf("features of this question (missing ones left out)\n");
    for (size_t i = 0; i < json_array_size(features); i++) {
        const json_t *f = json_array_get(features, i), *value = json_object_get(f, "value");
        g_autofree char *text = json_is_string(value)
                                    ? g_strdup(json_string_value(value))
                                    : orch_number_format(json_number_value(value));
        const char *unit = orch_json_text(f, "unit", "");
        printf("  %-28s %s%s%s\n", orch_json_text(f, "name", ""), text, *unit ? " " : "", unit);
    }
}

/* Rows of data sets have the set's name in place of a run's key. */
static const char *source_of(const json_t *record)
{
    const char *source = orch_json_text(record, "source", "-");
    return g_uuid_string_is_valid(source) ? orch_cli_short_key(source) : source;
}

static void say_nearest(const json_t *nearest)
{
    printf("nearest records\n");
    for (size_t i = 0; i < json_array_size(nearest); i++) {
        const json_t *k = json_array_get(nearest, i);
        int64_t count = orch_json_int(k, "count", 0), runs = orch_json_int(k, "runs", 0);
        const char *precision = orch_json_text(k, "precision", "");
        g_autofree char *time = duration_at(k, "step_s");
        printf("  %s  %s on %s, batch %s%s%s: %s (%d %s%s)\n", source_of(k),
               orch_json_text(k, "net", ""), orch_json_text(k, "gpu", ""),
               orch_json_text(k, "batch", ""), *precision ? ", " : "", precision, time, (int)count,
               runs == count ? "run" : "row", count == 1 ? "" : "s");
    }
    if (!json_array_size(nearest))
        printf("  none: the store has no run with a step time\n");
}

void tiers_say_explanation(const json_t *explanation)
{
    say_white_box(json_object_get(explanation, "white_box"));
    say_learned(json_object_get(explanation, "learned"));
    say_features(json_object_get(explanation, "features"));
    say_nearest(json_object_get(explanation, "nearest"));
}
