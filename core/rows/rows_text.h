/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes CSV text field by field, for the files of this folder that make rows. */
#ifndef ORCH_CORE_ROWS_ROWS_TEXT_H
#define ORCH_CORE_ROWS_ROWS_TEXT_H

#include <glib.h>

/** Appends a field and a comma; NULL and NaN give an empty field. */
void orch_rows_append_text(GString *out, const char *text);
void orch_rows_number(GString *out, double value);
/** Ends the record: replaces the last comma by a newline. */
void orch_rows_end(GString *out);

#endif
