/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows a comparison as a table, in words and as JSON. */
#ifndef ORCH_CORE_CLI_COMPARE_SHOW_H
#define ORCH_CORE_CLI_COMPARE_SHOW_H

#include "core/cli/cli.h"
#include "core/report/compare_sides.h"

#include "core/stats/contrast.h"
#include "core/stats/match.h"

/* A metric of both sides. */
struct compare_row {
    char *name;
    char *task; /* the task of both sides when there are several; or NULL */
    struct orch_match *match;
    struct orch_contrast contrast;
    bool is_refused; /* not compared: a time or rate on different machines */
};

struct comparison {
    struct orch_compare_side sides[2];
    double least;                             /* the smallest change that matters */
    GPtrArray *rows;                          /* struct compare_row * */
    GPtrArray *broken;                        /* char *: messages on exceeded limits */
    size_t tests;                             /* number of metrics compared together */
    guint other_tasks[2];                     /* runs of tasks that the other side lacks */
    guint disturbed_left_out, disturbed_kept; /* counted by orch_disturbed_find */
};

/** Prints a comparison: a table on stdout, and on stderr which runs were compared and how; JSON
 * under --json. */
void orch_cli_compare_show(struct orch_cli *cli, const struct comparison *comparison);

#endif
