/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers from the store's own measurements: of the same configuration, or of a predictor that
 * learned from them. */
#include "features/predict/step_tiers_private.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- the question as a row ---------------------------------------------------------------------
 */

const char *orch_step_tiers_device_name(const struct orch_gpu_spec *gpu)
{
    return gpu->unit == ORCH_GPU_HOST && gpu->arch && *gpu->arch ? gpu->arch : gpu->name;
}

/* True when a measured configuration has this value in the column. */
static bool was_seen(const struct orch_trained *t, const char *column, const char *value)
{
    for (guint i = 0; i < t->known->len; i++)
        if (g_ascii_strcasecmp(orch_trained_cell_value(t, t->known->pdata[i], column), value) == 0)
            return true;
    return false;
}

/* The name of the question's precision in the records, most of which call an A100's tf32 fp32. */
static const char *precision_name(const struct orch_trained *t, const struct orch_step_answer *a)
{
    const char *const *names = orch_precision_names();
    for (int i = 0; t && t->known && names[i] && !was_seen(t, "precision", names[a->c->precision]);
         i++)
        if (orch_precision_run(a->c->gpu, (enum orch_precision)i) == a->c->precision &&
            was_seen(t, "precision", names[i]))
            return names[i];
    return names[a->c->precision];
}

char *orch_step_tiers_value(const struct orch_trained *t, const struct orch_step_answer *a,
                            const char *column)
{
    if (strcmp(column, "gpu") == 0)
        return g_strdup(orch_step_tiers_device_name(a->c->gpu));
    if (strcmp(column, "net") == 0)
        return g_strdup(a->q->net->name);
    if (strcmp(column, "batch") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, a->batch);
    if (strcmp(column, "workers") == 0)
        return g_strdup_printf("%" G_GINT64_FORMAT, a->workers);
    if (strcmp(column, "precision") == 0)
        return g_strdup(precision_name(t, a));
    if (strcmp(column, "mode") == 0)
        return g_strdup(a->q->work.training ? "train" : "infer");
    if (strcmp(column, "input") == 0)
        return orch_net_shape_format(a->q->net->input);
    if (strcmp(column, "threads") == 0 && a->q->threads)
        return g_strdup_printf("%" G_GINT64_FORMAT, a->q->threads);
    return g_strdup("");
}

struct orch_csv *orch_step_tiers_row(const struct orch_trained *trained,
                                     const struct orch_step_answer *a, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    orch_csv_append(text, trained->target);
    for (int c = 0; trained->columns[c]; c++) {
        g_string_append_c(text, ',');
        orch_csv_append(text, trained->columns[c]);
    }
    g_string_append(text, "\n1");
    for (int c = 0; trained->columns[c]; c++) {
        g_autofree char *value = orch_step_tiers_value(trained, a, trained->columns[c]);
        g_string_append_c(text, ',');
        orch_csv_append(text, value);
    }
    g_string_append_c(text, '\n');
    return orch_csv_parse("question", text->str, text->len, error);
}

/* ---- measured ----------------------------------------------------------------------------------
 */

static const char *const ASKED[] = {"gpu",  "net",   "batch",   "workers", "precision",
                                    "mode", "input", "threads", NULL};

/* Rows without a GPU or a network match every question, so they are no measurement of it. Rows
 * without a mode are no measurement of inference. */
static bool is_measurement(const struct orch_trained *t, const struct orch_trained_cell *known,
                           const struct orch_step_answer *a)
{
    return *orch_trained_cell_value(t, known, "gpu") && *orch_trained_cell_value(t, known, "net") &&
           (a->q->work.training || *orch_trained_cell_value(t, known, "mode"));
}

/* Finds the configuration under any name of its precision, preferring the one measured most often.
 */
static const struct orch_trained_cell *find_known(const struct orch_step_tiers *tiers,
                                                  const struct orch_step_answer *a)
{
    const struct orch_trained *t = tiers->trained;
    const struct orch_trained_cell *best = NULL;
    char *values[G_N_ELEMENTS(ASKED)] = {NULL};
    int at = 0;
    for (int i = 0; ASKED[i]; i++) {
        values[i] = orch_step_tiers_value(t, a, ASKED[i]);
        at = strcmp(ASKED[i], "precision") == 0 ? i : at;
    }
    for (int i = 0; orch_precision_names()[i]; i++) {
        if (orch_precision_run(a->c->gpu, (enum orch_precision)i) != a->c->precision)
            continue;
        g_free(values[at]);
        values[at] = g_strdup(orch_precision_names()[i]);
        const struct orch_trained_cell *known =
            orch_trained_find(t, ASKED, (const char *const *)values);
        if (known && is_measurement(t, known, a) && (!best || known->count > best->count))
            best = known;
    }
    for (int i = 0; ASKED[i]; i++)
        g_free(values[i]);
    return best;
}

