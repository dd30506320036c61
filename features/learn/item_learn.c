/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The items `learn` and `layerwise`: turns the outcomes of learn_item.c and layerwise_item.c into
 * sections. */
#include "core/recipe/report_shapes.h"
#include "core/report/answer.h"
#include "core/report/items.h"
#include "core/stats/numbers.h"
#include "features/learn/learn_item.h"
#include "lib/base/text.h"
#include "predictors/models/model.h"

#include <math.h>
#include <string.h>

#define MODELS_MAX 16

/* "12.3 %" */
static char *share_text(double share)
{
    return isnan(share) ? g_strdup("-") : g_strdup_printf("%.1f %%", 100 * share);
}

static void add_share(struct orch_table *table, double share)
{
    g_autofree char *text = share_text(share);
    orch_table_add(table, text, NULL);
}

static void add_number(struct orch_table *table, double value)
{
    g_autofree char *text = isnan(value) ? g_strdup("-") : orch_number_format(value);
    orch_table_add(table, text, NULL);
}

/* Reports which of the used trials are missing. A data set has no trials. */
static void add_trials(struct orch_section_context *a, const struct orch_learn_source *s)
{
    if (!s->planned && json_object_get(a->item->spec, "dataset"))
        return;
    orch_trials_keep(s->trials, s->used);
    orch_section_add_missing_trials(a, s->trials);
}

/* Returns whether there is a result; otherwise reports why there is none. */
static bool add_source(struct orch_section_context *a, const struct orch_learn_source *s)
{
    if (s->missing) {
        orch_section_missing(a->section, s->hint, "%s", s->missing);
        add_trials(a, s);
        return false;
    }
    g_autofree char *done =
        s->planned > s->done ? g_strdup_printf(" (%u of %u trials are done)", s->done, s->planned)
                             : g_strdup("");
    orch_section_text(a->section, "learned from %zu rows: %s%s", s->rows, s->text, done);
    return true;
}

static void add_notes(struct orch_section_context *a, const struct orch_learn_source *s)
{
    for (guint i = 0; i < s->notes->len; i++)
        orch_section_note(a->section, "%s", (char *)s->notes->pdata[i]);
    add_trials(a, s);
}

/* ---- regressors side by side ----------------------------------------------------------------- */

static void add_winner(struct orch_table *table, const struct orch_regressor *r, bool by_rmse)
{
    if (!r->settings->len) {
        orch_table_add(table, "-", NULL);
        orch_table_add(table, "", NULL);
        return;
    }
    const struct orch_regressor_setting *s = &g_array_index(
        r->settings, struct orch_regressor_setting, by_rmse ? r->by_rmse : r->by_relative);
    if (by_rmse)
        add_number(table, s->rmse);
    else
        add_share(table, s->mean_relative_error);
    orch_table_add(table, s->text, NULL);
}

/* "- 3.2 I(resnet20)" */
static void append_term(GString *text, const struct orch_aigauge_term *term, bool is_first,
                        bool is_category)
{
    g_autofree char *number = orch_number_format(fabs(term->coefficient));
    const char *sign = term->coefficient < 0 ? "- " : is_first ? "" : "+ ";
    g_string_append_printf(text, " %s%s", sign, number);
    if (is_category)
        g_string_append_printf(text, " I(%s)", term->name);
    else if (!is_first)
        g_string_append_printf(text, " %s", term->name);
}

static void add_form(struct orch_section *section, const struct orch_regressor *r)
{
    const struct orch_aigauge *form = r->form;
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < form->terms->len; i++)
        append_term(text, &g_array_index(form->terms, struct orch_aigauge_term, i), i == 0,
                    i > 0 && i + ORCH_AIGAUGE_NUMBERS < form->terms->len);
    orch_section_text(section, "%s: y =%s", r->name, text->str);
    if (form->rank < form->terms->len)
        orch_section_note(section, "(these rows determine only %zu of the %u terms)", form->rank,
                          form->terms->len);
}

