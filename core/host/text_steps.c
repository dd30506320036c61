/* SPDX-License-Identifier: MIT */
#include "core/host/text_steps.h"

#include <math.h>
#include <string.h>

enum { STEPS_KEPT_MAX = 1 << 20 };
static const double STEP_MAX = 9e15; /* above, a double does not represent every integer */

struct text_position orch_text_position_start(void)
{
    struct text_position position = {.epoch = NAN, .step = NAN};
    for (int i = 0; i < TEXT_COUNTERS; i++)
        position.counters[i] = (struct text_counter){NAN, NAN, NAN, 0};
    return position;
}

static bool is_step(double value)
{
    return value >= 0 && value < STEP_MAX && floor(value) == value;
}

/* Converts a step count that restarts in each epoch to one that continues; a continuous count is
 * kept. If the first epoch printed is a later one, as after a resume, the preceding epochs are
 * added, unless the count includes them. */
static void move_step(struct text_position *p, struct text_counter *c, double inner, double total,
                      double epochs)
{
    bool is_first = isnan(c->inner);
    double before = is_first ? p->epoch - 1 : p->epoch - c->inner_epoch;
    if (is_first && before > 0 && total > 0) {
        bool is_through = epochs > 0 && inner * epochs > before * total;
        c->offset = is_through ? 0 : before * total;
    } else if (!is_first && inner <= c->inner && before > 0) {
        c->offset += c->total > 0 ? c->total * before : c->inner;
    }
    c->inner = inner;
    c->total = total;
    c->inner_epoch = p->epoch;
    p->step = c->offset + inner;
    if (!is_step(p->step))
        p->step = inner;
}

/* The counter of a line's steps, by the data that the line is of. */
static struct text_counter *counter_of(struct text_position *p, const char *label)
{
    static const char *const labels[TEXT_COUNTERS] = {"train", "val", "test", "eval"};
    for (int i = 1; label && i < TEXT_COUNTERS; i++)
        if (strcmp(label, labels[i]) == 0)
            return &p->counters[i];
    return &p->counters[0];
}

struct line_steps orch_text_steps_take(struct text_position *p,
                                       const struct orch_printed_line *printed, guint first,
                                       guint end, orch_text_is_metric_fn is_metric, void *ctx)
{
    struct line_steps line_step = {.fraction = NAN};
    double inner = NAN, total = NAN, epochs = NAN;
    for (guint i = first; i < end; i++) {
        const struct orch_printed_value *value =
            &g_array_index(printed->values, struct orch_printed_value, i);
        bool counts = value->kind == ORCH_PRINTED_EPOCH || value->kind == ORCH_PRINTED_STEP;
        if (!counts || is_metric(ctx, value->name)) /* a declared name always is a metric */
            continue;
        bool has_any = line_step.has_epoch || line_step.is_fraction || line_step.has_step;
        bool has_it = value->kind == ORCH_PRINTED_STEP
                          ? line_step.has_step
                          : line_step.has_epoch || line_step.is_fraction;
        if (has_it || (has_any && value->is_late)) /* "..., best 0.4 at epoch 3" */
            continue;
        if (value->kind == ORCH_PRINTED_EPOCH && is_step(value->value)) {
            p->epoch = value->value;
            epochs = value->total;
            line_step.has_epoch = true;
        } else if (value->kind == ORCH_PRINTED_EPOCH) {
            line_step.is_fraction = value->value > 0;
            line_step.fraction = value->value;
        } else if (is_step(value->value)) {
            inner = value->value;
            total = value->total;
            line_step.has_step = true;
        }
    }
    if (line_step.has_step)
        move_step(p, counter_of(p, printed->label), inner, total, epochs);
    return line_step;
}

bool orch_text_steps_add(GArray **inout_steps, int64_t step)
{
    if (!*inout_steps)
        *inout_steps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    GArray *steps = *inout_steps;
    guint low = 0, high = steps->len;
    if (high && step > g_array_index(steps, int64_t, high - 1))
        low = high;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(steps, int64_t, middle) < step)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < steps->len && g_array_index(steps, int64_t, low) == step)
        return false;
    if (steps->len < STEPS_KEPT_MAX)
        g_array_insert_val(steps, low, step);
    return true;
}