/* "28 runs of the store and 60 rows of data set 'timm'". */
static char *rows_text(const struct orch_trained *t, size_t rows, size_t runs)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (runs || !rows)
        g_string_append_printf(text, "%zu run%s of the store", runs, orch_plural(runs));
    if (rows <= runs)
        return g_strdup(text->str);
    GString *sets = g_string_new(NULL);
    int count = 0;
    for (int i = 0; t->sources[i]; i++)
        if (strcmp(t->sources[i], "runs") != 0)
            g_string_append_printf(sets, "%s'%s'", count++ ? ", " : " ", t->sources[i]);
    g_string_append_printf(text, "%s%zu row%s of data set%s%s", runs ? " and " : "", rows - runs,
                           orch_plural(rows - runs), orch_plural(count), sets->str);
    g_string_free(sets, TRUE);
    return g_strdup(text->str);
}

/* Describes the rows that a measurement comes from, with the name of the data set. */
static char *known_text(const struct orch_trained *t, const struct orch_trained_cell *known)
{
    const char *s = orch_plural(known->count);
    if (known->runs == known->count)
        return g_strdup_printf("%d run%s of this setting, the newest %s", known->count, s,
                               orch_run_short_key(known->newest));
    if (!known->runs && *known->newest)
        return g_strdup_printf("%d row%s of data set '%s', of this setting", known->count, s,
                               known->newest);
    g_autofree char *rows = rows_text(t, (size_t)known->count, (size_t)known->runs);
    return g_strdup_printf("%s, of this setting", rows);
}

static void fill_measured(const struct orch_step_tiers *tiers,
                          const struct orch_trained_cell *known, struct orch_step_answer *out)
{
    out->tier = ORCH_TIER_MEASURED;
    out->own = (struct orch_interval){known->time.low / 1e3, known->time.mid / 1e3,
                                      known->time.high / 1e3};
    out->own_is_whole = true;
    g_autofree char *what = known_text(tiers->trained, known);
    bool is_repeated = known->runs == known->count && known->count > 1;
    out->why = g_strdup_printf("%s; repeated measurements%s vary by %.1f %%", what,
                               is_repeated ? "" : " of other settings",
                               100 * tiers->trained->repeat_spread);
}

/* ---- fitted ------------------------------------------------------------------------------------
 */

/* True when the column has values and none equals this one. Rows without a mode were training. */
static bool is_new(const struct orch_trained *t, const struct orch_step_answer *a,
                   const char *column)
{
    g_autofree char *value = orch_step_tiers_value(t, a, column);
    bool any = false;
    for (guint i = 0; i < t->known->len && !any; i++)
        any = *orch_trained_cell_value(t, t->known->pdata[i], column);
    if (!any)
        return strcmp(column, "mode") == 0 && strcmp(value, "train") != 0;
    return !was_seen(t, column, value);
}

static bool fill_fitted(const struct orch_step_tiers *tiers, struct orch_step_answer *a,
                        GError **error)
{
    const struct orch_trained *t = tiers->trained;
    if (!t->learned || !t->is_used || !was_seen(t, "gpu", orch_step_tiers_device_name(a->c->gpu)) ||
        is_new(t, a, "precision") || is_new(t, a, "mode"))
        return true;
    g_autofree char *workers = orch_step_tiers_value(t, a, "workers");
    struct orch_step_answer alone = *a;
    a->own_is_whole = was_seen(t, "workers", workers);
    alone.workers = a->own_is_whole ? a->workers : 1;
    struct orch_csv *csv = orch_step_tiers_row(t, &alone, error);
    struct orch_rows_options options = {.target = t->target};
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, &options, error) : NULL;
    orch_csv_free(csv);
    if (!rows)
        return false;
    struct orch_answer answer;
    orch_learned_predict(t->learned, rows, &answer);
    orch_rows_free(rows);
    if (!(answer.value.low > 0 && answer.value.low <= answer.value.mid &&
          answer.value.mid <= answer.value.high && isfinite(answer.value.high))) {
        orch_load_fail("members", "cannot be read", error);
        return false;
    }
    a->extrapolates = answer.extrapolates;
    if (answer.extrapolates && log(answer.value.high / answer.value.low) / 2 >
                                   orch_transfer_error_half(&a->c->prior.error, 0))
        return true; /* the analytical model is more precise here */
    a->tier = ORCH_TIER_FITTED;
    a->own = (struct orch_interval){answer.value.low / 1e3, answer.value.mid / 1e3,
                                    answer.value.high / 1e3};
    g_autofree char *rows_learned = rows_text(t, t->rows, t->run_rows);
    a->why = g_strdup_printf("learned from %s (%.1f %% mean relative error on %s left out)%s",
                             rows_learned,
                             100 * orch_learned_question(t->learned, answer.question).error,
                             answer.question ? "networks" : "rows",
                             answer.extrapolates ? "; beyond the training rows" : "");
    return true;
}

bool orch_step_tiers_estimate(const struct orch_step_tiers *tiers, struct orch_step_answer *a,
                              GError **error)
{
    if (!tiers->trained || a->q->calibrate)
        return true;
    const struct orch_trained_cell *known = find_known(tiers, a);
    if (known) {
        fill_measured(tiers, known, a);
        return true;
    }
    return fill_fitted(tiers, a, error);
}
