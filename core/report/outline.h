/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document by question: problems, their parts, the sections of each part. A page's contents and a
 * notebook's cells follow it. Everything in it is borrowed from the document. */
#ifndef ORCH_CORE_REPORT_OUTLINE_H
#define ORCH_CORE_REPORT_OUTLINE_H

#include "core/report/document.h"

/** A lettered part: "1.1c". */
struct orch_outline_part {
    const char *question; /* NULL: a section that answers none; then it is alone */
    double points;        /* the most that one of its sections says; 0: none */
    GPtrArray *sections;  /* const struct orch_section *, in order of the document */
};
struct orch_outline_problem {
    char *number;     /* before the question's first dot: "1"; NULL: parts without a question */
    GPtrArray *parts; /* struct orch_outline_part *, in order of first appearance */
};
/** Someone else whose runs a document uses. */
struct orch_outline_other {
    char *who;
    GPtrArray *runs; /* const struct orch_section_run *, each run once */
};

/** struct orch_outline_problem *, in order of first appearance; what answers no question comes
 * last. The caller unrefs. */
GPtrArray *orch_outline_new(const struct orch_document *document);
/** The worst state of a part's sections: complete only when all are. */
enum orch_section_state orch_outline_state(const struct orch_outline_part *part);
/** The title of a part's first section that has one; NULL: none. */
const char *orch_outline_title(const struct orch_outline_part *part);
/** Is something of it left to the student? */
bool orch_outline_is_student(const struct orch_outline_part *part);

/** struct orch_outline_other *, in order of first appearance: whose runs are used besides one's
 * own. Of one problem's parts, or of all (NULL). The caller unrefs. */
GPtrArray *orch_outline_others(const struct orch_document *document,
                               const struct orch_outline_problem *problem);

/** "1.1c Which learning rate wins?" as a name for files and anchors: lower-case letters, digits and
 * single dashes, dots between digits; never empty, at most 60 characters. The caller frees. */
char *orch_outline_slug(const char *question, const char *title);
/** The slug, with "-2", "-3" behind it where it is in `taken` (a set of char *, which gets it). */
char *orch_outline_slug_unique(GHashTable *taken, const char *question, const char *title);

#endif
