/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/group.h"

#include "core/stats/grouping.h"
#include "core/stats/same_trial.h"
#include "core/stats/tried_command.h"
#include "core/stats/varying_names.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/wire/direction.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/system_metrics.h"
#include "lib/wire/value.h"

#include <math.h>
#include <string.h>

static double aggregate_of(const struct orch_metric_summary *s, enum orch_aggregate aggregate)
{
    switch (aggregate) {
    case ORCH_AGGREGATE_LAST:
        return s->last;
    case ORCH_AGGREGATE_BEST: {
        const enum orch_better better =
            orch_direction_of(s->name, s->unit, orch_better_parse(s->better)).better;
        return better == ORCH_BETTER_MIN ? s->min : better == ORCH_BETTER_MAX ? s->max : s->last;
    }
    case ORCH_AGGREGATE_MIN:
        return s->min;
    case ORCH_AGGREGATE_MAX:
        return s->max;
    case ORCH_AGGREGATE_MEAN:
        return s->mean;
    case ORCH_AGGREGATE_FIRST:
        return s->first;
    case ORCH_AGGREGATE_COUNT:
        return (double)s->count;
    case ORCH_AGGREGATE_SUM:
        return s->mean * (double)s->count;
    }
    return NAN;
}

static void set_unit_and_better(const char *name, const char *better, const char *unit,
                                const char **out_better, const char **out_unit)
{
    if (out_better)
        *out_better =
            orch_better_word(orch_direction_of(name, unit, orch_better_parse(better)).better);
    if (out_unit)
        *out_unit = unit && *unit ? g_intern_string(unit) : NULL;
}

struct orch_run_numbers {
    double wall_s;
    GPtrArray *summaries, *results;
};

struct orch_run_numbers *orch_run_numbers_read(struct orch_store *store, const struct orch_run *run,
                                               GError **error)
{
    GPtrArray *summaries = orch_store_summaries(store, run->id, error);
    GPtrArray *results = summaries ? orch_store_result_rows(store, run->id, error) : NULL;
    if (!results) {
        g_clear_pointer(&summaries, g_ptr_array_unref);
        return NULL;
    }
    struct orch_run_numbers *numbers = g_new(struct orch_run_numbers, 1);
    *numbers = (struct orch_run_numbers){run->wall_ms / 1e3, summaries, results};
    return numbers;
}

void orch_run_numbers_free(struct orch_run_numbers *numbers)
{
    if (!numbers)
        return;
    g_ptr_array_unref(numbers->summaries);
    g_ptr_array_unref(numbers->results);
    g_free(numbers);
}

static const struct orch_metric_summary *find_summary(const struct orch_run_numbers *numbers,
                                                      const char *name)
{
    for (guint i = 0; i < numbers->summaries->len; i++) {
        const struct orch_metric_summary *summary = numbers->summaries->pdata[i];
        if (strcmp(summary->name, name) == 0)
            return summary;
    }
    return NULL;
}

static const struct orch_stored_result *find_result(const struct orch_run_numbers *numbers,
                                                    const char *name)
{
    for (guint i = 0; i < numbers->results->len; i++) {
        const struct orch_stored_result *result = numbers->results->pdata[i];
        if (strcmp(result->name, name) == 0)
            return result;
    }
    return NULL;
}

double orch_run_numbers_get(const struct orch_run_numbers *numbers, const char *name,
                            enum orch_aggregate aggregate, const char **out_better,
                            const char **out_unit)
{
    const struct orch_metric_summary *summary = find_summary(numbers, name);
    if (summary) {
        set_unit_and_better(name, summary->better, summary->unit, out_better, out_unit);
        return aggregate_of(summary, aggregate);
    }
    const struct orch_stored_result *result = find_result(numbers, name);
    if (result) {
        set_unit_and_better(name, result->better, result->unit, out_better, out_unit);
        return result->value;
    }
    if (strcmp(name, "wall_s") != 0)
        return NAN;
    set_unit_and_better(name, "min", "s", out_better, out_unit);
    return numbers->wall_s;
}

struct orch_direction orch_run_numbers_direction(const struct orch_run_numbers *numbers,
                                                 const char *name)
{
    const struct orch_metric_summary *summary = find_summary(numbers, name);
    const struct orch_stored_result *result = summary ? NULL : find_result(numbers, name);
    if (!summary && !result)
        return orch_direction_of(name, NULL,
                                 strcmp(name, "wall_s") == 0 ? ORCH_BETTER_MIN : ORCH_BETTER_NONE);
    return orch_direction_of(name, summary ? summary->unit : result->unit,
                             orch_better_parse(summary ? summary->better : result->better));
}

