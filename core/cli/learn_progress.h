/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning from many rows takes its time: a line on stderr says which model is tried. */
#ifndef ORCH_CORE_CLI_LEARN_PROGRESS_H
#define ORCH_CORE_CLI_LEARN_PROGRESS_H

#include "core/cli/cli.h"
#include "predictors/learn.h"

/** Lets learning by `options` be told of, when stderr is a terminal and --quiet was not given; else
 * nothing. `cli` must outlive the learning. */
void learn_progress_begin(struct orch_cli *cli, struct orch_learn_options *options);
/** Takes the line away. */
void learn_progress_end(const struct orch_learn_options *options);

#endif
