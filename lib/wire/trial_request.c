/* SPDX-License-Identifier: MIT */
#include "lib/wire/trial_request.h"

#include "lib/base/file.h"

#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 1000

static char *path_of(const char *trial_dir, enum orch_trial_request request)
{
    static const char *const files[] = {
        [ORCH_REQUEST_CANCEL] = "cancel", [ORCH_REQUEST_PRUNE] = "prune"};
    return g_build_filename(trial_dir, files[request], NULL);
}

bool orch_trial_request_write(const char *trial_dir, enum orch_trial_request request,
                              const char *text, GError **error)
{
    g_autofree char *path = path_of(trial_dir, request);
    return orch_file_write(path, text, strlen(text), false, error);
}

char *orch_trial_request_read(const char *trial_dir, enum orch_trial_request request)
{
    g_autofree char *path = path_of(trial_dir, request), *text = NULL;
    size_t length;
    if (access(path, F_OK) != 0)
        return NULL;
    bool is_read = orch_file_read(path, TEXT_BYTES, &text, &length, NULL);
    return is_read && g_utf8_validate(text, -1, NULL) ? g_steal_pointer(&text) : g_strdup("");
}
