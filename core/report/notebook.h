/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hand-in: a notebook (nbformat 4.5) for each problem. A part has a heading with its label and
 * points, a code cell with the command of orch that answers it and what it gave, and, where the
 * student is to explain, an empty cell that orch never fills. What the student wrote, changed or
 * added in a notebook that is there is kept when it is made again. */
#ifndef ORCH_CORE_REPORT_NOTEBOOK_H
#define ORCH_CORE_REPORT_NOTEBOOK_H

#include "core/report/outline.h"

/** The student's own program, shown with the parts that were measured with it. */
struct orch_notebook_program {
    char *question; /* of the part */
    char *path;     /* as the command shows it: relative to where the recipe's path begins */
    char *text;
};

/** A cell that is the student's to fill. */
struct orch_notebook_answer {
    char *question;
    double points;
    bool is_empty;
};

struct orch_notebook {
    char *number;       /* of the problem; NULL: the report has no questions */
    char *name;         /* "hw7_p1.ipynb" */
    char *path;         /* where it was written */
    char *text;         /* the file */
    unsigned kept;      /* cells of the student's: written, changed or added */
    GPtrArray *answers; /* struct orch_notebook_answer * */
};

/** Writes a notebook a problem into `folder` (made when it is not there) as NAME_pN.ipynb, NAME
 * being the document's; parts without a question stand in the last. `programs`: struct
 * orch_notebook_program *, or NULL. A file of that name that is no notebook of orch's is an error
 * (ORCH_ERROR_IO) and stays as it is. Returns struct orch_notebook *; NULL on error. The caller
 * unrefs. */
GPtrArray *orch_notebooks_write(const struct orch_document *document, const GPtrArray *programs,
                                const char *folder, GError **error);

/** One notebook as JSON (new reference), and what of `before` (or NULL) it keeps: cells whose text
 * or type is not as orch made it, and cells that orch did not make, behind the cell that they
 * stood behind. `kept` counts them. */
json_t *orch_notebook_make(const struct orch_document *document,
                           const struct orch_outline_problem *problem, const GPtrArray *programs,
                           const json_t *before, unsigned *kept);

/** The cells of a notebook that are the student's, as struct orch_notebook_answer *. The caller
 * unrefs. */
GPtrArray *orch_notebook_answers(const json_t *notebook);

#endif
