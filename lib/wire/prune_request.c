/* SPDX-License-Identifier: MIT */
#include "lib/wire/prune_request.h"

#include "lib/base/file.h"

#include <string.h>
#include <unistd.h>

#define FILE_NAME "prune"
#define WHY_BYTES 1000

bool orch_prune_request_write(const char *trial_dir, const char *why, GError **error)
{
    g_autofree char *path = g_build_filename(trial_dir, FILE_NAME, NULL);
    return orch_file_write(path, why, strlen(why), false, error);
}

char *orch_prune_request_read(const char *trial_dir)
{
    g_autofree char *path = g_build_filename(trial_dir, FILE_NAME, NULL);
    char *why = NULL;
    size_t length;
    if (access(path, F_OK) != 0)
        return NULL;
    if (orch_file_read(path, WHY_BYTES, &why, &length, NULL) && g_utf8_validate(why, -1, NULL))
        return why;
    g_free(why);
    return g_strdup("its search's rule");
}
