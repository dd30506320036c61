/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both sides of a comparison run now, from the sources of two commits. */
#ifndef ORCH_CORE_CLI_COMPARE_RUN_H
#define ORCH_CORE_CLI_COMPARE_RUN_H

#include "core/cli/compare_sides.h"

struct compare_run {
    const char *recipe;   /* as typed: a path in the work tree */
    const char **targets; /* problems and experiments; NULL-terminated, or NULL: all */
    int repeat;
    const char *profile;
    const char **settings, **sweeps;
};

/** Writes the trees of `names` (commits, or "." for the work tree) out, reads the recipe in each,
 * and runs their trials in turns, A B B A. Fills both sides with the runs that ended well. Returns
 * false with an error; a trial that did not end well is ORCH_ERROR_TRIAL, an interrupt
 * ORCH_ERROR_INTERRUPTED: what ended is kept. */
bool compare_run_both(struct orch_cli *cli, const struct compare_run *wish,
                      const char *const names[2], struct compare_side sides[2], GError **error);

#endif
