/* SPDX-License-Identifier: MIT */
#include "lib/wire/alert.h"

#include "lib/base/condition.h"
#include "lib/base/error.h"
#include "lib/base/formula.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

/** The values of a metric so far. */
struct series {
    bool has_value;
    double first, last, min, max;
};

struct step {
    enum { STEP_COMPARE, STEP_NOT, STEP_AND, STEP_OR } what;
    char *name;
    enum orch_op op;
    bool is_not, is_nan; /* of OP_IS */
    struct orch_formula *formula;
};

struct orch_alert {
    char *text;
    GArray *steps;      /* struct step, in postfix order */
    GHashTable *series; /* name -> struct series *, of the metrics that it names */
    bool has_fired;
};

enum truth { NO, MAYBE, YES };

static const char *const FUNCTIONS[] = {"first", "min", "max", "last", NULL};

/* ---- parsing ----------------------------------------------------------------------------------
 */

static void clear_step(gpointer data)
{
    struct step *step = data;
    g_free(step->name);
    orch_formula_free(step->formula);
}

static void watch(struct orch_alert *alert, const char *name)
{
    if (!g_hash_table_contains(alert->series, name))
        g_hash_table_insert(alert->series, g_strdup(name), g_new0(struct series, 1));
}

/* The metric of a name in a formula, "min val_loss": `of` where it has none. */
static const char *metric_of(const char *name, const char *of)
{
    const char *space = strchr(name, ' ');
    return space ? space + strspn(space, " ") : g_strv_contains(FUNCTIONS, name) ? of : name;
}

static bool take_comparison(void *ctx, const struct orch_condition_term *c, GError **error)
{
    struct orch_alert *alert = ctx;
    struct step step = {.what = STEP_COMPARE, .op = c->op, .is_not = c->is_not};
    if (c->op == OP_CONTAINS)
        return orch_condition_fail(alert->text, c->name_at, error,
                                   "compare with = != < <= > >= or is nan",
                                   "an alert is about numbers, not texts");
    if (c->op == OP_IS) {
        step.is_nan = g_ascii_strcasecmp(c->value, "nan") == 0;
    } else {
        g_autofree char *text = g_strconcat("x = ", c->value, NULL);
        g_autoptr(GError) problem = NULL;
        step.formula = orch_formula_parse(text, &problem);
        if (!step.formula)
            return orch_condition_fail(alert->text, c->value_at, error,
                                       "write a number or a formula: 3 * first, 2 * min val_loss",
                                       "'%s' is no formula", c->value);
        const GPtrArray *names = orch_formula_names(step.formula);
        for (guint i = 0; i < names->len; i++)
            watch(alert, metric_of(names->pdata[i], c->name));
    }
    step.name = g_strdup(c->name);
    watch(alert, c->name);
    g_array_append_val(alert->steps, step);
    return true;
}

static void take_mark(void *ctx, enum orch_condition_mark mark)
{
    struct orch_alert *alert = ctx;
    struct step step = {.what = mark == CONDITION_NOT_END   ? STEP_NOT
                                : mark == CONDITION_AND_END ? STEP_AND
                                                            : STEP_OR};
    if (mark >= CONDITION_NOT_END)
        g_array_append_val(alert->steps, step);
}

struct orch_alert *orch_alert_parse(const char *text, GError **error)
{
    struct orch_alert *alert = g_new0(struct orch_alert, 1);
    alert->text = g_strdup(text);
    alert->steps = g_array_new(FALSE, FALSE, sizeof(struct step));
    g_array_set_clear_func(alert->steps, clear_step);
    alert->series = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    const struct orch_condition_reader reader = {
        .ctx = alert, .has_formulas = true, .compare = take_comparison, .mark = take_mark};
    if (orch_condition_parse(text, &reader, error))
        return alert;
    orch_alert_free(alert);
    return NULL;
}

void orch_alert_free(void *pointer)
{
    struct orch_alert *alert = pointer;
    if (!alert)
        return;
    g_free(alert->text);
    g_array_unref(alert->steps);
    g_hash_table_unref(alert->series);
    g_free(alert);
}

/* ---- values -----------------------------------------------------------------------------------
 */

struct asking {
    const struct orch_alert *alert;
    const char *of; /* the metric on the left */
};

static double look_up(void *ctx, const char *name)
{
    const struct asking *asking = ctx;
    const struct series *s =
        g_hash_table_lookup(asking->alert->series, metric_of(name, asking->of));
    if (!s || !s->has_value)
        return NAN;
    return g_str_has_prefix(name, "first") ? s->first
           : g_str_has_prefix(name, "min") ? s->min
           : g_str_has_prefix(name, "max") ? s->max
                                           : s->last;
}

