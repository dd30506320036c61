/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Escapes texts and formats tables as HTML, for the page and for notebook cells. Names may be
 * "<script>", so everything that goes into a page goes through these functions. */
#ifndef ORCH_CORE_RENDER_MARKUP_H
#define ORCH_CORE_RENDER_MARKUP_H

#include "core/render/table.h"

/** Appends a text (NULL: nothing) escaped for an element or a quoted attribute: & < > " ' become
 * entities; control characters and invalid UTF-8 become U+FFFD. */
void orch_html_append(GString *out, const char *text);
/** Formats like printf and appends the result; the arguments of %s are escaped as above. */
void orch_html_printf(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Appends a table with column and row headers; missing cells have the class "missing". `caption`
 * may be NULL. `styled` writes alignment as style attributes, for output without a style sheet. */
void orch_html_table(GString *out, const struct orch_table *table, const char *caption,
                     bool styled);

#endif
