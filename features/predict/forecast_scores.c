/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/forecast_scores.h"

#include <string.h>

/* ---- what a forecast is grouped by -------------------------------------------------------------
 */

struct context {
    GStringChunk *texts;
    const char *period; /* format of g_date_time_format */
    int period_days;    /* 7: the week's Monday */
};

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static const char *tier_of(const struct orch_ended_forecast *g, struct context *c)
{
    (void)c;
    return or_dash(g->tier);
}

static const char *model_of(const struct orch_ended_forecast *g, struct context *c)
{
    (void)c;
    return g->model;
}

/* How far the question was from what had run. */
static const char *question_of(const struct orch_ended_forecast *g, struct context *c)
{
    static const struct {
        const char *model, *question;
    } known[] = {{"repeats", "setting that had run"},     {"law", "between the runs"},
                 {"predictor", "between the runs"},       {"steps", "network timed elsewhere"},
                 {"analytical model", "nothing had run"}, {"roofline", "nothing had run"}};
    (void)c;
    if (g->is_beyond)
        return "beyond the runs";
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(g->model, known[i].model) == 0)
            return known[i].question;
    return "-";
}

/* When a forecast was made, relative to its run. */
static const char *made_of(const struct orch_ended_forecast *g, struct context *c)
{
    (void)c;
    return g->is_renewed ? "during the run" : "before the run";
}

static const char *where_of(const struct orch_ended_forecast *g, struct context *c)
{
    (void)c;
    return or_dash(g->device_key);
}

static const char *network_of(const struct orch_ended_forecast *g, struct context *c)
{
    (void)c;
    return or_dash(g->network);
}

static const char *period_of(const struct orch_ended_forecast *g, struct context *c)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(g->made_ns / 1000000000);
    if (!at)
        return "-";
    int back = c->period_days == 7 ? g_date_time_get_day_of_week(at) - 1 : 0;
    g_autoptr(GDateTime) begin = g_date_time_add_days(at, -back);
    g_autofree char *text = begin ? g_date_time_format(begin, c->period) : NULL;
    return text ? g_string_chunk_insert_const(c->texts, text) : "-";
}

typedef const char *name_function(const struct orch_ended_forecast *grade, struct context *context);

static const struct orch_score_grouping GROUPINGS[] = {
    {"setting", {"tier", "model", "question", "made", "where", "network"}},
    {"question", {"question", "made"}},
    {"time", {"from", "made"}},
    {"model", {"model", "made"}},
    {"where", {"where", "made"}},
    {"network", {"network", "made"}},
    {NULL, {NULL}},
};

static const struct {
    const char *header;
    name_function *of;
} NAMES[] = {{"tier", tier_of},  {"model", model_of}, {"question", question_of},
             {"made", made_of},  {"where", where_of}, {"network", network_of},
             {"from", period_of}};

const struct orch_score_grouping *orch_score_groupings(void)
{
    return GROUPINGS;
}

const struct orch_score_grouping *orch_score_grouping_find(const char *name)
{
    for (const struct orch_score_grouping *g = GROUPINGS; g->name; g++)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

/* Days for up to two weeks, weeks for up to half a year, else months. */
static void choose_period(const GPtrArray *grades, struct context *c)
{
    const double day_ns = 86400e9;
    *c = (struct context){.texts = c->texts, .period = "%Y-%m-%d", .period_days = 1};
    if (!grades->len)
        return;
    const struct orch_ended_forecast *first = grades->pdata[0],
                                     *last = grades->pdata[grades->len - 1];
    double days = (double)(last->made_ns - first->made_ns) / day_ns;
    if (days > 183)
        c->period = "%Y-%m";
    else if (days > 14)
        c->period_days = 7;
}

/* ---- groups ------------------------------------------------------------------------------------
 */

struct line {
    struct orch_score_row row;
    bool is_all;
    struct orch_forecast_grades grades;
};

static void free_line(gpointer data)
{
    struct line *line = data;
    orch_forecast_grades_release(&line->grades);
    g_free(line);
}

static gint compare_lines(gconstpointer a, gconstpointer b)
{
    const struct line *x = *(const struct line *const *)a, *y = *(const struct line *const *)b;
    if (x->is_all != y->is_all)
        return x->is_all - y->is_all;
    if (x->row.is_disturbed != y->row.is_disturbed)
        return x->row.is_disturbed - y->row.is_disturbed;
    int order = 0;
    for (int i = 0; !order && i < ORCH_SCORE_NAMES_MAX && x->row.names[i]; i++)
        order = strcmp(x->row.names[i], y->row.names[i]);
    return order;
}

/* The line with these names; new when there is none. Linear, as there are few groups. */
static struct line *line_of(GPtrArray *lines, const struct line *like)
{
    for (guint i = 0; i < lines->len; i++)
        if (compare_lines(&lines->pdata[i], &like) == 0)
            return lines->pdata[i];
    struct line *line = g_memdup2(like, sizeof *like);
    orch_forecast_grades_init(&line->grades);
    g_ptr_array_add(lines, line);
    return line;
}

/* The names of a grade, or of all grades that were made at such a time. */
static struct line names_of(const struct orch_score_grouping *grouping,
                            const struct orch_ended_forecast *grade, bool is_all,
                            struct context *context)
{
    struct line line = {.is_all = is_all, .row.is_disturbed = grade->is_disturbed};
    for (int i = 0; grouping->headers[i]; i++)
        for (size_t n = 0; n < G_N_ELEMENTS(NAMES); n++)
            if (strcmp(grouping->headers[i], NAMES[n].header) == 0) {
                bool is_made = NAMES[n].of == made_of;
                line.row.names[i] =
                    is_all && !is_made ? (i ? "-" : "all") : NAMES[n].of(grade, context);
            }
    return line;
}

bool orch_forecast_scores_read(struct orch_store *store, const struct orch_score_grouping *grouping,
                               struct orch_forecast_scores *out, GError **error)
{
    GPtrArray *grades = orch_store_grades(store, error);
    if (!grades)
        return false;
    *out = (struct orch_forecast_scores){
        grades, g_array_new(FALSE, FALSE, sizeof(struct orch_score_row)), g_string_chunk_new(256)};
    struct context context = {.texts = out->texts};
    choose_period(grades, &context);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(free_line);
    for (guint i = 0; i < grades->len; i++)
        for (int all = 0; all < 2; all++) {
            const struct orch_ended_forecast *grade = grades->pdata[i];
            struct line like = names_of(grouping, grade, all, &context);
            orch_forecast_grades_add(&line_of(lines, &like)->grades, grade->time_s, grade->wall_s);
        }
    g_ptr_array_sort(lines, compare_lines);
    for (guint i = 0; i < lines->len; i++) {
        struct line *line = lines->pdata[i];
        line->row.count = line->grades.wall_s->len;
        line->row.score = orch_forecast_grades_score(&line->grades);
        g_array_append_val(out->rows, line->row);
    }
    return true;
}

void orch_forecast_scores_clear(struct orch_forecast_scores *scores)
{
    if (scores->rows) {
        g_array_unref(scores->rows);
        g_ptr_array_unref(scores->grades);
        g_string_chunk_free(scores->texts);
    }
    *scores = (struct orch_forecast_scores){0};
}
