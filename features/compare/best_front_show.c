/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/best_front_show.h"

#include "core/recipe/recipe_search.h"
#include "core/stats/front.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/direction.h"
#include "lib/wire/verdict.h"

#include <math.h>
#include <string.h>

/* The question, and what is known of the runs. */
struct front {
    struct orch_cli *cli;
    struct orch_store *store;
    char *metrics[ORCH_FRONT_GOALS_MAX];
    enum orch_better better[ORCH_FRONT_GOALS_MAX]; /* as written, else as runs or the name say */
    unsigned count;
    enum orch_aggregate aggregate;
    int limit;
    const struct orch_ranking *task; /* whose front is shown */
    char **by;
    GPtrArray *groups; /* struct orch_group * */
    double *points;    /* `count` means of each group, to minimise */
    bool *is_on;
    size_t knee;
};

bool orch_best_front_is_meant(const char *text)
{
    return strchr(text, ',') || strchr(text, ' ');
}

/* "max acc"; which number of a curve counts is what --value says. */
static bool add_metric(struct front *f, const char *text, GError **error)
{
    g_autofree char *summary = NULL;
    if (f->count == ORCH_FRONT_GOALS_MAX ||
        !orch_objective_read(text, &f->better[f->count], &summary, &f->metrics[f->count])) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example 'max val_accuracy, min latency_ms'",
                       "'%s' does not name a metric, or there are more than %d metrics", text,
                       ORCH_FRONT_GOALS_MAX);
        return false;
    }
    f->count++;
    return true;
}

/* Whether the run ended well and has all metrics; learns the directions that runs declare. */
static bool has_all(struct front *f, const struct orch_run *run, bool *out, GError **error)
{
    *out = false;
    if (!orch_verdict_facts(orch_verdict_parse(run->state))->is_reused)
        return true;
    struct orch_run_numbers *numbers = orch_run_numbers_read(f->store, run, error);
    if (!numbers)
        return false;
    *out = true;
    for (unsigned k = 0; k < f->count; k++) {
        if (f->better[k] == ORCH_BETTER_NONE)
            f->better[k] = orch_run_numbers_direction(numbers, f->metrics[k]).better;
        *out = *out &&
               isfinite(orch_run_numbers_get(numbers, f->metrics[k], f->aggregate, NULL, NULL));
    }
    orch_run_numbers_free(numbers);
    return true;
}

/* Returns the runs that have all metrics; NULL with an error when there are none. */
static GPtrArray *with_all(struct front *f, const GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) with = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        bool has = false;
        if (!has_all(f, runs->pdata[i], &has, error))
            return NULL;
        if (has)
            g_ptr_array_add(with, runs->pdata[i]);
    }
    for (unsigned k = 0; with->len && k < f->count; k++)
        if (f->better[k] == ORCH_BETTER_NONE) {
            g_autofree char *hint =
                g_strdup_printf("write 'max %s' or 'min %s'", f->metrics[k], f->metrics[k]);
            orch_direction_unknown(f->metrics[k], hint, error);
            return NULL;
        }
    if (with->len)
        return g_steal_pointer(&with);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' shows which metrics runs have",
                   "no run that ended well has all of these metrics");
    return NULL;
}

/* Adds the values of a run to the sums of its group. */
static bool add_values(const struct front *f, const struct orch_run *run, double *inout,
                       GError **error)
{
    struct orch_run_numbers *numbers = orch_run_numbers_read(f->store, run, error);
    for (unsigned k = 0; numbers && k < f->count; k++) {
        const double value = orch_run_numbers_get(numbers, f->metrics[k], f->aggregate, NULL, NULL);
        inout[k] += f->better[k] == ORCH_BETTER_MAX ? -value : value;
    }
    orch_run_numbers_free(numbers);
    return numbers;
}

static void clear_task(struct front *f)
{
    g_clear_pointer(&f->groups, g_ptr_array_unref);
    g_clear_pointer(&f->by, g_strfreev);
    g_clear_pointer(&f->points, g_free);
    g_clear_pointer(&f->is_on, g_free);
}

static bool find_front(struct front *f, const struct orch_ranking *task, const char *const *by,
                       GError **error)
{
    clear_task(f);
    f->task = task;
    f->groups = orch_groups_make(f->store, task->runs, by, f->metrics[0], f->aggregate, &f->by,
                                 NULL, NULL, error);
    if (!f->groups)
        return false;
    f->points = g_new0(double, f->groups->len * f->count + 1);
    f->is_on = g_new0(bool, f->groups->len + 1);
    for (guint i = 0; i < f->groups->len; i++) {
        const struct orch_group *group = f->groups->pdata[i];
        double *point = f->points + i * f->count;
        for (guint k = 0; k < group->runs->len; k++)
            if (!add_values(f, group->runs->pdata[k], point, error))
                return false;
        for (unsigned k = 0; k < f->count; k++)
            point[k] /= group->runs->len;
    }
    orch_front_find(f->points, f->groups->len, f->count, f->is_on);
    f->knee = orch_front_knee(f->points, f->groups->len, f->count, f->is_on);
    return true;
}

/* The mean of a group as measured. */
static double value_of(const struct front *f, guint group, unsigned metric)
{
    const double value = f->points[group * f->count + metric];
    return f->better[metric] == ORCH_BETTER_MAX ? -value : value;
}

static int compare_first(const void *a, const void *b, void *ctx)
{
    const struct front *f = ctx;
    const double x = f->points[*(const guint *)a * f->count],
                 y = f->points[*(const guint *)b * f->count];
    return (x > y) - (x < y);
}

