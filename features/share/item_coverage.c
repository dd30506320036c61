/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `coverage`: which trials are done, and by whom. Runs that others made on their own
 * machines count too, so a group can share one table. */
#include "core/report/items.h"
#include "features/share/coverage.h"
#include "features/share/group_runs.h"
#include "lib/base/json.h"

#include <string.h>

/* ---- a cell ------------------------------------------------------------------------------------
 */

/* Counts a word and keeps the order of first appearance. */
static void count(GPtrArray *names, GHashTable *counts, const char *word)
{
    if (!g_hash_table_contains(counts, word))
        g_ptr_array_add(names, g_strdup(word));
    g_hash_table_insert(counts, g_strdup(word),
                        GINT_TO_POINTER(1 + GPOINTER_TO_INT(g_hash_table_lookup(counts, word))));
}

struct tally {
    GPtrArray *names;   /* char * */
    GHashTable *counts; /* word -> count */
};

static struct tally tally_new(void)
{
    return (struct tally){g_ptr_array_new_with_free_func(g_free),
                          g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

static void tally_clear(struct tally *tally)
{
    g_ptr_array_unref(tally->names);
    g_hash_table_unref(tally->counts);
}

/* "ada 2, bob 1, claimed by eve until 12:40 (1)"; without counts when there is only one trial. */
static char *tally_text(const struct tally *tally, bool with_counts)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < tally->names->len; i++) {
        const char *name = tally->names->pdata[i];
        int times = GPOINTER_TO_INT(g_hash_table_lookup(tally->counts, name));
        size_t length = strlen(name);
        bool ends_in_digit = length && g_ascii_isdigit(name[length - 1]);
        g_string_append_printf(text, "%s%s", i ? ", " : "", name);
        if (with_counts)
            g_string_append_printf(text, ends_in_digit ? " (%d)" : " %d", times);
    }
    return g_string_free(text, FALSE);
}

/* Totals of a section. */
struct coverage {
    struct tally names;
    unsigned elsewhere, held; /* trials that only others have; trials that are running or claimed */
};

static void note_elsewhere(struct orch_section_context *a, const struct orch_report_trial *trial,
                           const struct orch_run *run)
{
    g_autofree char *label = orch_cell_label(trial->item->cell);
    const char *who = a->options->who;
    struct orch_section_run noted = {run->key,
                                     run->experiment,
                                     label,
                                     run->who,
                                     run->device_key,
                                     run->source_commit,
                                     !who || orch_who_is_same(who, run->who)};
    orch_section_run_add(a->section, &noted);
}

/* Counts who has the trial on other machines, each person and machine once. True when only others
 * have it. */
static bool count_elsewhere(struct orch_section_context *a, const struct orch_group_runs *group,
                            const struct orch_report_trial *trial, struct tally *cell)
{
    const char *here = trial->run ? trial->run->device_key : NULL;
    g_autoptr(GPtrArray) list = orch_group_runs_of(group, trial->item);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool any = false;
    for (guint i = 0; i < list->len; i++) {
        const struct orch_run *run = list->pdata[i];
        if (g_strcmp0(run->device_key, here) == 0 ||
            (trial->run && trial->item->cell->experiment->reuse != ORCH_RECIPE_REUSE_DEVICE))
            continue;
        g_autofree char *name = orch_who_name(run->who);
        g_autofree char *text =
            g_strdup_printf("%s on %s", name ? name : "-", run->device_key ? run->device_key : "-");
        if (!g_hash_table_add(seen, g_strdup(text)))
            continue;
        count(cell->names, cell->counts, text);
        note_elsewhere(a, trial, run);
        any = true;
    }
    return any && !trial->run;
}

/* Counts a trial that is being run: on this machine ("running now"), or as a claim says. */
static bool count_held(const struct orch_report_trial *trial, struct tally *cell)
{
    bool is_held = !trial->run && trial->item->state == ORCH_PLAN_HELD;
    if (is_held)
        count(cell->names, cell->counts, trial->item->reason ? trial->item->reason : "held");
    return is_held;
}

static bool is_skipped(const struct orch_grid_cell *cell)
{
    for (guint i = 0; i < cell->trials->len; i++)
        if (((const struct orch_report_trial *)cell->trials->pdata[i])->item->state !=
            ORCH_PLAN_SKIPPED)
            return false;
    return true;
}

static void add_cell(struct orch_section_context *a, const struct orch_group_runs *group,
                     struct orch_table *table, const struct orch_grid_cell *cell,
                     struct coverage *all)
{
    struct tally tally = tally_new();
    for (guint i = 0; cell && i < cell->trials->len; i++) {
        const struct orch_report_trial *trial = cell->trials->pdata[i];
        g_autofree char *name = trial->run ? orch_who_name(trial->run->who) : NULL;
        const char *who = name ? name : "-";
        if (trial->run) {
            count(tally.names, tally.counts, who);
            count(all->names.names, all->names.counts, who);
        }
        if (count_elsewhere(a, group, trial, &tally))
            all->elsewhere++;
        else
            all->held += count_held(trial, &tally);
    }
    g_autofree char *names = tally_text(&tally, cell && cell->planned > 1);
    if (!cell) {
        orch_table_add(table, "", json_null());
    } else if (!tally.names->len && is_skipped(cell)) {
        orch_table_add(table, "skipped", json_null());
    } else if (!tally.names->len) {
        orch_table_add_missing(table);
    } else {
        g_autofree char *text = cell->done && cell->done < cell->planned
                                    ? g_strdup_printf("%s of %u", names, cell->planned)
                                    : g_strdup(names);
        orch_table_add(table, text, NULL);
    }
    tally_clear(&tally);
}

