# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the page of 'orch serve' as a reader would: page.py ADDRESS CHROMIUM CHROMEDRIVER [FOLDER for pictures].
The store is that of store.sh; the trial that is watched is started here. Exit status 1 with what was not as it should be."""
import os
import re
import subprocess
import time

from selenium.webdriver.common.keys import Keys

from walk import all_of, browser, end, expect, fail, go, one, rows, run, shot, text, until

LIVE_ENDS = os.path.expanduser("~/live-ends")  # the watched trial may end


def harmless():
    """No hostile text became a part of the page."""
    expect("the page's own title", browser.title.endswith("- orch"), True)
    expect("elements that a name made", len(all_of("main script, main b, main img[onerror]")), 0)


def table():
    go("#/runs")
    until("4 lines", lambda: len(rows()) == 4)
    until("count", lambda: text("#count") == "7 runs in 4 lines")
    shot("runs")
    # a filter: its error, its result, and both live in the address
    box = one("#filter")
    box.send_keys("rate = nonsense and", Keys.ENTER)
    until("the error of a condition", lambda: "character" in text("#filter-error"))
    expect("rows below an error", len(rows()), 4)
    shot("runs-error")
    box.send_keys(Keys.CONTROL + "a")
    box.send_keys("rate = 2 and experiment = curves", Keys.ENTER)
    until("2 runs in a line", lambda: text("#count") == "2 runs in 1 line")
    expect("the error is gone", text("#filter-error"), "")
    browser.refresh()
    until("2 runs after a reload", lambda: text("#count") == "2 runs in 1 line")
    expect("the filter after a reload", one("#filter").get_attribute("value"), "rate = 2 and experiment = curves")
    go("#/runs?where=rate%20%3D%2099")
    until("no run", lambda: text("#count") == "no run matches")
    go("#/runs?where=lr%20%3E")
    until("the error of a bad address", lambda: "expected a value" in text())
    harmless()


def sorting():
    go("#/runs?columns=key,rate,accuracy&fold=0")
    until("rows", lambda: len(rows()) == 7)
    one("button[data-sort=accuracy]").click()
    until("greatest first", lambda: "sort=accuracy" in browser.current_url and one("th[aria-sort=descending]"))
    values = lambda: [float(r.split()[-1]) for r in rows()]
    until("falling accuracies", lambda: values() == sorted(values(), reverse=True) and len(values()) == 7)
    one("button[data-sort=accuracy]").click()
    until("rising accuracies", lambda: one("th[aria-sort=ascending]") and values() == sorted(values()))
    one("#columns summary").click()
    until("columns to choose", lambda: len(all_of("#columns input")) > 10)
    next(label for label in all_of("#columns label") if label.text == "accuracy").click()
    until("a column less", lambda: "columns=key%2Crate" in browser.current_url and not all_of("button[data-sort=accuracy]"))


def grouping():
    go("#/runs?fold=0")
    until("rows", lambda: len(rows()) == 7)
    one("#group-cell").click()
    until("4 groups", lambda: text("#count") == "7 runs in 4 groups")
    expect("two runs: the lowest and the highest", ".." in text(".scroll"), True)
    shot("groups")
    link = next(a for a in all_of(".scroll td a") if a.text == "2")
    link.click()
    until("the runs of a group", lambda: len(rows()) == 2)
    go("#/runs?group=experiment,rate")
    until("groups by names", lambda: "groups" in text("#count"))
    harmless()


def keyboard():
    go("#/runs?sort=started&order=up&columns=key,setting&fold=0")
    until("rows", lambda: len(rows()) == 7)
    first = one(".grid tbody tr[tabindex='0']")
    first.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    focused = lambda: browser.switch_to.active_element.get_attribute("data-i")
    expect("the focused row", focused(), "2")
    outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineWidth")
    expect("its outline", outline, "3px")
    browser.switch_to.active_element.send_keys(Keys.END)
    expect("the last row", focused(), "6")
    browser.switch_to.active_element.send_keys(" ")
    browser.switch_to.active_element.send_keys(Keys.HOME)
    browser.switch_to.active_element.send_keys(" ")
    until("two chosen", lambda: text("#overlay") == "show the curves of these 2 runs")
    expect("chosen in the address", browser.current_url.count("%2C0") >= 1, True)
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    until("a run by Enter", lambda: "#/run/" in browser.current_url and "parameters" in text())
    browser.back()
    until("still two chosen", lambda: text("#overlay") == "show the curves of these 2 runs")
    one("#overlay").click()
    overlay(2)


SCROLLED = """
const done = arguments[0], frame = () => new Promise(requestAnimationFrame);
(async () => {
  const {Grid} = await import('/js/table.js'), asked = [], faults = [];
  const fetch = async (from, limit) => { asked.push(from); return {total: 1000, rows: Array.from({length: Math.min(limit, 1000 - from)}, (_, i) => ({kind: 'run', n: from + i}))}; };
  const grid = new Grid({columns: [{name: 'n', show: (row) => String(row.n)}], sorts: [], label: 'rows', fetch, failed() {}});
  grid.box.style.height = '600px';
  document.body.append(grid.box);
  grid.start(await fetch(0, 100));
  for (const top of [0, 90, 120, 3000, 2970, 1500, 29000, 30000, 28000, 0]) {
    const kept = grid.body.querySelectorAll('tr.run'), first = kept[Math.floor(kept.length / 2)];
    const before = grid.box.scrollTop;
    grid.box.scrollTop = top;
    for (let i = 0; i < 6; i++) await frame();
    const there = [...grid.body.querySelectorAll('tr[data-i]')].map((r) => Number(r.dataset.i)), room = grid.body.getBoundingClientRect().height;
    const seen = Math.floor(Math.min(top, 29400) / 30);
    if (there.some((n, i) => i && n !== there[i - 1] + 1) || there[0] > seen || there.at(-1) < Math.min(999, seen + 18)) faults.push(`${top}: rows ${there[0]} to ${there.at(-1)}, ${there.length}`);
    if ([...grid.body.querySelectorAll('tr.run')].some((r) => r.textContent !== r.dataset.i)) faults.push(`${top}: a row with another text`);
    if (Math.abs(room - 30000) > 5) faults.push(`${top}: the table is ${room} px high`);
    if (top !== before && Math.abs(top - before) <= 120 && !first.isConnected) faults.push(`${top}: a row that stays was drawn again`);
  }
  if (!asked.includes(100) || new Set(asked).size > 10) faults.push(`asked for ${asked}`);
  grid.end();
  grid.box.remove();
  done(faults);
})().catch((error) => done([String(error)]));"""


def scrolling():
    """A table of 1000 rows: those in view are there in order, and those that stay in view are not drawn again."""
    browser.set_script_timeout(30)
    expect("faults while it scrolls", browser.execute_async_script(SCROLLED), [])


def overlay(count):
    until("the curves", lambda: one("#overlay-chart").get_attribute("data-ready"))
    expect("a panel for loss and one for odd", [p.get_attribute("data-metric") for p in all_of("#overlay-chart .panel")], ["loss", "odd"])
    expect("curves in each", [c.get_attribute("data-curves") for c in all_of("#overlay-chart .chart")], [str(count)] * 2)
    expect("all points", f"loss: {60 * count} points, all are drawn" in text("#overlay-note"), True)
    expect("unit of the axis", "nat" in one("#overlay-chart .chart").get_attribute("aria-label"), True)
    shot("overlay")
    one("#x").send_keys("time")
    until("by time", lambda: "x=time" in browser.current_url)
    one("#log").click()
    until("logarithmic", lambda: "log=1" in browser.current_url)
    browser.refresh()
    until("the curves after a reload", lambda: one("#overlay-chart").get_attribute("data-ready"))
    expect("what was chosen, after a reload", (one("#x").get_attribute("value"), one("#log").is_selected()), ("time", True))


def smoothing_and_bands():
    """The measured line stays behind the smoothed one; repeats become one line, and what it is made of is said."""
    go("#/overlay?where=experiment%20%3D%20curves%20and%20rate%20%3D%201&metrics=loss")
    until("two curves", lambda: one("#overlay-chart").get_attribute("data-ready") and one("#overlay-chart .chart").get_attribute("data-curves") == "2")
    expect("one setting in the legend", [e.text for e in all_of("#overlay-legend button")], ["curves rate=1 (2 runs)"])
    browser.execute_script("const s = document.getElementById('smooth'); s.value = 0.6; s.dispatchEvent(new Event('input'))")
    until("the slider's place in the address", lambda: "smooth=0.6" in browser.current_url)
    expect("what the slider says", "smoothing 0.60" in text(), True)
    one("#repeats").send_keys("mean")
    until("one curve of both repeats", lambda: "repeats=mean" in browser.current_url and "With fewer than five runs, the runs are thin lines" in text("#overlay-note"))
    expect("the rule of smoothing", "exponential moving average" in text("#overlay-note"), True)
    shot("bands")
    browser.refresh()
    until("the same after a reload", lambda: "With fewer than five runs" in text("#overlay-note") and "smoothing 0.60" in text())
    go("#/runs?group=cell")
    until("groups", lambda: text("#count") == "7 runs in 4 groups")
    next(a for a in all_of(".scroll td a") if a.text == "show").click()
    until("the curves of a group", lambda: "#/overlay" in browser.current_url and one("#overlay-chart").get_attribute("data-ready"))
    harmless()


def fits():
    """At 1280 pixels no table needs a scroll bar."""
    for path in ("#/runs", "#/runs?group=cell", "#/reports", "#/coverage"):
        go(path)
        until(f"{path}", lambda: len(text()) > 60 and not all_of("[aria-busy]"), 60)
        time.sleep(0.5)
        wide = browser.execute_script("return [...document.querySelectorAll('.scroll,.grid')].map(e => e.scrollWidth - e.clientWidth)")
        expect(f"tables of {path} beyond 1280 pixels", [w for w in wide if w > 0], [])


def run_page():
    go("#/runs?where=" + "experiment%20%3D%20hostile&columns=key,name,who")
    until("the hostile run", lambda: len(rows()) == 1 and "<script>" in rows()[0] and "<img" in rows()[0])
    shot("hostile")
    one(".grid tbody tr[data-i='0']").click()
    until("its page", lambda: "parameters" in text() and "forecast and outcome" in text())
    until("its log", lambda: "</pre><script>" in text())
    until("its curves", lambda: len(all_of("main canvas")) == 2)
    for part in ("loss [nat]", "accuracy", "commit", "processor", "a word on stderr", "<script>document.title='param'"):
        expect(f"'{part}' in the page", part in text(), True)
    shot("run")
    harmless()
    go("#/run/ffffffff")
    until("an unknown run", lambda: "no run" in text().lower() or "unknown" in text().lower())


def explore():
    go("#/explore?mode=scatter&x=rate&up=accuracy&by=experiment")
    until("a scatter", lambda: all_of("#explore-chart canvas") and "6 runs" in text() or "7 runs" in text())
    shot("explore")
    one("#mode").send_keys("parallel")
    until("parallel coordinates", lambda: "mode=parallel" in browser.current_url and "Each line is one of" in text())
    shot("parallel")
    harmless()


def forecast():
    go("#/forecast?net=resnet50&epochs=1")
    until("a forecast", lambda: len(all_of("#pareto canvas")) == 1, 90)
    expect("assumptions", "1281167 images" in text(), True)
    shot("forecast")
    one("#f-net").send_keys(Keys.CONTROL + "a")
    one("#f-net").send_keys("no-such-net", Keys.ENTER)
    until("the error of a forecast", lambda: all_of("main .error") and "no-such-net" in text("main .error"), 90)


def others():
    go("#/coverage")
    until("the coverage", lambda: "6 done" in text() and "<img src=x" in text())
    shot("coverage")
    harmless()
    go("#/reports")
    until("a report", lambda: "Accuracy by rate" in text() and "complete" in text(), 90)
    until("its chart", lambda: len(all_of(".report canvas")) == 1)
    heads = [h.text for h in all_of(".report thead")]
    expect("columns in the report's own order", heads[0].startswith("rate"), True)
    expect("what nobody ran", "not run yet" in text() and "orch run" in text(), True)
    shot("reports")
    go("#/no/such/page")
    until("the table instead", lambda: len(rows()) >= 4)


def live():
    global trial
    go("#/live")
    until("nothing runs", lambda: "nothing runs now" in text())
    trial = subprocess.Popen(["orch", "run", "curve.recipe", "live", "--no-progress"], stderr=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    until("a running trial", lambda: one("#trials section"))
    points = lambda: int(one("[data-metric=loss] .chart").get_attribute("data-points"))
    before = until("its curve", points)
    until("a growing curve", lambda: points() > before + 20)
    until("its remaining time", lambda: "left (90 %:" in text(".remaining"))
    expect("progress", int(one("[role=progressbar]").get_attribute("aria-valuenow")) < 100, True)
    one("details.tail summary").click()
    until("the end of its log", lambda: "training plain" in text("details.tail pre"))
    one("#notify").click()
    until("the browser may be asked", lambda: one("#notify").is_selected())
    until("what it uses of the machine", lambda: re.search(r"CPU \d+ % of its threads, \d+ % of the machine +memory [\d.]+ [KMG]", text("#trials .machine")))
    shot("live")
    one("#trials section h2 a").click()
    until("its own page", lambda: "#/run/" in browser.current_url and "running" in text())
    until("its curve there", lambda: points() > before)
    go("#/runs")
    until("the table says what runs", lambda: "live" in text(".live-strip"))


def live_ends():
    """The table says that there is a new run, and shows it when told to."""
    open(LIVE_ENDS, "w").close()
    fresh = until("word of a new run", lambda: next(b for b in all_of("main button") if "new runs" in b.text), 90)
    expect("exit status of the trial", trial.wait(), 0)
    fresh.click()
    until("its run", lambda: text("#count") == "8 runs in 5 lines")


def live_cancel():
    """A trial is cancelled from the live page, which then tells of its end."""
    os.remove(LIVE_ENDS)
    again = subprocess.Popen(["orch", "run", "curve.recipe", "live", "--force", "--no-progress"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    go("#/live")
    until("a running trial that says how far it is", lambda: "%" in text(".remaining"))
    run("window.told = []; window.Notification = class { constructor(title) { window.told.push(title); } static permission = 'granted'; static requestPermission() { return 'granted'; } }")
    if not one("#notify").is_selected():
        one("#notify").click()
    one("#trials h2 button").click()
    until("it is told to end", lambda: "asked to end" in text("#status"))
    until("it has ended", lambda: "it has ended" in text("#trials"), 60)
    until("the browser says so", lambda: run("return window.told") == ["live: cancelled"])
    again.wait()
    go("#/runs?where=state%20%3D%20cancelled")
    until("a cancelled run", lambda: len(rows()) == 1 and "cancelled" in rows()[0])
    go("#/live")
    until("nothing runs any more", lambda: "nothing runs now" in text())


def narrow():
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
    keys = browser.execute_script("return fetch('/api/v1/runs?columns=key&where=experiment%3Dcurves')"
                                  ".then(a => a.json()).then(a => a.rows.map(r => r[0]))")
    pages = {"runs": "#/runs", "groups": "#/runs?group=cell", "run": f"#/run/{keys[0]}", "forecast": "#/forecast?epochs=1",
             "overlay": "#/overlay?runs=" + ",".join(keys), "explore": "#/explore", "coverage": "#/coverage", "reports": "#/reports"}
    for name, path in pages.items():
        go(path)
        until(f"{name}, narrow", lambda: len(text()) > 60 and not all_of("[aria-busy]"), 60)
        time.sleep(0.5)
        expect(f"{name}: width at 390 pixels", browser.execute_script("return document.documentElement.scrollWidth"), 390)
        shot(f"{name}-390")


def dark():
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    go("#/runs")
    until("rows", lambda: len(rows()) >= 5)
    expect("background", browser.execute_script("return getComputedStyle(document.body).backgroundColor"), "rgb(20, 22, 26)")


trial = None
for part in (table, sorting, grouping, keyboard, scrolling, smoothing_and_bands, fits, run_page, explore, forecast, others, live, live_ends, live_cancel, dark, narrow):
    part()
end()
