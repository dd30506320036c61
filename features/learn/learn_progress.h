/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows on stderr which model is being fitted, because learning from many rows takes long. */
#ifndef ORCH_FEATURES_LEARN_LEARN_PROGRESS_H
#define ORCH_FEATURES_LEARN_LEARN_PROGRESS_H

#include "core/cli/cli.h"
#include "core/rows/training_rows.h"

/** Makes learning with `options` show its progress when stderr is a terminal, unless --quiet. `cli`
 * must outlive the learning. */
void orch_cli_learn_progress_begin(struct orch_cli *cli, struct orch_learn_options *options);
/** Erases the progress line. */
void orch_cli_learn_progress_end(const struct orch_learn_options *options);

#endif
