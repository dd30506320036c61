/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch predictor score`: the accuracy of past forecasts, by model, device and network. */
#include "core/cli/forecast_show.h"
#include "core/cli/parts.h"
#include "core/plan/grades.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/forecast.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

/* ---- scores -------------------------------------------------------------------------------------
 */

/** The accuracy of a group of forecasts. Texts are "-" when unknown, and borrowed. */
struct orch_forecast_score_row {
    const char *tier, *model;
    const char *made; /* "before the run" or "during the run" */
    const char *where, *network;
    bool is_disturbed; /* of runs during which other programs kept the CPUs busy */
    size_t count;
    struct orch_score score;
};

struct orch_forecast_scores {
    GArray *rows;      /* struct orch_forecast_score_row; those of all forecasts last */
    guint left_out;    /* forecasts of runs during which other programs kept the CPUs busy */
    GPtrArray *grades; /* owns the texts */
};

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

/* Scores all forecasts whose run has ended. Disturbed runs are left out unless all are disturbed;
 * with `with_disturbed` they are scored, in rows of their own. False when the store cannot be read.
 * The caller clears. */
static bool forecast_scores_read(struct orch_store *store, bool with_disturbed,
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

static void forecast_scores_clear(struct orch_forecast_scores *scores)
{
    if (scores->rows)
        g_array_unref(scores->rows);
    if (scores->grades)
        g_ptr_array_unref(scores->grades);
    *scores = (struct orch_forecast_scores){0};
}

/* ---- the command --------------------------------------------------------------------------------
 */

struct score_options {
    bool all;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct score_options, all, FLAG, "all",
                .help = "also score runs during which other programs kept the CPUs busy, apart"),
    {0}};

static void add_row(struct orch_table *table, const struct orch_forecast_score_row *row, bool all)
{
    if (all)
        orch_table_add(table, row->is_disturbed ? "foreign" : "own", NULL);
    orch_table_add(table, row->tier, NULL);
    orch_table_add(table, row->model, NULL);
    orch_table_add(table, row->made, NULL);
    orch_table_add(table, row->where, NULL);
    orch_table_add(table, row->network, NULL);
    orch_table_add_int(table, (int64_t)row->count);
    orch_cli_add_percent(table, row->score.median_relative_error);
    orch_cli_add_percent(table, row->score.mean_relative_error);
    orch_cli_add_percent(table, row->score.coverage_90);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct score_options *o = options;
    const struct orch_subject subject = {.not_alone = o->all ? "option '--all'" : NULL};
    if (orch_cli_has_part_alone(cli))
        return orch_cli_part_alone_show(cli, &subject, error) ? ORCH_EXIT_OK : -1;
    static const char *const headers[] = {
        "load",       "tier",          "model",       "made",         "where", "network",
        ">forecasts", ">median_error", ">mean_error", ">coverage_90", NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_forecast_scores scores;
    if (!store || !forecast_scores_read(store, o->all, &scores, error))
        return -1;
    if (scores.left_out)
        orch_cli_info(cli,
                      "%u forecast%s not scored: other programs kept the CPUs busy meanwhile "
                      "(--all scores them apart)",
                      scores.left_out, scores.left_out == 1 ? " is" : "s are");
    if (!scores.rows->len && !cli->json)
        orch_cli_info(cli, "no run with a forecast has ended yet: 'orch run' makes and keeps them");
    struct orch_table *table = orch_table_new(o->all ? headers : headers + 1);
    for (guint i = 0; i < scores.rows->len; i++)
        add_row(table, &g_array_index(scores.rows, struct orch_forecast_score_row, i), o->all);
    orch_cli_table_print(cli, table, "scores");
    forecast_scores_clear(&scores);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_SCORE = {
    .name = "predictor score",
    .group = "Networks and hardware",
    .summary = "compare past forecasts with the times that were measured",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct score_options),
    .about =
        "Every forecast of 'orch run' is kept with its run. This command compares them with the\n"
        "measured times, by tier, model, device and network: the median and mean of\n"
        "|forecast - measured| / measured, and the share of measured times within the 90 %\n"
        "interval. Forecasts made before the run and during it are scored apart. With --all, runs\n"
        "during which other programs kept the CPUs busy are scored in rows of their own (load\n"
        "'foreign').",
    .examples = "  orch predictor score",
    .run = run,
};
