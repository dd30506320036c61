/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The structure of a document by question: problems, their parts, and the sections of each part.
 * The page's contents and the cells of notebooks follow it. It borrows everything from the
 * document. */
#ifndef ORCH_CORE_RENDER_OUTLINE_H
#define ORCH_CORE_RENDER_OUTLINE_H

#include "core/render/document.h"

/** A part of a problem: "1.1c". */
struct orch_outline_part {
    const char *question; /* NULL: the part is one section without a question */
    double points;        /* the maximum over its sections; 0: none declared */
    GPtrArray *sections;  /* const struct orch_section *, in order of the document */
};
struct orch_outline_problem {
    char *number;     /* the part before the first dot: "1"; NULL: parts without a question */
    GPtrArray *parts; /* struct orch_outline_part *, in order of first appearance */
};
/** Another user whose runs the document uses. */
struct orch_outline_other {
    char *who;
    GPtrArray *runs; /* const struct orch_section_run *, without duplicates */
};

/** Builds the outline: struct orch_outline_problem *, in order of first appearance, sections
 * without a question last. The caller unrefs. */
GPtrArray *orch_outline_new(const struct orch_document *document);
/** Returns the worst state of a part's sections: complete only when all are. */
enum orch_section_state orch_outline_state(const struct orch_outline_part *part);
/** Returns the worst state of a problem's parts, those that are the student's alone left out:
 * complete only when all are. STUDENT: all are the student's. */
enum orch_section_state orch_outline_problem_state(const struct orch_outline_problem *problem);
/** Returns the title of the first section that has one; NULL: none. */
const char *orch_outline_title(const struct orch_outline_part *part);
/** Returns whether the part has something for the student to answer. */
bool orch_outline_is_student(const struct orch_outline_part *part);

/** Returns the other users whose runs are used in a problem's parts (NULL: in all), as struct
 * orch_outline_other * in order of first appearance. The caller unrefs. */
GPtrArray *orch_outline_others(const struct orch_document *document,
                               const struct orch_outline_problem *problem);

/** Makes a name for files and anchors from a question and a title ("1.1c Which learning rate
 * wins?"): lower-case letters, digits and single dashes, dots between digits; never empty, at most
 * 60 characters. The caller frees. */
char *orch_outline_slug(const char *question, const char *title);
/** The same, with "-2", "-3", ... appended when the name is in `taken` (a set of char *). The
 * result is added to `taken`. */
char *orch_outline_slug_unique(GHashTable *taken, const char *question, const char *title);

#endif
