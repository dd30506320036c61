/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/tool.h"

#include "lib/base/error.h"
#include "lib/base/subprocess.h"

enum { LIMIT_S = 600, LINES_MAX = 20 };

bool orch_tool_run(const char *folder, const char *const *argv, const char *hint_absent,
                   const char *hint_failed, GError **error)
{
    struct orch_subprocess_end end;
    GError *problem = NULL;
    const struct orch_subprocess command = {.argv = argv, .folder = folder, .timeout_s = LIMIT_S};
    if (!orch_subprocess_run(&command, &end, &problem)) {
        bool is_absent = g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND);
        g_autofree char *what = orch_error_what(problem);
        orch_error_set(
            error, problem->code == ORCH_ERROR_INTERRUPTED ? ORCH_ERROR_INTERRUPTED : ORCH_ERROR_IO,
            is_absent ? hint_absent : hint_failed, "%s", what);
        g_error_free(problem);
        return false;
    }
    bool ok = end.status == 0;
    g_autofree char *said = orch_subprocess_complaint(end.err, LINES_MAX);
    if (!ok)
        orch_error_set(error, ORCH_ERROR_IO, hint_failed, "%s failed: %s", argv[0], said);
    orch_subprocess_end_clear(&end);
    return ok;
}
