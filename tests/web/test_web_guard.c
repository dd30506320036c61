/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/web/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct web_guard local = {.address = "127.0.0.1",
                                 .host = "lab",
                                 .token = "fedcba9876543210",
                                 .session = "00112233445566",
                                 .key = "99887766554433",
                                 .is_open = true,
                                 .port = 8899};
static struct web_guard any = {.address = "0.0.0.0",
                               .host = "lab",
                               .is_any = true,
                               .token = "0123456789abcdef",
                               .session = "a0b1c2d3",
                               .key = "f0e1d2c3",
                               .port = 8899};

static void hosts_that_are_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool local, any;
    } rows[] = {
        {"127.0.0.1:8899", true, true},
        {"localhost", true, true},
        {"LocalHost:1", true, true},
        {"[::1]:8899", true, true},
        {"10.1.2.3:8899", false, true},
        {"lab:8899", false, true},
        {"LAB", false, true},
        {"[fe80::1]", false, true},
        {"evil.example", false, false},
        {"127.0.0.1.evil.example", false, false},
        {"localhost.evil.example", false, false},
        {"1.2.3.4.nip.io", false, false},
        {"", false, false},
        {":8899", false, false},
        {"[::1", false, false},
        {"lab.evil.example", false, false},
        {"127.0.0.1@evil.example", false, false},
        {"127.0.0.1:1@evil.example", false, false},
        {"127.0.0.1:1@evil", false, false},
        {"127.0.0.1:", false, false},
        {"127.0.0.1:+1", false, false},
        {"127.0.0.1:65536", false, false},
        {"127.0.0.1:80:80", false, false},
        {"127.0.0.1 ", false, false},
        {"user@127.0.0.1", false, false},
        {"localhost/evil", false, false},
        {"[::1]evil", false, false},
        {"[::1]]", false, false},
        {"[evil]", false, false},
        {"[::1].evil", false, false},
        {"10.1.2.3.4", false, false},
        {"10.1.2.3@evil:80", false, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (orch_web_host_is_own(&local, rows[i].host) != rows[i].local ||
            orch_web_host_is_own(&any, rows[i].host) != rows[i].any)
            fail_msg("host '%s'", rows[i].host);
    }
    assert_false(orch_web_host_is_own(&local, NULL));
    g_autofree char *host = g_strnfill(300, '1');
    assert_false(orch_web_host_is_own(&any, host));
}

