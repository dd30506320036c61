# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a server of 'orch serve' for what it must refuse: refusals.py open|token ADDRESS. Raw sockets, since a client
library would not send most of it. Exit status 1 with the first request that was answered wrongly."""
import json
import socket
import sys
import urllib.parse

kind, address = sys.argv[1:3]
url = urllib.parse.urlsplit(address)
HOST, PORT = "127.0.0.1", url.port
TOKEN = urllib.parse.parse_qs(url.query).get("token", [None])[0]


def raw(data, wait=10):
    """All bytes that come back until the other side closes, or is done with one answer."""
    with socket.create_connection((HOST, PORT), timeout=wait) as s:
        try:
            s.sendall(data)
        except OSError:
            pass  # closed while we were still sending
        got = b""
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    break
                got += part
        except OSError:
            pass
        return got


def ask(path, method="GET", host=None, headers=(), body=b""):
    """Status, headers (lower case), body."""
    lines = [f"{method} {path} HTTP/1.1", "Connection: close"]
    if host != "":
        lines.append(f"Host: {host or f'{HOST}:{PORT}'}")
    lines += list(headers)
    got = raw("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
    head, _, rest = got.partition(b"\r\n\r\n")
    parts = head.decode("latin-1").split("\r\n")
    status = int(parts[0].split()[1]) if parts[0].startswith("HTTP/") else 0
    return status, {n.lower(): v for n, _, v in (p.partition(": ") for p in parts[1:])}, rest


def expect(what, got, *wanted):
    if got not in wanted:
        sys.exit(f"{what}: {got!r}, expected {' or '.join(map(repr, wanted))}")


def expect_refusal(what, answer, *statuses):
    """A refusal is JSON with a message, and has the page's headers."""
    status, headers, body = answer
    expect(what, status, *statuses)
    expect(f"{what}: nosniff", headers.get("x-content-type-options"), "nosniff")
    if "default-src 'self'" not in headers.get("content-security-policy", ""):
        sys.exit(f"{what}: no content security policy")
    if not json.loads(body)["error"]["message"]:
        sys.exit(f"{what}: no message")


def hosts():
    for host in ("evil.example", f"evil.example:{PORT}", "127.0.0.1.evil.example", "localhost.evil.example",
                 "192.168.0.7", "x" * 300):
        expect_refusal(f"host {host[:40]}", ask("/api/v1/about", host=host), 421)
    for host in ("[::1", "@127.0.0.1", "a b", "localhost@evil.example"):  # libsoup's own answer, without a page
        expect(f"host {host}", ask("/api/v1/about", host=host)[0], 400, 421)
    expect("no host", ask("/", host="")[0], 400, 421)
    for host in (f"localhost:{PORT}", "localhost:9", "127.0.0.1", f"[::1]:{PORT}", "LOCALHOST"):
        expect(f"host {host}", ask("/api/v1/about", host=host)[0], 200)


def methods():
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"):
        status, headers, _ = ask("/api/v1/runs", method=method)
        expect(method, status, 405)
        expect(f"{method}: Allow", headers.get("allow"), "GET, HEAD")
    status, headers, body = ask("/api/v1/about", method="HEAD")
    expect("HEAD", (status, body), (200, b""))
    expect_refusal("a body", ask("/api/v1/about", headers=["Content-Length: 5"], body=b"hello"), 413)
    expect_refusal("a body in chunks", ask("/api/v1/about", headers=["Transfer-Encoding: chunked"],
                                           body=b"5\r\nhello\r\n0\r\n\r\n"), 413)
    expect_refusal("another site", ask("/api/v1/about", headers=["Sec-Fetch-Site: cross-site"]), 403)


def ways_out():
    secret = b"root:"
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/js/..%2f..%2f..%2fetc%2fpasswd",
                 "//etc/passwd", "/js/../../app.cs", "/js/%00", "/js", "/js/", "/.git/config", "/\\etc\\passwd",
                 "/api/v1/report?recipe=/etc/passwd", "/api/v1/report?recipe=../curve.recipe",
                 "/api/v1/page?recipe=/etc/passwd", "/api/v1/page?recipe=../curve.recipe", "/api/v1/page?recipe=--help",
                 "/api/v1/forecast?net=/etc/passwd", "/api/v1/forecast?net=..%2fx.csv", "/api/v1/runs/..%2f..%2fx",
                 "/api/v1/runs/@last/artifact?name=../../../etc/passwd", "/api/v1/runs//etc", "/api/v1/nothing",
                 "/api/v2/runs", "/api/v1/runs/@last/none"):
        status, headers, body = ask(path)
        expect(path, status, 400, 403, 404)
        if secret in body:
            sys.exit(f"{path}: the file was sent")


def page_of_a_report():
    status, headers, body = ask("/api/v1/page?recipe=curve.recipe")
    expect("page", (status, headers.get("content-type")), (200, "text/html; charset=utf-8"))
    policy = headers.get("content-security-policy", "")
    if "default-src 'none'" not in policy or "script-src" in policy or b"<script" in body or b"Accuracy by rate" not in body:
        sys.exit(f"page: not the report without scripts ({policy})")


