/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the progress of a run. On a terminal one block is redrawn; elsewhere each ended trial
 * prints a line. Failures are shown when they occur and again at the end. */
#ifndef ORCH_CORE_COMMANDS_PROGRESS_H
#define ORCH_CORE_COMMANDS_PROGRESS_H

#include "core/cli/cli.h"
#include "core/cli/forecast_show.h"
#include "core/commands/run_notices.h"
#include "core/schedule/schedule.h"

struct orch_progress;
/** `expansion` tells which metrics its trials are about, and is borrowed. */
struct orch_progress *orch_progress_new(struct orch_cli *cli,
                                        const struct orch_expansion *expansion, bool live);
/** Returns the listener that draws the progress. */
struct orch_listener orch_progress_listener(struct orch_progress *progress);
/** Returns how accurate the forecasts of the trials that ended ok have been so far
 * (orch_forecast_grades_json). New reference. */
json_t *orch_progress_grades_json(const struct orch_progress *progress);
/** Returns the notices about the trials that have ended so far. Borrowed. */
const struct run_notices *orch_progress_notices(const struct orch_progress *progress);
/** Erases the block and prints the summary of the run. Frees `progress`. */
void orch_progress_end(struct orch_progress *progress, const struct orch_totals *totals,
                       double seconds);

#endif