static void tokens(void **state)
{
    (void)state;
    assert_true(orch_web_token_is("secret", "secret"));
    static const char *const wrong[] = {"", "s", "secre", "secretx", "Secret", "secretsecret"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(orch_web_token_is(wrong[i], "secret"));
    assert_false(orch_web_token_is(NULL, "secret"));
    g_autofree char *a = orch_web_token_new(), *b = orch_web_token_new();
    assert_int_equal(strlen(a), 2 * WEB_TOKEN_BYTES);
    assert_string_not_equal(a, b);
}

static void cookies(void **state)
{
    (void)state;
    static const struct {
        const char *header, *value;
    } rows[] = {
        {"orch_1=x", "x"},
        {"a=b; orch_1=x; c=d", "x"},
        {"orch_12=y; orch_1=x", "x"},
        {"orch_12=y", NULL},
        {"xorch_1=y", NULL},
        {"orch_1", NULL},
        {"", NULL},
        {NULL, NULL},
        {"orch_1=", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        g_autofree char *value = orch_web_cookie_get(rows[i].header, "orch_1");
        if (g_strcmp0(value, rows[i].value) != 0)
            fail_msg("cookie in '%s'", rows[i].header);
    }
}

static void heads(void **state)
{
    (void)state;
    const struct web_head good = {
        .method = "GET", .host = "localhost", .path = "/api/v1/runs", .url_bytes = 30};
    assert_int_equal(orch_web_guard_check(&local, &good).status, 0);
    assert_int_equal(orch_web_guard_check(&any, &good).status, 401);
    struct web_head head = good;
    head.method = "POST";
    assert_int_equal(orch_web_guard_check(&local, &head).status, 405);
    head = good;
    head.url_bytes = WEB_URL_MAX + 1;
    assert_int_equal(orch_web_guard_check(&local, &head).status, 414);
    head = good;
    head.body_bytes = -1;
    assert_int_equal(orch_web_guard_check(&local, &head).status, 413);
    head = good;
    head.site = "cross-site";
    assert_int_equal(orch_web_guard_check(&local, &head).status, 403);
    head.path = "/"; /* a link from elsewhere may lead to the page */
    assert_int_equal(orch_web_guard_check(&local, &head).status, 0);
    head = good;
    head.query_token = any.token; /* elsewhere it would stay in logs and histories */
    assert_int_equal(orch_web_guard_check(&any, &head).status, 401);
    head.path = "/";
    assert_int_equal(orch_web_guard_check(&any, &head).status, 303);
    head = good;
    head.cookie = "orch_8899=0123456789abcdef"; /* the token is no cookie */
    assert_int_equal(orch_web_guard_check(&any, &head).status, 401);
    head.cookie = "orch_8899=a0b1c2d3";
    assert_int_equal(orch_web_guard_check(&any, &head).status, 0);
    head.host = "evil.example";
    assert_int_equal(orch_web_guard_check(&any, &head).status, 421);
}

/* A change needs everything at once: each row leaves one thing out, or has it wrong. */
static void changes(void **state)
{
    (void)state;
    const struct web_head good = {.method = "POST",
                                  .host = "localhost:8899",
                                  .path = WEB_CHANGE_PATH,
                                  .origin = "http://localhost:8899",
                                  .site = "same-origin",
                                  .type = "application/json",
                                  .cookie = "orch_8899=00112233445566",
                                  .key = "99887766554433",
                                  .url_bytes = 40,
                                  .body_bytes = 20};
    assert_int_equal(orch_web_guard_check(&local, &good).status, 0);
    const struct {
        size_t offset;
        const char *value;
        unsigned status;
    } rows[] = {
        {offsetof(struct web_head, method), "GET", 405},
        {offsetof(struct web_head, method), "PUT", 405},
        {offsetof(struct web_head, path), "/api/v1/runs", 405},
        {offsetof(struct web_head, host), "evil.example", 421},
        {offsetof(struct web_head, host), "127.0.0.1:8899", 403}, /* another origin */
        {offsetof(struct web_head, origin), NULL, 403},
        {offsetof(struct web_head, origin), "http://localhost:3000", 403},
        {offsetof(struct web_head, origin), "https://localhost:8899", 403},
        {offsetof(struct web_head, origin), "null", 403},
        {offsetof(struct web_head, site), "same-site", 403},
        {offsetof(struct web_head, site), "none", 403},
        {offsetof(struct web_head, site), NULL, 0}, /* older browsers */
        {offsetof(struct web_head, type), NULL, 415},
        {offsetof(struct web_head, type), "text/plain", 415},
        {offsetof(struct web_head, type), "application/json; charset=utf-8", 0},
        {offsetof(struct web_head, cookie), NULL, 401},
        {offsetof(struct web_head, cookie), "orch_8898=00112233445566", 401},
        {offsetof(struct web_head, cookie), "orch_8899=fedcba9876543210", 401}, /* the token */
        {offsetof(struct web_head, cookie), "orch_8899=99887766554433", 401},   /* the key */
        /* a server at another port of this host was shown the cookie, and nothing else */
        {offsetof(struct web_head, key), NULL, 401},
        {offsetof(struct web_head, key), "00112233445566", 401},
        {offsetof(struct web_head, key), "fedcba9876543210", 401},
        {offsetof(struct web_head, key), "", 401},
        {offsetof(struct web_head, authorization), "Bearer x", 0}, /* cookie and key are enough */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct web_head head = good;
        *(const char **)(void *)((char *)&head + rows[i].offset) = rows[i].value;
        if (orch_web_guard_check(&local, &head).status != rows[i].status)
            fail_msg("row %zu: %u", i, orch_web_guard_check(&local, &head).status);
    }
    struct web_head head = good;
    head.body_bytes = 0;
    assert_int_equal(orch_web_guard_check(&local, &head).status, 413);
    head.body_bytes = WEB_CHANGE_MAX + 1;
    assert_int_equal(orch_web_guard_check(&local, &head).status, 413);
    head = good;
    head.cookie = head.origin = NULL;
    head.authorization = "Bearer 00112233445566"; /* neither is a token */
    assert_int_equal(orch_web_guard_check(&local, &head).status, 401);
    head.authorization = "Bearer 99887766554433";
    assert_int_equal(orch_web_guard_check(&local, &head).status, 401);
    head.authorization = "Bearer fedcba9876543210";
    assert_int_equal(orch_web_guard_check(&local, &head).status, 0);
    struct web_guard closed = local;
    closed.no_change = "this page only reads";
    assert_int_equal(orch_web_guard_check(&closed, &good).status, 403);
    closed.token = NULL;
    assert_int_equal(orch_web_guard_check(&closed, &good).status, 403);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_that_are_its_own),
        cmocka_unit_test(tokens),
        cmocka_unit_test(cookies),
        cmocka_unit_test(heads),
        cmocka_unit_test(changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
