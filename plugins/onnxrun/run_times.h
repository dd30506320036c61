/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times of repeated runs. */
#ifndef ORCH_PLUGINS_ONNXRUN_RUN_TIMES_H
#define ORCH_PLUGINS_ONNXRUN_RUN_TIMES_H

#include "plugins/onnxrun/onnxrun.h"

/** Runs `once` t->p->warmup times and then t->p->repeats times, and returns the seconds of each of
 * the latter (double; fewer if the trial is cancelled). NULL where it fails. Caller unrefs. */
GArray *orch_onnxrun_times(const struct onnxrun_trial *t, bool (*once)(void *ctx, GError **error),
                           void *ctx, GError **error);

#endif
