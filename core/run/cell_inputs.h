/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data files of the repository that a single trial names in its parameter values. Files that an
 * experiment's command names for all its trials are covered by orch_inputs_id. */
#ifndef ORCH_CORE_RUN_CELL_INPUTS_H
#define ORCH_CORE_RUN_CELL_INPUTS_H

#include "core/run/plan.h"

/** What was read for a plan's trials: empty at first, and to be cleared at the end. */
void orch_plan_files_init(struct orch_plan_files *files);
void orch_plan_files_clear(struct orch_plan_files *files);

/** Adds the files and folders of the captured tree that a trial of a wrapped program names in a
 * parameter of type path, or in a word of its command once its parameters are filled in, with
 * digests of their content: struct orch_checked_input *. False on error. Adds nothing for compiled
 * plugins, whose check reports what they read. */
bool orch_cell_inputs(struct orch_plan *plan, const struct orch_cell *cell, GPtrArray *inputs,
                      GError **error);

/** The same as they are now, for the workspace's current source, without the plan's caches. */
bool orch_cell_inputs_now(struct orch_plan *plan, const struct orch_cell *cell, GPtrArray *inputs,
                          GError **error);

/** The cell's parameters with absolute paths, as a trial receives them: those of a recipe are
 * relative to its folder. New reference. */
json_t *orch_cell_absolute_params(const struct orch_plan *plan, const struct orch_cell *cell);

#endif