def heads():
    expect_refusal("long address", ask("/api/v1/runs?where=" + "a" * 9000), 414)
    got = raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 2000000 + b"\r\n\r\n")
    if got.startswith(b"HTTP/1.1 200"):
        sys.exit("a head of 2 MB was answered")
    for junk in (b"\x00" * 100, b"GET\r\n\r\n", b"\xff\xfe\xfd\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\r\n"):
        with socket.create_connection((HOST, PORT), timeout=5) as s:
            s.sendall(junk)
    expect("after junk", ask("/api/v1/about")[0], 200)
    idle = [socket.create_connection((HOST, PORT), timeout=5) for _ in range(300)]
    for i in range(3):
        expect("beside 300 connections that say nothing", ask("/api/v1/about")[0], 200)
    for s in idle:
        s.close()


def questions():
    for path in ("where=lr%20%3E", "where=nothing%20=%201", "limit=-1", "limit=999999999", "offset=x",
                 "columns=" + ",".join(["key"] * 100), "where=" + "(" * 200, "where=%ff", "columns="):
        status, headers, body = ask("/api/v1/runs?" + path)
        if path in ("where=%ff", "columns="):
            expect(path, status, 200, 400)
            continue
        expect_refusal(path, (status, headers, body), 400)
    status, _, body = ask("/api/v1/runs?where=nothing%20=%201")
    if "character 1" not in json.loads(body)["error"]["message"]:
        sys.exit(f"no column in {body}")
    for name in ("'; DROP TABLE run; --", '") OR 1=1 --', "a\x01b"):
        status, _, body = ask("/api/v1/runs?columns=key," + urllib.parse.quote("param." + name))
        expect(name, status, 200)
        expect(f"{name}: rows", len(json.loads(body)["rows"]), 7)
    # a hostile name is data: JSON, and no answer of the interface can be taken for a page
    status, headers, body = ask("/api/v1/runs?columns=name,who")
    expect("type", headers["content-type"], "application/json")
    names = json.loads(body)["rows"]
    if not any("<script>" in (row[0] or "") for row in names):
        sys.exit(f"the hostile parameter is not there: {names}")
    status, headers, body = ask("/api/v1/runs/@last/artifact?name=stdout")
    expect("an artifact", (status, headers["content-type"]), (200, "application/octet-stream"))
    if "attachment" not in headers.get("content-disposition", ""):
        sys.exit("an artifact that is no picture could be shown as a page")
    status, _, body = ask("/api/v1/runs/@last/series?metric=loss&buckets=4")
    series = json.loads(body)
    if len(series["step"]) > 20 or max(series["value"]) < 5:
        sys.exit(f"the thinned series lost its peak, or is too long: {series}")


def pages():
    for path in ("/", "/js/main.js", "/app.css", "/vendor/uplot/uPlot.esm.js", "/api/v1/about"):
        status, headers, body = ask(path)
        expect(path, status, 200)
        policy = headers["content-security-policy"]
        if "default-src 'self'" not in policy or "unsafe" in policy or "frame-ancestors 'none'" not in policy:
            sys.exit(f"{path}: {policy}")
        if path.startswith("/js") or path == "/":
            expect(f"{path} again", ask(path, headers=[f"If-None-Match: {headers['etag']}"])[0], 304)


def token():
    expect_refusal("no token", ask("/"), 401)
    expect_refusal("no token", ask("/api/v1/about"), 401)
    expect_refusal("no token", ask("/api/v1/live"), 401)
    for wrong in ("", "x", TOKEN[:-1], TOKEN + "0", "0" * len(TOKEN), TOKEN.upper()):
        expect_refusal(f"token {wrong}", ask(f"/?token={wrong}"), 401)
        expect_refusal(f"cookie {wrong}", ask("/", headers=[f"Cookie: orch_{PORT}={wrong}"]), 401)
        expect_refusal(f"bearer {wrong}", ask("/", headers=[f"Authorization: Bearer {wrong}"]), 401)
    expect_refusal("the token elsewhere", ask(f"/api/v1/about?token={TOKEN}"), 401)
    status, headers, _ = ask(f"/?token={TOKEN}")
    expect("the token", (status, headers.get("location", "").partition("key=")[0]), (303, "/#"))
    cookie = headers["set-cookie"]
    if "HttpOnly" not in cookie or "SameSite=Strict" not in cookie:
        sys.exit(f"cookie: {cookie}")
    pair = cookie.split(";")[0]
    expect("with the cookie", ask("/api/v1/about", headers=[f"Cookie: a=b; {pair}"])[0], 200)
    expect("as a bearer", ask("/api/v1/about", headers=[f"Authorization: Bearer {TOKEN}"])[0], 200)
    expect_refusal("another host, with the cookie", ask("/", host="evil.example", headers=[f"Cookie: {pair}"]), 421)


if __name__ == "__main__":
    for part in (hosts, methods, ways_out, page_of_a_report, heads, questions, pages) if kind == "open" else (token,):
        part()
    print("refused what it must")
