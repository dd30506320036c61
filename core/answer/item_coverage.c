/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `coverage`: which trials are there, and by whom. Runs that others made on machines of
 * their own count too: a group fills one table. */
#include "core/answer/items.h"

#include "lib/wire/verdict.h"

#include <string.h>

/* ---- runs of the recipe, by fingerprint --------------------------------------------------------
 */

struct group {
    GPtrArray *runs;            /* struct orch_run * */
    GHashTable *by_fingerprint; /* -> GPtrArray of them, newest first */
};

static void free_list(gpointer list)
{
    g_ptr_array_unref(list);
}

static bool gather(struct group *group, const struct orch_plan *plan, GError **error)
{
    struct orch_run_query query = {.recipe = plan->expansion->name};
    group->by_fingerprint = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_list);
    if (!plan->store)
        return true;
    group->runs = orch_store_runs(plan->store, &query, NULL, error);
    for (guint i = 0; group->runs && i < group->runs->len; i++) {
        struct orch_run *run = group->runs->pdata[i];
        if (!orch_verdict_facts(orch_verdict_parse(run->state))->spares)
            continue;
        GPtrArray *list = g_hash_table_lookup(group->by_fingerprint, run->fingerprint);
        if (!list) {
            list = g_ptr_array_new();
            g_hash_table_insert(group->by_fingerprint, run->fingerprint, list);
        }
        g_ptr_array_add(list, run);
    }
    return group->runs;
}

static void release(struct group *group)
{
    g_clear_pointer(&group->by_fingerprint, g_hash_table_unref);
    g_clear_pointer(&group->runs, g_ptr_array_unref);
}

/* ---- a cell ------------------------------------------------------------------------------------
 */

/* Counts a word; order is that of first sight. */
static void count(GPtrArray *names, GHashTable *counts, const char *word)
{
    if (!g_hash_table_contains(counts, word))
        g_ptr_array_add(names, g_strdup(word));
    g_hash_table_insert(counts, g_strdup(word),
                        GINT_TO_POINTER(1 + GPOINTER_TO_INT(g_hash_table_lookup(counts, word))));
}

struct tally {
    GPtrArray *names;   /* char * */
    GHashTable *counts; /* of them */
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

/* "ada 2, bob 1"; without counts where there is one trial only. */
static char *tally_text(const struct tally *tally, bool with_counts)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < tally->names->len; i++) {
        const char *name = tally->names->pdata[i];
        g_string_append_printf(text, "%s%s", i ? ", " : "", name);
        if (with_counts)
            g_string_append_printf(text, " %d",
                                   GPOINTER_TO_INT(g_hash_table_lookup(tally->counts, name)));
    }
    return g_string_free(text, FALSE);
}

static void note_elsewhere(struct orch_asked *a, const struct orch_trial *trial,
                           const struct orch_run *run)
{
    g_autofree char *label = orch_cell_label(trial->item->cell);
    const char *who = a->options->who;
    struct orch_section_run noted = {run->key,
                                     run->experiment,
                                     label,
                                     run->who,
                                     run->where_key,
                                     run->source_commit,
                                     !who || orch_who_is_same(who, run->who)};
    orch_section_run_add(a->section, &noted);
}

/* Runs of a trial, wherever they were made. The caller unrefs. */
static GPtrArray *runs_of(const struct group *group, struct orch_store *store,
                          const struct orch_plan_item *item)
{
    GPtrArray *known = g_hash_table_lookup(group->by_fingerprint, item->fingerprint);
    GPtrArray *out = known ? g_ptr_array_ref(known) : g_ptr_array_new();
    for (guint i = 0; !*item->fingerprint && group->runs && i < group->runs->len; i++) {
        const struct orch_run *run = group->runs->pdata[i];
        if (orch_verdict_facts(orch_verdict_parse(run->state))->spares &&
            orch_run_is_of(store, run, item))
            g_ptr_array_add(out, group->runs->pdata[i]);
    }
    return out;
}

/* Who has the trial at another place; each person and place once. True when only others have it. */
static bool count_elsewhere(struct orch_asked *a, const struct group *group,
                            const struct orch_trial *trial, struct tally *cell)
{
    const char *here = trial->run ? trial->run->where_key : NULL;
    g_autoptr(GPtrArray) list = runs_of(group, a->plan->store, trial->item);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool any = false;
    for (guint i = 0; i < list->len; i++) {
        const struct orch_run *run = list->pdata[i];
        if (g_strcmp0(run->where_key, here) == 0 ||
            (trial->run && trial->item->cell->experiment->reuse != ORCH_RECIPE_REUSE_WHERE))
            continue;
        g_autofree char *name = orch_who_name(run->who);
        g_autofree char *text =
            g_strdup_printf("%s on %s", name ? name : "-", run->where_key ? run->where_key : "-");
        if (!g_hash_table_add(seen, g_strdup(text)))
            continue;
        count(cell->names, cell->counts, text);
        note_elsewhere(a, trial, run);
        any = true;
    }
    return any && !trial->run;
}

static bool is_skipped(const struct orch_grid_cell *cell)
{
    for (guint i = 0; i < cell->trials->len; i++)
        if (((const struct orch_trial *)cell->trials->pdata[i])->item->state != ORCH_PLAN_SKIPPED)
            return false;
    return true;
}

static void add_cell(struct orch_asked *a, const struct group *group, struct orch_table *table,
                     const struct orch_grid_cell *cell, struct tally *all, unsigned *elsewhere)
{
    struct tally tally = tally_new();
    for (guint i = 0; cell && i < cell->trials->len; i++) {
        const struct orch_trial *trial = cell->trials->pdata[i];
        g_autofree char *name = trial->run ? orch_who_name(trial->run->who) : NULL;
        const char *who = name ? name : "-";
        if (trial->run) {
            count(tally.names, tally.counts, who);
            count(all->names, all->counts, who);
        }
        *elsewhere += count_elsewhere(a, group, trial, &tally);
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

static struct orch_table *make_table(struct orch_asked *a, const struct group *group,
                                     const struct orch_grid *grid, struct tally *all,
                                     unsigned *elsewhere)
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
            add_cell(a, group, table, orch_grid_at(grid, rows->pdata[i], columns->pdata[j]), all,
                     elsewhere);
    }
    return table;
}

/* Rows: as the item says, else everything that differs but the repeat; columns: likewise, else the
 * repeats where there are some. */
static void default_axes(struct orch_answer_grid *g)
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

bool orch_answer_coverage(struct orch_asked *a, GError **error)
{
    struct group group = {0};
    struct orch_answer_grid *g = orch_answer_grid_begin(a, "rows", "columns", error);
    if (!g)
        return false;
    default_axes(g);
    bool ok = gather(&group, a->plan, error) && orch_answer_grid_fill(a, g, error);
    if (ok && g->grid->cells->len) {
        struct tally all = tally_new();
        unsigned elsewhere = 0;
        orch_section_table(a->section, make_table(a, &group, g->grid, &all, &elsewhere));
        g_autofree char *names = tally_text(&all, true);
        orch_section_text(a->section, "%u of %u trials are there%s%s", a->section->done,
                          a->section->planned, *names ? ": " : "", names);
        if (elsewhere)
            orch_section_text(a->section,
                              "%u of the others were run at other places (another machine, other "
                              "threads: see --jobs)",
                              elsewhere);
        tally_clear(&all);
    }
    if (ok)
        orch_answer_say_missing(a, g->trials);
    release(&group);
    orch_answer_grid_free(g);
    return ok;
}
