/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `learn`. */
#include "features/learn/learn_item.h"

#include "core/stats/group.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/devices/gpus.h"
#include "predictors/features/batch_reading.h"
#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Returns an item's features, including the column that is held out. */
static char **feature_names(const json_t *spec)
{
    char **names = orch_learn_texts(spec, "features");
    const char *hold_out = orch_json_text(spec, "hold_out", NULL);
    if (!hold_out || g_strv_contains((const char *const *)names, hold_out))
        return names;
    guint count = g_strv_length(names);
    names = g_renew(char *, names, count + 2);
    names[count] = g_strdup(hold_out);
    names[count + 1] = NULL;
    return names;
}

static bool add_run_row(GString *csv, struct orch_report_trial *trial, char **features,
                        const struct orch_item_value *wanted, struct orch_learn_outcome *out)
{
    double value = (double)NAN;
    const char *unit = NULL;
    orch_trial_number(out->source.trials, trial, wanted, &value, NULL, &unit, NULL);
    if (!(value > 0) || !isfinite(value))
        return false;
    if (!out->unit)
        out->unit = g_strdup(unit ? unit : "");
    char text[ORCH_REAL_CHARS];
    for (int i = 0; features[i]; i++) {
        g_autofree char *field =
            orch_learn_run_value(out->source.trials->store, trial->run, features[i]);
        orch_learn_csv_field(csv, field, i == 0);
    }
    g_string_append_printf(csv, ",%s\n", orch_real_format(value, text));
    return true;
}

static GString *runs_csv(const struct orch_report_item *item, struct orch_learn_outcome *out)
{
    g_auto(GStrv) features = feature_names(item->spec);
    g_autoptr(GPtrArray) values = orch_item_values_parse(json_object_get(item->spec, "value"));
    const struct orch_item_value *wanted = values->pdata[0];
    const struct orch_trials *trials = out->source.trials;
    GString *csv = g_string_new(NULL);
    unsigned without = 0, with = 0;
    for (int i = 0; features[i]; i++)
        orch_learn_csv_field(csv, features[i], i == 0);
    orch_learn_csv_field(csv, wanted->name, false);
    g_string_append_c(csv, '\n');
    out->target = g_strdup(wanted->name);
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!orch_trial_has(trials, trial, wanted->name) || !orch_learn_use(&out->source, trial))
            continue;
        bool has = add_run_row(csv, trial, features, wanted, out);
        with += has;
        without += !has;
    }
    if (without)
        g_ptr_array_add(out->source.notes,
                        g_strdup_printf("%u runs have no '%s' above 0 and are left out", without,
                                        wanted->name));
    out->source.text = g_strdup_printf("%u runs", with);
    return csv;
}

static GString *artifacts_csv(const struct orch_report_item *item, struct orch_learn_outcome *out)
{
    g_auto(GStrv) features = orch_learn_texts(item->spec, "features");
    const char *artifact = orch_json_text(item->spec, "artifact", "");
    const struct orch_trials *trials = out->source.trials;
    GString *csv = g_string_new(NULL);
    unsigned with = 0;
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!orch_manifest_artifact(trial->item->cell->experiment->manifest, artifact))
            continue;
        const struct orch_run *run = orch_learn_use(&out->source, trial);
        with += run &&
                orch_learn_add_artifact(csv, trials->store, run, artifact, features, &out->source);
    }
    out->source.text = g_strdup_printf("'%s' of %u runs", artifact, with);
    return csv;
}

static GString *table_of(const struct orch_plan *plan, const struct orch_report_item *item,
                         struct orch_learn_outcome *out)
{
    const char *dataset = orch_json_text(item->spec, "dataset", NULL), *target;
    const char *most = orch_json_text(item->spec, "most", "0");
    int64_t limit = 0;
    orch_int_parse(most, &limit);
    target = orch_json_text(item->spec, "target", "");
    if (json_object_get(item->spec, "value"))
        return runs_csv(item, out);
    out->target = g_strdup(target);
    const char *unit = orch_target_unit(target);
    out->unit = *unit ? g_strdup(unit) : NULL;
    if (dataset)
        return orch_learn_dataset_csv(plan->store, dataset, target, (size_t)limit, &out->source);
    return artifacts_csv(item, out);
}

