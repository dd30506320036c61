/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/models/model.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const struct orch_model_kind *const KINDS[] = {
    &ORCH_MODEL_LINEAR, &ORCH_MODEL_TREE, &ORCH_MODEL_FOREST, &ORCH_MODEL_BOOST,
    &ORCH_MODEL_KNN,    &ORCH_MODEL_MLP,  &ORCH_MODEL_KERNEL};

const struct orch_model_kind *orch_model_kinds(void)
{
    static struct orch_model_kind table[G_N_ELEMENTS(KINDS) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        table[i] = *KINDS[i];
    return table;
}

const char *const *orch_model_names(void)
{
    static const char *names[G_N_ELEMENTS(KINDS) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        names[i] = KINDS[i]->name;
    return names;
}

const struct orch_model_kind *orch_model_find(const char *name, GError **error)
{
    const char *const *names = orch_model_names();
    for (size_t i = 0; i < G_N_ELEMENTS(KINDS); i++)
        if (strcmp(names[i], name) == 0)
            return KINDS[i];
    g_autofree char *near = orch_suggest_hint(name, names);
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)names);
    orch_error_set(error, ORCH_ERROR_USAGE, near ? near : all, "unknown model '%s'", name);
    return NULL;
}

char *orch_hyperparams_text(const struct orch_model_kind *kind, const struct orch_hyperparams *k)
{
    return kind->describe(k);
}

static bool check_target(const struct orch_matrix *matrix, const double *y, GError **error)
{
    if (!matrix->rows) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "there are no rows to train on");
        return false;
    }
    for (size_t i = 0; i < matrix->rows; i++) {
        if (!isfinite(y[i])) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the target of row %zu is not a number",
                           i + 1);
            return false;
        }
    }
    return true;
}

struct orch_model *orch_model_fit(const struct orch_model_kind *kind,
                                  const struct orch_matrix *matrix, const double *y,
                                  const int8_t *monotone,
                                  const struct orch_hyperparams *hyperparams, uint64_t seed,
                                  GError **error)
{
    if (!check_target(matrix, y, error))
        return NULL;
    struct orch_model *model = g_new0(struct orch_model, 1);
    model->kind = kind;
    model->hyperparams = *hyperparams;
    model->coder = orch_coder_fit(matrix, y, kind->coding);
    int cols = orch_coder_cols(model->coder);
    g_autofree double *values = orch_coder_apply_learned(model->coder, matrix, y);
    g_autofree int8_t *signs = g_new0(int8_t, MAX(cols, 1));
    for (int c = 0; monotone && c < cols; c++)
        signs[c] = monotone[orch_coder_source(model->coder, c)];
    model->fitted =
        kind->fit(values, matrix->rows, cols, y, monotone ? signs : NULL, hyperparams, seed, error);
    if (model->fitted)
        return model;
    orch_model_free(model);
    return NULL;
}

void orch_model_predict(const struct orch_model *model, const struct orch_matrix *matrix,
                        double *out)
{
    g_autofree double *values = orch_coder_apply(model->coder, matrix);
    model->kind->predict(model->fitted, values, matrix->rows, out);
}

void orch_model_free(struct orch_model *model)
{
    if (!model)
        return;
    if (model->coder)
        orch_coder_free(model->coder);
    if (model->fitted)
        model->kind->release(model->fitted);
    g_free(model);
}

/* ---- saving ------------------------------------------------------------------------------------
 */

json_t *orch_hyperparams_save(const struct orch_hyperparams *k)
{
    return json_pack(
        "{s:i, s:f, s:b, s:f, s:f, s:i, s:i, s:i, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:f}", "loss",
        (int)k->loss, "level", k->level, "all_trees", (int)k->all_trees, "length", k->length,
        "ridge", k->ridge, "depth", k->depth, "trees", k->trees, "leaf_rows", k->leaf_rows, "rate",
        k->rate, "feature_share", k->feature_share, "row_share", k->row_share, "neighbours",
        k->neighbours, "width", k->width, "later_widths", k->later_widths, "epochs", k->epochs,
        "share", k->share);
}

struct orch_hyperparams orch_hyperparams_load(const json_t *o)
{
    return (struct orch_hyperparams){
        .loss = (enum orch_loss)CLAMP(json_integer_value(json_object_get(o, "loss")), 0,
                                      ORCH_LOSS_QUANTILE),
        .level = json_number_value(json_object_get(o, "level")),
        .all_trees = json_is_true(json_object_get(o, "all_trees")),
        .length = json_number_value(json_object_get(o, "length")),
        .ridge = json_number_value(json_object_get(o, "ridge")),
        .depth = (int)json_integer_value(json_object_get(o, "depth")),
        .trees = (int)json_integer_value(json_object_get(o, "trees")),
        .leaf_rows = (int)json_integer_value(json_object_get(o, "leaf_rows")),
        .rate = json_number_value(json_object_get(o, "rate")),
        .feature_share = json_number_value(json_object_get(o, "feature_share")),
        .row_share = json_number_value(json_object_get(o, "row_share")),
        .neighbours = (int)json_integer_value(json_object_get(o, "neighbours")),
        .width = (int)json_integer_value(json_object_get(o, "width")),
        .later_widths = (int)json_integer_value(json_object_get(o, "later_widths")),
        .epochs = (int)json_integer_value(json_object_get(o, "epochs")),
        .share = json_number_value(json_object_get(o, "share"))};
}

json_t *orch_model_save(const struct orch_model *model, enum orch_save_style style)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", model->kind->name, "knobs",
                     orch_hyperparams_save(&model->hyperparams), "coder",
                     orch_coder_save(model->coder, style), "fitted",
                     model->kind->save(model->fitted, style));
}

struct orch_model *orch_model_load(const json_t *saved, GError **error)
{
    const char *name = orch_load_text(saved, "kind", error);
    const struct orch_model_kind *kind = name ? orch_model_find(name, error) : NULL;
    const json_t *fitted = kind ? orch_load_object(saved, "fitted", error) : NULL;
    if (!fitted)
        return NULL;
    struct orch_model *model = g_new0(struct orch_model, 1);
    model->kind = kind;
    model->hyperparams = orch_hyperparams_load(json_object_get(saved, "knobs"));
    model->coder = orch_coder_load(json_object_get(saved, "coder"), error);
    if (model->coder)
        model->fitted = kind->load(fitted, orch_coder_cols(model->coder), error);
    if (model->fitted)
        return model;
    orch_model_free(model);
    return NULL;
}
