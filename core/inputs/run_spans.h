/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells a file that earlier runs wrote from a file that they read, by the time at which it was last
 * written. */
#ifndef ORCH_CORE_INPUTS_RUN_SPANS_H
#define ORCH_CORE_INPUTS_RUN_SPANS_H

#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"

struct orch_run_spans;

/** The times during which the experiment's earlier runs ran on this machine; empty without a store.
 * Never NULL. All arguments must outlive it. */
struct orch_run_spans *orch_run_spans_new(struct orch_workspace *workspace,
                                          const struct orch_expansion *expansion,
                                          const struct orch_experiment *experiment);
void orch_run_spans_free(struct orch_run_spans *spans);

/** True when the file at `path` (absolute) was last written while one of these runs ran, and that
 * run wrote it: by the files that it opened where these were noted; else every file counts that the
 * last commit does not have. With `input`, runs do not count that recorded an input of that name:
 * it was there before them, and whether the run or the user changed it is unknown. `input` may be
 * NULL. */
bool orch_run_spans_wrote(struct orch_run_spans *spans, const char *path, const char *input);

/** Fact of a run: the paths outside of the repository that it named and that were none of its
 * inputs. Whether it wrote there is noted. */
#define ORCH_FACT_ELSEWHERE "elsewhere"

#endif
