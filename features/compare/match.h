/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matches the runs of two sides: which run of A is compared with which run of B. */
#ifndef ORCH_FEATURES_COMPARE_MATCH_H
#define ORCH_FEATURES_COMPARE_MATCH_H

#include "core/stats/disturbed.h"
#include "core/stats/group.h"

/** The runs of one side with their numbers, read once. */
struct orch_side;
/** Reads the numbers of `runs` (struct orch_run *, newest first, borrowed). NULL on an error of the
 * store. */
struct orch_side *orch_side_new(struct orch_store *store, const GPtrArray *runs,
                                enum orch_aggregate aggregate, GError **error);
void orch_side_free(struct orch_side *side);
/** Returns the runs that times leave out because other programs disturbed them. Borrowed. */
const struct orch_disturbed *orch_side_disturbed(const struct orch_side *side);
/** Makes times count the disturbed runs too. */
void orch_side_count_disturbed(struct orch_side *side);
/** Returns the names of metrics and results that runs of both sides have, if only as NaN, with
 * `wall_s` last. char
 * *; the caller unrefs. */
GPtrArray *orch_sides_names(const struct orch_side *a, const struct orch_side *b);

enum orch_match_how {
    ORCH_MATCH_TRIALS,  /* pairs of the same trial: experiment, parameters, seed */
    ORCH_MATCH_REPEATS, /* pairs of equal seeds; parameters are equal, except those that distinguish
                           A from B */
    ORCH_MATCH_NONE,    /* two samples */
};

/** The matched numbers of one metric. */
struct orch_match {
    enum orch_match_how how;
    GArray *a, *b; /* double; equally long when paired */
    struct orch_direction direction;
    const char *unit;        /* or NULL */
    bool is_timing;          /* a time or a rate */
    bool is_across;          /* numbers of different machines are compared */
    bool is_uneven;          /* other programs disturbed the times of one side only */
    unsigned alone;          /* runs left out because they have no partner */
    unsigned averaged;       /* runs of A that were averaged by seed into `a`; 0: none were */
    unsigned lost_a, lost_b; /* runs left out because their metric became NaN */
    char *where_a, *where_b; /* the machines, "x, y" */
    /* of a time: the library that A and B used in different versions ("libtorch 2.11.0"), else
     * NULL; and the runs of each side left out because its newest run used another version */
    char *library_a, *library_b;
    unsigned older_a, older_b;
};
/** Matches the runs for one metric. `across` allows pairs on different machines. For a time, every
 * run made by a trial's newest code counts; for any other metric only a trial's newest run, because
 * equal seeds give equal results. Runs of several trials with the same seed are averaged first,
 * except for times and for pairs of the same trial. */
struct orch_match *orch_sides_match(const struct orch_side *a, const struct orch_side *b,
                                    const char *metric, bool across);
void orch_match_free(struct orch_match *match);

#endif
