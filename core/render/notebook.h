/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-in notebooks (nbformat 4.5), one for each problem. A part has a heading with its label and
 * points, a code cell with the orch command that answers it and the command's output, and, where
 * the student has to explain something, an empty cell that orch never fills. When a notebook is
 * made again, what the student wrote, changed or added is kept. */
#ifndef ORCH_CORE_RENDER_NOTEBOOK_H
#define ORCH_CORE_RENDER_NOTEBOOK_H

#include "core/render/outline.h"

/** The student's own program, shown with the parts that it measured. */
struct orch_notebook_program {
    char *question; /* the part's question */
    char *path; /* the path as the command shows it, relative to the base of the recipe's path */
    char *text;
};

/** A cell for the student to fill in. */
struct orch_notebook_answer {
    char *question;
    double points;
    bool is_empty;
};

struct orch_notebook {
    char *number;       /* the problem's number; NULL: the report has no questions */
    char *name;         /* "hw7_p1.ipynb" */
    char *path;         /* where it was written */
    char *text;         /* the file's content */
    unsigned kept;      /* number of cells that the student wrote, changed or added */
    GPtrArray *answers; /* struct orch_notebook_answer * */
};

/** Writes a notebook for each problem into `folder` (created when missing) as NAME_pN.ipynb, where
 * NAME is the document's name. Parts without a question go into the last notebook. `programs`:
 * struct orch_notebook_program *, or NULL. An existing file that is not a notebook made by orch is
 * an error (ORCH_ERROR_IO) and is not changed. Returns struct orch_notebook *; NULL on error. The
 * caller unrefs. */
GPtrArray *orch_notebooks_write(const struct orch_document *document, const GPtrArray *programs,
                                const char *folder, GError **error);

/** Returns one notebook as JSON (new reference). From `before` (the existing notebook, or NULL) it
 * keeps cells whose text or type the student changed, and cells that orch did not make, each after
 * the cell that it followed. `kept` counts the kept cells. */
json_t *orch_notebook_make(const struct orch_document *document,
                           const struct orch_outline_problem *problem, const GPtrArray *programs,
                           const json_t *before, unsigned *kept);

/** Returns a notebook's cells that the student has to fill in (struct orch_notebook_answer *). The
 * caller unrefs. */
GPtrArray *orch_notebook_answers(const json_t *notebook);

#endif
