/* SPDX-License-Identifier: MIT */
/* Which epoch and step a program has reached, according to the lines that it prints. */
#ifndef ORCH_CORE_HOST_TEXT_STEPS_H
#define ORCH_CORE_HOST_TEXT_STEPS_H

#include "lib/wire/printed.h"

#include <glib.h>

enum { TEXT_COUNTERS = 4 };

/** Progress of the program according to its output. */
struct text_position {
    double epoch; /* NaN: not printed */
    double step;  /* steps since the start; NaN: not printed */
    /* the steps of training and those of each kind of data: "Epoch(val) [1][10/10]" */
    struct text_counter {
        double inner, total; /* the step as printed, and its total; NaN: none yet */
        double inner_epoch;  /* the epoch of that step */
        double offset;       /* steps of the preceding epochs */
    } counters[TEXT_COUNTERS];
};

/** The steps printed in a line. */
struct line_steps {
    bool has_epoch, has_step, is_fraction;
    double fraction; /* the epoch if it is not an integer */
};

/** Returns the progress of a program that has printed none yet. */
struct text_position orch_text_position_start(void);

/** True when a word that usually counts steps is the name of a declared metric. */
typedef bool (*orch_text_is_metric_fn)(void *ctx, const char *name);

/** Takes the steps among the values [first, end) of a line into `p`. */
struct line_steps orch_text_steps_take(struct text_position *p,
                                       const struct orch_printed_line *printed, guint first,
                                       guint end, orch_text_is_metric_fn is_metric, void *ctx);

/** Notes the step of a new point in a metric's steps (int64_t, ascending; NULL at first). Returns
 * false if the metric has one at that step already. The caller unrefs the array. */
bool orch_text_steps_add(GArray **inout_steps, int64_t step);

#endif
