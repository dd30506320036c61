/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files and folders that a trial names in its parameter values, in the words of its command or in
 * `inputs:`, and those that its scripts use. Files of the captured tree that an experiment's
 * command names for all its trials are covered by orch_inputs_id. */
#ifndef ORCH_CORE_INPUTS_CELL_INPUTS_H
#define ORCH_CORE_INPUTS_CELL_INPUTS_H

#include "core/inputs/inputs.h"

/** Adds what a trial of a wrapped program names in a parameter of type path or in a word of its
 * command once its parameters are filled in, what its scripts use, and for every plugin what
 * `inputs:` names, as far as orch_inputs_id does not cover it; with digests of the content
 * (named_files.h): struct orch_checked_input *. False on error. */
bool orch_cell_inputs(struct orch_inputs *all, const struct orch_cell *cell, GPtrArray *inputs,
                      GError **error);

/** Adds the absolute paths outside of the repository that the trial's command or its parameters
 * name and that are none of its inputs, because nothing or only output lies there, or because a
 * compiled plugin names its inputs itself (char *): it may read or write there. */
void orch_cell_elsewhere(struct orch_inputs *all, const struct orch_trial_inputs *trial,
                         GPtrArray *paths);

/** The same as they are now, for the workspace's current source, without the caches. */
bool orch_cell_inputs_now(struct orch_inputs *all, const struct orch_cell *cell, GPtrArray *inputs,
                          GError **error);

/** Says which of these inputs are not compared by their whole content, and how they are; NULL when
 * all are. The caller frees. */
char *orch_cell_inputs_not_checked(const struct orch_inputs *all, const GPtrArray *inputs);

/** The cell's parameters with absolute paths, as a trial receives them: those of a recipe are
 * relative to its folder. New reference. */
json_t *orch_cell_absolute_params(const struct orch_inputs *all, const struct orch_cell *cell);

/** "a.py" for the first of one, "a.py and 2 more" for the first of three. The caller frees. */
char *orch_input_names(const char *first, unsigned count);

/** True for code: a script, a source file, or a program. */
bool orch_input_is_code(const char *absolute);

#endif
