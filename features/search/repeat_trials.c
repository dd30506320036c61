/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first repeats of a setting may run at once; each further one waits until those before it have
 * ended, since they may show that it is not needed. Repeats of one setting are
 * neighbours in the plan. */
#include "features/search/repeat_trials.h"

#include "core/stats/anytime.h"
#include "core/stats/group.h"
#include "features/search/best_arm.h"
#include "features/search/tried_points.h"
#include "lib/base/text.h"
#include "lib/space/repeat_rule.h"

#include <math.h>
#include <string.h>

struct orch_repeat_trials {
    GHashTable *running, *ended, *failed; /* sets of indices of items; failed ones have ended */
    GHashTable *values;                   /* key of a run -> double * */
    unsigned changes;                     /* trials that started or ended */
    /* the decision about a search, valid while `changes` is the same */
    const struct orch_search *search;
    unsigned group, decided_at;
    bool is_decided;
    int next; /* index of the first item of the setting to repeat; -1: none now, -2: none any more
               */
};

struct orch_repeat_trials *orch_repeat_trials_new(void)
{
    struct orch_repeat_trials *repeats = g_new0(struct orch_repeat_trials, 1);
    repeats->running = g_hash_table_new(NULL, NULL);
    repeats->ended = g_hash_table_new(NULL, NULL);
    repeats->failed = g_hash_table_new(NULL, NULL);
    repeats->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return repeats;
}

void orch_repeat_trials_free(struct orch_repeat_trials *repeats)
{
    if (!repeats)
        return;
    g_hash_table_unref(repeats->running);
    g_hash_table_unref(repeats->ended);
    g_hash_table_unref(repeats->failed);
    g_hash_table_unref(repeats->values);
    g_free(repeats);
}

void orch_repeat_trials_note_start(struct orch_repeat_trials *repeats, unsigned index)
{
    g_hash_table_add(repeats->running, GUINT_TO_POINTER(index));
    repeats->changes++;
}

void orch_repeat_trials_note_end(struct orch_repeat_trials *repeats, unsigned index,
                                 bool has_failed)
{
    if (has_failed)
        g_hash_table_add(repeats->failed, GUINT_TO_POINTER(index));
    g_hash_table_remove(repeats->running, GUINT_TO_POINTER(index));
    g_hash_table_add(repeats->ended, GUINT_TO_POINTER(index));
    repeats->changes++;
}

void orch_repeat_trials_note_promoted(struct orch_repeat_trials *repeats, unsigned index)
{
    g_hash_table_remove(repeats->ended, GUINT_TO_POINTER(index));
    orch_repeat_trials_note_start(repeats, index);
}

void orch_repeat_trials_note_left_out(struct orch_repeat_trials *repeats)
{
    repeats->changes++;
}

/* ---- one setting ----------------------------------------------------------------------------- */

static bool is_same_setting(const struct orch_plan *plan, unsigned a, unsigned b)
{
    const struct orch_cell *x = plan->items[a].cell, *y = plan->items[b].cell;
    return x->experiment == y->experiment && x->point == y->point &&
           json_equal(x->coords, y->coords);
}

static unsigned first_of(const struct orch_plan *plan, unsigned index)
{
    while (index > 0 && is_same_setting(plan, index - 1, index))
        index--;
    return index;
}

/* A setting with its repeats so far. */
struct setting {
    unsigned first, end; /* of the plan's items */
    GArray *values;      /* double */
    unsigned running;
    unsigned ended; /* with or without a value */
    unsigned left;  /* that may still start */
    bool is_out;    /* a rule stopped one of them, or one failed: the setting cannot be the best */
    struct orch_stat stat;
    struct orch_anytime median;
};

static void setting_clear(struct setting *setting)
{
    g_clear_pointer(&setting->values, g_array_unref);
}

static const double *values_in(const struct setting *setting)
{
    return (const double *)(const void *)setting->values->data;
}

