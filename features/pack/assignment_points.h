/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of an assignment: which parts the report answers, and which it leaves to the student. The
 * parts come from the built-in table share/questions.tsv and from the questions that the report
 * itself has. */
#ifndef ORCH_FEATURES_PACK_ASSIGNMENT_POINTS_H
#define ORCH_FEATURES_PACK_ASSIGNMENT_POINTS_H

#include "core/render/document.h"

enum orch_points_state {
    ORCH_POINTS_COMPLETE,
    ORCH_POINTS_SMALL,     /* complete, but smaller than the assignment asks for; `why` */
    ORCH_POINTS_SIMULATED, /* all its runs are simulated */
    ORCH_POINTS_PARTIAL,
    ORCH_POINTS_NOT_RUN,
    ORCH_POINTS_STALE,   /* only runs of an earlier version exist; `why` */
    ORCH_POINTS_SKIPPED, /* needs a GPU, other data, or another profile; `why` */
    ORCH_POINTS_ABSENT,  /* measured, but the recipe has no item for it yet */
    ORCH_POINTS_STUDENT, /* to be written by the student */
};
#define ORCH_POINTS_STATES 9

struct orch_points_part {
    char *label; /* "1.1c" */
    double points;
    char *asks; /* the question in a few words; NULL: the table does not have the part */
    enum orch_points_state state;
    bool needs_text;  /* the student has to write a text for the part, whether or not it is complete
                       */
    char *why;        /* the first thing that is missing, or what full size requires, or NULL */
    char *hint;       /* the command that provides it, or NULL */
    bool is_of_scale; /* `why` concerns only the size */
};

/** One row of the table of questions. */
struct orch_assignment_part {
    char *recipe, *part, *kind, *asks;
    double points;
    char **items; /* kinds of report items that answer the part; empty: the recipe has none yet */
};
/** Reads the built-in table: struct orch_assignment_part *, in order. The caller unrefs. */
GPtrArray *orch_assignment_parts_read(void);
/** Parses such a table from a text; `name` is its file name in messages. NULL with
 * ORCH_ERROR_RECIPE, which names the line, for a malformed or duplicate row. */
GPtrArray *orch_assignment_parts_parse(const char *name, const char *text, GError **error);
/** Returns whether the part is an essay, so that nothing is measured for it. */
bool orch_assignment_part_is_essay(const struct orch_assignment_part *question);

/** Returns the parts of a document's recipe (struct orch_points_part *), in the order of the table.
 * All sections of the document must be filled. The caller unrefs. */
GPtrArray *orch_points_of(const struct orch_document *document);
/** Returns the name of a state, such as "complete", "not run" or "yours to write". Static. */
const char *orch_points_state_name(enum orch_points_state state);
/** Sums the points of the parts in one state, and counts these parts (out_count may be NULL). */
double orch_points_sum(const GPtrArray *parts, enum orch_points_state state, unsigned *out_count);
/** Sums the points of the parts for which the student has to write a text, including measured
 * parts, and counts these parts (out_count may be NULL). */
double orch_points_to_write(const GPtrArray *parts, unsigned *out_count);
/** Sums the points of all parts. */
double orch_points_all(const GPtrArray *parts);
/** Returns whether something must still be run, or added to the recipe, for the part to be complete
 * at full size. */
bool orch_points_is_open(const struct orch_points_part *part);
/** Returns all sums (new reference): {"all", "complete", ..., "to_write"}. */
json_t *orch_points_totals_json(const GPtrArray *parts);

#endif
