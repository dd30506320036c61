/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts and tables as HTML, for the page and for a notebook's cells. Names may be "<script>": what
 * goes into a page goes through here. */
#ifndef ORCH_CORE_REPORT_MARKUP_H
#define ORCH_CORE_REPORT_MARKUP_H

#include "core/report/table.h"

/** Appends a text (NULL: nothing) so that it is read as text, in an element or a quoted attribute:
 * & < > " ' are escaped; control characters and bytes that are no UTF-8 become U+FFFD. */
void orch_html_append(GString *out, const char *text);
/** Appends printf's text, its %s escaped as above. */
void orch_html_printf(GString *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** A table with column and row headers; missing cells have the class "missing". `caption`: or NULL.
 * `styled`: alignment in style attributes, for where there is no style sheet. */
void orch_html_table(GString *out, const struct orch_table *table, const char *caption,
                     bool styled);

#endif
