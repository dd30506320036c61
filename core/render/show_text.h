/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats a report as text for a terminal or a file. */
#ifndef ORCH_CORE_RENDER_SHOW_TEXT_H
#define ORCH_CORE_RENDER_SHOW_TEXT_H

#include "core/render/document.h"

struct orch_show_text {
    int columns; /* width of the terminal; 0: unlimited */
    bool color, ascii;
    bool heading; /* print the document's name, profile, commit, ... before its sections */
    bool runs;    /* list the runs of each section */
};

/** Formats all sections with a blank line before each: title, tables, charts, notes, and what is
 * missing with the command that makes it. Lines end with '\n' and begin with two spaces, except
 * titles. The caller frees. */
char *orch_document_show_text(const struct orch_document *document,
                              const struct orch_show_text *how);

#endif
