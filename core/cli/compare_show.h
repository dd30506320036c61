/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as a table, in words and as JSON. */
#ifndef ORCH_CORE_CLI_COMPARE_SHOW_H
#define ORCH_CORE_CLI_COMPARE_SHOW_H

#include "core/cli/compare_sides.h"

#include "core/report/contrast.h"
#include "core/report/match.h"

/* A metric of both sides. */
struct compare_row {
    char *name;
    struct orch_match *match;
    struct orch_contrast contrast;
    bool is_refused; /* a timing of different machines */
};

struct comparison {
    struct compare_side sides[2];
    double least;                             /* the smallest change that matters */
    GPtrArray *rows;                          /* struct compare_row * */
    GPtrArray *broken;                        /* char *: limits that failed, in words */
    size_t tests;                             /* metrics compared at once */
    guint disturbed_left_out, disturbed_kept; /* runs, as orch_disturbed_find counts them */
};

/** Prints it to stdout: a table and, on stderr, who was compared and how; JSON under --json. */
void compare_show(struct orch_cli *cli, const struct comparison *comparison);

#endif