/* Reads the metric of a run, once. */
static bool value_of(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                     const struct orch_plan_item *item, double *out, GError **error)
{
    const struct orch_repeat_rule *rule = item->cell->experiment->repeats;
    const double *known = g_hash_table_lookup(repeats->values, item->run_key);
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    if (known) {
        *out = *known;
        return true;
    }
    if (rule->summary)
        orch_aggregate_parse(rule->summary, &aggregate);
    struct orch_run *run = orch_store_run(plan->store, item->run_key, error);
    bool ok =
        run && orch_run_number(plan->store, run, rule->metric, aggregate, out, NULL, NULL, error);
    if (ok)
        g_hash_table_insert(repeats->values, g_strdup(item->run_key), g_memdup2(out, sizeof *out));
    orch_run_free(run);
    return ok;
}

static bool add_item(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                     unsigned index, struct setting *inout, GError **error)
{
    const struct orch_plan_item *item = &plan->items[index];
    double value;
    inout->is_out = inout->is_out || orch_tried_is_stopped(item) ||
                    g_hash_table_contains(repeats->failed, GUINT_TO_POINTER(index));
    if (item->state == ORCH_PLAN_DONE) {
        inout->ended++;
        if (!value_of(repeats, plan, item, &value, error))
            return false;
        inout->is_out = inout->is_out || !isfinite(value);
        if (isfinite(value))
            g_array_append_val(inout->values, value);
    } else if (g_hash_table_contains(repeats->running, GUINT_TO_POINTER(index))) {
        inout->running++;
    } else if (g_hash_table_contains(repeats->ended, GUINT_TO_POINTER(index))) {
        inout->ended++;
    } else {
        inout->left += orch_plan_will_run(item);
    }
    return true;
}

/* Reads the setting that begins at an item. The caller clears it, after an error, too. */
static bool setting_read(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                         unsigned first, struct setting *out, GError **error)
{
    *out = (struct setting){.first = first, .end = first};
    out->values = g_array_new(FALSE, FALSE, sizeof(double));
    do {
        if (!add_item(repeats, plan, out->end, out, error))
            return false;
        out->end++;
    } while (out->end < plan->count && is_same_setting(plan, first, out->end));
    out->stat = orch_stat_of(values_in(out), out->values->len);
    out->median = orch_anytime_of(values_in(out), out->values->len);
    return true;
}

/* The half width of the median's interval as a share of the median; infinite or NaN while it is
 * unbounded, as for values of which fewer than four differ. */
static double uncertainty_of(const struct setting *setting)
{
    const struct orch_interval *at = &setting->median.interval;
    return (at->high - at->low) / 2 / fabs(at->mid);
}

/* So many values that are all equal come from a metric without noise. */
static bool is_constant(const struct setting *setting)
{
    return setting->median.distinct == 1 && setting->median.count >= ORCH_ANYTIME_LEAST;
}

static bool is_known(const struct setting *setting, const struct orch_repeat_rule *rule)
{
    return is_constant(setting) || uncertainty_of(setting) <= rule->ci;
}

/* "its median val_accuracy is known to 1.6 %", and what was noticed. */
static char *known_text(const struct setting *setting, const struct orch_repeat_rule *rule)
{
    const char *notice = orch_anytime_notice_text(setting->median.notice);
    if (is_constant(setting))
        return g_strdup_printf("%s was the same %zu times, so it has no noise", rule->metric,
                               setting->median.count);
    return g_strdup_printf("its median %s is known to %.2g %%%s%s", rule->metric,
                           100 * uncertainty_of(setting), notice ? ", but " : "",
                           notice ? notice : "");
}

/* Decides by the setting alone. None is known before ORCH_ANYTIME_LEAST values, so these run at
 * once, unless the first repeats have none. */
static void decide_alone(const struct setting *setting, const struct orch_repeat_rule *rule,
                         enum orch_search_turn *out, char **out_why)
{
    const unsigned least = setting->values->len ? ORCH_ANYTIME_LEAST : ORCH_REPEATS_MIN;
    *out = ORCH_SEARCH_GOES_ON;
    if (is_known(setting, rule)) {
        *out = ORCH_SEARCH_IS_OVER;
        *out_why = known_text(setting, rule);
    } else if (setting->ended + setting->running < least) {
        return;
    } else if (setting->running) {
        *out = ORCH_SEARCH_WAITS;
    } else if (!setting->stat.count) {
        *out = ORCH_SEARCH_IS_OVER;
        *out_why = g_strdup_printf("none of its first %u repeats has a value of %s", setting->ended,
                                   rule->metric);
    }
}