bool orch_run_numbers_has(const struct orch_run_numbers *numbers, const char *name)
{
    return find_summary(numbers, name) || find_result(numbers, name) || strcmp(name, "wall_s") == 0;
}

bool orch_run_number(struct orch_store *store, const struct orch_run *run, const char *name,
                     enum orch_aggregate aggregate, double *out, const char **out_better,
                     const char **out_unit, GError **error)
{
    struct orch_run_numbers *numbers = orch_run_numbers_read(store, run, error);
    *out = numbers ? orch_run_numbers_get(numbers, name, aggregate, out_better, out_unit)
                   : (double)NAN;
    bool ok = numbers != NULL;
    orch_run_numbers_free(numbers);
    return ok;
}

bool orch_run_is_simulated(struct orch_store *store, const struct orch_run *run)
{
    double simulated = (double)NAN;
    return orch_run_number(store, run, "simulated", ORCH_AGGREGATE_LAST, &simulated, NULL, NULL,
                           NULL) &&
           simulated > 0;
}

bool orch_run_is_disturbed(struct orch_store *store, const struct orch_run *run)
{
    return orch_facts_are_disturbed(run->facts) && !(store && orch_run_is_simulated(store, run));
}

/* Returns a result that distinguishes runs, as text. */
static char *result_text(struct orch_store *store, const struct orch_run *run, const char *name)
{
    double number;
    bool has = orch_run_number(store, run, name, ORCH_AGGREGATE_LAST, &number, NULL, NULL, NULL) &&
               !isnan(number);
    return has ? g_strdup_printf("%g", number) : NULL;
}

char *orch_run_field(struct orch_store *store, const struct orch_run *run, const char *name)
{
    const struct {
        const char *name, *value;
    } fields[] = {{"experiment", run->experiment},
                  {"plugin", run->plugin},
                  {"who", run->who},
                  {"state", run->state},
                  {"machine", run->machine_key},
                  {"device_key", run->device_key},
                  {"gpu", run->device_key},
                  {"commit", run->source_commit},
                  {"branch", run->source_branch},
                  {"tree", run->source_tree},
                  {"recipe", run->recipe}};
    for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++)
        if (strcmp(fields[i].name, name) == 0)
            return strcmp(name, "who") == 0 ? orch_who_name(run->who) : g_strdup(fields[i].value);
    if (strcmp(name, "repeat") == 0)
        return g_strdup_printf("%d", run->repeat);
    g_autoptr(json_t) params = orch_store_params(store, run->id, NULL);
    const json_t *value = params ? json_object_get(params, name) : NULL;
    if (!value && strcmp(name, "class_count") == 0)
        return result_text(store, run, name);
    if (!value && strcmp(name, ORCH_COMMAND_FIELD) == 0) {
        g_auto(GStrv) words = orch_run_setting_words(run);
        return words ? g_strjoinv(" ", words) : NULL;
    }
    return value ? orch_value_format_json(value) : NULL;
}

static void group_free(struct orch_group *group)
{
    if (!group)
        return;
    g_strfreev(group->values);
    g_free(group->label);
    g_ptr_array_unref(group->runs);
    g_array_unref(group->numbers);
    g_clear_pointer(&group->means, g_array_unref);
    g_free(group);
}

static char *label_of(const char *const *by, char **values)
{
    GString *label = g_string_new(NULL);
    for (int i = 0; by[i]; i++) {
        bool is_experiment = strcmp(by[i], "experiment") == 0;
        g_string_append_printf(label, "%s%s%s%s", label->len ? " " : "", is_experiment ? "" : by[i],
                               is_experiment ? "" : "=", values[i]);
    }
    return g_string_free(label, FALSE);
}

/* Takes ownership of `values` and `label`. */
static struct orch_group *group_new(char **values, char *label)
{
    struct orch_group *group = g_new0(struct orch_group, 1);
    group->values = values;
    group->label = label;
    group->runs = g_ptr_array_new();
    group->numbers = g_array_new(FALSE, FALSE, sizeof(double));
    return group;
}

struct making {
    struct orch_store *store;
    struct orch_grouping *grouping;
    GPtrArray *groups; /* struct orch_group *, by the grouping's index */
    char **by;
    const char *metric;
    enum orch_aggregate aggregate;
    const char *better, *unit;
};

