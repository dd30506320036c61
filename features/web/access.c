/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/access.h"

#include <string.h>
#include <sys/random.h>

const char WEB_ALONE_POLICY[] = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const char *const WEB_HEADERS[] = {
    "Content-Security-Policy",
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'",
    "X-Content-Type-Options",
    "nosniff",
    "X-Frame-Options",
    "DENY",
    "Referrer-Policy",
    "no-referrer",
    "Cross-Origin-Resource-Policy",
    "same-origin",
    "Cross-Origin-Opener-Policy",
    "same-origin",
    NULL,
};

static bool is_port(const char *text)
{
    guint64 value;
    return g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT16, &value, NULL);
}

/* Returns the name in "name" or "name:port", in lower case; NULL for any other form. Brackets of
 * IPv6 addresses stay. Owned by the caller. */
static char *name_of(const char *host)
{
    static const char name[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-";
    static const char figures[] = G_CSET_DIGITS "abcdefABCDEF:.";
    bool is_v6 = *host == '[';
    size_t length = is_v6 ? 1 + strspn(host + 1, figures) : strspn(host, name);
    if (is_v6 && host[length++] != ']')
        return NULL;
    const char *rest = host + length;
    bool is_name = length > 0 && (!*rest || (*rest == ':' && is_port(rest + 1)));
    return is_name ? g_ascii_strdown(host, (gssize)length) : NULL;
}

/* Returns whether the name is a numeric address, which DNS cannot redirect. */
static bool is_literal(const char *name)
{
    g_autofree char *inner = *name == '[' ? g_strndup(name + 1, strlen(name) - 2) : g_strdup(name);
    return g_hostname_is_ip_address(inner);
}

bool orch_web_host_is_own(const struct web_guard *guard, const char *host)
{
    static const char *const loopback[] = {"127.0.0.1", "localhost", "[::1]", NULL};
    if (!host || strlen(host) > 255)
        return false;
    g_autofree char *name = name_of(host);
    if (!name)
        return false;
    /* any port is accepted, because an SSH tunnel can use another one */
    return g_strv_contains(loopback, name) || g_ascii_strcasecmp(name, guard->address) == 0 ||
           (guard->is_any &&
            (is_literal(name) || (guard->host && g_ascii_strcasecmp(name, guard->host) == 0)));
}

bool orch_web_token_is(const char *given, const char *token)
{
    size_t length = strlen(token), have = given ? strlen(given) : 0;
    unsigned char differs = have != length;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)((have ? given[i % have] : 0) ^ token[i]);
    return !differs;
}

