/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --experiment`: the wall time of settings of an experiment, by the predictor that
 * was trained on its runs. */
#include "features/predict/step_show.h"

#include "core/recipe/recipe.h"
#include "features/predict/setting_forecast.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum { SETTINGS_MAX = 1000 };

/* A parameter with the values to forecast. */
struct swept {
    char *name;
    GPtrArray *values; /* char * */
};

struct asking {
    struct orch_cli *cli;
    const char *format;
    struct orch_trained *trained;
    GPtrArray *params;   /* struct orch_setting_param * */
    GPtrArray *swept;    /* struct swept *, as typed */
    GPtrArray *assumed;  /* struct orch_setting_param *: those with a single value, borrowed */
    GPtrArray *settings; /* GHashTable * of char * -> char *: what to forecast */
    int64_t newer;
};

static void free_swept(gpointer data)
{
    struct swept *swept = data;
    g_free(swept->name);
    g_ptr_array_unref(swept->values);
    g_free(swept);
}

/* ---- options -----------------------------------------------------------------------------------
 */

static const struct orch_setting_param *find_param(const GPtrArray *params, const char *name)
{
    for (guint i = 0; i < params->len; i++) {
        const struct orch_setting_param *param = params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param;
    }
    return NULL;
}

static bool unknown_param(const struct asking *a, const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < a->params->len; i++) {
        const struct orch_setting_param *param = a->params->pdata[i];
        g_ptr_array_add(names, (gpointer)(uintptr_t)param->name);
    }
    g_ptr_array_add(names, NULL);
    g_autofree char *near = orch_suggest_hint(name, (const char *const *)names->pdata);
    g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
    g_autofree char *hint = near ? g_strdup_printf("%s the runs have: %s", near, all)
                                 : g_strdup_printf("the runs have: %s", all);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "option '--sweep': the runs of experiment '%s' have no parameter '%s'",
                   a->trained->experiment, name);
    return false;
}

/* Adds one value of a parameter; a number must be one. */
static bool add_value(struct swept *swept, const struct orch_setting_param *param,
                      const char *value, GError **error)
{
    double number;
    if (!*value || (param->is_number && param->texts->len && !orch_real_parse(value, &number))) {
        g_autofree char *range = orch_setting_param_range(param);
        g_autofree char *hint = g_strdup_printf("measured: %s", range);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--sweep': '%s' is not a %s for '%s'",
                       value, param->is_number ? "number" : "value", param->name);
        return false;
    }
    g_ptr_array_add(swept->values, g_strdup(value));
    return true;
}

static struct swept *begin_param(struct asking *a, const char *word, const char *equals,
                                 const struct orch_setting_param **out, GError **error)
{
    g_autofree char *name = g_strndup(word, (gsize)(equals - word));
    *out = find_param(a->params, g_strstrip(name));
    if (!*out) {
        unknown_param(a, name, error);
        return NULL;
    }
    for (guint i = 0; i < a->swept->len; i++) {
        if (strcmp(((const struct swept *)a->swept->pdata[i])->name, name) != 0)
            continue;
        g_autofree char *hint = g_strdup_printf("list its values: -x %s=A,B", name);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--sweep': '%s' is given twice",
                       name);
        return NULL;
    }
    struct swept *swept = g_new0(struct swept, 1);
    swept->name = g_steal_pointer(&name);
    swept->values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(a->swept, swept);
    return swept;
}

/* Reads "n=100,200". */
static bool read_param(struct asking *a, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    if (!equals) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example -x n=300,batch=256",
                       "option '--sweep': '%s' has no '='", text);
        return false;
    }
    const struct orch_setting_param *param = NULL;
    struct swept *swept = begin_param(a, text, equals, &param, error);
    g_autoptr(GPtrArray) values = orch_recipe_split(equals + 1);
    bool ok = swept != NULL;
    for (guint i = 0; ok && i < values->len; i++)
        ok = add_value(swept, param, values->pdata[i], error);
    return ok;
}

/* Reads "n=100,200,batch=64". */
static bool read_sweep(struct asking *a, const char *text, GError **error)
{
    g_autoptr(GPtrArray) params = orch_sweep_split(text);
    bool ok = true;
    for (guint i = 0; ok && i < params->len; i++)
        ok = read_param(a, params->pdata[i], error);
    return ok;
}

/* Parameters that are not given: one that has a single value in all runs has it here too; the
 * others must be given. */
static bool settle_others(struct asking *a, GError **error)
{
    g_autoptr(GString) missing = g_string_new(NULL), hint = g_string_new("add -x ");
    for (guint i = 0; i < a->params->len; i++) {
        struct orch_setting_param *param = a->params->pdata[i];
        bool given = false;
        for (guint k = 0; k < a->swept->len && !given; k++)
            given = strcmp(((const struct swept *)a->swept->pdata[k])->name, param->name) == 0;
        if (given || !param->texts->len)
            continue;
        if (param->texts->len == 1) {
            g_ptr_array_add(a->assumed, param);
            continue;
        }
        g_autofree char *range = orch_setting_param_range(param);
        g_string_append_printf(missing, "%s'%s' (measured: %s)", missing->len ? ", " : "",
                               param->name, range);
        g_string_append_printf(hint, "%s%s=%s", hint->len > strlen("add -x ") ? "," : "",
                               param->name, (const char *)param->texts->pdata[0]);
    }
    if (!missing->len)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, hint->str, "no value is given for parameter %s",
                   missing->str);
    return false;
}

/* Makes all combinations of the values. */
static bool combine(struct asking *a, GError **error)
{
    g_ptr_array_add(a->settings, g_hash_table_new(g_str_hash, g_str_equal));
    GHashTable *first = a->settings->pdata[0];
    for (guint i = 0; i < a->assumed->len; i++) {
        const struct orch_setting_param *param = a->assumed->pdata[i];
        g_hash_table_insert(first, (gpointer)(uintptr_t)param->name, param->texts->pdata[0]);
    }
    for (guint i = 0; i < a->swept->len; i++) {
        const struct swept *swept = a->swept->pdata[i];
        GPtrArray *more = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
        for (guint s = 0; s < a->settings->len; s++)
            for (guint v = 0; v < swept->values->len && more->len <= SETTINGS_MAX; v++) {
                GHashTable *copy = g_hash_table_new(g_str_hash, g_str_equal);
                GHashTableIter iter;
                gpointer name, value;
                g_hash_table_iter_init(&iter, a->settings->pdata[s]);
                while (g_hash_table_iter_next(&iter, &name, &value))
                    g_hash_table_insert(copy, name, value);
                g_hash_table_insert(copy, swept->name, swept->values->pdata[v]);
                g_ptr_array_add(more, copy);
            }
        g_ptr_array_unref(a->settings);
        a->settings = more;
    }
    if (a->settings->len <= SETTINGS_MAX)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "give fewer values",
                   "option '--sweep': more than %d settings", SETTINGS_MAX);
    return false;
}

static bool read_options(struct asking *a, const char *const *sweeps, GError **error)
{
    for (int i = 0; sweeps && sweeps[i]; i++)
        if (!read_sweep(a, sweeps[i], error))
            return false;
    return settle_others(a, error) && combine(a, error);
}

/* ---- output ------------------------------------------------------------------------------------
 */

/* A whole number without a decimal point. */
static json_t *number_json(double number)
{
    bool is_whole = number == floor(number) && fabs(number) < 9e15;
    return is_whole ? json_integer((json_int_t)number) : orch_json_finite(number);
}

static json_t *values_json(const struct asking *a, GHashTable *values)
{
    json_t *out = json_object();
    for (guint i = 0; i < a->params->len; i++) {
        const struct orch_setting_param *param = a->params->pdata[i];
        const char *value = g_hash_table_lookup(values, param->name);
        double number;
        if (value)
            json_object_set_new(out, param->name,
                                param->is_number && orch_real_parse(value, &number)
                                    ? number_json(number)
                                    : json_string(value));
    }
    return out;
}

static json_t *known_json(const struct asking *a, const struct orch_trained_cell *known)
{
    g_autoptr(GHashTable) values = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < a->params->len; i++) {
        const char *name = ((const struct orch_setting_param *)a->params->pdata[i])->name;
        const char *value = orch_setting_known_value(a->trained, known, name);
        if (*value)
            g_hash_table_insert(values, (gpointer)(uintptr_t)name, (gpointer)(uintptr_t)value);
    }
    return json_pack("{s:s s:o s:o s:i}", "source", known->newest, "params", values_json(a, values),
                     "total_s", orch_json_finite(known->time.mid), "count", known->count);
}

static json_t *forecast_to_json(const struct asking *a, GHashTable *values,
                                const struct orch_setting_forecast *f)
{
    json_t *notes = json_array(), *nearest = json_array();
    for (guint i = 0; i < f->notes->len; i++)
        json_array_append_new(notes, json_string(f->notes->pdata[i]));
    for (guint i = 0; i < f->nearest->len; i++)
        json_array_append_new(nearest, known_json(a, f->nearest->pdata[i]));
    return json_pack("{s:o s:o s:o s:o s:s s:s s:b s:o s:o}", "params", values_json(a, values),
                     "total_s", orch_json_finite(f->time_s.mid), "low_s",
                     orch_json_finite(f->time_s.low), "high_s", orch_json_finite(f->time_s.high),
                     "tier", orch_tier_name(f->tier), "because", f->why, "extrapolates",
                     f->extrapolates, "notes", notes, "nearest", nearest);
}

static struct orch_table *table_of(const struct asking *a)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < a->swept->len; i++)
        g_ptr_array_add(headers,
                        g_strconcat(">", ((const struct swept *)a->swept->pdata[i])->name, NULL));
    static const char *const last[] = {">time", ">90 % interval", "tier"};
    for (size_t i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(headers, g_strdup(last[i]));
    g_ptr_array_add(headers, NULL);
    return orch_table_new((const char *const *)headers->pdata);
}

static void add_row(const struct asking *a, struct orch_table *table, GHashTable *values,
                    const struct orch_setting_forecast *f)
{
    g_autofree char *span = orch_cli_span_format(f->time_s);
    for (guint i = 0; i < a->swept->len; i++) {
        const struct swept *swept = a->swept->pdata[i];
        orch_table_add(table, g_hash_table_lookup(values, swept->name), NULL);
    }
    orch_cli_add_duration(table, f->time_s.mid);
    orch_table_add(table, span, NULL);
    orch_table_add(table, orch_tier_name(f->tier), NULL);
}

static void print_known(const struct asking *a, const struct orch_trained_cell *known)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *time = orch_duration_format(known->time.mid);
    for (guint i = 0; i < a->params->len; i++) {
        const struct orch_setting_param *param = a->params->pdata[i];
        if (param->texts->len > 1)
            g_string_append_printf(text, " %s=%s", param->name,
                                   orch_setting_known_value(a->trained, known, param->name));
    }
    orch_cli_print_line("  nearest   %s %s: %s (%d run%s)", orch_run_short_key(known->newest),
                        text->str, time, known->count, orch_plural(known->count));
}

/* Prints what the forecast of one setting rests on. */
static void print_basis(const struct asking *a, const struct orch_setting_forecast *f)
{
    orch_cli_print_line("tier %s: %s", orch_tier_name(f->tier), f->why);
    for (guint i = 0; i < f->nearest->len; i++)
        print_known(a, f->nearest->pdata[i]);
    for (guint i = 0; i < f->notes->len; i++)
        orch_cli_print_line("  warning   extrapolation: %s", (const char *)f->notes->pdata[i]);
}

static void print_assumptions(const struct asking *a)
{
    g_autofree char *device = orch_setting_device(a->trained);
    printf("assumptions (change with the option in brackets):\n");
    for (guint i = 0; i < a->assumed->len; i++) {
        const struct orch_setting_param *param = a->assumed->pdata[i];
        orch_cli_print_line("  %s: %s, as in all runs  (-x)", param->name,
                            (const char *)param->texts->pdata[0]);
    }
    orch_cli_print_line("  device: %s, where the newest of these runs was made", device);
}

static void print_json(const struct asking *a, json_t *list)
{
    g_autofree char *device = orch_setting_device(a->trained);
    orch_cli_print_json(json_pack(
        "{s:s s:s s:s s:s s:I s:i s:I s:o s:o}", "experiment", a->trained->experiment, "predictor",
        a->trained->name, "made", a->trained->made, "device", device, "runs",
        (json_int_t)a->trained->rows, "settings", (int)a->trained->known->len, "newer_runs",
        (json_int_t)a->newer, "interval", orch_json_finite(0.9), "predictions", json_incref(list)));
}

static void warn(const struct asking *a)
{
    if (!a->trained->is_used)
        orch_cli_warn(a->cli,
                      "predictor '%s' is not better than taking the time of the most similar run",
                      a->trained->name);
    if (a->newer)
        orch_cli_warn(
            a->cli,
            "%d runs are newer than predictor '%s': train it again with 'orch predictor train'",
            (int)a->newer, a->trained->name);
}

/* Forecasts each setting. The basis of one setting is printed below the table; of several, only the
 * extrapolations, each with its setting. */
static bool answer(const struct asking *a, struct orch_table *table, json_t *list,
                   GPtrArray *forecasts, GError **error)
{
    for (guint i = 0; i < a->settings->len; i++) {
        GHashTable *values = a->settings->pdata[i];
        struct orch_setting_forecast *f = g_new0(struct orch_setting_forecast, 1);
        g_ptr_array_add(forecasts, f);
        if (!orch_setting_forecast(a->trained, NULL, values, f, error))
            return false;
        add_row(a, table, values, f);
        json_array_append_new(list, forecast_to_json(a, values, f));
    }
    return true;
}

static void free_forecast(gpointer data)
{
    orch_setting_forecast_clear(data);
    g_free(data);
}

static void print_all(const struct asking *a, const GPtrArray *forecasts)
{
    g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);
    if (forecasts->len == 1) {
        print_basis(a, forecasts->pdata[0]);
        return;
    }
    for (guint i = 0; i < forecasts->len; i++) {
        const struct orch_setting_forecast *f = forecasts->pdata[i];
        if (g_hash_table_add(said, f->why))
            orch_cli_print_line("tier %s: %s", orch_tier_name(f->tier), f->why);
        for (guint k = 0; k < f->notes->len; k++)
            if (g_hash_table_add(said, f->notes->pdata[k]))
                orch_cli_print_line("  warning   extrapolation: %s",
                                    (const char *)f->notes->pdata[k]);
    }
}

static bool print(const struct asking *a, GError **error)
{
    struct orch_table *table = table_of(a);
    g_autoptr(json_t) list = json_array();
    g_autoptr(GPtrArray) forecasts = g_ptr_array_new_with_free_func(free_forecast);
    bool ok = answer(a, table, list, forecasts, error);
    if (!ok || a->cli->json) {
        json_decref(orch_cli_table_to_json(table));
        if (ok)
            print_json(a, list);
        return ok;
    }
    warn(a);
    orch_cli_table_print_as(a->cli, table, "predictions", a->format);
    if (!a->format) {
        print_all(a, forecasts);
        print_assumptions(a);
    }
    return true;
}

/* ---- the command -------------------------------------------------------------------------------
 */

static struct orch_trained *open_predictor(struct orch_cli *cli, const char *experiment,
                                           int64_t *out_newer, GError **error)
{
    GError *failed = NULL;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_trained *t = store ? orch_setting_predictor_find(store, experiment, &failed) : NULL;
    if (failed)
        g_propagate_error(error, failed);
    else if (store && !t) {
        g_autofree char *filter = g_strdup_printf("experiment=\"%s\"", experiment);
        g_autofree char *word = g_shell_quote(filter);
        g_autofree char *hint = g_strdup_printf("orch predictor train --where %s", word);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint,
                       "no predictor was trained on the parameters of experiment '%s'", experiment);
    }
    if (t && orch_setting_newer_runs(store, t, out_newer, error))
        return t;
    orch_trained_free(t);
    return NULL;
}

int orch_cli_predict_setting(struct orch_cli *cli, const struct predict_options *o, GError **error)
{
    struct asking a = {.cli = cli,
                       .format = o->format,
                       .swept = g_ptr_array_new_with_free_func(free_swept),
                       .assumed = g_ptr_array_new(),
                       .settings =
                           g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref)};
    a.trained = open_predictor(cli, o->experiment, &a.newer, error);
    a.params = a.trained ? orch_setting_params(a.trained) : NULL;
    bool ok = a.trained && read_options(&a, o->sweeps, error) && print(&a, error);
    if (a.params)
        g_ptr_array_unref(a.params);
    g_ptr_array_unref(a.settings);
    g_ptr_array_unref(a.assumed);
    g_ptr_array_unref(a.swept);
    orch_trained_free(a.trained);
    return ok ? ORCH_EXIT_OK : -1;
}
