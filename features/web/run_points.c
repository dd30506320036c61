/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/run_points.h"

#include "core/stats/lost_runs.h"
#include "core/stats/seeds.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/verdict.h"
#include "store/read/names_of.h"

#include <math.h>
#include <string.h>

/* ---- the runs ---------------------------------------------------------------------------------
 */

enum { STATE, NUMBER, RECIPE, EXPERIMENT, SETTING, REPEAT, SEED, KEY, ABOUT };
static const char *const ABOUT_COLUMNS[] = {"state",   NULL,     "recipe", "experiment",
                                            "setting", "repeat", "seed",   "key"};

/* A run that was read. */
struct row {
    char **texts;     /* by parameter */
    json_t *setting;  /* object: what was swept or searched */
    char *experiment; /* with its recipe */
    char *trial;      /* equal for runs of one trial of a setting */
    double value;     /* NAN: it gives none */
};

struct reading {
    const struct run_points *points;
    GPtrArray *rows; /* struct row *, the newest first */
    size_t most, taken;
    bool is_cut, keeps_lost;
};

static void free_row(void *pointer)
{
    struct row *row = pointer;
    g_strfreev(row->texts);
    json_decref(row->setting);
    g_free(row->experiment);
    g_free(row->trial);
    g_free(row);
}

static char *text_of(const struct orch_row_cell *cell)
{
    char real[ORCH_REAL_CHARS];
    switch (cell->kind) {
    case ORCH_CELL_INTEGER:
        return g_strdup_printf("%" G_GINT64_FORMAT, cell->integer);
    case ORCH_CELL_REAL:
        return g_strdup(orch_real_format(cell->real, real));
    case ORCH_CELL_TEXT:
        return g_strdup(cell->text);
    case ORCH_CELL_NONE:
        break;
    }
    return g_strdup(""); /* a row is a NULL-terminated list, so an absent value is the empty text */
}

/* Runs of one seed and repeat are one trial; one without a seed is a trial of its own. */
static char *trial_of(const struct orch_row_cell *cells)
{
    g_autofree char *seed = text_of(&cells[SEED]);
    g_autofree char *repeat = text_of(&cells[REPEAT]);
    return *seed && strcmp(seed, "0") != 0 ? g_strdup_printf("%s %s", repeat, seed)
                                           : text_of(&cells[KEY]);
}

/* Columns: ABOUT, then the parameters. Takes runs that ended well with a finite number; others that
 * say of their setting that it has none too, where they are kept. */
static bool take_run(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct reading *reading = ctx;
    g_autofree char *state = text_of(&cells[STATE]);
    const bool is_result = orch_verdict_facts(orch_verdict_parse(state))->is_reused;
    const double number = orch_web_cell_number(&cells[NUMBER]);
    const bool counts = is_result && isfinite(number);
    if (!counts &&
        (!reading->keeps_lost || (!is_result && orch_lost_why_of(state) == ORCH_LOST_WHYS)))
        return true;
    if (counts && reading->taken == reading->most) {
        reading->is_cut = true;
        return false;
    }
    const guint count = reading->points->params->len;
    g_autofree char *recipe = text_of(&cells[RECIPE]), *experiment = text_of(&cells[EXPERIMENT]),
                    *setting = text_of(&cells[SETTING]);
    struct row *row = g_new0(struct row, 1);
    row->texts = g_new0(char *, count + 1);
    for (guint p = 0; p < count; p++)
        row->texts[p] = text_of(&cells[ABOUT + p]);
    row->setting = json_loads(setting, 0, NULL);
    row->experiment = g_strdup_printf("%s\n%s", recipe, experiment);
    row->trial = trial_of(cells);
    row->value = counts ? number : (double)NAN;
    reading->taken += counts;
    g_ptr_array_add(reading->rows, row);
    return true;
}

static bool read_runs(struct web_call *call, const GArray *ids, const char *number,
                      struct reading *reading, GError **error)
{
    g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(g_free);
    const GPtrArray *params = reading->points->params;
    for (int i = 0; i < ABOUT; i++)
        g_ptr_array_add(columns, g_strdup(i == NUMBER ? number : ABOUT_COLUMNS[i]));
    for (guint p = 0; p < params->len; p++)
        g_ptr_array_add(columns, g_strconcat("param.", params->pdata[p], NULL));
    g_ptr_array_add(columns, NULL);
    const int64_t *all = (const int64_t *)(const void *)ids->data;
    bool ok = true;
    /* mostly the first ones suffice */
    for (size_t from = 0, count = reading->most; ok && from < ids->len && !reading->is_cut;
         from += count, count *= 2)
        ok = orch_store_visit_rows(call->store, all + from, MIN(count, ids->len - from),
                                   (const char *const *)columns->pdata, take_run, reading, error);
    return ok;
}

/* ---- what does not exist ----------------------------------------------------------------------
 */

static bool is_in_setting(const struct row *row, const char *param)
{
    return json_object_get(row->setting, param);
}

/* Marks the runs that have a parameter; false when all do. Under a search's conditions a run's
 * setting lacks what does not exist in it, while other runs of the experiment have it. */
static bool find_existing(const GPtrArray *rows, const char *param, guint index, bool *out)
{
    g_autoptr(GHashTable) having = g_hash_table_new(g_str_hash, g_str_equal);
    bool is_partial = false;
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = rows->pdata[i];
        if (is_in_setting(row, param))
            g_hash_table_add(having, row->experiment);
    }
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = rows->pdata[i];
        out[i] = *row->texts[index] &&
                 (is_in_setting(row, param) || !g_hash_table_contains(having, row->experiment));
        is_partial = is_partial || !out[i];
    }
    return is_partial;
}

