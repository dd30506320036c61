/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/record/cancel_request.h"

#include "lib/base/file.h"

#include <string.h>
#include <unistd.h>

#define FILE_NAME "cancel"
#define WHO_BYTES 200

bool orch_cancel_request_write(const char *trial_dir, const char *who, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, FILE_NAME, NULL);
    return orch_file_write(path, who, strlen(who), false, error);
}

char *orch_cancel_request_read(const char *trial_dir)
{
    g_autofree char *path = g_build_filename(trial_dir, FILE_NAME, NULL);
    g_autofree char *who = NULL;
    size_t length;
    if (access(path, F_OK) != 0)
        return NULL;
    bool is_read = orch_file_read(path, WHO_BYTES, &who, &length, NULL) && length;
    return g_strdup_printf("'orch cancel'%s%s", is_read ? " by " : "", is_read ? who : "");
}
