/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/axis.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- numbers beside an axis --------------------------------------------------------------------
 */

static const struct suffix_row {
    double from, unit;
    const char *suffix;
} SUFFIXES[] = {{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}};

/* Formats like "%g", but without the leading zeros of an exponent such as "1e-05". */
static char *plain_format(double value, int digits)
{
    g_autofree char *text = g_strdup_printf("%.*g", digits, value);
    char *e = strchr(text, 'e');
    if (!e)
        return g_steal_pointer(&text);
    *e = '\0';
    return g_strdup_printf("%se%d", text, (int)g_ascii_strtoll(e + 1, NULL, 10));
}

/* Formats with as many decimals as ticks of that step need; step 0: as many as the value has. */
static char *format_by_step(double value, double step, double largest)
{
    for (size_t i = 0; i < G_N_ELEMENTS(SUFFIXES); i++) {
        if (largest < SUFFIXES[i].from || value == 0)
            continue;
        g_autofree char *number = plain_format(value / SUFFIXES[i].unit, 4);
        return g_strconcat(number, SUFFIXES[i].suffix, NULL);
    }
    if (step <= 0 || largest < 1e-3)
        return plain_format(value, largest < 1e4 ? 4 : 5); /* 16384, not 1.638e4 */
    int decimals = (int)fmax(0, -floor(log10(step) + 1e-9));
    return decimals > 7 ? plain_format(value, 9) : g_strdup_printf("%.*f", decimals, value);
}

char *orch_tick_format(double value)
{
    return format_by_step(value, 0, fabs(value));
}

/* ---- ticks -------------------------------------------------------------------------------------
 */

static void clear_tick(gpointer pointer)
{
    g_free(((struct orch_tick *)pointer)->label);
}

static void begin(struct orch_axis *axis, double low, double high, bool is_log)
{
    *axis = (struct orch_axis){.low = low, .high = high, .is_log = is_log};
    axis->ticks = g_array_new(FALSE, FALSE, sizeof(struct orch_tick));
    g_array_set_clear_func(axis->ticks, clear_tick);
}

/* Takes ownership of `label`. */
static void add_tick(struct orch_axis *axis, double at, char *label)
{
    struct orch_tick tick = {at, label};
    g_array_append_val(axis->ticks, tick);
}

void orch_axis_clear(struct orch_axis *axis)
{
    g_clear_pointer(&axis->ticks, g_array_unref);
}

double orch_round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double share = step / power;
    return power * (share <= 1 + 1e-9 ? 1 : share <= 2 + 1e-9 ? 2 : share <= 5 + 1e-9 ? 5 : 10);
}

static void linear_ticks(struct orch_axis *axis, int most)
{
    double step = orch_round_step((axis->high - axis->low) / MAX(most, 1));
    double largest = fmax(fabs(axis->low), fabs(axis->high));
    double first = ceil(axis->low / step - 1e-9);
    for (int i = 0; i <= 2 * MAX(most, 1) + 2; i++) {
        double at = (first + i) * step;
        if (at > axis->high + step * 1e-9)
            break;
        at = fabs(at) < step * 1e-9 ? 0 : at;
        add_tick(axis, at, format_by_step(at, step, largest));
    }
}

static void decade_ticks(struct orch_axis *axis, int every, const double *parts, size_t count)
{
    int first = (int)floor(log10(axis->low) + 1e-9), last = (int)ceil(log10(axis->high) - 1e-9);
    for (int power = first; power <= last; power += every) {
        for (size_t i = 0; i < count; i++) {
            double at = parts[i] * pow(10, power);
            if (at >= axis->low * (1 - 1e-9) && at <= axis->high * (1 + 1e-9))
                add_tick(axis, at, orch_tick_format(at));
        }
    }
}

static void log_ticks(struct orch_axis *axis, int most)
{
    static const double parts[] = {1, 2, 5};
    double decades = log10(axis->high / axis->low);
    if (decades * 3 <= most + 1)
        decade_ticks(axis, 1, parts, 3);
    else
        decade_ticks(axis, (int)fmax(1, ceil(decades / MAX(most, 1))), parts, 1);
    if (axis->ticks->len < 3) { /* the axis spans less than a decade */
        g_array_set_size(axis->ticks, 0);
        linear_ticks(axis, most);
    }
}

void orch_axis_numbers(struct orch_axis *axis, double low, double high, bool is_log, int most)
{
    if (is_log && !(low < high)) {
        low /= 2;
        high *= 2;
    } else if (!(low < high)) {
        double by = low == 0 ? 1 : fabs(low) * 0.1;
        low -= by;
        high += by;
    }
    begin(axis, low, high, is_log);
    if (is_log)
        log_ticks(axis, most);
    else
        linear_ticks(axis, most);
}

void orch_axis_ticks_at(struct orch_axis *axis, const double *values, size_t count)
{
    g_array_set_size(axis->ticks, 0);
    for (size_t i = 0; i < count; i++)
        add_tick(axis, values[i], orch_tick_format(values[i]));
}

void orch_axis_names(struct orch_axis *axis, const GPtrArray *names)
{
    begin(axis, -0.5, MAX(names->len, 1) - 0.5, false);
    for (guint i = 0; i < names->len; i++)
        add_tick(axis, i, g_strdup(names->pdata[i]));
}

double orch_axis_at(const struct orch_axis *axis, double value)
{
    if (!isfinite(value) || (axis->is_log && value <= 0))
        return (double)NAN;
    if (axis->is_log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}
