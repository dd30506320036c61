/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes of charts: what they span, and where their ticks stand. */
#ifndef ORCH_CORE_REPORT_AXIS_H
#define ORCH_CORE_REPORT_AXIS_H

#include <glib.h>
#include <stdbool.h>

struct orch_tick {
    double at;
    char *label;
};
struct orch_axis {
    double low, high; /* low < high; above 0 where it is logarithmic */
    bool is_log;
    GArray *ticks; /* struct orch_tick, rising */
};

/** Spans `low` to `high` (widened where they are equal) with about `most` ticks at round numbers:
 * 1, 2 and 5 of each decade where it is logarithmic and that is few enough, else decades. */
void orch_axis_numbers(struct orch_axis *axis, double low, double high, bool is_log, int most);
/** Ticks at these numbers (of the data: 1, 2, 4, 8 workers) in place of round ones. */
void orch_axis_ticks_at(struct orch_axis *axis, const double *values, size_t count);
/** Positions 0, 1, ... with these names. */
void orch_axis_names(struct orch_axis *axis, const GPtrArray *names);
void orch_axis_clear(struct orch_axis *axis);

/** Where a value stands, 0 at low to 1 at high; NaN when it has no place (not finite, not above 0
 * on a logarithmic axis). */
double orch_axis_at(const struct orch_axis *axis, double value);
/** 1, 2 or 5 times a power of ten, at least `step` (above 0). */
double orch_round_step(double step);
/** "0.25", "150k", "2e-5": a number as it stands alone beside an axis. The caller frees. */
char *orch_tick_format(double value);

#endif
