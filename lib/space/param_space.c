/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/space/param_space.h"

#include "lib/base/text.h"
#include "lib/space/space_reading.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Significant digits of a real value, where its range is as wide as its numbers are large. */
#define DIGITS 6
#define DIGITS_MAX 17    /* each double differs from all others by then */
#define DECIMALS_MAX 340 /* of the smallest double with DIGITS_MAX digits */
#define LEVEL_ERROR 1e-9 /* rounding of the number of steps in a range */

const char *const ORCH_SAMPLER_NAMES[] = {"auto", "gp",    "tpe",    "cmaes", "nsga2",
                                          "grid", "sobol", "random", NULL};

static void param_free(void *pointer)
{
    struct orch_space_param *param = pointer;
    g_free(param->name);
    g_free(param->otherwise);
    if (param->choices)
        g_ptr_array_unref(param->choices);
    g_free(param);
}

struct orch_space *orch_space_new(void)
{
    struct orch_space *space = g_new0(struct orch_space, 1);
    space->params = g_ptr_array_new_with_free_func(param_free);
    return space;
}

void orch_space_free(struct orch_space *space)
{
    if (!space)
        return;
    g_ptr_array_unref(space->params);
    g_free(space);
}

const struct orch_space_param *orch_space_param(const struct orch_space *space, unsigned index)
{
    return space->params->pdata[index];
}

