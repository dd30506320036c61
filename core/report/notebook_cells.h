/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of a notebook: how they are made, and how those of an earlier notebook are carried over.
 * Inside of core/report. */
#ifndef ORCH_CORE_REPORT_NOTEBOOK_CELLS_H
#define ORCH_CORE_REPORT_NOTEBOOK_CELLS_H

#include "core/report/document.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** A text as a list of lines, as notebooks keep it. New reference. */
json_t *orch_notebook_lines(const char *text);
/** A list of lines, or a text, as one text. The caller frees. */
char *orch_notebook_text(const json_t *lines);
/** Appends a text so that Markdown shows it as it is: on one line, nothing of it is markup. */
void orch_markdown_append(GString *out, const char *text);

/** A cell of orch's: its id is `id` with all but letters, digits, '-' and '_' replaced; metadata
 * "orch" holds id and digest of the source. New references. */
json_t *orch_notebook_markdown(const char *id, const char *source);
/** `outputs`: stolen. */
json_t *orch_notebook_code(const char *id, const char *source, json_t *outputs);

/** Appends text to a cell's outputs, as a command prints it. */
void orch_notebook_add_text(json_t *outputs, const char *text);
/** Appends what a section holds: texts, tables as HTML and text, charts and pictures. */
void orch_notebook_add_section(json_t *outputs, const struct orch_section *section);
/** Is all of a section left to the student? Then it has no outputs. */
bool orch_notebook_is_left(const struct orch_section *section);

/** Takes over into `cells` what is the student's in `before`, an array of cells. Returns how many
 * cells that is. */
unsigned orch_notebook_carry(json_t *cells, const json_t *before);

#endif
