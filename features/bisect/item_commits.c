/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `commits`: a value over the commits on the first parents of the current one, and where
 * it changed, with the probability (change_steps.c). */
#include "core/report/items.h"
#include "features/bisect/change_point.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/vcs/history.h"

#include <math.h>
#include <string.h>

enum { COMMITS_TRIED = 50 };
static const double SURE = 0.95; /* probability of a change that is named */

/* The values of one setting. */
struct line {
    char *name;
    GArray **values; /* double: of each commit of the path */
};

struct history {
    struct orch_section_context *a;
    struct orch_item_value *value;
    GPtrArray *runs;  /* struct orch_run *: all that ended well, newest first */
    GPtrArray *path;  /* struct orch_vcs_commit *, oldest first */
    GPtrArray *lines; /* struct line * */
    const char *unit;
    struct orch_table *table;
    unsigned changes, uncommitted;
};

/* ---- the commits ------------------------------------------------------------------------------
 */

/* The longest path to the current commit that begins at the commit of a run; NULL: there is none,
 * or no history is here. */
static GPtrArray *find_path(const struct history *h)
{
    struct orch_workspace *workspace = h->a->plan->workspace;
    const struct orch_source *source = orch_workspace_source(workspace, NULL);
    g_autoptr(GHashTable) tried = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *longest = NULL;
    for (guint i = h->runs->len; source && source->commit && workspace->vcs && i-- > 0;) {
        const struct orch_run *run = h->runs->pdata[i];
        const char *commit = run->source_commit;
        if (!commit || run->source_dirty || g_hash_table_size(tried) >= COMMITS_TRIED ||
            !g_hash_table_add(tried, (gpointer)(uintptr_t)commit))
            continue;
        GPtrArray *path = orch_vcs_path(workspace->vcs, commit, source->commit, NULL);
        if (path && (!longest || path->len > longest->len)) {
            GPtrArray *shorter = longest;
            longest = path;
            path = shorter;
        }
        if (path)
            g_ptr_array_unref(path);
    }
    return longest;
}

/* ---- the values -------------------------------------------------------------------------------
 */

static struct line *line_of(struct history *h, const char *name)
{
    for (guint i = 0; i < h->lines->len; i++)
        if (strcmp(((struct line *)h->lines->pdata[i])->name, name) == 0)
            return h->lines->pdata[i];
    struct line *line = g_new0(struct line, 1);
    line->name = g_strdup(name);
    line->values = g_new0(GArray *, h->path->len);
    for (guint i = 0; i < h->path->len; i++)
        line->values[i] = g_array_new(FALSE, FALSE, sizeof(double));
    g_ptr_array_add(h->lines, line);
    return line;
}

static bool add_trial(struct history *h, const struct orch_trials *trials, size_t place,
                      struct orch_report_trial *trial, GError **error)
{
    const char *better = NULL;
    double number = NAN;
    if (trial->run->source_dirty)
        return true;
    if (!orch_trial_number(trials, trial, h->value, &number, &better, &h->unit, error))
        return false;
    if (!isfinite(number))
        return true;
    g_autofree char *setting = orch_trial_value(trials, trial, "setting");
    g_autofree char *name = g_strdup_printf("%s%s%s", trial->run->experiment,
                                            setting && *setting ? " " : "", setting ? setting : "");
    g_array_append_val(line_of(h, name)->values[place], number);
    orch_section_trial(h->a->section, trials, trial);
    return true;
}

/* Adds the runs of a commit, of each trial the newest. */
static bool add_commit(struct history *h, const char *filter, size_t place, GError **error)
{
    const struct orch_vcs_commit *commit = h->path->pdata[place];
    g_autofree char *where = g_strdup_printf("%s and commit = '%s'", filter, commit->commit);
    struct orch_trials *trials = orch_trials_of_filter(h->a->plan->store, where, error);
    if (!trials)
        return false;
    trials->who = h->a->options->who;
    if (!h->a->options->counts_disturbed)
        orch_trials_leave_out_disturbed(trials, h->a->section);
    bool ok = true;
    for (guint i = 0; ok && i < trials->all->len; i++)
        ok = add_trial(h, trials, place, trials->all->pdata[i], error);
    orch_trials_free(trials);
    return ok;
}

