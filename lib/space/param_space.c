/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/space/param_space.h"

#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define DIGITS 6 /* significant digits of a real value */

const char *const ORCH_SAMPLER_NAMES[] = {"auto", "gp", "tpe", "sobol", "random", NULL};

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

/* ---- points -------------------------------------------------------------------------------------
 */

double orch_space_levels(const struct orch_space_param *param)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return param->choices->len;
    return param->kind == ORCH_SPACE_INTEGER ? param->high - param->low + 1 : 0;
}

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

/* The ends of a number's range along which coordinates run. A whole number has the half before and
 * the half after it. */
static void ends_of(const struct orch_space_param *param, double *out_low, double *out_high)
{
    double half = param->kind == ORCH_SPACE_INTEGER ? 0.5 : 0;
    *out_low = param->low - half;
    *out_high = param->high + half;
    if (param->is_log) {
        *out_low = log(*out_low);
        *out_high = log(*out_high);
    }
}

double orch_space_number(const struct orch_space_param *param, double unit)
{
    double low, high;
    ends_of(param, &low, &high);
    double value = low + unit * (high - low);
    return param->is_log ? exp(value) : value;
}

static double number_at(const struct orch_space_param *param, double unit)
{
    double value = orch_space_number(param, unit);
    if (param->kind == ORCH_SPACE_INTEGER)
        value = round(value);
    return CLAMP(value, param->low, param->high);
}

static double unit_of(const struct orch_space_param *param, double value)
{
    double low, high;
    ends_of(param, &low, &high);
    double unit = ((param->is_log ? log(value) : value) - low) / (high - low);
    return CLAMP(unit, 0, 1);
}

char *orch_space_text(const struct orch_space_param *param, double unit)
{
    if (param->kind == ORCH_SPACE_CHOICE)
        return g_strdup(param->choices->pdata[orch_space_choice(param, unit)]);
    double value = number_at(param, unit);
    if (param->kind == ORCH_SPACE_INTEGER)
        return g_strdup_printf("%.0f", value);
    char digits[G_ASCII_DTOSTR_BUF_SIZE], shortest[ORCH_REAL_CHARS];
    g_ascii_formatd(digits, sizeof digits, "%." G_STRINGIFY(DIGITS) "g", value);
    double rounded = CLAMP(g_ascii_strtod(digits, NULL), param->low, param->high);
    return g_strdup(orch_real_format(rounded, shortest));
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
        (param->kind == ORCH_SPACE_INTEGER && value != round(value)))
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
