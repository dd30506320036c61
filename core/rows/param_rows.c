/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/rows/param_rows.h"
#include "core/rows/rows_text.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/library_fact.h"
#include "lib/wire/secret.h"
#include "store/read/bulk.h"

#include <math.h>
#include <string.h>

static const char TARGET[] = "wall_s";
static const char *const DEVICE_COLUMNS[] = {"gpu", "workers", "threads"};

/** A run that can give a row. */
struct setting {
    char *key, *version, *device_key;
    GHashTable *params; /* char * -> char * */
    char *signature;    /* equal for runs of equal parameters on equal devices */
    double wall_s;
    bool is_disturbed, is_shared; /* shared: other trials ran beside it */
};

struct gathering {
    struct orch_store *store;
    struct orch_rows_tally *tally;
    struct orch_param_rows *out;
    GPtrArray *settings; /* struct setting *, newest first */
    GPtrArray *names;    /* char *: parameters, sorted later */
};

static void free_setting(gpointer data)
{
    struct setting *setting = data;
    g_free(setting->key);
    g_free(setting->version);
    g_free(setting->device_key);
    g_free(setting->signature);
    g_hash_table_unref(setting->params);
    g_free(setting);
}

void orch_param_rows_free(struct orch_param_rows *rows)
{
    if (!rows)
        return;
    g_free(rows->experiment);
    g_free(rows->plugin);
    g_free(rows->plugin_version);
    g_free(rows->library);
    orch_csv_free(rows->csv);
    g_free(rows);
}

char *orch_param_rows_text(const json_t *value)
{
    if (json_is_string(value))
        return g_strdup(json_string_value(value));
    return json_is_null(value) || !value ? g_strdup("") : orch_json_canonical(value);
}

/* ---- the runs ----------------------------------------------------------------------------------
 */

/* Reads the parameters, and lists names that are new. */
static bool read_params(struct gathering *g, int64_t run_id, GHashTable *out, GError **error)
{
    g_autoptr(json_t) params = orch_store_params(g->store, run_id, error);
    const char *name;
    json_t *value;
    if (!params)
        return false;
    json_object_foreach(params, name, value)
    {
        g_autofree char *text = orch_param_rows_text(value);
        if (orch_secret_is_recorded(text, NULL))
            continue;
        g_hash_table_insert(out, g_strdup(name), g_steal_pointer(&text));
        orch_texts_add_once(g->names, name);
    }
    return true;
}

/* Remembers the experiment of the first run; false with an error for a run of another one. */
static bool is_same_experiment(struct gathering *g, const struct orch_run *run, GError **error)
{
    struct orch_param_rows *out = g->out;
    const char *experiment = run->experiment ? run->experiment : "";
    if (!out->experiment) {
        out->experiment = g_strdup(experiment);
        out->plugin = g_strdup(run->plugin);
        out->plugin_version = g_strdup(run->plugin_version);
    }
    bool is_same = strcmp(out->experiment, experiment) == 0;
    if (is_same && g_strcmp0(out->plugin, run->plugin) == 0)
        return true;
    g_autofree char *hint = g_strdup_printf("choose one with --where: \"experiment = '%s'%s%s%s\"",
                                            out->experiment, is_same ? " and plugin = '" : "",
                                            is_same ? out->plugin : "", is_same ? "'" : "");
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "the runs belong to several %s, such as '%s' and '%s'",
                   is_same ? "plugins" : "experiments", is_same ? out->plugin : out->experiment,
                   is_same ? run->plugin : experiment);
    return false;
}

/* Remembers the first library; false for a run that used it in another version. */
static bool is_same_library(struct orch_param_rows *out, const struct orch_run *run)
{
    g_autofree char *library = orch_facts_library(run->facts);
    if (!out->library)
        out->library = g_steal_pointer(&library);
    return !orch_libraries_differ(library, out->library);
}

static bool has_company(const struct orch_run *run)
{
    g_autoptr(json_t) facts = json_loads(run->facts ? run->facts : "{}", 0, NULL);
    return orch_json_int(facts, "co_runners", 0) > 0;
}