static void add_models(struct orch_section *section, const struct orch_learn_outcome *o)
{
    g_autofree char *rmse =
        o->unit && *o->unit ? g_strdup_printf("RMSE (%s)", o->unit) : g_strdup("RMSE");
    const char *const headers[] = {
        "model", rmse, "setting with this RMSE", "mean relative error", "setting with this error",
        NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < o->models->len; i++) {
        const struct orch_regressor *r = o->models->pdata[i];
        orch_table_add(table, r->name, NULL);
        add_winner(table, r, true);
        add_winner(table, r, false);
    }
    orch_section_table(section, table);
    orch_section_note(section,
                      "errors on rows that the model was not trained on (%d-fold cross-validation)",
                      ORCH_REGRESSORS_FOLDS);
    for (guint i = 0; i < o->models->len; i++) {
        const struct orch_regressor *r = o->models->pdata[i];
        if (r->form)
            add_form(section, r);
        if (r->why)
            orch_section_note(section, "%s: %s", r->name, r->why);
    }
}

/* ---- by group -------------------------------------------------------------------------------- */

static void add_score(struct orch_table *table, const struct orch_score *s)
{
    g_autofree char *rmse = orch_number_format(s->rmse);
    g_autofree char *text =
        s->n ? g_strdup_printf("%s, %.1f %%, %.0f %%", rmse, 100 * s->mean_relative_error,
                               100 * s->coverage_90)
             : g_strdup("-");
    orch_table_add(table, text, NULL);
}

static void add_held(struct orch_section *section, const struct orch_learn_outcome *o)
{
    const char *const headers[] = {o->hold_out,
                                   ">rows",
                                   "model of these rows alone",
                                   "one model for all",
                                   "model of all other rows",
                                   NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < o->held->groups->len; i++) {
        const struct orch_heldout_group *g =
            &g_array_index(o->held->groups, struct orch_heldout_group, i);
        orch_table_add(table, g->name ? g->name : "all", NULL);
        orch_table_add_int(table, (int64_t)g->rows);
        add_score(table, &g->own);
        add_score(table, &g->all);
        add_score(table, &g->left_out);
    }
    orch_section_table(section, table);
    bool has_unit = o->unit && *o->unit;
    orch_section_note(section,
                      "each cell: RMSE%s%s%s, mean relative error, and share of rows within the 90 "
                      "%% interval, on rows that model '%s' was not trained on ('-': too few rows)",
                      has_unit ? " (" : "", has_unit ? o->unit : "", has_unit ? ")" : "",
                      o->held_model);
}

/* The best regressor, and what a model that has not seen a group costs. */
static void add_answer(struct orch_section *section, const struct orch_learn_outcome *o)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const struct orch_regressor *best = NULL;
    double least = HUGE_VAL;
    for (guint i = 0; o->models && i < o->models->len; i++) {
        const struct orch_regressor *r = o->models->pdata[i];
        if (!r->settings->len)
            continue;
        const double error =
            g_array_index(r->settings, struct orch_regressor_setting, r->by_relative)
                .mean_relative_error;
        if (error < least) {
            least = error;
            best = r;
        }
    }
    g_autofree char *target = orch_answer_words(section->labels, o->target, NULL);
    if (best)
        g_string_append_printf(text, "%s predicts %s best, with a mean relative error of %.3g %%",
                               best->name, target, 100 * least);
    double seen = 0, unseen = 0;
    int groups = 0;
    for (guint i = 0; o->held && i < o->held->groups->len; i++) {
        const struct orch_heldout_group *g =
            &g_array_index(o->held->groups, struct orch_heldout_group, i);
        if (!g->name || !g->all.n || !g->left_out.n)
            continue;
        seen += g->all.mean_relative_error;
        unseen += g->left_out.mean_relative_error;
        groups++;
    }
    if (groups)
        g_string_append_printf(text,
                               "%sOne model for all has a mean relative error of %.3g %%, and of "
                               "%.3g %% for a value of %s that it was not trained on",
                               text->len ? ". " : "", 100 * seen / groups, 100 * unseen / groups,
                               o->hold_out);
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}

