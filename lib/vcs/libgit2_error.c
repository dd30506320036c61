/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/vcs/libgit2.h"

#include "lib/base/error.h"

#include <stdarg.h>
#include <string.h>

void orch_libgit2_error(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    const git_error *last = git_error_last(); /* may be NULL */
    const char *why = last && last->message ? last->message : "unknown error of libgit2";
    bool is_denied = strstr(why, "Permission denied") || strstr(why, "Read-only");
    bool is_missing = strstr(why, "object not found - no match for id");
    orch_error_set(error, ORCH_ERROR_IO,
                   is_denied    ? "use a repository of your own: orch writes into it"
                   : is_missing ? ORCH_PARTIAL_CLONE_HINT
                                : NULL,
                   "%s: %s", what, why);
}
