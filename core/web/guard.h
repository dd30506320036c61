/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who may ask for what: decided on a request's head alone, before anything is read of it. */
#ifndef ORCH_CORE_WEB_GUARD_H
#define ORCH_CORE_WEB_GUARD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WEB_TOKEN_BYTES = 24,
    WEB_URL_MAX = 8192, /* bytes of a request's address */
};

struct web_guard {
    char *address; /* that it listens on, as it stands in a URL: "127.0.0.1", "[::1]" */
    char *host;    /* this machine's name */
    bool is_any;   /* listens on every address of the machine */
    char *token;   /* NULL: none is wanted */
    unsigned port;
};

/** The head of a request. Borrowed; NULL where absent. */
struct web_head {
    const char *method, *host, *cookie, *authorization, *site; /* site: Sec-Fetch-Site */
    const char *path, *query_token;
    size_t url_bytes;
    int64_t body_bytes; /* 0: none; -1: of unknown length */
};

struct web_verdict {
    unsigned status;     /* 0: go on; 303: the token was right, keep it as a cookie */
    const char *message; /* static */
    const char *hint;    /* static, or NULL */
};
struct web_verdict web_guard_check(const struct web_guard *guard, const struct web_head *head);

/** Is a Host header one of this server's own names? (Another one is a stranger's domain that was
 * pointed at this machine.) */
bool web_host_is_own(const struct web_guard *guard, const char *host);
/** In a time that says nothing of how much was right. */
bool web_token_is(const char *given, const char *token);
/** A fresh token: hex. The caller frees. NULL when the system gives no random bytes. */
char *web_token_new(void);
/** The value of a cookie in a Cookie header; NULL: not there. The caller frees. */
char *web_cookie_get(const char *header, const char *name);
/** "orch_8899": cookies are not told apart by ports. The caller frees. */
char *web_cookie_name(unsigned port);
void web_guard_clear(struct web_guard *guard);

/** Every answer's headers, in pairs, ended by NULL. */
extern const char *const WEB_HEADERS[];
/** The policy of a page that stands alone: its own style, pictures inside, nothing else. */
extern const char WEB_ALONE_POLICY[];

#endif
