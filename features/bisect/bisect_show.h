/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the progress and the outcome of a bisection. */
#ifndef ORCH_FEATURES_BISECT_BISECT_SHOW_H
#define ORCH_FEATURES_BISECT_BISECT_SHOW_H

#include "core/cli/cli.h"
#include "features/bisect/bisect.h"

/** The line that says what is left, rewritten in place on a terminal. */
struct orch_bisect_live {
    struct orch_cli *cli;
    bool is_live, is_drawn;
    char *line;  /* of the state */
    int shown_s; /* seconds of the current run that the line shows; 0: none */
};
/** `bisect->on_turn` and `on_run` with this as `ctx`. */
void orch_bisect_show_turn(void *ctx, const struct orch_bisect *bisect, size_t index);
void orch_bisect_show_run(void *ctx, const struct orch_bisect *bisect, size_t index,
                          const struct orch_run *run);
/** Shows for how long the current run has been going on. */
void orch_bisect_live_tick(struct orch_bisect_live *live, double run_s);
/** Removes the line, so that something else can be printed. */
void orch_bisect_live_erase(struct orch_bisect_live *live);
void orch_bisect_live_clear(struct orch_bisect_live *live);

/** Prints the outcome: as text, or with --json as an object. */
void orch_bisect_show_outcome(struct orch_cli *cli, const struct orch_bisect *bisect);

#endif
