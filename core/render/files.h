/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a document as files: a folder with the page, the charts and the tables, each in the
 * formats that papers need; or one PDF. A file is replaced only by a complete new one; files with
 * other names are not changed. */
#ifndef ORCH_CORE_RENDER_FILES_H
#define ORCH_CORE_RENDER_FILES_H

#include "core/render/document.h"

/** Writes into `folder` (created when missing): index.html; charts/NAME.svg, .png, .pdf and .csv
 * (the chart's data); tables/NAME.csv, .tex and .md. Appends the paths to `written` (char *, or
 * NULL). False with ORCH_ERROR_IO; files written before the error stay. */
bool orch_files_write(const struct orch_document *document, const char *folder, GPtrArray *written,
                      GError **error);

/** Writes the document as one PDF, converted from the page by WeasyPrint (Debian: weasyprint).
 * ORCH_ERROR_IO when WeasyPrint is missing (with a hint), or fails (with its output). */
bool orch_files_pdf(const struct orch_document *document, const char *path, GError **error);

#endif
