/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV text, field by field; for the files that make rows. */
#ifndef ORCH_CORE_RUN_ROWS_TEXT_H
#define ORCH_CORE_RUN_ROWS_TEXT_H

#include <glib.h>

/** Adds a field and the comma behind it; NULL and NaN are empty. */
void rows_text(GString *out, const char *text);
void rows_number(GString *out, double value);
/** Ends the record: its last comma becomes a line end. */
void rows_end(GString *out);

#endif