int orch_space_find(const struct orch_space *space, const char *name)
{
    for (guint i = 0; i < space->params->len; i++)
        if (strcmp(orch_space_param(space, i)->name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- values with a step -------------------------------------------------------------------------
 */

/* Digits behind the point of the shortest text of a number. */
static int decimals_of(double value)
{
    char text[ORCH_REAL_CHARS];
    orch_real_format(value, text);
    const char *point = strchr(text, '.'), *exponent = strchr(text, 'e');
    int decimals = point ? (int)strspn(point + 1, "0123456789") : 0;
    if (exponent)
        decimals -= (int)g_ascii_strtoll(exponent + 1, NULL, 10);
    return CLAMP(decimals, 0, DECIMALS_MAX);
}

/* Value `k` of a parameter with a step, with no more decimals than the numbers that it is made of:
 * 3 * 0.1 is 0.3, and -0.3 + 3 * 0.1 is 0, without a sign. */
static double level_value(const struct orch_space_param *param, double k)
{
    double value = param->low + k * param->step;
    int decimals = MAX(decimals_of(param->low), decimals_of(param->step));
    char format[16], digits[G_ASCII_DTOSTR_BUF_SIZE + DECIMALS_MAX + DECIMALS_MAX];
    g_snprintf(format, sizeof format, "%%.%df", decimals);
    return g_ascii_strtod(g_ascii_formatd(digits, sizeof digits, format, value), NULL) + 0.0;
}

void orch_space_set_step(struct orch_space_param *param, double step)
{
    double steps = (param->high - param->low) / step;
    param->step = step;
    param->high = level_value(param, floor(steps + fmax(LEVEL_ERROR, steps * DBL_EPSILON)));
}

double orch_space_levels(const struct orch_space_param *param)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return param->choices->len;
    if (param->step > 0)
        return round((param->high - param->low) / param->step) + 1;
    return param->high > param->low ? 0 : 1;
}

/* ---- points -------------------------------------------------------------------------------------
 */

unsigned orch_space_choice(const struct orch_space_param *param, double unit)
{
    return (unsigned)CLAMP(floor(unit * param->choices->len), 0.0, param->choices->len - 1.0);
}

bool orch_space_exists(const struct orch_space *space, unsigned index, const double *point)
{
    const struct orch_space_param *param = orch_space_param(space, index);
    if (param->parent < 0)
        return true;
    double unit = point[param->parent];
    if (isnan(unit))
        return false;
    unsigned choice = orch_space_choice(orch_space_param(space, (unsigned)param->parent), unit);
    return param->when >> choice & 1;
}

bool orch_space_is_same(const struct orch_space *space, const double *a, const double *b,
                        double within)
{
    for (unsigned i = 0; i < space->params->len; i++)
        if (!(fabs(a[i] - b[i]) < within) && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

/* The ends of a number's range along which coordinates run. A value of a step has the half before
 * and the half after it. */
static void ends_of(const struct orch_space_param *param, double *out_low, double *out_high)
{
    *out_low = param->low - param->step / 2;
    *out_high = param->high + param->step / 2;
}

/* The logarithm of value / low, also where they differ in their last digits only. */
static double log_of_ratio(double low, double value)
{
    double more = (value - low) / low;
    return more < 1 ? log1p(more) : log(value) - log(low);
}

double orch_space_number(const struct orch_space_param *param, double unit)
{
    double low, high;
    ends_of(param, &low, &high);
    if (param->is_log) {
        double along = unit * log_of_ratio(low, high);
        return along < 1 ? low + low * expm1(along) : exp(log(low) + along);
    }
    double width = high - low;
    return isfinite(width) ? low + unit * width : low * (1 - unit) + high * unit;
}

static double number_at(const struct orch_space_param *param, double unit)
{
    double value = orch_space_number(param, unit);
    if (param->step > 0)
        value = level_value(param, round((value - param->low) / param->step));
    return CLAMP(value, param->low, param->high);
}

static double unit_of(const struct orch_space_param *param, double value)
{
    double low, high;
    ends_of(param, &low, &high);
    if (!(high > low))
        return 0.5;
    double width = high - low;
    double unit = param->is_log     ? log_of_ratio(low, value) / log_of_ratio(low, high)
                  : isfinite(width) ? (value - low) / width
                                    : (value / 2 - low / 2) / (high / 2 - low / 2);
    return CLAMP(unit, 0, 1);
}

double orch_space_level_unit(const struct orch_space_param *param, double k)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return (k + 0.5) / param->choices->len;
    return unit_of(param, param->step > 0 ? level_value(param, k) : param->low);
}

/* A range that is narrow against its numbers needs more digits to have as many values. */
static int digits_of(const struct orch_space_param *param)
{
    double width = param->high - param->low, most = fmax(fabs(param->low), fabs(param->high));
    if (!(width > 0))
        return DIGITS_MAX;
    return DIGITS + (int)CLAMP(floor(log10(most / width)), 0.0, DIGITS_MAX - DIGITS);
}

char *orch_space_text(const struct orch_space_param *param, double unit)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return g_strdup(param->choices->pdata[orch_space_choice(param, unit)]);
    double value = number_at(param, unit);
    if (param->kind == ORCH_SPACE_INTEGER)
        return g_strdup_printf("%.0f", value);
    char format[16], text[G_ASCII_DTOSTR_BUF_SIZE];
    if (!(param->step > 0)) {
        g_snprintf(format, sizeof format, "%%.%dg", digits_of(param));
        double rounded = g_ascii_strtod(g_ascii_formatd(text, sizeof text, format, value), NULL);
        value = CLAMP(rounded, param->low, param->high);
    }
    return g_strdup(orch_real_format(value, text));
}

bool orch_space_unit(const struct orch_space_param *param, const char *text, double *out)
{
    double value;
    guint k;
    if (param->kind == ORCH_SPACE_CHOICE) {
        if (!g_ptr_array_find_with_equal_func(param->choices, text, g_str_equal, &k))
            return false;
        *out = (k + 0.5) / param->choices->len;
        return true;
    }
    if (!orch_real_parse(text, &value) || !(value >= param->low && value <= param->high) ||
        (param->step > 0 && value != level_value(param, round((value - param->low) / param->step))))
        return false;
    *out = unit_of(param, value);
    return true;
}

void orch_space_snap(const struct orch_space *space, double *point)
{
    for (unsigned i = 0; i < space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(space, i);
        if (!orch_space_exists(space, i, point)) {
            point[i] = NAN;
            continue;
        }
        g_autofree char *text = orch_space_text(param, isnan(point[i]) ? 0.5 : point[i]);
        orch_space_unit(param, text, &point[i]);
    }
}
