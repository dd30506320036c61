/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run shows while it goes: on a terminal one block that is drawn again and again, elsewhere
 * a line for each trial that ended. Failures are shown when they happen, and again at the end. */
#ifndef ORCH_CORE_CLI_PROGRESS_H
#define ORCH_CORE_CLI_PROGRESS_H

#include "core/cli/cli.h"
#include "core/cli/forecast_show.h"
#include "core/cli/run_notices.h"
#include "core/run/schedule.h"

struct orch_progress;
struct orch_progress *orch_progress_new(struct orch_cli *cli, bool live);
/** The listener that draws it. */
struct orch_listener orch_progress_listener(struct orch_progress *progress);
/** How forecasts of trials that ended ok have done so far. Borrowed. */
const struct forecast_grades *orch_progress_grades(const struct orch_progress *progress);
/** What the user should notice about the trials that ended so far. Borrowed. */
const struct run_notices *orch_progress_notices(const struct orch_progress *progress);
/** Takes the block away and prints the summary of the whole run. Frees. */
void orch_progress_end(struct orch_progress *progress, const struct orch_totals *totals,
                       double seconds);

#endif
