/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A document as files: a folder with the page, the charts and the tables, each in the formats that
 * papers want; or one PDF. A file is replaced only when the new one is whole; files of other names
 * are left alone. */
#ifndef ORCH_CORE_REPORT_FILES_H
#define ORCH_CORE_REPORT_FILES_H

#include "core/report/drawn.h"

/** Names of a document's tables and charts without folder and ending, made of question and title:
 * block -> char * ("1.1c-which-learning-rate-wins"). Each name once. The caller unrefs. */
GHashTable *orch_files_names(const struct orch_document *document);

/** Writes into `folder` (made when it is not there): index.html; charts/NAME.svg, .png, .pdf and
 * .csv (the data behind it); tables/NAME.csv, .tex and .md. Charts that gnuplot cannot draw have
 * their .csv alone: see orch_drawn_why. Adds the paths to `written` (char *, or NULL). False with
 * ORCH_ERROR_IO; what was written before stays. */
bool orch_files_write(const struct orch_document *document, const struct orch_drawn *drawn,
                      const char *folder, GPtrArray *written, GError **error);

/** Writes the document as one PDF, made of the page by WeasyPrint (Debian: weasyprint).
 * ORCH_ERROR_IO when it is missing (with the cure) or fails, with what it said. */
bool orch_files_pdf(const struct orch_document *document, const struct orch_drawn *drawn,
                    const char *path, GError **error);

#endif
