/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/render/tool.h"

#include "lib/base/error.h"

#include <stdint.h>

bool orch_tool_run(const char *folder, const char *const *argv, const char *hint_absent,
                   const char *hint_failed, GError **error)
{
    g_autofree char *said = NULL;
    g_autoptr(GError) failed = NULL;
    int status = 0;
    if (!g_spawn_sync(folder, (char **)(uintptr_t)argv, NULL,
                      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &said,
                      &status, &failed)) {
        orch_error_set(error, ORCH_ERROR_IO, hint_absent, "cannot start %s: %s", argv[0],
                       failed->message);
        return false;
    }
    if (g_spawn_check_wait_status(status, NULL))
        return true;
    orch_error_set(error, ORCH_ERROR_IO, hint_failed, "%s failed: %s", argv[0], g_strstrip(said));
    return false;
}
