/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The item `time_to_accuracy`: the time (or epochs) that runs need to reach a target that some of
 * them may never reach. A run without the value is right-censored (core/stats/censored.h). A run
 * that says that it reached the target but has no time is left out with a note, as are disturbed
 * runs of a time, whether they reached the target or not: leaving out only those that reached it
 * would lower the share. */
#include "core/report/items.h"

#include "core/stats/censored.h"
#include "core/stats/numbers.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>

/* The result that says 1 or 0, unless the item names another under `reached`. */
#define REACHED "result reached_target"

struct tally {
    struct orch_section_context *a;
    const struct orch_section_grid *g;
    struct orch_item_value *reached;
    unsigned untimed; /* reached the target, but their time is unknown */
    bool is_censored; /* some run never reached the target */
};

/* Appends the run's time, or counts the run as censored. */
static bool add_run(struct tally *t, struct orch_report_trial *trial, guint value, GArray *times,
                    size_t *censored, GError **error)
{
    const struct orch_trials *trials = t->g->trials;
    const char *unit = t->g->grid->units[value];
    double time, reached;
    if (orch_unit_is_timing(unit, NULL) && orch_trial_is_left_out(trials, trial))
        return true;
    if (!orch_trial_number(trials, trial, t->g->wanted->pdata[value], &time, NULL, NULL, error) ||
        !orch_trial_number(trials, trial, t->reached, &reached, NULL, NULL, error))
        return false;
    if (time > 0 && isfinite(time))
        g_array_append_val(times, time);
    else if (reached > 0)
        t->untimed++;
    else
        (*censored)++;
    return true;
}

static bool summarise(struct tally *t, const struct orch_grid_cell *cell, guint value,
                      struct orch_censored *out, GError **error)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
    size_t censored = 0;
    for (guint i = 0; i < cell->trials->len; i++) {
        struct orch_report_trial *trial = cell->trials->pdata[i];
        if (trial->run && !add_run(t, trial, value, times, &censored, error))
            return false;
    }
    *out = orch_censored_of((const double *)(void *)times->data, times->len, censored);
    t->is_censored = t->is_censored || censored;
    return true;
}

/* ---- table ----------------------------------------------------------------------------------- */

static char *percent(double share)
{
    if (isnan(share))
        return g_strdup("-");
    if (!(share < 10)) /* two runs: the upper end may be anything */
        return g_strdup("over 1000 %");
    return g_strdup_printf("%.*f %%", share < 0.1 ? 1 : 0, 100 * share);
}

static void add_percent(struct orch_table *table, double share)
{
    g_autofree char *text = percent(share);
    orch_table_add(table, text, isfinite(share) ? orch_json_finite(share) : json_null());
}

static void add_range(struct orch_table *table, const struct orch_censored *c)
{
    json_t *ends = c->reached ? json_pack("[f, f]", c->low, c->high) : json_null();
    g_autofree char *low = orch_number_format(c->low), *high = orch_number_format(c->high);
    g_autofree char *text = c->reached ? g_strdup_printf("%s..%s", low, high) : g_strdup("-");
    orch_table_add(table, text, ends);
}

static void add_row(struct orch_table *table, const struct tally *t,
                    const struct orch_grid_cell *cell, guint value, const struct orch_censored *c)
{
    const struct orch_item_value *wanted = t->g->wanted->pdata[value];
    const char *unit = t->g->grid->units[value];
    g_autofree char *name =
        unit ? g_strdup_printf("%s (%s)", wanted->name, unit) : g_strdup(wanted->name);
    g_autofree char *share = g_strdup_printf("%zu of %zu", c->reached, c->runs);
    g_autofree char *low = percent(c->cv_low), *high = percent(c->cv_high);
    g_autofree char *interval =
        isnan(c->cv_low) ? g_strdup("-") : g_strdup_printf("%s to %s", low, high);
    orch_table_add(table, t->g->rows->len ? cell->row : "all", NULL);
    if (t->g->wanted->len > 1)
        orch_table_add(table, name, NULL);
    orch_table_add_int(table, (int64_t)c->runs);
    orch_table_add(table, share,
                   orch_json_finite(c->runs ? (double)c->reached / (double)c->runs : (double)NAN));
    if (c->reached && isnan(c->median))
        orch_table_add(table, "half or fewer reached it", json_null());
    else
        orch_table_add_real(table, c->median);
    add_range(table, c);
    add_percent(table, c->cv);
    orch_table_add(table, interval,
                   isfinite(c->cv_high) ? json_pack("[f, f]", c->cv_low, c->cv_high) : json_null());
}

