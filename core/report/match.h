/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of two sides, matched: which run of A belongs to which of B. */
#ifndef ORCH_CORE_REPORT_MATCH_H
#define ORCH_CORE_REPORT_MATCH_H

#include "core/report/disturbed.h"
#include "core/report/group.h"

/** Runs of one side with their numbers, read once. */
struct orch_side;
/** Reads the numbers of `runs` (struct orch_run *, newest first, borrowed). NULL on an error of the
 * store. */
struct orch_side *orch_side_new(struct orch_store *store, const GPtrArray *runs,
                                enum orch_aggregate aggregate, GError **error);
void orch_side_free(struct orch_side *side);
/** Which of its runs times leave out, as the machine did other work. Borrowed. */
const struct orch_disturbed *orch_side_disturbed(const struct orch_side *side);
/** Lets times count these as well. */
void orch_side_count_disturbed(struct orch_side *side);
/** Names of metrics and results that runs of both sides have, `wall_s` last. char *; the caller
 * unrefs. */
GPtrArray *orch_sides_names(const struct orch_side *a, const struct orch_side *b);

enum orch_match_how {
    ORCH_MATCH_TRIALS,  /* pairs of the same trial: experiment, parameters, seed */
    ORCH_MATCH_REPEATS, /* pairs of equal seeds; other parameters than those that tell A from B are
                           equal */
    ORCH_MATCH_NONE,    /* two samples */
};

/** The numbers of one metric. */
struct orch_match {
    enum orch_match_how how;
    GArray *a, *b;           /* double; for pairs of one length */
    const char *better;      /* "min", "max", "none"; for the life of the process */
    const char *unit;        /* or NULL */
    bool is_timing;          /* a time or a rate */
    bool is_across;          /* numbers of different machines meet */
    unsigned alone;          /* runs without a partner, left out */
    unsigned averaged;       /* runs of A that were averaged by seed into `a`; 0: none were */
    unsigned lost_a, lost_b; /* runs whose metric became NaN, left out */
    char *where_a, *where_b; /* the machines, "x, y" */
};
/** `across`: pairs may lie on different machines. A time counts every run of a trial's newest code;
 * anything else counts a trial's newest run alone, since equal seeds give equal results. Runs of
 * several trials that share a seed are averaged first, unless the pairs are of the same trials. */
struct orch_match *orch_sides_match(const struct orch_side *a, const struct orch_side *b,
                                    const char *metric, bool across);
void orch_match_free(struct orch_match *match);

#endif
