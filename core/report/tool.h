/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs of others that draw and print: gnuplot, WeasyPrint. */
#ifndef ORCH_CORE_REPORT_TOOL_H
#define ORCH_CORE_REPORT_TOOL_H

#include <glib.h>
#include <stdbool.h>

/** Runs `argv` (NULL-terminated; found in PATH) in `folder` (NULL: this one) and waits.
 * ORCH_ERROR_IO with what it said when it fails, and a hint for that and for one that is not there
 * (may be NULL).
 */
bool orch_tool_run(const char *folder, const char *const *argv, const char *hint_absent,
                   const char *hint_failed, GError **error);

#endif