static struct orch_table *make_table(const struct tally *t)
{
    g_autofree char *axes = t->g->rows->len ? orch_names_joined(t->g->rows) : g_strdup("runs of");
    const struct orch_item_value *first = t->g->wanted->pdata[0];
    bool is_many = t->g->wanted->len > 1;
    const char *unit = t->g->grid->units[0];
    g_autofree char *median =
        is_many ? g_strdup(">median")
                : g_strdup_printf(">median %s%s%s%s", first->name, unit ? " (" : "",
                                  unit ? unit : "", unit ? ")" : "");
    const char *headers[10] = {axes};
    static const char *const names[] = {"value", "runs", "reached",    "median",
                                        "range", "cv",   "cv_interval"};
    const char *rest[] = {"value",
                          ">runs",
                          ">reached it",
                          median,
                          ">lowest..highest",
                          ">coefficient of variation",
                          ">95 % interval"};
    guint skipped = is_many ? 0 : 1, count = 1;
    for (guint i = skipped; i < G_N_ELEMENTS(rest); i++)
        headers[count++] = rest[i];
    struct orch_table *table = orch_table_new(headers);
    for (guint i = skipped; i < G_N_ELEMENTS(names); i++)
        orch_table_set_name(table, 1 + i - skipped, names[i]);
    return table;
}

static bool add_table(struct tally *t, GError **error)
{
    struct orch_table *table = make_table(t);
    for (guint i = 0; i < t->g->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = t->g->grid->cells->pdata[i];
        bool has_runs =
            cell->seeds->len; /* without any, the trials are reported as missing below */
        for (guint value = 0; has_runs && value < t->g->wanted->len; value++) {
            struct orch_censored c;
            if (!summarise(t, cell, value, &c, error)) {
                orch_table_free(table);
                return false;
            }
            add_row(table, t, cell, value, &c);
        }
    }
    orch_section_table(t->a->section, table);
    return true;
}

static void add_notes(const struct tally *t)
{
    struct orch_section *section = t->a->section;
    orch_section_note(
        section, "median over all runs; lowest, highest and coefficient of variation (standard "
                 "deviation with n - 1, over the mean) of the runs that reached the target; "
                 "the interval is exact for log-normal times (Koopmans, Owen and Rosenblatt "
                 "1964). Nothing is interpolated between validations");
    if (t->is_censored)
        orch_section_note(section,
                          "a run that never reached the target counts as longer than all others, "
                          "so a median needs more than half of the runs to reach it; the "
                          "coefficient of variation holds for runs that reach it");
    if (t->untimed)
        orch_section_note(section,
                          "%u run%s reached the target but recorded no time, and %s left out",
                          t->untimed, orch_plural(t->untimed), t->untimed == 1 ? "is" : "are");
}

static bool fill(struct orch_section_context *a, GError **error)
{
    struct orch_section_grid *g = orch_section_grid(a, "by", NULL, error);
    if (!g)
        return false;
    json_t *named = json_object_get(a->item->spec, "reached");
    g_autoptr(json_t) reached = named ? json_incref(named) : json_string(REACHED);
    g_autoptr(GPtrArray) values = orch_item_values_parse(reached);
    struct tally t = {.a = a, .g = g, .reached = values->pdata[0]};
    bool ok = !a->section->done || add_table(&t, error);
    if (ok && a->section->done)
        add_notes(&t);
    if (ok)
        orch_section_add_missing_trials(a, g->trials);
    orch_section_grid_free(g);
    return ok;
}

static const struct orch_report_key KEYS[] = {
    {.name = "value", .shape = ORCH_SHAPE_VALUES, .is_required = true},
    {.name = "reached", .shape = ORCH_SHAPE_VALUE},
    {.name = "by", .shape = ORCH_SHAPE_AXES},
    {.name = "experiments", .shape = ORCH_SHAPE_EXPERIMENTS},
    {.name = "where", .shape = ORCH_SHAPE_WHERE},
    {0}};

const struct orch_report_kind ORCH_REPORT_TIME_TO_ACCURACY = {
    .name = "time_to_accuracy",
    .keys = KEYS,
    .fill = fill,
};
