/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs an external program, such as WeasyPrint. */
#ifndef ORCH_CORE_RENDER_TOOL_H
#define ORCH_CORE_RENDER_TOOL_H

#include <glib.h>
#include <stdbool.h>

/** Runs `argv` (NULL-terminated; looked up in PATH) in `folder` (NULL: the current one) and waits
 * for it. ORCH_ERROR_IO with its output when it fails; the hints for a missing and for a failed
 * program may be NULL. */
bool orch_tool_run(const char *folder, const char *const *argv, const char *hint_absent,
                   const char *hint_failed, GError **error);

#endif
