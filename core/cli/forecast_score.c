/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predict --score`: the accuracy of past forecasts, by model, device and network. */
#include "core/cli/forecast_show.h"

#include "lib/base/json.h"
#include "store/forecast.h"

#include <math.h>
#include <string.h>

struct line {
    char *key; /* the names, joined */
    const char *tier, *model, *made, *where, *network;
    struct orch_forecast_grades grades;
};

/* When a forecast was made. */
static const char *const MADE[] = {"before the run", "during the run"};

static void free_line(gpointer data)
{
    struct line *line = data;
    g_free(line->key);
    orch_forecast_grades_release(&line->grades);
    g_free(line);
}

static struct line *line_of(GPtrArray *lines, GHashTable *by_key, const struct orch_grade *grade)
{
    const char *tier = grade->tier ? grade->tier : "-", *model = grade->model;
    const char *where = grade->device_key ? grade->device_key : "-";
    const char *network = grade->network ? grade->network : "-";
    const char *made = MADE[grade->is_renewed];
    g_autofree char *key = g_strjoin("\n", made, tier, model, where, network, NULL);
    struct line *line = g_hash_table_lookup(by_key, key);
    if (line)
        return line;
    line = g_new0(struct line, 1);
    *line = (struct line){g_steal_pointer(&key), tier, model, made, where, network, {0}};
    orch_forecast_grades_init(&line->grades);
    g_ptr_array_add(lines, line);
    g_hash_table_insert(by_key, line->key, line);
    return line;
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    const struct line *x = *(const struct line *const *)a, *y = *(const struct line *const *)b;
    return strcmp(x->key, y->key);
}

static void add_percent(struct orch_table *table, double share)
{
    g_autofree char *text = isnan(share) ? g_strdup("-") : g_strdup_printf("%.3g %%", 100 * share);
    orch_table_add(table, text, isnan(share) ? json_null() : orch_json_finite(share));
}

static void add_line(struct orch_table *table, const struct line *line)
{
    struct orch_score score = orch_forecast_grades_score(&line->grades);
    orch_table_add(table, line->tier, NULL);
    orch_table_add(table, line->model, NULL);
    orch_table_add(table, line->made, NULL);
    orch_table_add(table, line->where, NULL);
    orch_table_add(table, line->network, NULL);
    orch_table_add_int(table, line->grades.wall_s->len);
    add_percent(table, score.median_relative_error);
    add_percent(table, score.mean_relative_error);
    add_percent(table, score.coverage_90);
}

/* Removes the grades of disturbed runs, unless all are disturbed. Returns how many were removed. */
static guint leave_out_disturbed(GPtrArray *grades)
{
    guint disturbed = 0;
    for (guint i = 0; i < grades->len; i++)
        disturbed += ((const struct orch_grade *)grades->pdata[i])->is_disturbed;
    if (disturbed == grades->len)
        return 0;
    for (guint i = grades->len; i-- > 0;)
        if (((const struct orch_grade *)grades->pdata[i])->is_disturbed)
            g_ptr_array_remove_index(grades, i);
    return disturbed;
}

int forecast_score(struct orch_cli *cli, GError **error)
{
    static const char *const headers[] = {
        "tier",       "model",         "made",        "where",        "network",
        ">forecasts", ">median_error", ">mean_error", ">coverage_90", NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) grades = store ? orch_store_grades(store, error) : NULL;
    if (!grades)
        return -1;
    guint left_out = leave_out_disturbed(grades);
    if (left_out)
        orch_cli_say(cli, "%u forecast%s not scored: other programs kept the CPUs busy meanwhile",
                     left_out, left_out == 1 ? " is" : "s are");
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(free_line);
    g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
    struct line all[] = {{NULL, "all", "-", MADE[0], "-", "-", {0}},
                         {NULL, "all", "-", MADE[1], "-", "-", {0}}};
    for (int i = 0; i < 2; i++)
        orch_forecast_grades_init(&all[i].grades);
    for (guint i = 0; i < grades->len; i++) {
        const struct orch_grade *g = grades->pdata[i];
        struct line *line = line_of(lines, by_key, g);
        orch_forecast_grades_add(&line->grades, g->p5_s, g->p50_s, g->p95_s, g->wall_s);
        orch_forecast_grades_add(&all[g->is_renewed].grades, g->p5_s, g->p50_s, g->p95_s,
                                 g->wall_s);
    }
    g_ptr_array_sort(lines, compare_lines);
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < lines->len; i++)
        add_line(table, lines->pdata[i]);
    for (int i = 0; i < 2; i++) {
        if (all[i].grades.wall_s->len)
            add_line(table, &all[i]);
        orch_forecast_grades_release(&all[i].grades);
    }
    if (!grades->len && !cli->json)
        orch_cli_say(cli, "no run with a forecast has ended yet: 'orch run' makes and keeps them");
    orch_table_print(cli, table, "scores");
    return ORCH_EXIT_OK;
}
