/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes of charts: their range, and the positions of their ticks. */
#ifndef ORCH_CORE_RENDER_AXIS_H
#define ORCH_CORE_RENDER_AXIS_H

#include <glib.h>
#include <stdbool.h>

struct orch_tick {
    double at;
    char *label;
};
struct orch_axis {
    double low, high; /* low < high; above 0 where it is logarithmic */
    bool is_log;
    GArray *ticks; /* struct orch_tick, ascending */
};

/** Sets the axis to range from `low` to `high` (widened when they are equal), with about `most`
 * ticks at round numbers. A logarithmic axis has ticks at 1, 2 and 5 times each power of ten, or
 * only at powers of ten when there would be too many. */
void orch_axis_numbers(struct orch_axis *axis, double low, double high, bool is_log, int most);
/** Replaces the ticks by ticks at these values of the data (1, 2, 4, 8 workers). */
void orch_axis_ticks_at(struct orch_axis *axis, const double *values, size_t count);
/** Makes the axis a list of categories: positions 0, 1, ... with these names. */
void orch_axis_names(struct orch_axis *axis, const GPtrArray *names);
void orch_axis_clear(struct orch_axis *axis);

/** Returns a value's position, from 0 at low to 1 at high. NaN when it has none (not finite, or not
 * above 0 on a logarithmic axis). */
double orch_axis_at(const struct orch_axis *axis, double value);
/** Returns the smallest 1, 2 or 5 times a power of ten that is at least `step` (above 0). */
double orch_round_step(double step);
/** Formats a number as a tick label: "0.25", "150k", "2e-5". The caller frees. */
char *orch_tick_format(double value);

#endif
