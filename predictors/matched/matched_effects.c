/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of predictors/matched_rows: what the values of each column add, and their sums. */
#include "predictors/matched/matched_private.h"

#include <math.h>
#include <string.h>

#define BATCH_REACH 1.5 /* logarithms over which two batches resemble each other */
#define REACH 2.0       /* the same for other numbers */
#define SAME 1e-9       /* numbers this near are one */

/* ---- values ------------------------------------------------------------------------------------
 */

bool orch_matched_is_word(const struct orch_matched_column *column)
{
    return column->kind >= ORCH_MATCHED_WORD;
}

bool orch_matched_is_batch(const struct orch_matched_column *column)
{
    return column->kind == ORCH_MATCHED_BATCH || column->kind == ORCH_MATCHED_BATCH_TOTAL;
}

static double reach_of(const struct orch_matched_column *column)
{
    return orch_matched_is_batch(column) ? BATCH_REACH : REACH;
}

double orch_matched_likeness(const struct orch_matched_column *column, const struct orch_value *a,
                             const struct orch_value *b)
{
    if (orch_matched_is_word(column))
        return a->word && b->word && strcmp(a->word, b->word) == 0;
    return isnan(a->number) || isnan(b->number)
               ? 0
               : exp(-fabs(a->number - b->number) / reach_of(column));
}

/* ---- effects -----------------------------------------------------------------------------------
 */

static void clear_effect(void *effect)
{
    g_free(((struct orch_effect *)effect)->word);
}

struct orch_effects *orch_effects_new(size_t columns)
{
    struct orch_effects *e = g_new0(struct orch_effects, 1);
    e->smallest = g_new(double, columns + 1);
    e->columns = g_new0(GArray *, columns + 1);
    for (size_t c = 0; c < columns; c++) {
        e->smallest[c] = (double)NAN;
        e->columns[c] = g_array_new(FALSE, TRUE, sizeof(struct orch_effect));
        g_array_set_clear_func(e->columns[c], clear_effect);
    }
    return e;
}

void orch_effects_free(void *data)
{
    struct orch_effects *e = data;
    if (!e)
        return;
    for (size_t c = 0; e->columns[c]; c++)
        g_array_unref(e->columns[c]);
    g_free(e->columns);
    g_free(e->smallest);
    g_free(e);
}

static struct orch_effect *effect_at(const GArray *effects, guint k)
{
    return &g_array_index(effects, struct orch_effect, k);
}

void orch_effects_add(GArray *effects, const struct orch_value *value, double weight)
{
    if (!value->word && isnan(value->number))
        return;
    for (guint k = 0; k < effects->len; k++) {
        struct orch_effect *known = effect_at(effects, k);
        if (value->word ? strcmp(known->word, value->word) == 0
                        : !(fabs(known->number - value->number) > SAME)) {
            known->weight += weight;
            return;
        }
    }
    struct orch_effect added = {
        .word = g_strdup(value->word), .number = value->number, .weight = weight};
    g_array_append_val(effects, added);
}

/* ---- sums --------------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
    const struct orch_effect *x = a, *y = b;
    return x->word ? strcmp(x->word, y->word) : (x->number > y->number) - (x->number < y->number);
}

void orch_effects_ready(GArray *effects, const struct orch_matched_column *column)
{
    g_array_sort(effects, compare);
    if (orch_matched_is_word(column))
        return;
    for (guint k = 0; k < effects->len; k++) {
        struct orch_effect *here = effect_at(effects, k);
        const struct orch_effect *before = k ? here - 1 : NULL;
        here->up_to = here->weight;
        if (before)
            here->up_to += before->up_to * exp((before->number - here->number) / reach_of(column));
    }
    for (guint k = effects->len; k-- > 0;) {
        struct orch_effect *here = effect_at(effects, k);
        const struct orch_effect *after = k + 1 < effects->len ? here + 1 : NULL;
        here->from = here->weight;
        if (after)
            here->from += after->from * exp((here->number - after->number) / reach_of(column));
    }
}

/* Index of the first effect that is not below the value. */
static guint first_not_below(const GArray *effects, const struct orch_value *value)
{
    guint low = 0, high = effects->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const struct orch_effect *e = effect_at(effects, middle);
        if (value->word ? strcmp(e->word, value->word) < 0 : e->number < value->number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double orch_effects_sum(const GArray *effects, const struct orch_matched_column *column,
                        const struct orch_value *value)
{
    if (!value->word && isnan(value->number))
        return 0;
    guint k = first_not_below(effects, value);
    const struct orch_effect *after = k < effects->len ? effect_at(effects, k) : NULL;
    const struct orch_effect *before = k ? effect_at(effects, k - 1) : NULL;
    if (value->word)
        return after && strcmp(after->word, value->word) == 0 ? after->weight : 0;
    double reach = reach_of(column);
    return (before ? before->up_to * exp((before->number - value->number) / reach) : 0) +
           (after ? after->from * exp((value->number - after->number) / reach) : 0);
}