static bool fill_learn(struct orch_section_context *a, GError **error)
{
    struct orch_learn_outcome *o = orch_learn_item_evaluate(a, error);
    if (!o)
        return false;
    if (add_source(a, &o->source)) {
        if (o->models)
            add_models(a->section, o);
        if (o->held)
            add_held(a->section, o);
        add_answer(a->section, o);
        add_notes(a, &o->source);
    }
    orch_learn_outcome_free(o);
    return true;
}

/* ---- layer by layer -------------------------------------------------------------------------- */

static void add_guess(struct orch_table *table, const struct orch_interval *g, double measured)
{
    g_autofree char *ms = orch_number_format(g->mid);
    g_autofree char *text =
        isnan(g->mid) ? g_strdup("-")
                      : g_strdup_printf("%s (%+.0f %%)", ms, 100 * (g->mid - measured) / measured);
    orch_table_add(table, text, NULL);
}

static void add_interval(struct orch_table *table, const struct orch_interval *g)
{
    g_autofree char *text =
        isnan(g->mid) || isnan(g->low) ? g_strdup("-") : orch_interval_format(g->low, g->high);
    orch_table_add(table, text, NULL);
}

static void add_epoch(struct orch_table *table, double batch_ms,
                      const struct orch_layerwise_row *row, int64_t images)
{
    add_number(table,
               isnan(batch_ms) ? batch_ms : orch_layerwise_epoch_s(batch_ms, images, row->batch));
}

static void add_layerwise(struct orch_section *section, const struct orch_layerwise_outcome *o)
{
    const char *headers[13] = {"net",          "", ">batch", "measured ms", "one model for all",
                               "90 % interval"};
    const char *of = o->hold_out ? o->hold_out : "";
    g_autofree char *alone = g_strdup_printf("model of its %s alone", of),
                    *others = g_strdup_printf("model without its %s", of);
    int count = 6;
    if (o->hold_out) {
        headers[count++] = alone;
        headers[count++] = others;
    }
    if (o->images) {
        headers[count++] = "epoch s";
        headers[count++] = "measured epoch s";
    }
    headers[count++] = "layers";
    headers[count++] = "not in the sum";
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < o->rows->len; i++) {
        const struct orch_layerwise_row *row = o->rows->pdata[i];
        g_autofree char *layers =
            row->outside
                ? g_strdup_printf("%d (%d beyond the measured sizes)", row->layers, row->outside)
                : g_strdup_printf("%d", row->layers);
        orch_table_add(table, row->net, NULL);
        orch_table_add(table, row->facts, NULL);
        orch_table_add_int(table, row->batch);
        add_number(table, row->measured_ms);
        add_guess(table, &row->all, row->measured_ms);
        add_interval(table, &row->all);
        if (o->hold_out) {
            add_guess(table, &row->own, row->measured_ms);
            add_guess(table, &row->left_out, row->measured_ms);
        }
        if (o->images) {
            add_epoch(table, row->all.mid, row, o->images);
            add_epoch(table, row->measured_ms, row, o->images);
        }
        orch_table_add(table, layers, NULL);
        orch_table_add(table, row->left_out_text, NULL);
    }
    orch_section_table(section, table);
    g_autofree char *epoch =
        o->images ? g_strdup_printf("; an epoch has %" G_GINT64_FORMAT " images", o->images)
                  : g_strdup("");
    orch_section_note(section,
                      "ms of a batch: the sum of its layers' times by model '%s'. In brackets: "
                      "error in %% of the measured time%s",
                      o->model, epoch);
}

