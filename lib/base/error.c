/* SPDX-License-Identifier: MIT */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static const char BEFORE_HINT[] = "\n  hint: ";

/** Private data of an error. GLib's accessor returns NULL for errors of other domains. */
typedef struct {
    char *hint; /* or NULL; the message ends with it */
} OrchErrorPrivate;

static void orch_error_private_init(OrchErrorPrivate *own)
{
    if (own)
        own->hint = NULL;
}

static void orch_error_private_copy(const OrchErrorPrivate *from, OrchErrorPrivate *to)
{
    if (from && to)
        to->hint = g_strdup(from->hint);
}

static void orch_error_private_clear(OrchErrorPrivate *own)
{
    if (own)
        g_free(own->hint);
}

G_DEFINE_EXTENDED_ERROR(OrchError, orch_error)

const char *orch_error_hint(const GError *error)
{
    const OrchErrorPrivate *own =
        error->domain == ORCH_ERROR ? orch_error_get_private(error) : NULL;
    return own ? own->hint : NULL;
}

char *orch_error_what(const GError *error)
{
    const char *hint = orch_error_hint(error);
    size_t behind = hint ? strlen(BEFORE_HINT) + strlen(hint) : 0;
    return g_strndup(error->message, strlen(error->message) - behind);
}

const char *orch_hint_cut(char *text)
{
    char *at = strstr(text, BEFORE_HINT);
    if (!at)
        return NULL;
    *at = 0;
    return at + strlen(BEFORE_HINT);
}

void orch_error_set(GError **error, enum orch_error_code code, const char *hint, const char *format,
                    ...)
{
    if (!error)
        return;
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, ORCH_ERROR, (int)code, "%s%s%s", what, hint ? BEFORE_HINT : "",
                hint ? hint : "");
    OrchErrorPrivate *own = orch_error_get_private(*error);
    if (own)
        own->hint = g_strdup(hint);
}

static const char *hint_for(int saved_errno)
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
    orch_error_set(error, code, hint_for(saved_errno), "%s: %s", what, g_strerror(saved_errno));
}