/* ---- the item ----------------------------------------------------------------------------------
 */

static struct orch_table *make_table(struct orch_section_context *a,
                                     const struct orch_group_runs *group,
                                     const struct orch_grid *grid, struct coverage *all)
{
    g_autoptr(GPtrArray) rows = orch_grid_rows(grid);
    g_autoptr(GPtrArray) columns = orch_grid_columns(grid);
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    bool is_repeat = grid->columns->len == 1 && strcmp(grid->columns->pdata[0], "repeat") == 0;
    g_ptr_array_add(headers, orch_names_joined(grid->rows));
    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(
            headers,
            g_strdup_printf("%s%s", is_repeat ? "#" : "",
                            *(char *)columns->pdata[i] ? (char *)columns->pdata[i] : "by"));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (guint i = 0; i < rows->len; i++) {
        orch_table_add(table, g_strchomp(rows->pdata[i]), NULL);
        for (guint j = 0; j < columns->len; j++)
            add_cell(a, group, table, orch_grid_at(grid, rows->pdata[i], columns->pdata[j]), all);
    }
    return table;
}

/* Default axes. Rows: everything that varies except the repeat. Columns: the repeats, when there
 * are several. */
static void default_axes(struct orch_section_grid *g)
{
    bool is_repeated = false;
    for (guint i = 0; i < g->trials->all->len; i++)
        is_repeated = is_repeated || orch_trial_repeat(g->trials->all->pdata[i]) > 1;
    if (!g->rows->len) {
        g_ptr_array_add(g->rows, g_strdup("experiment"));
        g_ptr_array_add(g->rows, g_strdup("setting"));
        if (!g->columns->len && is_repeated)
            g_ptr_array_add(g->columns, g_strdup("repeat"));
    }
}

static void add_all(struct orch_section_context *a, const struct coverage *all)
{
    g_autofree char *names = tally_text(&all->names, true);
    orch_section_text(a->section, "%u of %u trials have runs%s%s", a->section->done,
                      a->section->planned, *names ? ": " : "", names);
    if (all->elsewhere)
        orch_section_text(a->section,
                          "%u of the trials were run at other places: on another machine, or with "
                          "another number of threads",
                          all->elsewhere);
    if (all->held)
        orch_section_text(a->section, "%u of the missing trials %s running now", all->held,
                          all->held == 1 ? "is" : "are");
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct orch_group_runs *group = orch_group_runs_new(a->plan, error);
    struct orch_section_grid *g =
        group ? orch_section_grid_begin(a, "rows", "columns", error) : NULL;
    if (g)
        default_axes(g);
    bool ok = g && orch_section_grid_fill(a, g, error);
    if (ok && g->grid->cells->len) {
        struct coverage all = {tally_new(), 0, 0};
        orch_section_table(a->section, make_table(a, group, g->grid, &all));
        add_all(a, &all);
        tally_clear(&all.names);
    }
    if (ok)
        orch_section_add_missing_trials(a, g->trials);
    orch_group_runs_free(group);
    orch_section_grid_free(g);
    return ok;
}

/* ---- one section an experiment -----------------------------------------------------------------
 */

/* Columns are the last of several swept parameters, rows are the others; repeats are counted. */
static json_t *spec_of(const struct orch_plan *plan, const struct orch_experiment *experiment)
{
    json_t *rows = json_array();
    const json_t *coords = NULL;
    const char *name, *last = NULL;
    json_t *value;
    for (unsigned i = 0; i < plan->count && !coords; i++)
        if (plan->items[i].cell->experiment == experiment)
            coords = plan->items[i].cell->coords;
    json_object_foreach((json_t *)(uintptr_t)coords, name, value)
        json_array_append_new(rows, json_string(name));
    if (!json_array_size(rows))
        json_array_append_new(rows, json_string("experiment"));
    json_t *spec = json_pack("{s:s s:o}", "experiments", experiment->name, "rows", rows);
    size_t count = json_array_size(rows);
    if (count < 2)
        return spec;
    last = json_string_value(json_array_get(rows, count - 1));
    json_object_set_new(spec, "columns", json_string(last));
    json_array_remove(rows, count - 1);
    return spec;
}

static bool has_trials(const struct orch_plan *plan, const struct orch_experiment *experiment)
{
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].cell->experiment == experiment &&
            plan->items[i].state != ORCH_PLAN_UNUSED)
            return true;
    return false;
}

struct orch_document *orch_report_coverages(struct orch_plan *plan,
                                            const struct orch_report_options *options,
                                            GError **error)
{
    struct orch_document *document = orch_document_new(plan->expansion->name);
    const GPtrArray *experiments = plan->expansion->experiments;
    bool ok = true;
    for (guint i = 0; ok && i < experiments->len; i++) {
        const struct orch_experiment *experiment = experiments->pdata[i];
        if (!has_trials(plan, experiment))
            continue;
        g_autoptr(json_t) spec = spec_of(plan, experiment);
        struct orch_report_item item = {.title = experiment->name, .spec = spec};
        struct orch_section *section =
            orch_document_add(document, "coverage", NULL, experiment->name);
        struct orch_section_context a = {plan, &item, options, section, document};
        ok = fill(&a, error);
    }
    if (ok)
        return document;
    orch_document_free(document);
    return NULL;
}

static const struct orch_report_key KEYS[] = {
    {.name = "rows", .shape = ORCH_SHAPE_AXES},
    {.name = "columns", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_COVERAGE = {
    .name = "coverage",
    .keys = KEYS,
    .may_be_bare = true,
    .fill = fill,
};
