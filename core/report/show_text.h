/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as text for a terminal or a file. */
#ifndef ORCH_CORE_REPORT_SHOW_TEXT_H
#define ORCH_CORE_REPORT_SHOW_TEXT_H

#include "core/report/document.h"

struct orch_show_text {
    int columns; /* of the terminal; 0: lines are as long as they like */
    bool color, ascii;
    bool heading; /* the document's name, profile, commit, ... before its sections */
    bool runs;    /* the runs behind each section */
};

/** All sections, a blank line before each: title, tables, charts, notes, what is missing with the
 * command that makes it. Lines end with '\n' and, but for titles, begin with two spaces. The caller
 * frees. */
char *orch_document_show_text(const struct orch_document *document,
                              const struct orch_show_text *how);

#endif
