/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points: which parts of an assignment the report answers, and which it leaves to the student. The
 * parts are those of docs/questions.tsv, which is built in, and those that the report names. */
#ifndef ORCH_CORE_ANSWER_POINTS_H
#define ORCH_CORE_ANSWER_POINTS_H

#include "core/report/document.h"

enum orch_points_state {
    ORCH_POINTS_COMPLETE,
    ORCH_POINTS_SMALL, /* complete, but smaller than the assignment asks for; `why` */
    ORCH_POINTS_PARTIAL,
    ORCH_POINTS_NOT_RUN,
    ORCH_POINTS_SKIPPED, /* needs a GPU, other data, or another profile; `why` */
    ORCH_POINTS_ABSENT,  /* measured, but the recipe has no item for it yet */
    ORCH_POINTS_STUDENT, /* to be written by the student */
};
#define ORCH_POINTS_STATES 7

struct orch_points_part {
    char *label; /* "1.1c" */
    double points;
    char *asks; /* in a few words; NULL: the list does not have the part */
    enum orch_points_state state;
    bool wants_words; /* complete or not, the student has to add a text to it */
    char *why;        /* the first thing that is missing, or what the full size asks for, or NULL */
    char *cure;       /* the command that makes it, or NULL */
    bool is_of_scale; /* `why` is about the size alone */
};

/** One row of the list. */
struct orch_question {
    char *recipe, *part, *kind, *asks;
    double points;
    char **items; /* kinds of report items that answer it; empty: the recipe has none yet */
};
/** All rows, struct orch_question *, in order. The caller unrefs. */
GPtrArray *orch_questions_read(void);
/** Is it an essay: nothing of it is measured? */
bool orch_question_is_essay(const struct orch_question *question);

/** The parts of a document's recipe, struct orch_points_part *, in the list's order. The document
 * must be whole. The caller unrefs. */
GPtrArray *orch_points_of(const struct orch_document *document);
/** "complete", "complete at small scale", "partial", "not run", "skipped", "not in the recipe yet",
 * "yours to write". */
const char *orch_points_state_name(enum orch_points_state state);
/** Points of all parts in a state, and how many parts they are (out_count may be NULL). */
double orch_points_sum(const GPtrArray *parts, enum orch_points_state state, unsigned *out_count);
/** Points of all parts in which a text of the student's own is wanted, measured ones included, and
 * how many parts they are (out_count may be NULL). */
double orch_points_to_write(const GPtrArray *parts, unsigned *out_count);
/** Points of all parts. */
double orch_points_all(const GPtrArray *parts);
/** Is anything left to be run or added to the recipe for the part to be complete at full size? */
bool orch_points_is_open(const struct orch_points_part *part);
/** All sums (new reference): {"all", "complete", ..., "to_write"}. */
json_t *orch_points_totals_json(const GPtrArray *parts);

#endif
