/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells a file that earlier runs of an experiment wrote from one that somebody else wrote. */
#ifndef ORCH_CORE_INPUTS_OWN_OUTPUTS_H
#define ORCH_CORE_INPUTS_OWN_OUTPUTS_H

#include "core/recipe/recipe.h"
#include "core/workspace/workspace.h"

#include <sys/stat.h>

struct orch_own_outputs;

/** The outputs of the experiment's earlier runs on this machine; empty without a store. Never NULL.
 * All arguments must outlive it. */
struct orch_own_outputs *orch_own_outputs_new(struct orch_workspace *workspace,
                                              const struct orch_expansion *expansion,
                                              const struct orch_experiment *experiment);
void orch_own_outputs_free(struct orch_own_outputs *outputs);

/** True when the file at `path` (absolute) is as one of these runs has left it. Where the files
 * that a run opened were noted, it must have written this one, with the size and time that the file
 * has now. Of another run every file counts that was last written while it ran and that the last
 * commit does not have, unless that run recorded an input of the name `input` (may be NULL): the
 * file was there before it, and whether the run or the user changed it is unknown. */
bool orch_own_outputs_has(struct orch_own_outputs *outputs, const char *path, const char *input);

/** True when a file has the size and time with which a run has left it, by ORCH_FACT_LEFT_AS among
 * its facts. */
bool orch_own_output_is_as_left(const json_t *facts, const char *name, const struct stat *info);

/** Fact of a run: the paths outside of the repository that it named and that were none of its
 * inputs. Whether it wrote there is noted. */
#define ORCH_FACT_ELSEWHERE "elsewhere"
/** Fact of a run: how it left the files that it wrote, an object: name -> [size, mtime_ns]. */
#define ORCH_FACT_LEFT_AS "left_as"
/** At most so many names are kept in each list of files that a run wrote. */
#define ORCH_WROTE_MAX 100

#endif
