/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which parameters of a search matter. */
#include "features/search/search_parts.h"

#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/space/observed_space.h"
#include "lib/wire/value.h"

#include <math.h>

/* The points that ended, as the page sees their runs: by the texts of their values. */
struct gathered {
    GPtrArray *names; /* const char *: of the parameters */
    GPtrArray *rows;  /* char **: by point; "": the parameter does not exist */
    GArray *values;   /* double */
};

static struct gathered gather(const struct orch_searched *searched)
{
    const struct orch_space *space = searched->search->space;
    struct gathered g = {g_ptr_array_new(),
                         g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev),
                         g_array_new(FALSE, FALSE, sizeof(double))};
    for (unsigned p = 0; p < space->params->len; p++)
        g_ptr_array_add(g.names, orch_space_param(space, p)->name);
    for (guint i = 0; i < searched->points->len; i++) {
        const struct orch_searched_point *point = searched->points->pdata[i];
        if (point->state != ORCH_SEARCHED_ENDED)
            continue;
        char **row = g_new0(char *, space->params->len + 1);
        for (unsigned p = 0; p < space->params->len; p++) {
            const json_t *value = json_object_get(point->item->cell->params, g.names->pdata[p]);
            row[p] = isnan(point->at[p]) ? g_strdup("") : orch_value_format_json(value);
        }
        g_ptr_array_add(g.rows, row);
        g_array_append_val(g.values, point->value);
    }
    return g;
}

static void gathered_clear(struct gathered *g)
{
    g_ptr_array_unref(g->names);
    g_ptr_array_unref(g->rows);
    g_array_unref(g->values);
}

/* Computes the importance of the parameters of the search's own space; NAN of one in which no
 * points differ. Returns the number of points. */
static size_t importance_of(const struct orch_searched *searched, struct orch_importance *out)
{
    struct gathered g = gather(searched);
    const struct orch_observed observed = {.names = (const char *const *)g.names->pdata,
                                           .columns = g.names->len,
                                           .rows = (const char *const *const *)g.rows->pdata,
                                           .count = g.rows->len};
    struct orch_observed_space *made = orch_observed_space_new(&observed);
    const double none = (double)NAN;
    struct orch_importance found;
    orch_importance_of(made->space, made->units, (const double *)(const void *)g.values->data,
                       observed.count, &found);
    *out = (struct orch_importance){
        .trials = found.trials, .params = observed.columns, .explained = found.explained};
    for (unsigned p = 0; p < out->params; p++) {
        out->share[p] = (struct orch_interval){none, none, none};
        out->whole[p] = none;
    }
    for (unsigned p = 0; p < found.params; p++) {
        out->share[made->columns[p]] = found.share[p];
        out->whole[made->columns[p]] = found.whole[p];
    }
    orch_observed_space_free(made);
    gathered_clear(&g);
    return observed.count;
}

/* "0.0001 to 1, logarithmic", "32 to 512, step 32", "sgd, adam" */
static char *range_text(const struct orch_space_param *param)
{
    char low[ORCH_REAL_CHARS], high[ORCH_REAL_CHARS], step[ORCH_REAL_CHARS];
    GString *text = g_string_new(NULL);
    if (param->kind != ORCH_SPACE_CHOICE)
        g_string_append_printf(text, "%s to %s%s", orch_real_format(param->low, low),
                               orch_real_format(param->high, high),
                               param->is_log ? ", logarithmic" : "");
    if (param->kind != ORCH_SPACE_CHOICE &&
        param->step > (param->kind == ORCH_SPACE_INTEGER ? 1 : 0))
        g_string_append_printf(text, ", step %s", orch_real_format(param->step, step));
    if (param->kind != ORCH_SPACE_CHOICE)
        return g_string_free(text, FALSE);
    for (guint k = 0; k < param->choices->len; k++)
        g_string_append_printf(text, "%s%s", k ? ", " : "", (char *)param->choices->pdata[k]);
    return g_string_free(text, FALSE);
}

/* Rounds a share to per cent, without the sign of a zero. */
static double percent(double share)
{
    return round(100 * share) + 0.0;
}

static char *percent_text(double share)
{
    return isnan(share) ? g_strdup("-") : g_strdup_printf("%.0f %%", percent(share));
}

/* A parameter without an importance is last. */
static bool is_more(double share, double than)
{
    return isnan(than) ? !isnan(share) : share > than;
}

static void add_table(struct orch_section *section, const struct orch_space *space,
                      const struct orch_importance *importance)
{
    static const char *const headers[] = {
        "parameter", "range", ">importance", ">95 % interval", ">over the whole range", NULL};
    struct orch_table *table = orch_table_new(headers);
    bool shown[ORCH_SPACE_PARAMS_MAX] = {0};
    for (unsigned row = 0; row < importance->params; row++) { /* the most important first */
        unsigned next = importance->params;
        for (unsigned p = 0; p < importance->params; p++)
            if (!shown[p] && (next == importance->params ||
                              is_more(importance->share[p].mid, importance->share[next].mid)))
                next = p;
        const struct orch_space_param *param = orch_space_param(space, next);
        const struct orch_interval *share = &importance->share[next];
        g_autofree char *mid = percent_text(share->mid);
        g_autofree char *interval =
            isnan(share->mid)
                ? g_strdup("-")
                : g_strdup_printf("%.0f to %.0f %%", percent(share->low), percent(share->high));
        g_autofree char *whole = percent_text(importance->whole[next]);
        g_autofree char *range = range_text(param);
        shown[next] = true;
        orch_table_add(table, param->name, NULL);
        orch_table_add(table, range, NULL);
        orch_table_add(table, mid, orch_json_finite(share->mid));
        orch_table_add(table, interval, NULL);
        orch_table_add(table, whole, orch_json_finite(importance->whole[next]));
    }
    orch_section_table(section, table);
}

static bool is_any_above_zero(const struct orch_importance *importance)
{
    for (unsigned p = 0; p < importance->params; p++)
        if (importance->share[p].low > 0)
            return true;
    return false;
}

void orch_search_add_importance(struct orch_section *section, const struct orch_searched *searched,
                                struct orch_importance *out)
{
    const struct orch_space *space = searched->search->space;
    const size_t count = importance_of(searched, out);
    if (count < ORCH_IMPORTANCE_TRIALS) {
        orch_section_note(section,
                          "importance of the parameters: not computed, because only %zu setting%s "
                          "ended, and %d are needed",
                          count, orch_plural((int64_t)count), ORCH_IMPORTANCE_TRIALS);
        return;
    }
    if (isnan(out->explained)) {
        orch_section_note(section, "importance of the parameters: none, all results are equal");
        return;
    }
    if (out->explained <= 0) {
        orch_section_note(section, "importance of the parameters: unknown, because a random forest "
                                   "cannot predict the results from the parameters");
        return;
    }
    add_table(section, space, out);
    if (!is_any_above_zero(out))
        orch_section_note(section,
                          "all intervals contain 0, so the order of the parameters may be chance");
    orch_section_note(
        section,
        "a random forest predicts the ranks of %zu settings from their parameters, and explains "
        "%.0f %% of the variance in settings that it has not seen. Importance: how much less of "
        "this variance is explained when the values of the parameter are shuffled. A search mostly "
        "tries settings where values are good. Over the whole range: the importance among settings "
        "spread evenly, by a Gaussian process",
        count, 100 * out->explained);
}