static enum truth compare(const struct orch_alert *alert, const struct step *step)
{
    const struct series *s = g_hash_table_lookup(alert->series, step->name);
    struct asking asking = {alert, step->name};
    if (!s->has_value)
        return MAYBE;
    if (step->op == OP_IS)
        return (step->is_nan ? isnan(s->last) : isinf(s->last)) != step->is_not ? YES : NO;
    double right = orch_formula_value(step->formula, look_up, &asking);
    if (isnan(s->last) || isnan(right))
        return MAYBE;
    return orch_op_holds(step->op, (s->last > right) - (s->last < right)) ? YES : NO;
}

static enum truth truth_of(const struct orch_alert *alert)
{
    enum truth stack[ORCH_CONDITION_COMPARISONS_MAX + 1];
    int top = 0;
    for (guint i = 0; i < alert->steps->len; i++) {
        const struct step *step = &g_array_index(alert->steps, struct step, i);
        if (step->what == STEP_COMPARE) {
            stack[top++] = compare(alert, step);
        } else if (step->what == STEP_NOT) {
            stack[top - 1] = YES - stack[top - 1];
        } else {
            top--;
            stack[top - 1] = step->what == STEP_AND ? MIN(stack[top - 1], stack[top])
                                                    : MAX(stack[top - 1], stack[top]);
        }
    }
    return stack[0];
}

/* Takes a value of a metric of the trial. Once, when the condition begins to hold, returns what
 * happened: "val_loss is nan (val_loss nan at step 3)"; otherwise NULL. The caller frees. */
static char *alert_take(struct orch_alert *alert, const char *metric, int64_t step, double value)
{
    struct series *s = alert->has_fired ? NULL : g_hash_table_lookup(alert->series, metric);
    if (!s)
        return NULL;
    if (!s->has_value)
        *s = (struct series){true, value, value, value, value};
    if (isnan(s->first)) /* 3 * first is about the first number */
        s->first = value;
    s->last = value;
    s->min = fmin(s->min, value);
    s->max = fmax(s->max, value);
    alert->has_fired = truth_of(alert) == YES;
    return alert->has_fired ? g_strdup_printf("%s (%s %.6g at step %" G_GINT64_FORMAT ")",
                                              alert->text, metric, value, step)
                            : NULL;
}

/* ---- several ----------------------------------------------------------------------------------
 */

struct rule {
    struct orch_alert *alert;
    bool stops;
    char *fired; /* what happened; NULL: nothing, or it was told */
};

struct orch_alerts {
    GArray *rules; /* struct rule */
    bool has_fired;
};

static void clear_rule(gpointer data)
{
    struct rule *rule = data;
    orch_alert_free(rule->alert);
    g_free(rule->fired);
}

struct orch_alerts *orch_alerts_new(const json_t *rows)
{
    struct orch_alerts *alerts = g_new0(struct orch_alerts, 1);
    alerts->rules = g_array_new(FALSE, FALSE, sizeof(struct rule));
    g_array_set_clear_func(alerts->rules, clear_rule);
    for (size_t i = 0; i < MIN(json_array_size(rows), (size_t)ORCH_ALERTS_MAX); i++) {
        const json_t *row = json_array_get(rows, i);
        struct rule rule = {.alert = orch_alert_parse(orch_json_text(row, "when", ""), NULL),
                            .stops = json_is_true(json_object_get(row, "stop"))};
        if (rule.alert)
            g_array_append_val(alerts->rules, rule);
    }
    return alerts;
}

void orch_alerts_free(struct orch_alerts *alerts)
{
    if (!alerts)
        return;
    g_array_unref(alerts->rules);
    g_free(alerts);
}

bool orch_alerts_is_empty(const struct orch_alerts *alerts)
{
    return alerts->rules->len == 0;
}

void orch_alerts_take(void *pointer, const char *metric, int64_t step, double value)
{
    struct orch_alerts *alerts = pointer;
    for (guint i = 0; i < alerts->rules->len; i++) {
        struct rule *rule = &g_array_index(alerts->rules, struct rule, i);
        char *fired = alert_take(rule->alert, metric, step, value); /* once */
        rule->fired = fired ? fired : rule->fired;
        alerts->has_fired = alerts->has_fired || fired;
    }
}

char *orch_alerts_next(struct orch_alerts *alerts, bool *out_stops)
{
    for (guint i = 0; alerts->has_fired && i < alerts->rules->len; i++) {
        struct rule *rule = &g_array_index(alerts->rules, struct rule, i);
        *out_stops = rule->stops;
        if (rule->fired)
            return g_steal_pointer(&rule->fired);
    }
    alerts->has_fired = false;
    return NULL;
}
