/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/cost/ledger.h"

#include "lib/base/ident.h"

#include <math.h>
#include <string.h>

/* ---- days --------------------------------------------------------------------------------------
 */

static char *utc(int64_t ns, const char *format)
{
    int64_t s = ns / 1000000000 - (ns % 1000000000 < 0);
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(s);
    return at ? g_date_time_format(at, format) : g_strdup("-");
}

char *orch_utc_week(int64_t ns)
{
    return utc(ns, "%G-W%V");
}

char *orch_utc_month(int64_t ns)
{
    return utc(ns, "%Y-%m");
}

char *orch_utc_day(int64_t ns)
{
    return utc(ns, "%Y-%m-%d");
}

/* ---- sums --------------------------------------------------------------------------------------
 */

void orch_ledger_sum_add(struct orch_ledger_sum *sum, const struct orch_ledger_run *run)
{
    double device_s = run->wall_s * run->devices;
    double usd = device_s / 3600 * run->usd_per_hour;
    sum->runs++;
    sum->wall_s += run->wall_s;
    sum->device_s += device_s;
    sum->lost_runs += run->is_lost;
    sum->lost_device_s += run->is_lost ? device_s : 0;
    if (isnan(usd)) {
        sum->unpriced_runs++;
        sum->lost_unpriced_runs += run->is_lost;
        sum->unpriced_device_s += device_s;
        return;
    }
    sum->usd += usd;
    sum->lost_usd += run->is_lost ? usd : 0;
}

struct orch_ledger {
    enum orch_ledger_axis axes[ORCH_LEDGER_AXES];
    size_t count;
    GHashTable *rows;  /* labels joined -> struct orch_ledger_row * */
    GPtrArray *people; /* char *: the first name seen of each person */
    GHashTable *known; /* a run's author name -> the person's first name, borrowed */
    struct orch_ledger_sum total;
};

const char *orch_ledger_axis_name(enum orch_ledger_axis axis)
{
    static const char *const names[] = {
        [ORCH_LEDGER_WHO] = "who",
        [ORCH_LEDGER_RECIPE] = "recipe",
        [ORCH_LEDGER_EXPERIMENT] = "experiment",
        [ORCH_LEDGER_GPU] = "gpu",
        [ORCH_LEDGER_MACHINE] = "machine",
        [ORCH_LEDGER_WEEK] = "week",
        [ORCH_LEDGER_MONTH] = "month",
    };
    return names[axis];
}

static void free_row(gpointer pointer)
{
    struct orch_ledger_row *row = pointer;
    g_strfreev(row->labels);
    g_free(row);
}

struct orch_ledger *orch_ledger_new(const enum orch_ledger_axis *axes, size_t count)
{
    struct orch_ledger *ledger = g_new0(struct orch_ledger, 1);
    ledger->count = MIN(count, (size_t)ORCH_LEDGER_AXES);
    memcpy(ledger->axes, axes, ledger->count * sizeof *axes);
    ledger->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_row);
    ledger->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    ledger->people = g_ptr_array_new_with_free_func(g_free);
    return ledger;
}

void orch_ledger_free(struct orch_ledger *ledger)
{
    if (!ledger)
        return;
    g_hash_table_unref(ledger->rows);
    g_hash_table_unref(ledger->known);
    g_ptr_array_unref(ledger->people);
    g_free(ledger);
}

/* The same text for all names of one person. */
static const char *person(struct orch_ledger *ledger, const char *who)
{
    char *one = who && *who ? g_hash_table_lookup(ledger->known, who) : NULL;
    if (!who || !*who || one)
        return one ? one : "-";
    for (guint i = 0; !one && i < ledger->people->len; i++)
        if (orch_who_is_same(ledger->people->pdata[i], who))
            one = ledger->people->pdata[i];
    if (!one)
        g_ptr_array_add(ledger->people, one = g_strdup(who));
    g_hash_table_insert(ledger->known, g_strdup(who), one);
    return one;
}

static char *label(struct orch_ledger *ledger, enum orch_ledger_axis axis,
                   const struct orch_ledger_run *run)
{
    const char *texts[] = {
        [ORCH_LEDGER_WHO] = NULL,
        [ORCH_LEDGER_RECIPE] = run->recipe,
        [ORCH_LEDGER_EXPERIMENT] = run->experiment,
        [ORCH_LEDGER_GPU] = run->device,
        [ORCH_LEDGER_MACHINE] = run->machine,
    };
    if (axis == ORCH_LEDGER_WHO)
        return g_strdup(person(ledger, run->who));
    if (axis == ORCH_LEDGER_WEEK)
        return orch_utc_week(run->ended_ns);
    if (axis == ORCH_LEDGER_MONTH)
        return orch_utc_month(run->ended_ns);
    return g_strdup(texts[axis] && *texts[axis] ? texts[axis] : "-");
}

void orch_ledger_add(struct orch_ledger *ledger, const struct orch_ledger_run *run)
{
    g_auto(GStrv) labels = g_new0(char *, ledger->count + 1);
    for (size_t i = 0; i < ledger->count; i++)
        labels[i] = label(ledger, ledger->axes[i], run);
    g_autofree char *key = g_strjoinv("\x1f", labels);
    struct orch_ledger_row *row = g_hash_table_lookup(ledger->rows, key);
    if (!row) {
        row = g_new0(struct orch_ledger_row, 1);
        row->labels = g_steal_pointer(&labels);
        g_hash_table_insert(ledger->rows, g_steal_pointer(&key), row);
    }
    orch_ledger_sum_add(&row->sum, run);
    orch_ledger_sum_add(&ledger->total, run);
}

static int compare_rows(const void *a, const void *b)
{
    const struct orch_ledger_row *x = *(const struct orch_ledger_row *const *)a;
    const struct orch_ledger_row *y = *(const struct orch_ledger_row *const *)b;
    int order = 0;
    for (size_t i = 0; !order && x->labels[i]; i++)
        order = strcmp(x->labels[i], y->labels[i]);
    return order;
}

GPtrArray *orch_ledger_rows(const struct orch_ledger *ledger)
{
    GPtrArray *rows = g_ptr_array_new();
    GHashTableIter iter;
    void *row;
    g_hash_table_iter_init(&iter, ledger->rows);
    while (g_hash_table_iter_next(&iter, NULL, &row))
        g_ptr_array_add(rows, row);
    g_ptr_array_sort(rows, compare_rows);
    return rows;
}

const struct orch_ledger_sum *orch_ledger_total(const struct orch_ledger *ledger)
{
    return &ledger->total;
}
