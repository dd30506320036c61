/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The deny-list of captures. A captured tree may later be pushed to a shared remote, and nobody
 * decided to share untracked files. So files with names of secrets, or that begin like a private
 * key, are left out and listed. A false positive costs a line in that list and disappears when the
 * file is committed; a missed key costs more, so the patterns err on the side of caution. */
#include "lib/vcs/secret_files.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

static const char why_environment[] = "looks like a file of secret settings";
static const char why_key[] = "looks like a private key";
static const char why_password[] = "looks like a file of passwords";

/* Patterns for the last path component, with at most one star, at an end; the first match decides.
 */
static const struct {
    const char *pattern;
    const char *why; /* NULL: harmless */
} names[] = {
    {".env.example", NULL},
    {".env.sample", NULL},
    {".env.template", NULL},
    {".env.dist", NULL},
    {".env", why_environment},
    {".env.*", why_environment},
    {"*.env", why_environment},
    {".envrc", why_environment},
    {"id_rsa", why_key},
    {"id_dsa", why_key},
    {"id_ecdsa", why_key},
    {"id_ecdsa_sk", why_key},
    {"id_ed25519", why_key},
    {"id_ed25519_sk", why_key},
    {"*.pem", why_key},
    {"*.key", why_key},
    {"*.ppk", why_key},
    {"*.p12", why_key},
    {"*.pfx", why_key},
    {"*.jks", why_key},
    {"*.keystore", why_key},
    {"*.kdbx", why_password},
    {".netrc", why_password},
    {"_netrc", why_password},
    {".pgpass", why_password},
    {".my.cnf", why_password},
    {".pypirc", why_password},
    {".npmrc", why_password},
    {".git-credentials", why_password},
    {".htpasswd", why_password},
    {".dockercfg", why_password},
    {"credentials", why_password},
    {"credentials.json", why_password},
    {"kaggle.json", why_password},
};

/* Of each file that a run has read: fnmatch takes ten times as long. */
static bool matches(const char *pattern, const char *name, size_t length)
{
    size_t n = strlen(pattern);
    if (*pattern == '*')
        return length + 1 >= n && g_ascii_strcasecmp(name + length + 1 - n, pattern + 1) == 0;
    if (pattern[n - 1] == '*')
        return g_ascii_strncasecmp(name, pattern, n - 1) == 0;
    return g_ascii_strcasecmp(name, pattern) == 0;
}

const char *orch_secret_by_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (matches(names[i].pattern, name, length))
            return names[i].why;
    return NULL;
}

/* First lines of private keys: a prefix, and a text that must follow in the same line. */
static const struct {
    const char *start, *inside;
} headers[] = {
    {"-----BEGIN ", "PRIVATE KEY"}, /* PEM, OpenSSH, OpenPGP */
    {"---- BEGIN ", "PRIVATE KEY"}, /* SSH2 */
    {"PuTTY-User-Key-File-", ""},
    {"AGE-SECRET-KEY-", ""},
};

const char *orch_secret_by_content(const void *head, size_t length)
{
    g_autofree char *text = g_strndup(head, MIN(length, ORCH_SECRET_HEAD_BYTES));
    const char *line = text;
    if (g_str_has_prefix(line, "\xef\xbb\xbf")) /* a byte order mark */
        line += 3;
    line += strspn(line, " \t\r\n");
    g_autofree char *first = g_strndup(line, strcspn(line, "\r\n"));
    for (unsigned i = 0; i < G_N_ELEMENTS(headers); i++)
        if (g_str_has_prefix(first, headers[i].start) && strstr(first, headers[i].inside))
            return why_key;
    return NULL;
}

char *orch_url_public(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (scheme) {
        const char *host = scheme + 3;
        size_t length = strcspn(host, "/?#");
        const char *at = g_strrstr_len(host, (gssize)length, "@");
        const char *rest = at ? at + 1 : host;
        g_autofree char *start = g_strndup(url, (gsize)(host - url));
        g_autofree char *end = g_strndup(rest, strcspn(rest, "?#"));
        return g_strconcat(start, end, NULL);
    }
    /* user@host:path, unlike a path, has a colon before any slash */
    size_t length = strcspn(url, "/:");
    const char *at = url[length] == ':' ? g_strrstr_len(url, (gssize)length, "@") : NULL;
    return g_strdup(at ? at + 1 : url);
}