/* ---- the settings of a search ---------------------------------------------------------------- */

#define NONE_NOW (-1)
#define NONE_ANY_MORE (-2)

static void free_setting(gpointer pointer)
{
    setting_clear(pointer);
    g_free(pointer);
}

/* Whether a trial runs or may still start, here or elsewhere. */
static bool is_awaited(const struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                       unsigned index)
{
    const struct orch_plan_item *item = &plan->items[index];
    return (orch_plan_will_run(item) || item->state == ORCH_PLAN_HELD) &&
           !g_hash_table_contains(repeats->ended, GUINT_TO_POINTER(index));
}

/* Reads the settings of a search that have a value and may be the best; `*out_waits`: repeats run,
 * or the first repeat of another setting has not ended, so that it may still become one. */
static GPtrArray *read_settings(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                                const struct orch_search_point *of, bool *out_waits, GError **error)
{
    g_autoptr(GPtrArray) settings = g_ptr_array_new_with_free_func(free_setting);
    *out_waits = false;
    for (unsigned i = 0; i < plan->count;) {
        const struct orch_search_point *point = plan->items[i].cell->point;
        if (!point || point->search != of->search || point->group != of->group ||
            !point->is_chosen) {
            i++;
            continue;
        }
        struct setting *setting = g_new0(struct setting, 1);
        g_ptr_array_add(settings, setting);
        if (!setting_read(repeats, plan, i, setting, error))
            return NULL;
        i = setting->end;
        *out_waits = *out_waits || setting->running || is_awaited(repeats, plan, setting->first);
        if (!setting->stat.count || setting->is_out)
            g_ptr_array_remove_index(settings, settings->len - 1);
    }
    return g_steal_pointer(&settings);
}

static GArray *arms_of(const GPtrArray *settings, const struct orch_search *search)
{
    GArray *arms = g_array_new(FALSE, TRUE, sizeof(struct orch_arm));
    for (guint i = 0; i < settings->len; i++) {
        const struct setting *setting = settings->pdata[i];
        const struct orch_arm arm = {.count = setting->stat.count,
                                     .pending = setting->running,
                                     .mean =
                                         search->is_max ? setting->stat.mean : -setting->stat.mean,
                                     .sd = setting->stat.sd};
        g_array_append_val(arms, arm);
    }
    return arms;
}

/* Which setting of a search is repeated next. */
static bool decide_search(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                          const struct orch_search_point *of, const struct orch_repeat_rule *rule,
                          GError **error)
{
    bool waits;
    g_autoptr(GPtrArray) settings = read_settings(repeats, plan, of, &waits, error);
    if (!settings)
        return false;
    g_autoptr(GArray) arms = arms_of(settings, of->search);
    struct orch_arm *all = (struct orch_arm *)(void *)arms->data;
    for (guint i = 0; i < arms->len; i++) {
        const struct setting *setting = settings->pdata[i];
        all[i].may_go_on = setting->left && !is_known(setting, rule) &&
                           !orch_best_arm_is_beaten(all, arms->len, i);
    }
    size_t next = orch_best_arm_next(all, arms->len);
    repeats->search = of->search;
    repeats->group = of->group;
    repeats->decided_at = repeats->changes;
    repeats->is_decided = true;
    repeats->next = next < arms->len ? (int)((const struct setting *)settings->pdata[next])->first
                    : waits          ? NONE_NOW
                                     : NONE_ANY_MORE;
    return true;
}

