# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs axe-core over every page of 'orch serve'; see web.page-accessible."""
import os

from walk import all_of, browser, end, expect, fail, go, one, rows, run, text, until, window

AXE = open(os.environ["AXE"], encoding="utf-8").read()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]


def violations():
    run(AXE)
    return browser.execute_async_script("const done = arguments[1]; axe.run(document, {runOnly: arguments[0]}).then((r) => done(r.violations), (e) => done([{id: String(e), nodes: []}]))", RULES)


def check(name):
    found = violations()
    if found:
        fail(f"{name}:\n" + "\n".join(f"  {v['id']}: {v.get('help')}\n" + "\n".join(f"    {n['html'][:140]}: {'; '.join(c['message'] for c in n['any'] + n['all'] + n['none'])[:200]}" for n in v["nodes"][:4]) for v in found))


def finds_faults():
    """The rules are applied at all."""
    go("#/runs")
    until("rows", lambda: len(rows()) == 4)
    run("const p = document.createElement('p'); p.id = 'fault'; p.textContent = 'pale'; p.style.color = '#ccc'; p.append(document.createElement('img')); document.querySelector('main').append(p)")
    expect("faults that were put in", {"image-alt", "color-contrast"} <= {v["id"] for v in violations()}, True)


def pages():
    go("#/runs")
    until("rows", lambda: len(rows()) == 4)
    key = run("return fetch('/api/v1/runs?columns=key&where=experiment%3Dcurves').then((a) => a.json()).then((a) => a.rows[0][0])")
    yield "runs"
    one(".grid tbody tr[data-i='0'] .opener").click()
    until("open", lambda: len(rows()) == 6)
    all_of(".grid tbody input[type=checkbox]")[1].click()
    one("#columns summary").click()
    until("selected", lambda: one("#do-tag").is_displayed())
    yield "runs, open and selected"
    one("#do-tag").click()
    until("a question", lambda: one("dialog"))
    yield "a question"
    one("dialog button[type=button]").click()
    for name, path, ready in (("groups", "#/runs?group=cell", lambda: "groups" in text("#count")), ("a run", f"#/run/{key}", lambda: "results compared" in text() and len(all_of("main canvas")) == 2),
                              ("curves", "#/overlay?where=experiment%20%3D%20curves", lambda: one("#overlay-chart").get_attribute("data-ready")), ("parallel", "#/explore", lambda: "a line each" in text()),
                              ("scatter", "#/explore?mode=scatter", lambda: "runs." in text("#explore-note")), ("live", "#/live", lambda: "nothing runs" in text()), ("coverage", "#/coverage", lambda: "done" in text()),
                              ("forecast", "#/forecast?net=resnet50&epochs=1", lambda: all_of("#pareto canvas")), ("reports", "#/reports", lambda: "Accuracy by rate" in text())):
        go(path)
        until(name, ready, 90)
        yield name


finds_faults()
for is_dark in (False, True):
    window(1280, is_dark)
    for page in pages():
        check(f"{page}, {'dark' if is_dark else 'light'}")
end()
