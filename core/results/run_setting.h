/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text that distinguishes a run from the others of its experiment. */
#ifndef ORCH_CORE_RESULTS_RUN_SETTING_H
#define ORCH_CORE_RESULTS_RUN_SETTING_H

#include "store/store.h"

/** Formats a setting, such as "lr=0.1 steps=7#2": the swept parameters `coords` (object, or NULL),
 * what -s set for the experiment on the command line of `run` (NULL: unknown), and a repeat above
 * 1. The caller frees. */
char *orch_run_setting_text(const json_t *coords, const struct orch_run *run, int repeat);

#endif
