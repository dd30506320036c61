/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/selection.h"

#include "lib/base/error.h"
#include "lib/wire/verdict.h"

/* Appends "NAME OPERATOR 'VALUE'", where quotes within the value are doubled. */
static void append_comparison(GString *out, const char *name, const char *operator,
                              const char * value)
{
    g_auto(GStrv) parts = g_strsplit(value, "'", -1);
    g_autofree char *quoted = g_strjoinv("''", parts);
    g_string_append_printf(out, "%s %s '%s'", name, operator, quoted);
}

static void append_and(GString *out)
{
    g_string_append(out, out->len ? " and " : "");
}

/* Appends "NAME = 'A' or NAME = 'B'". */
static void append_any(GString *out, const char *name, const char *const *values)
{
    for (int i = 0; values && values[i]; i++) {
        g_string_append(out, out->len ? " or " : "");
        append_comparison(out, name, "=", values[i]);
    }
}

/* Formats everything but the user's own filter as a condition; empty when there is nothing.
 * `is_whole`: also what orch_selection_query passes by itself. */
static GString *other_conditions(const struct orch_selection *s, bool is_whole)
{
    GString *text = g_string_new(NULL);
    g_autoptr(GString) any = g_string_new(NULL);
    const struct {
        const char *name, *value;
    } columns[] = {{"recipe", s->recipe}, {"experiment", s->experiment}, {"state", s->state}};
    for (unsigned i = 0; is_whole && i < G_N_ELEMENTS(columns); i++)
        if (columns[i].value) {
            append_and(text);
            append_comparison(text, columns[i].name, "=", columns[i].value);
        }
    for (int i = 0; s->tags && s->tags[i]; i++) {
        append_and(text);
        append_comparison(text, "tag", "=", s->tags[i]);
    }
    if (s->since) {
        append_and(text);
        append_comparison(text, "ended", ">=", s->since);
    }
    append_any(any, "recipe", s->any_recipes);
    append_any(any, "key", s->any_runs);
    if (any->len) {
        append_and(text);
        g_string_append_printf(text, "(%s)", any->str);
    }
    return text;
}

static bool make_condition(const struct orch_selection *selection, bool is_whole,
                           struct orch_where **out, GError **error)
{
    *out = NULL;
    const char *where = selection->where;
    g_autoptr(GString) others = other_conditions(selection, is_whole);
    struct orch_where *own = where ? orch_where_parse(where, error) : NULL;
    if (where && !own)
        return false; /* before it is combined, so that the error has the user's columns */
    if (!others->len) {
        *out = own;
        return true;
    }
    orch_where_free(own);
    g_autofree char *text =
        where ? g_strdup_printf("(%s) and %s", where, others->str) : g_strdup(others->str);
    *out = orch_where_parse(text, error);
    return *out != NULL;
}

bool orch_selection_condition(const struct orch_selection *selection, struct orch_where **out,
                              GError **error)
{
    return make_condition(selection, false, out, error);
}

bool orch_selection_whole_condition(const struct orch_selection *selection, struct orch_where **out,
                                    GError **error)
{
    return make_condition(selection, true, out, error);
}

struct orch_run_query orch_selection_query(const struct orch_selection *s,
                                           const struct orch_where *condition)
{
    return (struct orch_run_query){.recipe = s->recipe,
                                   .experiment = s->experiment,
                                   .state = s->state,
                                   .where = condition,
                                   .ended_well = s->ended_well,
                                   .with_hidden = s->with_hidden,
                                   .without_imported = s->without_imported,
                                   .oldest_first = s->oldest_first,
                                   .with_counted = s->with_counted,
                                   .limit = s->limit};
}

static bool check_state(const char *state, GError **error)
{
    if (!state || orch_verdict_parse(state) != ORCH_VERDICT_UNKNOWN)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "use ok, failed, skipped, cancelled, diverged, crashed, timeout, lost, "
                   "preempted, protocol-error or pruned",
                   "unknown state '%s'", state);
    return false;
}

GPtrArray *orch_selection_runs(const struct orch_selection *selection, struct orch_store *store,
                               int64_t *out_total, GError **error)
{
    struct orch_where *condition;
    if (!check_state(selection->state, error) ||
        !orch_selection_condition(selection, &condition, error))
        return NULL;
    const struct orch_run_query query = orch_selection_query(selection, condition);
    GPtrArray *runs = orch_store_runs(store, &query, out_total, error);
    orch_where_free(condition);
    return runs;
}

bool orch_selection_visit(const struct orch_selection *selection, struct orch_store *store,
                          orch_run_fn visit, void *ctx, GError **error)
{
    struct orch_where *condition;
    if (!check_state(selection->state, error) ||
        !orch_selection_condition(selection, &condition, error))
        return false;
    const struct orch_run_query query = orch_selection_query(selection, condition);
    bool ok = orch_store_visit_full_runs(store, &query, visit, ctx, error);
    orch_where_free(condition);
    return ok;
}