static char **values_of(struct making *m, const struct orch_run *run)
{
    g_autoptr(GStrvBuilder) values = g_strv_builder_new();
    for (char **name = m->by; *name; name++) {
        g_autofree char *value = orch_run_field(m->store, run, *name);
        g_strv_builder_add(values, value ? value : "-");
    }
    return g_strv_builder_end(values);
}

/* `age_order` is greater for a newer run. */
static bool add_run(struct making *m, const struct orch_run *run, int64_t age_order, GError **error)
{
    double number = (double)NAN;
    g_autoptr(json_t) params = orch_run_open_params(m->store, run, error);
    if (!params || (m->metric && !orch_run_number(m->store, run, m->metric, m->aggregate, &number,
                                                  &m->better, &m->unit, error)))
        return false;
    g_autofree char *trial = orch_run_trial_text(run, params, true);
    char **values = values_of(m, run);
    char *label = label_of((const char *const *)m->by, values);
    const struct orch_grouping_run row = {.group = label,
                                          .trial = trial,
                                          .age_order = age_order,
                                          .seed = orch_run_seed(run, params),
                                          .values = &number};
    if (orch_grouping_add(m->grouping, &row) == m->groups->len) {
        g_ptr_array_add(m->groups, group_new(values, label));
    } else {
        g_strfreev(values);
        g_free(label);
    }
    return true;
}

/* Fills in the group's runs that count, their numbers and the spread. */
static void finish(const struct making *m, guint i, GPtrArray *runs)
{
    struct orch_group *group = m->groups->pdata[i];
    g_autoptr(GArray) counted = orch_grouping_counted(m->grouping, i);
    for (guint k = 0; k < counted->len; k++) {
        guint place = g_array_index(counted, guint, k);
        double number = orch_grouping_number(m->grouping, place, 0);
        g_ptr_array_add(group->runs, runs->pdata[place]);
        group->is_disturbed |= orch_run_is_disturbed(m->store, runs->pdata[place]);
        g_array_append_val(group->numbers, number);
    }
    group->means = orch_grouping_means(m->grouping, i, 0);
    g_autoptr(GArray) values = orch_seed_values(group->means);
    group->spread =
        orch_spread_of((const double *)(void *)values->data, values->len, m->metric, m->unit);
}

GPtrArray *orch_groups_make(struct orch_store *store, GPtrArray *runs, const char *const *by,
                            const char *metric, enum orch_aggregate aggregate, char ***out_by,
                            const char **out_better, const char **out_unit, GError **error)
{
    struct making m = {.store = store,
                       .grouping = orch_grouping_new(1),
                       .groups = g_ptr_array_new_with_free_func((GDestroyNotify)group_free),
                       .by = by ? g_strdupv((char **)(uintptr_t)by)
                                : orch_varying_names(store, runs, error),
                       .metric = metric,
                       .aggregate = aggregate};
    bool ok = m.by != NULL;
    for (guint i = 0; ok && i < runs->len; i++) /* newest first */
        ok = add_run(&m, runs->pdata[i], (int64_t)runs->len - i, error);
    for (guint i = 0; ok && i < m.groups->len; i++)
        finish(&m, i, runs);
    orch_grouping_free(m.grouping);
    if (ok && out_better && m.better)
        *out_better = m.better;
    if (ok && out_unit && m.unit)
        *out_unit = m.unit;
    if (ok && out_by)
        *out_by = g_steal_pointer(&m.by);
    g_strfreev(m.by);
    if (!ok)
        g_clear_pointer(&m.groups, g_ptr_array_unref);
    return m.groups;
}

static void add_name(GPtrArray *names, char *name)
{
    if (!g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
        g_ptr_array_add(names, name);
}

GPtrArray *orch_run_numbers_names(const struct orch_run_numbers *numbers)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < numbers->summaries->len; i++) {
        const struct orch_metric_summary *summary = numbers->summaries->pdata[i];
        if (!orch_metric_is_system(summary->name))
            add_name(names, summary->name);
    }
    for (guint i = 0; i < numbers->results->len; i++)
        add_name(names, ((struct orch_stored_result *)numbers->results->pdata[i])->name);
    return names;
}

double orch_summary_number(const struct orch_metric_summary *summary, enum orch_aggregate aggregate)
{
    return aggregate_of(summary, aggregate);
}

void orch_metric_not_found(struct orch_store *store, const char *which, const char *metric,
                           GError **error)
{
    g_autofree char *hint = orch_store_metric_hint(store, metric);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, hint, "no run %s has a metric or result '%s'",
                   which, metric);
}
