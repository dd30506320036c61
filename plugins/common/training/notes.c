/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/notes.h"

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