static void answer_layerwise(struct orch_section *section, const struct orch_layerwise_outcome *o)
{
    double sum[2] = {0};
    int count[2] = {0};
    for (guint i = 0; i < o->rows->len; i++) {
        const struct orch_layerwise_row *row = o->rows->pdata[i];
        const double errors[2] = {fabs(row->all.mid - row->measured_ms) / row->measured_ms,
                                  fabs(row->left_out.mid - row->measured_ms) / row->measured_ms};
        for (int k = 0; k < 2; k++) {
            sum[k] += isfinite(errors[k]) ? errors[k] : 0;
            count[k] += isfinite(errors[k]);
        }
    }
    g_autofree char *left_out =
        o->hold_out && count[1]
            ? g_strdup_printf(
                  ", and by %.3g %% for a value of %s that the model was not trained on",
                  100 * sum[1] / count[1], o->hold_out)
            : g_strdup("");
    if (count[0])
        orch_section_answer(section,
                            "the sum of a network's layer times misses the measured time of a "
                            "batch by %.3g %% on average over %d network%s%s",
                            100 * sum[0] / count[0], count[0], orch_plural(count[0]), left_out);
}

static void draw_layerwise(struct orch_section *section, const struct orch_layerwise_outcome *o)
{
    struct orch_chart *chart = orch_chart_new(ORCH_CHART_SCATTER, "A batch of a whole network",
                                              "measured (ms)", "sum of its layers (ms)");
    struct orch_chart_panel *panel = orch_chart_panel(chart, NULL);
    double least = HUGE_VAL, most = 0;
    chart->log_x = chart->log_y = true;
    for (guint i = 0; i < o->rows->len; i++) {
        const struct orch_layerwise_row *row = o->rows->pdata[i];
        if (!(row->measured_ms > 0) || !(row->all.mid > 0))
            continue;
        struct orch_chart_series *series =
            orch_chart_series(panel, row->facts, ORCH_SERIES_MEASURED);
        struct orch_chart_point *point = orch_chart_add(series, row->measured_ms, row->all.mid);
        point->low = row->all.low;
        point->high = row->all.high;
        point->n = 1;
        least = fmin(least, row->measured_ms);
        most = fmax(most, row->measured_ms);
    }
    if (most <= 0) {
        orch_chart_free(chart);
        return;
    }
    struct orch_chart_series *equal = orch_chart_series(panel, "as measured", ORCH_SERIES_IDEAL);
    orch_chart_add(equal, least, least);
    orch_chart_add(equal, most, most);
    chart->note = g_strdup("one model for all; bars: 90 % interval");
    orch_section_chart(section, chart);
}

static bool fill_layerwise(struct orch_section_context *a, GError **error)
{
    struct orch_layerwise_outcome *o = orch_layerwise_item_predict(a, error);
    if (!o)
        return false;
    if (add_source(a, &o->source)) {
        add_layerwise(a->section, o);
        draw_layerwise(a->section, o);
        answer_layerwise(a->section, o);
        add_notes(a, &o->source);
    }
    orch_layerwise_outcome_free(o);
    return true;
}

/* Predictors as predictors/models/model.h names them, with a further word. */
static const char *const *models_and(const char *further, const char *words[MODELS_MAX])
{
    const char *const *names = orch_model_names();
    int count = 0;
    for (; names[count] && count < MODELS_MAX - 2; count++)
        words[count] = names[count];
    words[count] = further;
    words[count + 1] = NULL;
    return words;
}

/* "aigauge" is the linear form of lecture 7. */
static const char *const *model_words(void)
{
    static const char *words[MODELS_MAX];
    return models_and("aigauge", words);
}

static const char *const *model_alone_words(void)
{
    static const char *words[MODELS_MAX];
    return models_and("auto", words);
}

static const struct orch_report_words MODELS = {.listed = model_words, .what = "model"};
/* Predictors that give intervals. */
static const struct orch_report_words MODELS_ALONE = {.listed = model_alone_words, .what = "model"};