static bool is_decided(const struct orch_repeat_trials *repeats, const struct orch_search_point *of)
{
    return repeats->is_decided && repeats->decided_at == repeats->changes &&
           repeats->search == of->search && repeats->group == of->group;
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* Whether a repeat before this one is still to start. */
static bool has_earlier(const struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                        unsigned first, unsigned index)
{
    for (unsigned i = first; i < index; i++)
        if (orch_plan_will_run(&plan->items[i]) &&
            !g_hash_table_contains(repeats->running, GUINT_TO_POINTER(i)) &&
            !g_hash_table_contains(repeats->ended, GUINT_TO_POINTER(i)))
            return true;
    return false;
}

/* Whether a rule stopped a repeat of the setting that begins at an item. */
static bool is_stopped(const struct orch_plan *plan, unsigned first)
{
    for (unsigned i = first; i < plan->count && is_same_setting(plan, first, i); i++)
        if (orch_tried_is_stopped(&plan->items[i]))
            return true;
    return false;
}

bool orch_repeat_trials_ask(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                            unsigned index, bool is_alone, enum orch_search_turn *out,
                            char **out_why, GError **error)
{
    const struct orch_cell *cell = plan->items[index].cell;
    const struct orch_repeat_rule *rule = cell->experiment->repeats;
    const unsigned first = first_of(plan, index);
    *out = ORCH_SEARCH_GOES_ON;
    if (index == first || g_hash_table_contains(repeats->running, GUINT_TO_POINTER(index)))
        return true; /* the first one, or one that is retried */
    if (is_stopped(plan, first)) {
        *out = ORCH_SEARCH_IS_OVER;
        *out_why = g_strdup("a rule stopped a repeat of its setting");
    } else if (cell->point && !is_alone) {
        if (!is_decided(repeats, cell->point) &&
            !decide_search(repeats, plan, cell->point, rule, error))
            return false;
        if (repeats->next == NONE_ANY_MORE)
            *out_why = g_strdup("each setting of its search is known well enough or beaten");
        *out = repeats->next == NONE_ANY_MORE ? ORCH_SEARCH_IS_OVER
               : (int)first == repeats->next  ? ORCH_SEARCH_GOES_ON
                                              : ORCH_SEARCH_WAITS;
    } else {
        struct setting setting;
        bool ok = setting_read(repeats, plan, first, &setting, error);
        if (ok)
            decide_alone(&setting, rule, out, out_why);
        setting_clear(&setting);
        if (!ok)
            return false;
    }
    if (*out == ORCH_SEARCH_GOES_ON && has_earlier(repeats, plan, first, index))
        *out = ORCH_SEARCH_WAITS;
    return true;
}

GPtrArray *orch_repeat_trials_unknown(struct orch_repeat_trials *repeats,
                                      const struct orch_plan *plan, GError **error)
{
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < plan->count;) {
        const struct orch_cell *cell = plan->items[i].cell;
        struct setting setting;
        if (!cell->experiment->repeats || orch_cell_is_open(cell)) {
            i++;
            continue;
        }
        bool ok = setting_read(repeats, plan, i, &setting, error);
        i = setting.end;
        if (ok && setting.values->len == setting.end - setting.first &&
            !is_known(&setting, cell->experiment->repeats)) {
            g_autofree char *label = orch_cell_label(cell);
            *strrchr(label, ' ') = '\0'; /* the number of the repeat */
            const double to = 100 * uncertainty_of(&setting);
            g_autofree char *known = isfinite(to) ? g_strdup_printf(" (to %.2g %%)", to) : NULL;
            g_ptr_array_add(out, g_strdup_printf("%s: its median %s is not known to %.2g %% after "
                                                 "%u repeats%s",
                                                 label, cell->experiment->repeats->metric,
                                                 100 * cell->experiment->repeats->ci,
                                                 setting.values->len, known ? known : ""));
        }
        setting_clear(&setting);
        if (!ok)
            return NULL;
    }
    return g_steal_pointer(&out);
}

void orch_repeat_trials_leave_out(struct orch_plan *plan)
{
    struct orch_repeat_trials *repeats = orch_repeat_trials_new();
    for (unsigned i = 0; plan->store && i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        enum orch_search_turn turn = ORCH_SEARCH_GOES_ON;
        g_autofree char *why = NULL;
        g_autoptr(GError) problem =
            NULL; /* the trial stays missing: 'orch run' says what is wrong */
        if (item->cell->experiment->repeats && !orch_cell_is_open(item->cell) &&
            orch_plan_will_run(item) &&
            orch_repeat_trials_ask(repeats, plan, i, false, &turn, &why, &problem) &&
            turn == ORCH_SEARCH_IS_OVER)
            orch_plan_set_unneeded(item, why);
    }
    orch_repeat_trials_free(repeats);
}
