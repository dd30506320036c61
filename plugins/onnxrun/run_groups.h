/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs an engine on all inputs, and times it on one batch. */
#ifndef ORCH_PLUGINS_ONNXRUN_RUN_GROUPS_H
#define ORCH_PLUGINS_ONNXRUN_RUN_GROUPS_H

#include "plugins/onnxrun/onnxrun.h"

/** Fills `outputs` of each group. Fails with the engine's words, and for an output whose first axis
 * is not the batch. */
bool orch_onnxrun_groups_run(struct onnxrun_trial *t, GError **error);

/** Times the last group's first batch: t->p->warmup runs that do not count, then t->p->repeats that
 * do, each a point of run_latency; reports median, 10 % and 90 % quantile and throughput. */
bool orch_onnxrun_latency_measure(struct onnxrun_trial *t, GError **error);

#endif