/* The groups on the front, the best first by the first metric: guint. The caller unrefs. */
static GArray *front_of(const struct front *f)
{
    GArray *front = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint i = 0; i < f->groups->len; i++)
        if (f->is_on[i])
            g_array_append_val(front, i);
    g_array_sort_with_data(front, compare_first, (void *)(uintptr_t)f);
    return front;
}

static struct orch_table *table_of(const struct front *f, const GArray *front)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (char **name = f->by; *name; name++)
        g_ptr_array_add(headers, g_strdup(*name));
    for (unsigned k = 0; k < f->count; k++)
        g_ptr_array_add(headers, g_strconcat(">", f->metrics[k], NULL));
    g_ptr_array_add(headers, g_strdup(">n"));
    g_ptr_array_add(headers, g_strdup("knee"));
    g_ptr_array_add(headers, g_strdup("run"));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (guint i = 0; i < front->len && (f->limit <= 0 || i < (guint)f->limit); i++) {
        const guint row = g_array_index(front, guint, i);
        const struct orch_group *group = f->groups->pdata[row];
        for (int j = 0; f->by[j]; j++)
            orch_table_add(table, group->values[j], NULL);
        for (unsigned k = 0; k < f->count; k++)
            orch_table_add_real(table, value_of(f, row, k));
        orch_table_add_int(table, group->runs->len);
        orch_table_add(table, row == f->knee ? "yes" : "", NULL);
        orch_table_add(
            table, orch_run_short_key(((const struct orch_run *)group->runs->pdata[0])->key), NULL);
    }
    return table;
}

static void print_text(const struct front *f)
{
    g_autoptr(GArray) front = front_of(f);
    g_autoptr(GString) metrics = g_string_new(NULL);
    const struct orch_group *knee = f->groups->pdata[f->knee];
    g_autofree char *label = orch_text_plain(g_strdup(*knee->label ? knee->label : "all runs"));
    for (unsigned k = 0; k < f->count; k++)
        g_string_append_printf(metrics, "%s%s %s", k ? ", " : "", orch_better_word(f->better[k]),
                               f->metrics[k]);
    if (f->task->task) {
        g_autofree char *task = orch_text_plain(g_strdup(f->task->task));
        orch_cli_print("%s", task);
    }
    orch_cli_print(
        "Pareto front of %u setting%s (%s): %u setting%s that no other beats in all metrics",
        f->groups->len, orch_plural(f->groups->len), metrics->str, front->len,
        orch_plural(front->len));
    orch_cli_print("knee: %s", label);
    orch_cli_print("%s", "");
    orch_cli_table_print(f->cli, table_of(f, front), "settings");
}

static void add_json(const struct front *f, json_t *settings)
{
    for (guint i = 0; i < f->groups->len; i++) {
        const struct orch_group *group = f->groups->pdata[i];
        json_t *values = json_object(), *keys = json_array();
        for (unsigned k = 0; k < f->count; k++)
            json_object_set_new(values, f->metrics[k], orch_json_finite(value_of(f, i, k)));
        for (guint k = 0; k < group->runs->len; k++)
            json_array_append_new(
                keys, json_string(((const struct orch_run *)group->runs->pdata[k])->key));
        json_array_append_new(settings,
                              json_pack("{s:O s:s s:o s:o s:b s:b}", "of", f->task->of, "label",
                                        group->label, "values", values, "runs", keys, "on_front",
                                        f->is_on[i], "knee", i == f->knee));
    }
}

/* `settings`: of the fronts of all tasks; takes it. */
static void print_json(const struct front *f, json_t *settings)
{
    json_t *metrics = json_array();
    for (unsigned k = 0; k < f->count; k++)
        json_array_append_new(metrics, json_pack("{s:s s:s}", "metric", f->metrics[k], "better",
                                                 orch_better_word(f->better[k])));
    orch_cli_print_json(json_pack("{s:o s:o}", "metrics", metrics, "settings", settings));
}

int orch_best_front_print(struct orch_cli *cli, struct orch_store *store, const GPtrArray *runs,
                          const struct orch_ranking_request *request, int limit, GError **error)
{
    struct front f = {.cli = cli, .store = store, .aggregate = request->aggregate, .limit = limit};
    g_auto(GStrv) texts = g_strsplit(cli->args[0], ",", -1);
    json_t *settings = json_array();
    bool ok = true;
    for (char **text = texts; ok && *text; text++)
        ok = add_metric(&f, *text, error);
    g_autoptr(GPtrArray) with = ok ? with_all(&f, runs, error) : NULL;
    g_autoptr(GPtrArray) tasks = with ? orch_rankings_split(store, with, request) : NULL;
    ok = tasks;
    for (guint i = 0; ok && i < tasks->len; i++) {
        ok = find_front(&f, tasks->pdata[i], request->by, error);
        if (ok && cli->json) {
            add_json(&f, settings);
        } else if (ok) {
            if (i)
                orch_cli_print("%s", "");
            print_text(&f);
        }
    }
    if (ok && cli->json)
        print_json(&f, json_incref(settings));
    else if (ok && tasks->len > 1)
        orch_cli_info(cli, ORCH_RANKED_APART, tasks->len);
    json_decref(settings);
    clear_task(&f);
    for (unsigned k = 0; k < f.count; k++)
        g_free(f.metrics[k]);
    return ok ? ORCH_EXIT_OK : -1;
}