/* ---- symbols of AI Gauge's linear form ------------------------------------------------------- */

static int first_column(const struct orch_csv *csv, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (orch_csv_find(csv, names[i]) >= 0)
            return orch_csv_find(csv, names[i]);
    return -1;
}

static double number_at(const struct orch_csv *csv, size_t row, int column, double otherwise)
{
    double value;
    return column >= 0 && orch_real_parse(orch_csv_text(csv, row, column), &value) ? value
                                                                                   : otherwise;
}

struct letters {
    int gpu, net, workers, batch, threads;
    bool peaks; /* every GPU is in the hardware table */
};

static void find_letters(const struct orch_csv *csv, const char *hold_out, struct letters *out)
{
    const char *const gpus[] = {"gpu", hold_out ? hold_out : "threads", "threads", NULL};
    out->gpu = first_column(csv, gpus);
    out->net = first_column(csv, (const char *const[]){"net", "network", "model", NULL});
    out->workers = first_column(csv, (const char *const[]){"workers", "gpus", "gpu_count", NULL});
    out->batch = first_column(csv, (const char *const[]){"batch", "net_batch", NULL});
    out->threads = first_column(csv, (const char *const[]){"threads", "loader_threads", NULL});
    out->peaks = out->gpu >= 0;
    for (size_t i = 0; out->peaks && i < orch_csv_rows(csv); i++)
        out->peaks = orch_gpu_find(orch_csv_text(csv, i, out->gpu)) != NULL;
}

static void note_letters(const struct orch_csv *csv, const struct letters *l,
                         struct orch_learn_source *source)
{
    const char *peak = l->peaks ? "the GPU's fp32 peak in TFLOP/s"
                       : l->threads >= 0
                           ? "the threads, to which a processor's peak is proportional"
                           : "1";
    g_ptr_array_add(
        source->notes,
        g_strdup_printf(
            "letters in the formula: GPU type is '%s', network '%s', B '%s', W %s, T %s, F %s",
            orch_csv_name(csv, l->gpu), orch_csv_name(csv, l->net), orch_csv_name(csv, l->batch),
            l->workers >= 0 ? orch_csv_name(csv, l->workers) : "1",
            l->threads >= 0 ? orch_csv_name(csv, l->threads) : "0", peak));
}

/* Converts rows to jobs for the linear form. NULL when the table lacks a needed column. The caller
 * frees. */
static struct orch_aigauge_job *jobs_of(const struct orch_csv *csv, const char *hold_out,
                                        struct orch_learn_source *source)
{
    struct letters l;
    find_letters(csv, hold_out, &l);
    if (l.gpu < 0 || l.net < 0 || l.batch < 0)
        return NULL;
    struct orch_aigauge_job *jobs = g_new0(struct orch_aigauge_job, orch_csv_rows(csv) + 1);
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        const char *gpu = orch_csv_text(csv, i, l.gpu);
        double threads = number_at(csv, i, l.threads, 0);
        jobs[i] = (struct orch_aigauge_job){.gpu = gpu,
                                            .net = orch_csv_text(csv, i, l.net),
                                            .workers = number_at(csv, i, l.workers, 1),
                                            .batch = number_at(csv, i, l.batch, (double)NAN),
                                            .threads = threads,
                                            .flops = l.peaks ? orch_gpu_find(gpu)->fp32_tflops
                                                     : l.threads >= 0 ? threads
                                                                      : 1};
    }
    note_letters(csv, &l, source);
    return jobs;
}

/* ---- judging --------------------------------------------------------------------------------- */

