/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* More would no longer be read as a sentence: then the lowest and the highest are named. */
enum { LISTED_MOST = 3 };

/* ---- numbers --------------------------------------------------------------------------------- */

/* "channel" of "channels" for 1; units of a letter or two and rates stay; "" for a share of time.
 */
static char *unit_for(double value, const char *unit)
{
    const size_t length = unit ? strlen(unit) : 0;
    const bool is_noun = length > 3 && unit[length - 1] == 's' &&
                         strspn(unit, "abcdefghijklmnopqrstuvwxyz") == length;
    if (orch_unit_is_time_share(unit))
        return g_strdup("");
    return value == 1 && is_noun ? g_strndup(unit, length - 1) : g_strdup(unit ? unit : "");
}

/* Appends " (95 % interval 0.2 to 0.3)". Only the first range of a sentence says what it is. */
static void append_bracket(GString *out, const char *what, const char *range)
{
    const char *sentence = out->str;
    for (const char *at = sentence; (at = strchr(at, '.')) != NULL; at++)
        sentence = g_ascii_isspace(at[1]) ? at + 2 : sentence;
    g_string_append_printf(out, " (%s%s)", strstr(sentence, what) ? "" : what, range);
}

void orch_answer_number_append(GString *out, double value, double low, double high,
                               const char *unit)
{
    bool has_interval = isfinite(low) && isfinite(high) && low < high;
    g_autofree char *text =
        has_interval ? orch_within_format(value, low, high) : orch_number_format(value);
    g_autofree char *interval = has_interval        ? orch_interval_format(low, high)
                                : isinf(high - low) ? g_strdup("unbounded")
                                                    : NULL;
    g_autofree char *of = unit_for(value, unit);
    g_string_append_printf(out, "%s%s%s", text, *of ? " " : "", of);
    if (interval)
        append_bracket(out, "95 % interval ", interval);
}

static void append_range(GString *out, const struct orch_spread *spread, const char *unit)
{
    char *texts[3];
    g_autofree char *of = unit_for(spread->centre, unit);
    orch_runs_format(spread->high - spread->low,
                     (const double[]){spread->centre, spread->low, spread->high}, texts, 3);
    g_autofree char *runs = g_strdup_printf("%zu repeats: ", spread->stat.count),
                    *range = g_strdup_printf("%s to %s", texts[1], texts[2]);
    g_string_append_printf(out, "%s%s%s%s", spread->form == ORCH_SPREAD_MEDIAN ? "median " : "",
                           texts[0], *of ? " " : "", of);
    append_bracket(out, runs, range);
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
}

void orch_answer_spread_append(GString *out, const struct orch_spread *spread, const char *unit)
{
    const bool is_range = spread->form == ORCH_SPREAD_RUNS || spread->form == ORCH_SPREAD_MEDIAN;
    if (is_range && spread->low < spread->high)
        append_range(out, spread, unit);
    else
        orch_answer_number_append(out, spread->centre, is_range ? (double)NAN : spread->low,
                                  is_range ? (double)NAN : spread->high, unit);
}

/* ---- values of settings ---------------------------------------------------------------------- */

/* A setting's value with its interval or range. */
struct entry {
    char *label;
    struct orch_spread spread;
};

static void entry_clear(gpointer pointer)
{
    g_free(((struct entry *)pointer)->label);
}

GArray *orch_answer_entries_new(void)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    g_array_set_clear_func(entries, entry_clear);
    return entries;
}

void orch_answer_entries_add(GArray *entries, const char *label, double value, double low,
                             double high)
{
    const struct orch_spread spread = {
        .form = ORCH_SPREAD_INTERVAL, .centre = value, .low = low, .high = high};
    orch_answer_entries_add_spread(entries, label, &spread);
}

void orch_answer_entries_add_spread(GArray *entries, const char *label,
                                    const struct orch_spread *spread)
{
    const struct entry entry = {g_strdup(label), *spread};
    if (isfinite(spread->centre))
        g_array_append_val(entries, entry);
    else
        g_free(entry.label);
}

static const struct entry *entry_at(const GArray *entries, guint i)
{
    return &g_array_index(entries, struct entry, i);
}

static void append_entry(GString *out, const struct entry *e, const char *unit)
{
    orch_answer_spread_append(out, &e->spread, unit);
    if (*e->label)
        g_string_append_printf(out, " for %s", e->label);
}

const char *orch_answer_joint(guint i, guint count, bool is_long)
{
    return i == 0 ? "" : i + 1 == count ? (is_long ? "; and " : " and ") : is_long ? "; " : ", ";
}

/* "6 classes" */
static void append_count(GString *out, guint count, const char *noun)
{
    g_string_append_printf(out, "%u %s%s", count, noun, g_str_has_suffix(noun, "s") ? "es" : "s");
}

void orch_answer_entries_append_of(GString *out, const GArray *entries, const char *name,
                                   const char *unit, const char *noun, guint most)
{
    if (!entries->len)
        return;
    guint lowest = 0, highest = 0;
    for (guint i = 1; i < entries->len; i++) {
        lowest = entry_at(entries, i)->spread.centre < entry_at(entries, lowest)->spread.centre
                     ? i
                     : lowest;
        highest = entry_at(entries, i)->spread.centre > entry_at(entries, highest)->spread.centre
                      ? i
                      : highest;
    }
    const struct entry *low = entry_at(entries, lowest), *high = entry_at(entries, highest);
    const bool is_long = strchr(low->label, ',') || strchr(high->label, ',');
    unit = orch_answer_names_unit(name, unit) ? NULL : unit;
    g_string_append_printf(out, "%s%s: ", out->len ? ". " : "", name);
    if (entries->len > 1 &&
        fabs(high->spread.centre - low->spread.centre) <= 1e-9 * fabs(high->spread.centre)) {
        orch_answer_number_append(out, low->spread.centre, (double)NAN, (double)NAN, unit);
        if (entries->len == 2)
            g_string_append_printf(out, " in both %s%s", noun,
                                   g_str_has_suffix(noun, "s") ? "es" : "s");
        else
            append_count(g_string_append(out, " in each of "), entries->len, noun);
    } else if (entries->len <= most) {
        for (guint i = 0; i < entries->len; i++) {
            g_string_append(out, orch_answer_joint(i, entries->len, is_long));
            append_entry(out, entry_at(entries, i), unit);
        }
    } else {
        append_count(g_string_append(out, "the lowest of "), entries->len, noun);
        append_entry(g_string_append(out, " is "), low, unit);
        append_entry(g_string_append(out, ". The highest is "), high, unit);
    }
}

void orch_answer_entries_append(GString *out, const GArray *entries, const char *name,
                                const char *unit)
{
    orch_answer_entries_append_of(out, entries, name, unit, "setting", LISTED_MOST);
}
