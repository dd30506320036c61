/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of a notebook: makes them, and merges the student's cells of an earlier notebook. Internal
 * to core/render. */
#ifndef ORCH_CORE_RENDER_NOTEBOOK_CELLS_H
#define ORCH_CORE_RENDER_NOTEBOOK_CELLS_H

#include "core/render/document.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/** Splits a text into a list of lines, the form in which notebooks store it. New reference. */
json_t *orch_notebook_lines(const char *text);
/** Joins a list of lines, or copies a single string. The caller frees. */
char *orch_notebook_text(const json_t *lines);
/** Appends a text escaped for Markdown: it is shown literally, on one line. */
void orch_markdown_append(GString *out, const char *text);

/** Makes a cell of orch's. In its id all characters but letters, digits, '-' and '_' are replaced;
 * the metadata "orch" holds the id and a digest of the source. New references. */
json_t *orch_notebook_markdown(const char *id, const char *source);
/** The same for a code cell. Takes ownership of `outputs`. */
json_t *orch_notebook_code(const char *id, const char *source, json_t *outputs);

/** Appends text to a cell's outputs, as the output of a command. */
void orch_notebook_add_text(json_t *outputs, const char *text);
/** Appends a section's content: texts, tables as HTML and text, charts and pictures. */
void orch_notebook_add_section(json_t *outputs, const struct orch_section *section);
/** Returns whether the whole section is left to the student, and so has no outputs. */
bool orch_notebook_is_for_student(const struct orch_section *section);

/** Merges the student's cells of `before`, an array of cells, into `cells`. Returns their number.
 */
unsigned orch_notebook_carry(json_t *cells, const json_t *before);

#endif