/* Empties the texts of parameters that do not exist in a run. Where no other parameter decides
 * that, the parameter was given another way in some runs, as by -s. */
static void leave_out_absent(struct run_points *points, const GPtrArray *rows)
{
    const guint count = points->params->len;
    g_autofree bool *exists = g_new(bool, (gsize)rows->len *count + 1);
    g_autofree const char *const **texts = g_new(const char *const *, rows->len + 1);
    for (guint i = 0; i < rows->len; i++)
        texts[i] = (const char *const *)((const struct row *)rows->pdata[i])->texts;
    const struct orch_observed observed = {.names = (const char *const *)points->params->pdata,
                                           .columns = count,
                                           .rows = texts,
                                           .count = rows->len};
    for (guint p = 0; p < count; p++) {
        bool *of = exists + (gsize)p * rows->len;
        points->is_conditional[p] = find_existing(rows, points->params->pdata[p], p, of) &&
                                    orch_observed_decider(&observed, p, of) >= 0;
    }
    for (guint p = 0; p < count; p++)
        for (guint i = 0; points->is_conditional[p] && i < rows->len; i++)
            if (!exists[(gsize)p * rows->len + i])
                ((struct row *)rows->pdata[i])->texts[p][0] = '\0';
}

/* ---- points -----------------------------------------------------------------------------------
 */

static void add_point(struct run_points *points, const struct row *row, double value)
{
    g_ptr_array_add(points->rows, g_strdupv(row->texts));
    g_array_append_val(points->values, value);
}

/* The runs of one setting, of each trial the newest that gives a value. */
struct setting {
    const struct row *first;
    GHashTable *values; /* trial -> row that gives its value; or NULL: none does so far */
};

static void free_setting(void *pointer)
{
    struct setting *setting = pointer;
    g_hash_table_unref(setting->values);
    g_free(setting);
}

static void add_setting(struct run_points *points, const struct setting *setting)
{
    GHashTableIter iter;
    void *row;
    double sum = 0;
    g_hash_table_iter_init(&iter, setting->values);
    while (g_hash_table_iter_next(&iter, NULL, &row)) {
        if (!row)
            return; /* a trial without a value: the setting has none */
        sum += ((const struct row *)row)->value;
    }
    add_point(points, setting->first, sum / g_hash_table_size(setting->values));
}

static void add_settings(struct run_points *points, const GPtrArray *rows)
{
    g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(free_setting);
    for (guint i = 0; i < rows->len; i++) {
        struct row *row = rows->pdata[i];
        g_autofree char *texts = g_strjoinv("\n", row->texts);
        char *key = g_strdup_printf("%s\n\n%s", row->experiment, texts);
        struct setting *setting = g_hash_table_lookup(places, key);
        if (setting) {
            g_free(key);
        } else {
            setting = g_new0(struct setting, 1);
            setting->first = row;
            setting->values = g_hash_table_new(g_str_hash, g_str_equal);
            g_ptr_array_add(settings, setting);
            g_hash_table_insert(places, key, setting);
        }
        if (!g_hash_table_lookup(setting->values, row->trial))
            g_hash_table_insert(setting->values, row->trial, isnan(row->value) ? NULL : row);
    }
    for (guint i = 0; i < settings->len; i++)
        add_setting(points, settings->pdata[i]);
}

void orch_web_run_points_clear(struct run_points *points)
{
    if (points->params)
        g_ptr_array_unref(points->params);
    g_ptr_array_unref(points->rows);
    g_array_unref(points->values);
    g_free(points->is_conditional);
}

bool orch_web_run_points_read(struct web_call *call, const GArray *ids, size_t most,
                              const char *number, GPtrArray *params, bool by_setting,
                              struct run_points *out, GError **error)
{
    *out = (struct run_points){.params = params,
                               .rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev),
                               .values = g_array_new(FALSE, FALSE, sizeof(double))};
    if (!params)
        return false;
    out->is_conditional = g_new0(bool, params->len + 1);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    struct reading reading = {.points = out, .rows = rows, .most = most, .keeps_lost = by_setting};
    if (!read_runs(call, ids, number, &reading, error))
        return false;
    out->runs = reading.taken;
    out->is_cut = reading.is_cut;
    leave_out_absent(out, rows);
    if (by_setting)
        add_settings(out, rows);
    for (guint i = 0; !by_setting && i < rows->len; i++)
        add_point(out, rows->pdata[i], ((const struct row *)rows->pdata[i])->value);
    return true;
}

/* ---- the space --------------------------------------------------------------------------------
 */

GPtrArray *orch_web_varied_params(struct web_call *call, const GArray *ids, GError **error)
{
    enum { NAMES_SAMPLED = 1000 };
    g_autoptr(GPtrArray) names = orch_store_names_of(
        call->store, (const int64_t *)(const void *)ids->data, MIN(ids->len, NAMES_SAMPLED), error);
    GPtrArray *params = names ? g_ptr_array_new_with_free_func(g_free) : NULL;
    for (guint i = 0; names && i < names->len && params->len < ORCH_SPACE_PARAMS_MAX; i++) {
        const struct orch_name_of_runs *n = names->pdata[i];
        if (strcmp(n->name.kind, "param") == 0 && n->distinct > 1 &&
            !orch_is_seed_name(n->name.name))
            g_ptr_array_add(params, g_strdup(n->name.name));
    }
    return params;
}

struct orch_observed orch_web_run_points_observed(const struct run_points *points, unsigned columns)
{
    return (struct orch_observed){.names = (const char *const *)points->params->pdata,
                                  .columns = columns,
                                  .rows = (const char *const *const *)points->rows->pdata,
                                  .count = points->rows->len};
}
