/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of the block on a terminal that shows how a run gets on (progress.c). */
#ifndef ORCH_CORE_COMMANDS_PROGRESS_LINES_H
#define ORCH_CORE_COMMANDS_PROGRESS_LINES_H

#include "core/schedule/schedule.h"

/** Returns the first line: a bar, how many trials have ended and how, the time left. The caller
 * frees. */
GString *orch_progress_summary_line(const struct orch_totals *totals);

/** Returns a trial's line. A long label is shortened, in favour of the values that change, to fit
 * `limit` columns. The caller frees. */
GString *orch_progress_trial_line(const struct orch_running *trial, int limit);

/** Returns how many of the planned trials need not start any more. */
unsigned orch_progress_ended_count(const struct orch_totals *totals);

/** Cuts a text to a number of columns, with ".." in place of what was cut. */
void orch_progress_shorten(GString *text, int limit);

#endif
