/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/notes.h"

#include "lib/base/error.h"

#include <stdarg.h>

int orch_training_fail(const struct orch_host *host, GError *error)
{
    host->fail(host, error ? error->message : "failed");
    g_clear_error(&error);
    return ORCH_FAILED;
}

void orch_training_note(const struct orch_host *host, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    host->note(host, text);
}

const char *orch_training_file_digest(void *host, const char *path)
{
    const struct orch_host *of = host;
    return of->file_digest(of, path);
}

bool orch_training_file_input(const struct orch_host *host, const char *name, const char *path,
                              GError **error)
{
    if (!path || host->smoke(host) || !g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return true;
    const char *digest = host->file_digest(host, path);
    if (digest)
        host->input(host, name, digest);
    else
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read and hash '%s'", path);
    return digest != NULL;
}
