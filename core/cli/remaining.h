/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a running trial still takes, here and on another GPU. */
#ifndef ORCH_CORE_CLI_REMAINING_H
#define ORCH_CORE_CLI_REMAINING_H

#include "core/cli/cli.h"
#include "core/run/schedule.h"
#include "predictors/remaining.h"

/** By its progress (struct orch_running_point; NULL: none). False: not known yet. */
bool cli_remaining(const GArray *points, double total, double now_s, struct orch_remaining *out);
/** By its forecast (wall seconds), where it tells no progress: forecast minus what has passed;
 * `estimate` is "forecast", tau and drift are NaN. False: it runs for longer than the median
 * already, so nothing can be said. */
bool cli_remaining_forecast(double p5_s, double p50_s, double p95_s, double elapsed_s,
                            struct orch_remaining *out);
/** "3 min 10 s (2 min 50 s to 3 min 40 s)". The caller frees. */
char *cli_remaining_text(double seconds, double low_s, double high_s);

/** What is left of a trial on another GPU. */
struct elsewhere {
    const char *tier; /* "transferred": its own pace times the ratio of the white box's steps;
                         "prior": the white box alone */
    char *gpu, *why;
    double seconds, low_s, high_s;
};
/** `record`: of the active trial (what it declared as its cost, where it runs); `share`: of the
 * work that is left; `here`: its remaining time, or NULL. An error when the GPU is unknown, or the
 * trial declared no cost that the white box knows. The caller releases. */
bool cli_remaining_elsewhere(const json_t *record, const char *gpu, double share,
                             const struct orch_remaining *here, struct elsewhere *out,
                             GError **error);
void elsewhere_release(struct elsewhere *elsewhere);

#endif