static void judge_models(const struct orch_rows *rows, const struct orch_csv *csv,
                         const struct orch_report_item *item, struct orch_learn_outcome *out)
{
    g_auto(GStrv) models = orch_learn_texts(item->spec, "models");
    g_autoptr(GError) error = NULL;
    if (!*models)
        return;
    bool wants_form = g_strv_contains((const char *const *)models, "aigauge");
    g_autofree struct orch_aigauge_job *jobs =
        wants_form ? jobs_of(csv, out->hold_out, &out->source) : NULL;
    out->models = orch_regressors_compare(rows, jobs, (const char *const *)models, 0, &error);
    if (!out->models)
        orch_learn_source_fail(&out->source, NULL, "%s", error->message);
}

static void judge_groups(const struct orch_rows *rows, struct orch_learn_outcome *out)
{
    g_autoptr(GError) error = NULL;
    struct orch_learn_options options = {.model = out->held_model,
                                         .target = ORCH_LEARN_BEST,
                                         .no_tuning = strcmp(out->held_model, "auto") != 0};
    if (!out->hold_out)
        return;
    out->held = orch_heldout_evaluate(rows, &options, &error);
    if (!out->held)
        orch_learn_source_fail(&out->source, NULL, "%s", error->message);
}

static void judge(struct orch_csv *csv, const struct orch_report_item *item,
                  struct orch_learn_outcome *out)
{
    g_autoptr(GError) error = NULL;
    bool is_dataset = json_object_get(item->spec, "dataset");
    char *reading = is_dataset ? orch_batch_reading_apply(csv, NULL, out->target) : NULL;
    if (reading)
        g_ptr_array_add(out->source.notes, reading);
    g_auto(GStrv) drop = orch_learn_texts(item->spec, "drop");
    struct orch_rows_options options = {
        .target = out->target, .drop = (const char *const *)drop, .group = out->hold_out};
    struct orch_rows *rows = orch_rows_of_table(csv, &options, &error);
    if (!rows) {
        orch_learn_source_fail(&out->source, NULL, "%s", error->message);
        return;
    }
    out->source.rows = rows->rows;
    for (guint i = 0; i < rows->notes->len; i++)
        g_ptr_array_add(out->source.notes, g_strdup(rows->notes->pdata[i]));
    judge_models(rows, csv, item, out);
    judge_groups(rows, out);
    orch_rows_free(rows);
}

struct orch_learn_outcome *orch_learn_item_evaluate(struct orch_section_context *a,
                                                    GError **problem)
{
    struct orch_learn_outcome *out = g_new0(struct orch_learn_outcome, 1);
    const struct orch_report_item *item = a->item;
    g_autoptr(GError) error = NULL;
    if (!orch_learn_source_init(&out->source, a, problem)) {
        orch_learn_outcome_free(out);
        return NULL;
    }
    out->hold_out = g_strdup(orch_json_text(item->spec, "hold_out", NULL));
    out->held_model = g_strdup(orch_json_text(item->spec, "model", "boost"));
    GString *text = table_of(a->plan, item, out);
    struct orch_csv *csv =
        text ? orch_csv_parse(out->source.text, text->str, text->len, &error) : NULL;
    if (text && !text->len)
        orch_learn_source_fail(&out->source, NULL, "no trial of this item is done");
    else if (text && !csv)
        orch_learn_source_fail(&out->source, NULL, "%s", error->message);
    else if (csv && !orch_csv_rows(csv))
        orch_learn_source_fail(&out->source, NULL, "no trial of this item is done");
    else if (csv)
        judge(csv, item, out);
    orch_csv_free(csv);
    if (text)
        g_string_free(text, TRUE);
    orch_learn_source_set_hint(&out->source, a);
    return out;
}

void orch_learn_outcome_free(struct orch_learn_outcome *out)
{
    if (!out)
        return;
    orch_learn_source_clear(&out->source);
    g_free(out->target);
    g_free(out->unit);
    g_free(out->hold_out);
    g_free(out->held_model);
    if (out->models)
        g_ptr_array_unref(out->models);
    orch_heldout_free(out->held);
    g_free(out);
}