static bool take_run(void *ctx, const struct orch_run *run, GError **error)
{
    struct gathering *g = ctx;
    double wall_s = run->wall_ms / 1e3;
    if (!is_same_experiment(g, run, error))
        return false;
    if (g_strcmp0(g->out->plugin_version, run->plugin_version) != 0) {
        g->out->other_versions++;
        return true;
    }
    if (!is_same_library(g->out, run)) {
        g->out->other_libraries++;
        return true;
    }
    if (!(wall_s > 0) || !isfinite(wall_s)) {
        g->tally->unmeasured++;
        return true;
    }
    if (orch_device_key_is_share(run->device_key)) {
        g->tally->shared++;
        return true;
    }
    struct setting *setting = g_new0(struct setting, 1);
    setting->key = g_strdup(run->key);
    setting->device_key = g_strdup(run->device_key ? run->device_key : "");
    setting->params = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    setting->wall_s = wall_s;
    setting->is_disturbed = orch_facts_are_disturbed(run->facts);
    setting->is_shared = has_company(run);
    g_ptr_array_add(g->settings, setting);
    return read_params(g, run->id, setting->params, error);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

static void write_device(const struct setting *setting, GString *out)
{
    struct orch_device_parts parts = orch_device_key_parse(setting->device_key);
    orch_rows_append_text(out, parts.device);
    orch_rows_number(out, parts.gpus ? (double)parts.gpus : (double)NAN);
    orch_rows_number(out, parts.threads ? (double)parts.threads : (double)NAN);
    g_free(parts.device);
}

/* Writes the columns of the device and of the parameters, without the target. */
static void write_features(const struct gathering *g, const struct setting *setting, GString *out)
{
    write_device(setting, out);
    for (guint i = 0; i < g->names->len; i++)
        orch_rows_append_text(out, g_hash_table_lookup(setting->params, g->names->pdata[i]));
}

static bool is_quiet(const struct setting *setting)
{
    return !setting->is_disturbed && !setting->is_shared;
}

static GHashTable *quiet_signatures(const struct gathering *g)
{
    GHashTable *quiet = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < g->settings->len; i++) {
        struct setting *setting = g->settings->pdata[i];
        GString *text = g_string_new(NULL);
        write_features(g, setting, text);
        setting->signature = g_string_free(text, FALSE);
        if (is_quiet(setting))
            g_hash_table_add(quiet, setting->signature);
    }
    return quiet;
}

static void write_header(const struct gathering *g, GString *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(DEVICE_COLUMNS); i++)
        orch_rows_append_text(out, DEVICE_COLUMNS[i]);
    for (guint i = 0; i < g->names->len; i++) {
        g_autofree char *name = g_strconcat(ORCH_PARAM_COLUMN, g->names->pdata[i], NULL);
        orch_rows_append_text(out, name);
    }
    orch_rows_append_text(out, TARGET);
    orch_rows_end(out);
}

static struct orch_csv *make_table(struct gathering *g, GPtrArray *keys, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_ptr_array_sort(g->names, orch_compare_texts);
    write_header(g, text);
    g_autoptr(GHashTable) quiet = quiet_signatures(g);
    for (guint i = g->settings->len; i-- > 0;) { /* oldest first */
        const struct setting *setting = g->settings->pdata[i];
        if (!is_quiet(setting) && g_hash_table_contains(quiet, setting->signature)) {
            *(setting->is_shared ? &g->tally->shared : &g->tally->disturbed) += 1;
            continue;
        }
        g->tally->shared_rows += setting->is_shared;
        g->tally->disturbed_rows += setting->is_disturbed && !setting->is_shared;
        g->tally->rows++;
        g_string_append(text, setting->signature);
        orch_rows_number(text, setting->wall_s);
        orch_rows_end(text);
        if (keys)
            g_ptr_array_add(keys, g_strdup(setting->key));
    }
    return orch_csv_parse("(runs)", text->str, text->len, error);
}

struct orch_param_rows *orch_param_rows_of_runs(struct orch_store *store,
                                                const struct orch_where *filter, GPtrArray *keys,
                                                struct orch_rows_tally *tally, GError **error)
{
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(free_setting);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    struct orch_rows_tally unused = {0};
    struct gathering g = {store, tally ? tally : &unused, g_new0(struct orch_param_rows, 1),
                          settings, names};
    const struct orch_run_query query = {.state = "ok", .where = filter};
    *g.tally = (struct orch_rows_tally){0};
    if (orch_store_visit_full_runs(store, &query, take_run, &g, error)) {
        if (g.out->experiment)
            g.out->csv = make_table(&g, keys, error);
        else
            orch_error_set(error, ORCH_ERROR_USAGE, "'orch ls --where FILTER' lists runs",
                           "no run that ended ok matches --where");
    }
    if (g.out->csv)
        return g.out;
    orch_param_rows_free(g.out);
    return NULL;
}
