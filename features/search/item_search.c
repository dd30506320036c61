/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `search`: the best setting that a search found and how far its value can be trusted, the
 * best so far by points and by device time, what a grid would have cost, and which parameters
 * matter. */
#include "core/report/items.h"
#include "features/search/samplers/sampler_grid.h"
#include "features/search/search_parts.h"
#include "features/search/winner_words.h"

#include "core/stats/spread.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

/* ---- words ----------------------------------------------------------------------------------- */

static char *value_text(const struct orch_searched *searched)
{
    const struct orch_searched_point *best = searched->best;
    const struct orch_spread spread =
        orch_spread_of((const double *)(const void *)best->values->data, best->values->len,
                       searched->search->metric, searched->unit);
    g_autofree char *text = orch_spread_format(&spread);
    return g_strdup_printf("%s%s%s", text, searched->unit ? " " : "",
                           searched->unit ? searched->unit : "");
}

/* "best of 12 settings of tune: lr=0.01. Its last val_acc is 0.93" */
static char *winner_text(const struct orch_searched *searched)
{
    g_autofree char *value = value_text(searched);
    g_autofree char *setting = orch_search_values(searched->search, searched->best->at);
    const guint done = searched->best->values->len, all = (guint)searched->experiment->repeat;
    g_autofree char *share = !searched->experiment->repeats && done < all
                                 ? g_strdup_printf(" by %u of its %u trials", done, all)
                                 : g_strdup("");
    return g_strdup_printf("best of %u setting%s of %s: %s. Its %s %s is %s%s",
                           searched->points->len, orch_plural(searched->points->len),
                           searched->name, setting, searched->search->summary,
                           searched->search->metric, value, share);
}

/* ---- what it cost ---------------------------------------------------------------------------- */

/* Mean device time of a point that ended; NAN: none has. */
static double mean_s(const struct orch_searched *searched)
{
    double sum = 0;
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        sum += point->state == ORCH_SEARCHED_ENDED ? point->device_s : 0;
    }
    return sum / searched->counts[ORCH_SEARCHED_ENDED];
}

static void add_duration(struct orch_table *table, double seconds)
{
    g_autofree char *text = isfinite(seconds) ? orch_duration_format(seconds) : g_strdup("-");
    orch_table_add(table, text, orch_json_finite(seconds));
}

static void add_table(struct orch_section *section, const GPtrArray *searches)
{
    static const char *const headers[] = {"search",
                                          ">settings planned",
                                          ">ended",
                                          ">pruned",
                                          ">failed",
                                          ">best",
                                          ">device time",
                                          ">settings of grid",
                                          ">grid's device time",
                                          NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < searches->len; i++) {
        const struct orch_searched *searched = searches->pdata[i];
        const double grid = orch_search_grid_points(searched->search->space);
        /* of several metrics the first one's, as in the charts: the front begins with it */
        const struct orch_searched_point *best =
            searched->front->len ? searched->front->pdata[0] : searched->best;
        orch_table_add(table, searched->name, NULL);
        orch_table_add_int(table, searched->planned);
        for (int state = ORCH_SEARCHED_ENDED; state <= ORCH_SEARCHED_FAILED; state++)
            orch_table_add_int(table, searched->counts[state]);
        orch_table_add_real(table, best ? best->value : (double)NAN);
        add_duration(table, searched->device_s);
        orch_table_add_real(table, grid);
        add_duration(table, grid * mean_s(searched));
    }
    orch_section_table(section, table);
    orch_section_note(
        section,
        "grid: a sweep with %d values of each number and all choices; its device time is an "
        "estimate. Device time: duration times the number of GPUs (at least 1)",
        ORCH_SEARCH_GRID_VALUES);
}

/* ---- charts ---------------------------------------------------------------------------------- */

/* The name of a search without one swept value. */
static char *name_without(const struct orch_searched *searched, const char *axis)
{
    GString *name = g_string_new(searched->experiment->name);
    const char *key;
    json_t *value;
    json_object_foreach(searched->swept, key, value)
    {
        g_autofree char *plain = json_is_string(value)
                                     ? g_strdup(json_string_value(value))
                                     : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        if (g_strcmp0(key, axis) != 0)
            g_string_append_printf(name, " %s=%s", key, plain);
    }
    return g_string_free(name, FALSE);
}

