/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store has of an item for which no run can be reused: runs that did not end well, that
 * its search's rule stopped, or of an earlier version. */
#include "core/plan/plan_private.h"

#include "core/plan/fingerprint.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* The earlier runs of an item for which none can be reused. Borrowed from its history. */
struct earlier {
    const struct orch_history_row *same;   /* the newest run of this fingerprint */
    const struct orch_history_row *pruned; /* the newest one of it that its search's rule stopped */
    const struct orch_history_row *other; /* the newest run of an earlier version that ended well */
    char *change;                         /* how `other` differs; the caller frees */
};

static void look_back(struct orch_plan *plan, struct orch_plan_item *item, const GPtrArray *rows,
                      const GPtrArray *same, struct earlier *out)
{
    for (guint i = 0; i < same->len; i++) {
        const struct orch_history_row *row = same->pdata[i];
        item->attempts = MAX(item->attempts, row->attempt);
        out->same = out->same ? out->same : row;
        if (!out->pruned && orch_verdict_parse(row->state) == ORCH_VERDICT_PRUNED)
            out->pruned = row;
    }
    for (guint i = 0; i < rows->len && !out->other; i++) {
        const struct orch_history_row *row = rows->pdata[i];
        if (strcmp(row->fingerprint, item->fingerprint) != 0 &&
            orch_verdict_facts(orch_verdict_parse(row->state))->is_reused) {
            g_autofree char *change = orch_plan_change(plan, item, row);
            out->other = change ? row : NULL;
            out->change = g_steal_pointer(&change);
        }
    }
}

/* Handles an item whose fingerprint has a run that cannot be reused. */
static void set_to_run_again(struct orch_plan_item *item, const struct orch_history_row *same)
{
    g_autofree char *who = orch_who_name(same->who);
    if (!orch_verdict_facts(orch_verdict_parse(same->state))->is_reused)
        orch_plan_set_state(item, ORCH_PLAN_MISSING,
                            g_strdup_printf("%s before%s%s", same->state, same->reason ? ": " : "",
                                            same->reason ? same->reason : ""));
    else if (item->forced)
        orch_plan_set_state(item, ORCH_PLAN_MISSING,
                            g_strdup(item->is_disturbed ? "disturbed by other programs; runs again"
                                                        : "forced to run again"));
    else if (item->cell->experiment->reuse == ORCH_RECIPE_REUSE_NEVER)
        orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("reuse: never"));
    else if (item->passed_over)
        orch_plan_set_state(item, ORCH_PLAN_STALE, g_strdup(item->passed_over));
    else
        orch_plan_set_state(
            item, ORCH_PLAN_MISSING,
            g_strdup_printf("done by %s on %s; timings are not reused on another machine", who,
                            same->device_key));
}

/* The settings in which an earlier run differs, as command line options; NULL when none differs. */
static char *settings_of(const struct orch_plan *plan, const struct orch_plan_item *item,
                         const char *run_key)
{
    struct orch_run *run = orch_store_run(plan->store, run_key, NULL);
    g_autoptr(json_t) then = run ? orch_store_params(plan->store, run->id, NULL) : NULL;
    GString *words = g_string_new(NULL);
    const char *name;
    json_t *value;
    json_object_foreach(item->cell->params, name, value)
    {
        const struct orch_param_spec *spec =
            orch_manifest_param(item->cell->experiment->manifest, name);
        json_t *before = then ? json_object_get(then, name) : NULL;
        if (!orch_fingerprint_has(item->cell, item->no_effect, spec) || !before ||
            json_equal(before, value))
            continue;
        g_autofree char *text = orch_value_format_json(before);
        g_autofree char *setting =
            g_strdup_printf("%s.%s=%s", item->cell->experiment->name, name, text);
        g_autofree char *quoted = g_shell_quote(setting);
        bool is_plain = !strpbrk(setting, " \t\n'\"$\\*?&;|<>()[]{}`!#~");
        g_string_append_printf(words, "%s-s %s", words->len ? " " : "",
                               is_plain ? setting : quoted);
    }
    orch_run_free(run);
    bool any = words->len;
    char *text = g_string_free(words, !any);
    return any ? text : NULL;
}

/* Whether a trial whose run `key` its search's rule stopped counts as tried. Without the rule, or
 * when asked for, it runs to its end; and the rule itself lets a run go on, once. */
static bool stays_pruned(const struct orch_plan *plan, const struct orch_plan_item *item,
                         const char *key)
{
    const struct orch_search_point *point = item->cell->point;
    return point && point->search->stop && !plan->options.continues_pruned && !item->forced &&
           item->cell->experiment->reuse != ORCH_RECIPE_REUSE_NEVER &&
           g_strcmp0(item->goes_on_from, key) != 0;
}

/* Whether a trial that went on has failed since by itself; one that had no more time would not have
 * it the next time, either. */
static bool has_failed_since(const struct earlier *earlier)
{
    const enum orch_verdict verdict = orch_verdict_parse(earlier->same->state);
    const struct orch_verdict_facts *facts = orch_verdict_facts(verdict);
    return earlier->same != earlier->pruned && facts->fault &&
           (!facts->retried || verdict == ORCH_VERDICT_TIMEOUT);
}

void orch_plan_set_to_run(struct orch_plan *plan, struct orch_plan_item *item,
                          const GPtrArray *rows, const GPtrArray *same)
{
    struct earlier earlier = {0};
    look_back(plan, item, rows, same, &earlier);
    item->was_pruned = earlier.pruned && !item->forced;
    item->stays_pruned = earlier.pruned && has_failed_since(&earlier);
    if (earlier.pruned && stays_pruned(plan, item, earlier.pruned->key))
        orch_plan_set_pruned(item, earlier.pruned->key, earlier.pruned->reason);
    else if (earlier.same)
        set_to_run_again(item, earlier.same);
    else if (earlier.other) {
        orch_plan_set_state(item, ORCH_PLAN_STALE, g_steal_pointer(&earlier.change));
        g_free(item->other_settings);
        item->other_settings = settings_of(plan, item, earlier.other->key);
    } else
        orch_plan_set_state(item, ORCH_PLAN_MISSING, g_strdup("never run"));
    g_free(earlier.change);
}