/* ---- change points ----------------------------------------------------------------------------
 */

static void add_step(struct history *h, const struct line *line, const GArray *measured,
                     const struct orch_change_step *step)
{
    size_t place = g_array_index(measured, size_t, step->place);
    size_t before = g_array_index(measured, size_t, step->place - 1);
    const struct orch_vcs_commit *commit = h->path->pdata[place];
    g_autofree char *id = g_strndup(commit->commit, 8);
    g_autofree char *subject = g_strdup(commit->subject ? commit->subject : "");
    orch_table_add(h->table, line->name, NULL);
    orch_table_add(h->table, id, json_string(commit->commit));
    orch_table_add(h->table, subject, NULL);
    orch_table_add_int(h->table, (int64_t)(place - before - 1));
    orch_table_add_real(h->table, step->before);
    orch_table_add_real(h->table, step->after);
    orch_table_add_real(h->table, 100 * (step->after - step->before) / fabs(step->before));
    orch_table_add_real(h->table, step->probability);
    orch_table_add_real(h->table, step->of_place);
    h->changes++;
}

/* `measured`: the indices of the commits with values. */
static void add_steps(struct history *h, const struct line *line, const GArray *measured)
{
    g_autofree struct orch_change_place *places = g_new0(struct orch_change_place, measured->len);
    for (guint i = 0; i < measured->len; i++) {
        const GArray *values = line->values[g_array_index(measured, size_t, i)];
        places[i].values = (const double *)(const void *)values->data;
        places[i].count = values->len;
    }
    const struct orch_change_data data = {.places = places, .count = measured->len};
    g_autoptr(GArray) steps = orch_change_steps(&data, SURE);
    for (guint i = 0; i < steps->len; i++)
        add_step(h, line, measured, &g_array_index(steps, struct orch_change_step, i));
}

/* ---- the section ------------------------------------------------------------------------------
 */

static void add_line(struct history *h, const struct line *line, struct orch_chart *chart)
{
    g_autoptr(GArray) measured = g_array_new(FALSE, FALSE, sizeof(size_t));
    struct orch_chart_series *series =
        orch_chart_series(orch_chart_panel(chart, NULL), line->name, ORCH_SERIES_MEASURED);
    for (size_t i = 0; i < h->path->len; i++) {
        const GArray *values = line->values[i];
        double sum = 0;
        for (guint j = 0; j < values->len; j++)
            sum += g_array_index(values, double, j);
        if (!values->len)
            continue;
        g_array_append_val(measured, i);
        orch_chart_add(series, (double)i, sum / values->len)->n = values->len;
    }
    if (measured->len)
        add_steps(h, line, measured);
}

static void write_section(struct history *h)
{
    static const char *const headers[] = {
        "setting",         "commit", "subject",   ">commits without runs before it",
        ">before",         ">after", ">change %", ">P(change)",
        ">P(this commit)", NULL};
    struct orch_section *section = h->a->section;
    const char *name = orch_json_text(h->a->item->spec, "value", "the value");
    g_autofree char *y_label =
        g_strdup_printf("%s%s%s%s", name, h->unit && *h->unit ? " (" : "", h->unit ? h->unit : "",
                        h->unit && *h->unit ? ")" : "");
    struct orch_chart *chart =
        orch_chart_new(ORCH_CHART_LINE, NULL, "commits after the first one with runs", y_label);
    h->table = orch_table_new(headers);
    for (guint i = 0; i < h->lines->len; i++)
        add_line(h, h->lines->pdata[i], chart);
    orch_section_answer(section, "%s changed at %u of %u commits", name, h->changes, h->path->len);
    orch_section_chart(section, chart);
    if (h->changes)
        orch_section_table(section, h->table);
    else
        orch_table_free(h->table);
    orch_section_note(section,
                      "P(change): probability that the mean changes at this commit or near it, "
                      "here at least 0.95. P(this commit): probability that it changes at this "
                      "commit itself. Left out: %u run%s with uncommitted files",
                      h->uncommitted, orch_plural(h->uncommitted));
}

