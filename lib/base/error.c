/* SPDX-License-Identifier: MIT */
#include "lib/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static const char BEFORE_HINT[] = "\n  hint: ";

/** Private data of an error. */
struct private_data {
    char *hint; /* or NULL; the message ends with it */
};

/* Where G_DEFINE_EXTENDED_ERROR expects it: before the error, in whole units of two words. */
static struct private_data *private_of(const GError *error)
{
    const size_t unit = 2 * sizeof(size_t);
    size_t size = (sizeof(struct private_data) + unit - 1) / unit * unit;
    return (struct private_data *)((uintptr_t)error - size);
}

static void private_init(GError *error)
{
    private_of(error)->hint = NULL;
}

static void private_copy(const GError *from, GError *to)
{
    private_of(to)->hint = g_strdup(private_of(from)->hint);
}

static void private_clear(GError *error)
{
    g_free(private_of(error)->hint);
}

/* The host, each plugin and the LibTorch adapter have copies of this file in one process. The macro
 * would register the domain in each, which GLib criticizes in the trial's log: the first copy does
 * it for all. */
GQuark orch_error_quark(void)
{
    static const char NAME[] = "orch-error-quark";
    static gsize quark;
    if (g_once_init_enter(&quark)) {
        gsize known = g_quark_try_string(NAME);
        if (!known)
            known = g_error_domain_register_static(NAME, sizeof(struct private_data), private_init,
                                                   private_copy, private_clear);
        g_once_init_leave(&quark, known);
    }
    return (GQuark)quark;
}

const char *orch_error_hint(const GError *error)
{
    return error->domain == ORCH_ERROR ? private_of(error)->hint : NULL;
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
    g_autofree char *bytes = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *what = g_utf8_make_valid(bytes, -1);
    char *valid_hint = hint ? g_utf8_make_valid(hint, -1) : NULL;
    g_set_error(error, ORCH_ERROR, (int)code, "%s%s%s", what, hint ? BEFORE_HINT : "",
                hint ? valid_hint : "");
    private_of(*error)->hint = valid_hint;
}

static const char *hint_for(int saved_errno)
{
    switch (saved_errno) {
    case EACCES:
    case EPERM:
        return "check the permissions of the file and of its folder";
    case ENOSPC:
        return "the disk is full: free some space";
    case EDQUOT:
        return "your quota is used up: free some space";
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
