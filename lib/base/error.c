/* SPDX-License-Identifier: MIT */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>

G_DEFINE_QUARK(orch - error - quark, orch_error)

void orch_error_set(GError **error, enum orch_error_code code, const char *hint, const char *format,
                    ...)
{
    if (!error)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    if (hint)
        g_set_error(error, ORCH_ERROR, (int)code, "%s\n  hint: %s", what, hint);
    else
        g_set_error_literal(error, ORCH_ERROR, (int)code, what);
}

static const char *cure(int saved_errno)
{
    switch (saved_errno) {
    case EACCES:
    case EPERM:
        return "check the permissions of the file and of its folder";
    case ENOSPC:
        return "the disk is full: free some space and run the same command again";
    case EDQUOT:
        return "your quota is used up: free some space and run the same command again";
    case EROFS:
        return "the file system is read-only: choose another place with --db or -C";
    case EMFILE:
    case ENFILE:
        return "too many open files: raise 'ulimit -n'";
    default:
        return NULL;
    }
}

void orch_error_set_errno(GError **error, enum orch_error_code code, int saved_errno,
                          const char *format, ...)
{
    if (!error)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_error_set(error, code, cure(saved_errno), "%s: %s", what, g_strerror(saved_errno));
}