char *orch_web_token_new(void)
{
    unsigned char bytes[WEB_TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return NULL;
    GString *text = g_string_sized_new(2 * sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        g_string_append_printf(text, "%02x", bytes[i]);
    return g_string_free(text, FALSE);
}

char *orch_web_cookie_name(unsigned port)
{
    return g_strdup_printf("orch_%u", port);
}

char *orch_web_cookie_get(const char *header, const char *name)
{
    size_t length = strlen(name);
    g_auto(GStrv) parts = g_strsplit(header ? header : "", ";", 64);
    for (int i = 0; parts[i]; i++) {
        const char *part = g_strstrip(parts[i]);
        if (strncmp(part, name, length) == 0 && part[length] == '=')
            return g_strdup(part + length + 1);
    }
    return NULL;
}

static bool is_bearer(const struct web_head *head)
{
    return head->authorization && g_str_has_prefix(head->authorization, "Bearer ");
}

static bool has_token(const struct web_guard *guard, const struct web_head *head)
{
    return guard->token && is_bearer(head) &&
           orch_web_token_is(head->authorization + strlen("Bearer "), guard->token);
}

static bool has_cookie(const struct web_guard *guard, const struct web_head *head)
{
    if (!guard->session)
        return false;
    g_autofree char *name = orch_web_cookie_name(guard->port);
    g_autofree char *cookie = orch_web_cookie_get(head->cookie, name);
    return orch_web_token_is(cookie, guard->session);
}

/* Returns whether the request may read: it has the cookie, or the token as a bearer. */
static bool web_guard_knows(const struct web_guard *guard, const struct web_head *head)
{
    return has_token(guard, head) || has_cookie(guard, head);
}

bool orch_web_guard_trusts(const struct web_guard *guard, const struct web_head *head)
{
    return has_token(guard, head) ||
           (has_cookie(guard, head) && guard->key && orch_web_token_is(head->key, guard->key));
}

/* Returns whether a header value is this type, with or without parameters. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    return type && g_ascii_strncasecmp(type, json, strlen(json)) == 0 &&
           strchr("; \t", type[strlen(json)]);
}

/* A page of the same origin sends "http://" and the Host that it asked. A page on another port of
 * this machine has the same site and the same cookies, but not that origin. */
static bool is_own_origin(const struct web_head *head)
{
    static const char scheme[] = "http://";
    return head->origin ? g_str_has_prefix(head->origin, scheme) &&
                              g_ascii_strcasecmp(head->origin + strlen(scheme), head->host) == 0
                        : is_bearer(head); /* a program; every browser sends the origin */
}

/* A change of the store needs the key or the token, a request of the page itself, and a type that a
 * form of another site cannot send. */
static struct web_verdict check_change(const struct web_guard *guard, const struct web_head *head)
{
    if (head->body_bytes <= 0 || head->body_bytes > WEB_CHANGE_MAX)
        return (struct web_verdict){413, "a change has a body of 1 byte to 32 KiB", NULL};
    if ((head->site && strcmp(head->site, "same-origin") != 0) || !is_own_origin(head))
        return (struct web_verdict){403, "asked for by another site", NULL};
    if (!is_json(head->type))
        return (struct web_verdict){415, "a change is JSON", NULL};
    if (guard->no_change)
        return (struct web_verdict){403, guard->no_change, NULL};
    if (!orch_web_guard_trusts(guard, head))
        return (struct web_verdict){401, "the page's key is missing or wrong",
                                    "open the whole address that 'orch serve' printed"};
    return (struct web_verdict){0};
}

struct web_verdict orch_web_guard_check(const struct web_guard *guard, const struct web_head *head)
{
    const bool is_change = strcmp(head->path, WEB_CHANGE_PATH) == 0;
    const bool is_post = strcmp(head->method, "POST") == 0;
    const bool is_get = strcmp(head->method, "GET") == 0 || strcmp(head->method, "HEAD") == 0;
    if (!orch_web_host_is_own(guard, head->host))
        return (struct web_verdict){421, "this server does not answer for that host name",
                                    "open it by the address that 'orch serve' printed"};
    if (is_change ? !is_post : !is_get)
        return (struct web_verdict){405,
                                    is_change ? "only POST changes the store"
                                              : "only GET and HEAD: this address changes nothing",
                                    NULL};
    if (head->url_bytes > WEB_URL_MAX)
        return (struct web_verdict){414, "the address is longer than 8 KiB",
                                    "a shorter condition, or fewer columns"};
    if (is_change)
        return check_change(guard, head);
    if (head->body_bytes)
        return (struct web_verdict){413, "a request has no body here", NULL};
    if (head->site && strcmp(head->site, "cross-site") == 0 &&
        g_str_has_prefix(head->path, "/api/"))
        return (struct web_verdict){403, "asked for by another site", NULL};
    if (guard->token && strcmp(head->path, "/") == 0 &&
        orch_web_token_is(head->query_token, guard->token))
        return (struct web_verdict){303, NULL, NULL};
    if (guard->is_open || web_guard_knows(guard, head))
        return (struct web_verdict){0};
    return (struct web_verdict){401, "the token is missing or wrong",
                                "open the whole address that 'orch serve' printed"};
}

void orch_web_guard_clear(struct web_guard *guard)
{
    g_free(guard->address);
    g_free(guard->host);
    g_free(guard->token);
    g_free(guard->session);
    g_free(guard->key);
    *guard = (struct web_guard){0};
}
