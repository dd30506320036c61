# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of the store through the page: changes.py attacks|allowed|cancel|refused ADDRESS [REASON]. Raw sockets, since a
client library would not send most of it. Exit status 1 with the first request that was answered wrongly."""
import json
import sys
import time
import urllib.parse
import urllib.request

from refusals import HOST, PORT, TOKEN, ask, expect, expect_refusal, raw

PATH = "/api/v1/change"
OWN = f"http://{HOST}:{PORT}"


def exchanged():
    """The cookie and the key that the printed address is exchanged for."""
    _, headers, _ = ask(f"/?token={TOKEN}")
    pair, place = headers.get("set-cookie", "").split(";")[0], headers.get("location", "")
    return f"Cookie: {pair}", f"X-Orch-Key: {place.partition('#key=')[2]}"


COOKIE, KEY = exchanged() if TOKEN else (f"Cookie: orch_{PORT}=x", "X-Orch-Key: x")


def get(path):
    with urllib.request.urlopen(urllib.request.Request(f"{OWN}/api/v1/{path}", headers={"Authorization": f"Bearer {TOKEN}"})) as answer:
        return json.load(answer)


def keys():
    return [row[0] for row in get("runs?columns=key&limit=100")["rows"]]


def post(change, headers=(f"Origin: {OWN}", COOKIE, KEY, "Content-Type: application/json"), host=None, path=PATH, method="POST"):
    body = change if isinstance(change, bytes) else json.dumps(change).encode()
    return ask(path, method=method, host=host, headers=[*headers, f"Content-Length: {len(body)}"], body=body)


def attacks():
    before = get("about")["version"]
    run = keys()[0]
    tag = {"do": "tag", "runs": [run], "text": "owned"}
    own, json_type = f"Origin: {OWN}", "Content-Type: application/json"
    # another site, by its form, its script, its link, and with a name that was rebound to this machine
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{PORT + 1}", f"http://localhost:{PORT}", f"https://127.0.0.1:{PORT}", "http://127.0.0.1",
                   f"http://127.0.0.1:{PORT}.evil.example", ""):
        expect_refusal(f"origin '{origin}'", post(tag, (f"Origin: {origin}", COOKIE, KEY, json_type)), 403)
    for site in ("cross-site", "same-site", "none"):
        expect_refusal(f"Sec-Fetch-Site: {site}", post(tag, (own, f"Sec-Fetch-Site: {site}", COOKIE, KEY, json_type)), 403)
    expect_refusal("a cookie without an origin", post(tag, (COOKIE, KEY, json_type)), 403)
    for host in ("evil.example", f"evil.example:{PORT}"):
        expect_refusal(f"host {host}", post(tag, (f"Origin: http://{host}", COOKIE, KEY, json_type), host=host), 421)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", "text/plain; application/json"):
        expect_refusal(f"type {kind}", post(tag, (own, COOKIE, KEY, f"Content-Type: {kind}")), 415)
    expect_refusal("no type", post(tag, (own, COOKIE, KEY)), 415)
    # the token: missing, wrong, elsewhere
    expect_refusal("no token", post(tag, (own, KEY, json_type)), 401)
    for wrong in ("x", TOKEN[:-1], TOKEN + "0", TOKEN.upper() + "Z"):
        expect_refusal(f"cookie {wrong}", post(tag, (own, f"Cookie: orch_{PORT}={wrong}", KEY, json_type)), 401)
        expect_refusal(f"bearer {wrong}", post(tag, (f"Authorization: Bearer {wrong}", json_type)), 401)
    # a server at another port of this host is shown the cookie, which then changes nothing, as it is, as a key, as a bearer, as a token
    session, key = COOKIE.partition("=")[2], KEY.split(": ")[1]
    if len({session, key, TOKEN}) != 3 or min(map(len, (session, key))) < 32:
        sys.exit("cookie, key and token are not three secrets")
    for name, stolen in (("alone", ()), ("as key", (f"X-Orch-Key: {session}",)), ("an empty key", ("X-Orch-Key: ",)), ("the token as key", (f"X-Orch-Key: {TOKEN}",)),
                         ("two keys", (f"X-Orch-Key: {session}", f"X-Orch-Key: {session}"))):
        expect_refusal(f"the cookie, {name}", post(tag, (own, COOKIE, *stolen, json_type)), 401)
    for name, stolen in (("cookie", session), ("key", key)):
        expect_refusal(f"the {name} as bearer", post(tag, (own, f"Authorization: Bearer {stolen}", json_type)), 401)
        status, headers, _ = ask(f"/?token={stolen}")
        expect(f"the {name} in the address", (status, "set-cookie" in headers), (200, False))
    expect_refusal("the token as cookie", post(tag, (own, f"Cookie: orch_{PORT}={TOKEN}", KEY, json_type)), 401)
    expect_refusal("the key without the cookie", post(tag, (own, KEY, json_type)), 401)
    expect_refusal("a cookie of another port", post(tag, (own, f"Cookie: orch_{PORT + 1}={session}", KEY, json_type)), 401)
    expect_refusal("a script of another origin asks first", ask(PATH, method="OPTIONS", headers=[f"Origin: http://127.0.0.1:{PORT + 1}", "Access-Control-Request-Method: POST",
                   "Access-Control-Request-Headers: x-orch-key"]), 405)
    expect("what the cookie alone may", json.loads(ask("/api/v1/about", headers=[COOKIE])[2])["changes"]["allowed"], False)
    expect_refusal("the token in the address", post(tag, (own, json_type), path=f"{PATH}?token={TOKEN}"), 401)
    # GET never writes, and nothing but POST does
    for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"):
        status, headers, _ = ask(f"{PATH}?do=tag&runs={run}&text=owned", method=method, headers=[COOKIE, KEY])
        expect(f"{method} {PATH}", (status, headers.get("allow")), (405, "POST"))
    for path in ("/", "/api/v1/about", f"/api/v1/runs/{run}", f"{PATH}/", "/api/v1/changes"):
        expect_refusal(f"POST {path}", post(tag, path=path), 405)
    # bodies
    expect_refusal("no body", ask(PATH, method="POST", headers=[own, COOKIE, KEY, json_type]), 413)
    expect_refusal("33 KiB", post(b" " * 33 * 1024), 413)
    expect_refusal("chunks", ask(PATH, method="POST", headers=[own, COOKIE, KEY, json_type, "Transfer-Encoding: chunked"], body=b"5\r\nhello\r\n0\r\n\r\n"), 413)
    for body in (b"x", b"[]", b"{}", b"\xff", b'{"do":"tag"}', b'{"do":"tag","do":"note"}', b"[" * 5000):
        expect_refusal(f"body {body[:20]}", post(body), 400)
    for change in ({"do": "rm"}, {"do": "cancel"}, {"do": "show"}, {"do": "tag", "text": ""}, {"do": "tag", "runs": []}, {"do": "tag", "runs": [run] * 201}, {"do": "tag", "runs": "x"},
                   {"do": "tag", "runs": ["--all"], "text": 7}, {"do": "tag", "runs": ["a b"]}, {"do": "tag", "runs": ["@last"]}, {"do": "cancel", "runs": ["lr>0"]},
                   {"do": "note", "runs": [run], "text": "x" * 4001}):
        expect_refusal(f"change {str(change)[:60]}", post({"text": "owned", "runs": [run], **change}), 400)
    # what looks like an option is none
    status, _, body = post({"do": "cancel", "runs": ["--all"]})
    expect("cancel --all", (status, json.loads(body)["done"]), (200, []))
    # a connection that ends within the body
    raw(f"POST {PATH} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n{own}\r\n{COOKIE}\r\n{KEY}\r\n{json_type}\r\nContent-Length: 400\r\n\r\n{{\"do\"".encode(), wait=1)
    expect("the version of the store after the attacks", get("about")["version"], before)


def allowed():
    run, other = keys()[0], keys()[1]
    expect("may change", get("about")["changes"], {"allowed": True, "why": None})
    status, _, body = ask("/api/v1/about")
    if json.loads(body)["changes"]["allowed"] or "printed" not in json.loads(body)["changes"]["why"]:
        sys.exit(f"without the token: {body}")
    for change in ({"do": "tag", "text": "baseline"}, {"do": "tag", "text": "gone"}, {"do": "untag", "text": "gone"}, {"do": "note", "text": "it's -- a 'note'"}, {"do": "name", "text": "the-best"}):
        status, _, body = post({**change, "runs": [run]})
        expect(f"{change}", (status, json.loads(body)), (200, {"done": [run], "failed": []}))
    shown = get(f"runs/{run}")
    expect("tags", shown["tags"], ["baseline"])
    # a program shows the token as a bearer and has no origin; what cannot be done says why, and the rest is done
    status, _, body = post({"do": "hide", "runs": [other, "ffffffff-0000"], "text": "--undo"}, (f"Authorization: Bearer {TOKEN}", "Content-Type: application/json; charset=utf-8"))
    answer = json.loads(body)
    expect("hidden", (status, answer["done"], answer["failed"][0]["run"]), (200, [other], "ffffffff-0000"))
    if "no run" not in answer["failed"][0]["message"]:
        sys.exit(f"no reason: {answer}")
    expect("runs that are shown", other in keys(), False)
    expect("why it is hidden", get(f"runs/{other}")["removal"]["reason"], "--undo")


def cancel():
    for _ in range(300):
        with urllib.request.urlopen(f"{OWN}/api/v1/live") as stream:
            line = next(l for l in stream if l.startswith(b"data: "))
        trials = [t for t in json.loads(line[6:])["trials"] if t["is_alive"] and t["done"] > 0]
        if trials:
            break
        time.sleep(0.1)
    status, _, body = post({"do": "cancel", "runs": [trials[0]["key"]]})
    expect("cancelled", (status, json.loads(body)["done"]), (200, [trials[0]["key"]]))


def views():
    """A view is saved, as every change; its address is a place within the page."""
    view = {"do": "view-save", "name": "page", "address": "#/runs?where=rate%3D1"}
    own, json_type = f"Origin: {OWN}", "Content-Type: application/json"
    for headers in ((own, json_type), (own, COOKIE, json_type), (own, KEY, json_type)):
        expect_refusal(f"view with {headers}", post(view, headers), 401)
    expect_refusal("view of another site", post(view, ("Origin: http://evil.example", COOKIE, KEY, json_type)), 403)
    for wrong in ({"address": "javascript:alert(1)"}, {"address": "http://evil.example"}, {"address": ""}, {"address": None}, {"address": "--remove"}, {"name": ""}, {"name": None}, {"name": 7},
                  {"name": "a\nb"}, {"name": "x" * 101}, {"do": "view-"}, {"do": "view-pin"}, {"do": "view-eat"}, {"do": "view-share"}, {"of": "ada"}, {"do": "view-pin", "address": None, "instead_of": "#/runs"}, {"instead_of": "#/live"}, {"do": "view-remove", "name": "nothing", "address": None}):
        expect_refusal(f"view {wrong}", post({k: v for k, v in {**view, **wrong}.items() if v is not None}), 400)
    status, _, body = post(view)
    expect("saved", (status, json.loads(body)), (200, {"done": ["page"]}))
    status, _, body = post({**view, "name": "--remove"})
    expect("a name like an option", (status, json.loads(body)), (200, {"done": ["--remove"]}))
    expect("listed", [(v["name"], v["address"], v["is_mine"]) for v in get("views")["views"] if v["name"] != "mine"], [("--remove", view["address"], True), ("page", view["address"], True)])
    status, _, _ = post({"do": "view-remove", "name": "--remove"})
    expect("removed", status, 200)


def group():
    """One's own runs are changed, those of others are not, also beside one's own."""
    runs = {}
    for key, who in get("runs?columns=key,who&limit=100")["rows"]:
        runs.setdefault(who, []).append(key)
    others = [k for who, keys in runs.items() if who != "bob" for k in keys]
    expect("members", (len(runs), len(runs["bob"])), (3, 2))
    for what in ({"do": "tag", "text": "owned"}, {"do": "untag", "text": "owned"}, {"do": "note", "text": "owned"}, {"do": "name", "text": "owned"}, {"do": "hide"}, {"do": "show"}, {"do": "cancel"}):
        for named in (others, [k[-8:] for k in others]):
            status, _, body = post({**what, "runs": named})
            answer = json.loads(body)
            expect(f"{what['do']} of others", (status, answer["done"], len(answer["failed"])), (200, [], len(named)))
            for failure in answer["failed"]:
                expect("why", "changes only your own" in failure["message"], True)
    status, _, body = post({"do": "tag", "text": "mine", "runs": [others[0], runs["bob"][0]]})
    answer = json.loads(body)
    expect("beside others", (status, answer["done"], [f["run"] for f in answer["failed"]]), (200, [runs["bob"][0]], [others[0]]))


def refused(reason):
    run = keys()[0]
    status, _, body = post({"do": "tag", "runs": [run], "text": "owned"})
    expect(f"status ({reason})", status, 403)
    expect(f"a view ({reason})", post({"do": "view-save", "name": "x", "address": "#/runs"})[0], 403)
    why = get("about")["changes"]
    if reason not in json.loads(body)["error"]["message"] or reason not in why["why"] or why["allowed"]:
        sys.exit(f"not the reason '{reason}': {body} {why}")


{"attacks": attacks, "allowed": allowed, "cancel": cancel, "views": views, "group": group, "refused": lambda: refused(sys.argv[3])}[sys.argv[1]]()