static void lines_free(struct history *h)
{
    for (guint i = 0; i < h->lines->len; i++) {
        struct line *line = h->lines->pdata[i];
        for (guint j = 0; j < h->path->len; j++)
            g_array_unref(line->values[j]);
        g_free(line->values);
        g_free(line->name);
        g_free(line);
    }
    g_ptr_array_unref(h->lines);
}

/* The filter of all runs of the item's experiments, also of earlier commits. The caller frees. */
static char *filter_of(const struct orch_section_context *a)
{
    const struct orch_expansion *expansion = a->plan->expansion;
    g_autoptr(GPtrArray) named =
        orch_texts_from_json(json_object_get(a->item->spec, "experiments"));
    const char *where = orch_json_text(a->item->spec, "where", NULL);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "recipe = '%s' and (", expansion->name);
    if (!named->len)
        for (guint i = 0; i < expansion->experiments->len; i++)
            g_ptr_array_add(
                named,
                g_strdup(((const struct orch_experiment *)expansion->experiments->pdata[i])->name));
    for (guint i = 0; i < named->len; i++)
        g_string_append_printf(text, "%sexperiment = '%s'", i ? " or " : "",
                               (char *)named->pdata[i]);
    g_string_append_printf(text, ")%s%s%s", where ? " and (" : "", where ? where : "",
                           where ? ")" : "");
    return g_string_free(text, FALSE);
}

static bool fill_lines(struct history *h, const char *filter, GError **error)
{
    g_autoptr(GHashTable) measured = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < h->runs->len; i++) {
        const struct orch_run *run = h->runs->pdata[i];
        h->uncommitted += run->source_dirty || !run->source_commit;
        if (run->source_commit && !run->source_dirty)
            g_hash_table_add(measured, run->source_commit);
    }
    bool ok = true;
    for (guint i = 0; ok && i < h->path->len; i++)
        if (g_hash_table_contains(measured,
                                  ((const struct orch_vcs_commit *)h->path->pdata[i])->commit))
            ok = add_commit(h, filter, i, error);
    return ok;
}

static bool fill_history(struct history *h, const char *filter, GError **error)
{
    g_autofree char *hint = orch_section_command(h->a, "run", NULL);
    h->path = find_path(h);
    if (!h->path) {
        orch_section_missing(h->a->section, hint,
                             "no run was made of the current commit or one before it");
        return true;
    }
    h->lines = g_ptr_array_new();
    bool ok = fill_lines(h, filter, error);
    if (ok && h->lines->len)
        write_section(h);
    else if (ok)
        orch_section_missing(h->a->section, hint, "no run of a commit has the value");
    lines_free(h);
    g_ptr_array_unref(h->path);
    return ok;
}

static bool fill(struct orch_section_context *a, GError **error)
{
    g_autofree char *filter = filter_of(a);
    g_autoptr(GPtrArray) values = orch_item_values_parse(json_object_get(a->item->spec, "value"));
    struct history h = {.a = a, .value = values->pdata[0]};
    struct orch_where *where = orch_where_parse(filter, error);
    struct orch_run_query query = {.where = where, .ended_well = true};
    h.runs = !where           ? NULL
             : a->plan->store ? orch_store_runs(a->plan->store, &query, NULL, error)
                              : g_ptr_array_new();
    orch_where_free(where);
    bool ok = h.runs && fill_history(&h, filter, error);
    if (h.runs)
        g_ptr_array_unref(h.runs);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUE, .is_required = true},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_COMMITS = {.name = "commits", .keys = KEYS, .fill = fill};
