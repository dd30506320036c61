/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/plugin/host_start.h"

#include "lib/base/error.h"
#include "lib/base/spawn.h"

bool orch_host_start(const char *program, const char *trial_dir, int in, const char *errors,
                     pid_t *out_pid, GError **error)
{
    const char *const argv[] = {program, trial_dir, NULL};
    int code = orch_spawn(
        &(struct orch_spawn){
            .argv = argv,
            .fds = {in, -1, -1},
            .files = {NULL, "/dev/null", errors},
            .file_mode = 0666,
        },
        out_pid);
    if (code)
        orch_error_set_errno(error, ORCH_ERROR_IO, code, "cannot start '%s'", program);
    return code == 0;
}
