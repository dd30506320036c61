/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Access control: decided from the request header alone, before the body is read. */
#ifndef ORCH_FEATURES_WEB_ACCESS_H
#define ORCH_FEATURES_WEB_ACCESS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    WEB_TOKEN_BYTES = 24,
    WEB_URL_MAX = 8192,     /* maximum length of a request's URL in bytes */
    WEB_CHANGE_MAX = 32768, /* maximum length of the body of a change in bytes */
};
/** The only path that takes POST: a change of the store. */
#define WEB_CHANGE_PATH "/api/v1/change"

struct web_guard {
    char *address;         /* the address to listen on, as in a URL: "127.0.0.1", "[::1]" */
    char *host;            /* this machine's name */
    bool is_any;           /* listens on all addresses of the machine */
    char *token;           /* of the printed address, and of programs; NULL: there is none, and
                              nothing is changed */
    char *session;         /* what the token is exchanged for: the cookie; NULL as the token */
    char *key;             /* the same for changes, which the page keeps; NULL as the token */
    bool is_open;          /* reading needs no token */
    const char *no_change; /* static: why the store is not changed; NULL: it may be */
    unsigned port;
};

/** The fields of a request header that access control reads. Borrowed; NULL where absent. */
struct web_head {
    const char *method, *host, *cookie, *authorization, *site; /* site: Sec-Fetch-Site */
    const char *origin, *type, *key;                           /* Content-Type, X-Orch-Key */
    const char *path, *query_token;
    size_t url_bytes;
    int64_t body_bytes; /* 0: no body; -1: of unknown length */
};

struct web_verdict {
    unsigned status;     /* 0: continue; 303: the token is valid, so exchange it */
    const char *message; /* static */
    const char *hint;    /* static, or NULL */
};
struct web_verdict orch_web_guard_check(const struct web_guard *guard, const struct web_head *head);
/** Returns whether the request may also change: it has the cookie and the page's key, or the token
 * as a bearer. A browser shows the cookie to every server of the same host name, whatever its port;
 * the key never leaves the origin of the page. */
bool orch_web_guard_trusts(const struct web_guard *guard, const struct web_head *head);

/** Returns whether a Host header names this server. Any other name may be an attacker's domain that
 * resolves to this machine (DNS rebinding). */
bool orch_web_host_is_own(const struct web_guard *guard, const char *host);
/** Compares a token in constant time, so that the time does not reveal how much of it is right. */
bool orch_web_token_is(const char *given, const char *token);
/** Makes a random token in hexadecimal. The caller frees. NULL when the system provides no random
 * bytes. */
char *orch_web_token_new(void);
/** Returns the value of a cookie in a Cookie header; NULL when it is absent. The caller frees. */
char *orch_web_cookie_get(const char *header, const char *name);
/** Returns "orch_8899". The name contains the port, because browsers share cookies between ports.
 * The caller frees. */
char *orch_web_cookie_name(unsigned port);
void orch_web_guard_clear(struct web_guard *guard);

/** Headers of every response, in name-value pairs, terminated by NULL. */
extern const char *const WEB_HEADERS[];
/** Content security policy of a self-contained page: its own style and inline pictures, nothing
 * else. */
extern const char WEB_ALONE_POLICY[];

#endif