/* Draws each search by itself, or those together that differ only in the value `over`. */
static void add_progress(struct orch_section *section, const GPtrArray *searches, const char *over)
{
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (guint i = 0; i < searches->len; i++) {
        struct orch_searched *searched = searches->pdata[i];
        char *name = name_without(searched, over);
        GPtrArray *group = g_hash_table_lookup(groups, name);
        if (!searched->best) {
            g_free(name);
            continue;
        }
        if (group) {
            g_free(name);
        } else {
            group = g_ptr_array_new();
            g_ptr_array_add(names, name);
            g_hash_table_insert(groups, name, group);
        }
        g_ptr_array_add(group, searched);
    }
    for (guint i = 0; i < names->len; i++)
        orch_search_add_progress(section, g_hash_table_lookup(groups, names->pdata[i]),
                                 names->pdata[i]);
}

/* ---- the item -------------------------------------------------------------------------------- */

static void add_winners(struct orch_section_context *a, const GPtrArray *searches)
{
    bool has_answer = false;
    for (guint i = 0; i < searches->len; i++) {
        const struct orch_searched *searched = searches->pdata[i];
        g_autofree char *spoilt = orch_winner_spoilt_text(searched);
        if (spoilt)
            orch_section_note(a->section, "%s: %s", searched->name, spoilt);
        if (!searched->best)
            continue;
        const bool has_front = searched->search->more_count;
        g_autofree char *winner =
            has_front ? orch_search_front_text(searched) : winner_text(searched);
        g_autofree char *trust = has_front ? NULL : orch_winner_trust_text(searched);
        g_autofree char *text =
            trust ? g_strdup_printf("%s. %s", winner, trust) : g_steal_pointer(&winner);
        g_autofree char *again = has_front ? NULL : orch_winner_repeat_text(searched);
        if (searched->broke)
            orch_section_note(a->section, "%s: %u setting%s %s a limit", searched->name,
                              searched->broke, orch_plural(searched->broke),
                              searched->broke == 1 ? "breaks" : "break");
        if (has_answer)
            orch_section_text(a->section, "%s", text);
        else
            orch_section_answer(a->section, "%s", text);
        has_answer = true;
        if (again)
            orch_section_note(a->section, "%s: for an unbiased value, repeat the best setting: %s",
                              searched->name, again);
    }
}

static void add_parts(struct orch_section_context *a, const GPtrArray *searches)
{
    const char *over = json_string_value(json_object_get(a->item->spec, "over"));
    add_winners(a, searches);
    add_table(a->section, searches);
    add_progress(a->section, searches, over);
    for (guint i = 0; i < searches->len; i++) {
        struct orch_importance importance;
        const struct orch_searched *searched = searches->pdata[i];
        if (!searched->best)
            continue;
        if (searches->len > 1)
            orch_section_text(a->section, "%s:", searched->name);
        if (searched->search->more_count)
            orch_search_add_front(a->section, searched);
        orch_search_add_importance(a->section, searched, &importance);
        orch_search_add_slices(a->section, searched, &importance);
    }
}

/* Records the trials of searches in the section, and those of other experiments that the item
 * lists, as they may be fresh repeats; all others are dropped. */
static void keep_searched(struct orch_section_context *a, struct orch_trials *trials,
                          bool lists_experiments)
{
    g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        if (!trial->item || !(trial->item->cell->point || lists_experiments))
            continue;
        orch_section_trial(a->section, trials, trial);
        g_hash_table_add(kept, trial);
    }
    orch_trials_keep(trials, kept);
}

static bool fill(struct orch_section_context *a, GError **error)
{
    const json_t *names =
        json_is_object(a->item->spec) ? json_object_get(a->item->spec, "experiments") : NULL;
    g_autoptr(GPtrArray) experiments = orch_texts_from_json(names);
    struct orch_trials *trials = orch_section_trials(a, "experiments", error);
    g_autoptr(GPtrArray) searches = trials ? orch_searched_read(a->plan, experiments, error) : NULL;
    if (searches) {
        bool has_points = false;
        keep_searched(a, trials, experiments->len > 0);
        for (guint i = 0; i < searches->len; i++)
            has_points |= ((const struct orch_searched *)searches->pdata[i])->points->len > 0;
        if (has_points)
            add_parts(a, searches);
        if (!searches->len)
            orch_section_missing(a->section, NULL, "no experiment of this item is a search");
        orch_section_add_missing_trials(a, trials);
    }
    orch_trials_free(trials);
    return searches;
}

static const struct orch_report_key KEYS[] = {
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "over", .shape = ORCH_SHAPE_AXIS},
    {0}};

extern const struct orch_report_kind ORCH_REPORT_SEARCH;
const struct orch_report_kind ORCH_REPORT_SEARCH = {
    .name = "search",
    .keys = KEYS,
    .may_be_bare = true,
    .fill = fill,
};