static const struct orch_report_key LEARN_KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUES},
    {.name = "artifact", .shape = ORCH_SHAPE_ARTIFACT},
    {.name = "dataset", .shape = ORCH_SHAPE_TEXT},
    {.name = "target", .shape = ORCH_SHAPE_TEXT},
    {.name = "features", .shape = ORCH_SHAPE_COLUMNS},
    {.name = "drop", .shape = ORCH_SHAPE_COLUMNS},
    {.name = "models", .shape = ORCH_SHAPE_WORDS, .words = &MODELS},
    {.name = "hold_out", .shape = ORCH_SHAPE_COLUMN},
    {.name = "model", .shape = ORCH_SHAPE_WORD, .words = &MODELS_ALONE},
    {.name = "most", .shape = ORCH_SHAPE_COUNT},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {0}};

/* Checks that training rows have exactly one source, that a table has `target` and that runs have
 * `features`. */
static void check_learn(struct report_item *item)
{
    static const char *const sources[] = {"value", "artifact", "dataset"};
    int count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
        count += orch_yaml_get(item->spec, sources[i]) != NULL;
    if (count != 1)
        orch_recipe_error_at(item->draft, item->spec,
                             "write 'value' (a metric of runs), 'artifact' (a CSV that runs write) "
                             "or 'dataset' (a table from 'orch import')",
                             "'learn' needs one of 'value', 'artifact' and 'dataset', found %d",
                             count);
    else if (!orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "target"))
        orch_recipe_error_at(item->draft, item->spec, "add 'target: COLUMN', the column to predict",
                             "'learn' from a table needs 'target'");
    else if (orch_yaml_get(item->spec, "value") && !orch_yaml_get(item->spec, "features"))
        orch_recipe_error_at(item->draft, item->spec, "for example 'features: [net, batch]'",
                             "'learn' from runs needs 'features'");
}

const struct orch_report_kind ORCH_REPORT_LEARN = {
    .name = "learn",
    .keys = LEARN_KEYS,
    .is_slow = true,
    .check = check_learn,
    .fill = fill_learn,
};

static const struct orch_report_key LAYERWISE_KEYS[] = {
    {.name = "conv", .shape = ORCH_SHAPE_ARTIFACT},
    {.name = "dense", .shape = ORCH_SHAPE_ARTIFACT},
    {.name = "rows", .shape = ORCH_SHAPE_ARTIFACT},
    {.name = "value", .shape = ORCH_SHAPE_VALUES, .is_required = true},
    {.name = "target", .shape = ORCH_SHAPE_TEXT},
    {.name = "features", .shape = ORCH_SHAPE_COLUMNS},
    {.name = "hold_out", .shape = ORCH_SHAPE_COLUMN},
    {.name = "model", .shape = ORCH_SHAPE_WORD, .words = &MODELS_ALONE},
    {.name = "images", .shape = ORCH_SHAPE_COUNT},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {0}};

static void check_layerwise(struct report_item *item)
{
    bool has_tables = orch_yaml_get(item->spec, "conv") || orch_yaml_get(item->spec, "dense");
    const struct orch_yaml *rows = orch_yaml_get(item->spec, "rows");
    if (!has_tables && !rows)
        orch_recipe_error_at(item->draft, item->spec, "name the artifact with the measured layers",
                             "'layerwise' needs 'conv', 'dense' or 'rows'");
    if (rows && (has_tables || orch_yaml_get(item->spec, "hold_out")))
        orch_recipe_error_at(item->draft, rows, "leave out 'rows'",
                             "'rows' of 'layerwise' excludes 'conv', 'dense' and 'hold_out'");
}

const struct orch_report_kind ORCH_REPORT_LAYERWISE = {
    .name = "layerwise",
    .keys = LAYERWISE_KEYS,
    .is_slow = true,
    .check = check_layerwise,
    .fill = fill_layerwise,
};
