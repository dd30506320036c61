/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/forecast_scores.h"

#include "store/forecast.h"

#include <string.h>

struct line {
    char *key; /* the names, joined */
    const char *tier, *model, *made, *where, *network;
    bool is_disturbed;
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

static struct line *line_of(GPtrArray *lines, GHashTable *by_key, const struct orch_grade *grade,
                            bool is_disturbed)
{
    const char *tier = grade->tier ? grade->tier : "-", *model = grade->model;
    const char *where = grade->device_key ? grade->device_key : "-";
    const char *network = grade->network ? grade->network : "-";
    const char *made = MADE[grade->is_renewed];
    g_autofree char *key =
        g_strjoin("\n", is_disturbed ? "1" : "0", made, tier, model, where, network, NULL);
    struct line *line = g_hash_table_lookup(by_key, key);
    if (line)
        return line;
    line = g_new0(struct line, 1);
    *line =
        (struct line){g_steal_pointer(&key), tier, model, made, where, network, is_disturbed, {0}};
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

static void add_score(GArray *rows, const struct line *line)
{
    struct orch_forecast_score_row row = {.tier = line->tier,
                                          .model = line->model,
                                          .made = line->made,
                                          .where = line->where,
                                          .network = line->network,
                                          .is_disturbed = line->is_disturbed,
                                          .count = line->grades.wall_s->len,
                                          .score = orch_forecast_grades_score(&line->grades)};
    g_array_append_val(rows, row);
}

bool orch_forecast_scores_read(struct orch_store *store, bool with_disturbed,
                               struct orch_forecast_scores *out, GError **error)
{
    GPtrArray *grades = orch_store_grades(store, error);
    if (!grades)
        return false;
    *out = (struct orch_forecast_scores){
        g_array_new(FALSE, FALSE, sizeof(struct orch_forecast_score_row)),
        with_disturbed ? 0 : leave_out_disturbed(grades), grades};
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(free_line);
    g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
    struct line all[4]; /* of each time of making: undisturbed, then disturbed */
    for (int i = 0; i < 4; i++) {
        all[i] = (struct line){NULL, "all", "-", MADE[i & 1], "-", "-", i >= 2, {0}};
        orch_forecast_grades_init(&all[i].grades);
    }
    for (guint i = 0; i < grades->len; i++) {
        const struct orch_grade *g = grades->pdata[i];
        bool is_apart = with_disturbed && g->is_disturbed;
        struct line *line = line_of(lines, by_key, g, is_apart);
        orch_forecast_grades_add(&line->grades, g->time_s, g->wall_s);
        orch_forecast_grades_add(&all[g->is_renewed + 2 * is_apart].grades, g->time_s, g->wall_s);
    }
    g_ptr_array_sort(lines, compare_lines);
    for (guint i = 0; i < lines->len; i++)
        add_score(out->rows, lines->pdata[i]);
    for (int i = 0; i < 4; i++) {
        if (all[i].grades.wall_s->len)
            add_score(out->rows, &all[i]);
        orch_forecast_grades_release(&all[i].grades);
    }
    return true;
}

void orch_forecast_scores_clear(struct orch_forecast_scores *scores)
{
    if (scores->rows)
        g_array_unref(scores->rows);
    if (scores->grades)
        g_ptr_array_unref(scores->grades);
    *scores = (struct orch_forecast_scores){0};
}
