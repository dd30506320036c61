/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the report item `speedup`, each with its formula. */
#ifndef ORCH_FEATURES_SCALING_SPEEDUP_COLUMNS_H
#define ORCH_FEATURES_SCALING_SPEEDUP_COLUMNS_H

#include <stdbool.h>

/** Further values that an item may name, averaged over the repeats. */
enum orch_speedup_extra {
    ORCH_SPEEDUP_BYTES,    /* sent by a worker */
    ORCH_SPEEDUP_COMPUTE,  /* seconds of computing, by the trial's timers */
    ORCH_SPEEDUP_EXPOSED,  /* seconds of communication that computing does not hide */
    ORCH_SPEEDUP_WAIT,     /* seconds of it in which other workers were not ready */
    ORCH_SPEEDUP_WORK,     /* images of a worker */
    ORCH_SPEEDUP_STEPS,    /* by which the times are multiplied */
    ORCH_SPEEDUP_TRANSFER, /* seconds in which bytes move, hidden by computing or not */
    ORCH_SPEEDUP_EXTRAS
};
/** The keys of an item that name them. */
extern const char *const ORCH_SPEEDUP_EXTRA_KEYS[ORCH_SPEEDUP_EXTRAS];

/** The numbers of a row. NaN: not measured. */
struct orch_speedup_numbers {
    double workers, value, alone; /* alone: the value of one worker */
    double extra[ORCH_SPEEDUP_EXTRAS];
    double link; /* GB/s: what all-reduces of as many workers reached */
    bool is_less_better;
    bool times_steps; /* the item names `steps` */
};

struct orch_speedup_column {
    const char *name, *header;
    const char *said, *unit;                 /* in a sentence; unit: or NULL */
    bool has_unit;                           /* that of the item's value */
    const char *formula_less, *formula_more; /* for values of which less, or more, is better */
    double (*compute)(const struct orch_speedup_numbers *);
    double (*ideal)(double workers); /* NULL: it depends on the kind of scaling */
    bool is_quotient;                /* depends on value / alone, and so has an interval */
    bool is_timed;                   /* where trials have its timers: a mean over trials */
    bool is_per_time;                /* something divided by the column `communication` */
    enum orch_speedup_extra timer;   /* the value that replaces the formula; ORCH_SPEEDUP_BYTES:
                                        none */
};

/** Returns the column of that name, or NULL. Static. */
const struct orch_speedup_column *orch_speedup_column(const char *name);

#endif
