# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the page of parameters and results; see web.page-explore for the runs."""
import os
import re

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from walk import all_of, browser, end, expect, fail, go, looks, one, press, run, shot, text, until

COUNT = {state: int(n) for state, n in (line.split() for line in open(os.environ["STATES"]))}
FIND = "#/explore?where=experiment%20%3D%20find"


def axes():
    return [g.get_attribute("data-axis") for g in all_of("svg.axes g")]


def axis(name):
    return one(f"svg.axes g[data-axis='{name}']")


def inside():
    return int(one(".parallel canvas").get_attribute("data-inside"))


def parallel():
    total = sum(COUNT.values())
    go(FIND)
    until("lines", lambda: f"Each line is one of {total} runs" in text("#explore-note"))
    expect("axes: what was searched and the result, and no seed", axes(), ["lr", "opt", "width", "val_loss"])
    expect("logarithmic where the values are spread so", ["logarithmic" in axis(n).get_attribute("aria-label") for n in ("lr", "width")], [True, False])
    for state in ("pruned", "failed"):
        expect(f"some are {state}", COUNT[state] > 0 and f"{state} ({COUNT[state]})" in text(".keys"), True)
    looks("parallel")
    one("#axes summary").click()
    until("axes to choose", lambda: one("#axes input[value=seed]").is_displayed())
    one("#axes input[value=seed]").click()
    until("a seed when it is asked for", lambda: "seed" in axes())
    go(FIND)
    until("four axes", lambda: len(axes()) == 4)
    # the name turns the logarithm
    one("svg.axes g[data-axis=lr] text.name").click()
    until("linear", lambda: "logs=" in browser.current_url and axis("lr").get_attribute("aria-label") == "lr")


def other_runs():
    """Runs with other parameters are in the store: their axes would only break the lines."""
    go("#/explore?y=val_loss")
    until("lines", lambda: "Each line is one of" in text("#explore-note"))
    expect("axes of the runs that have the result", axes(), ["lr", "opt", "width", "val_loss"])
    go(FIND + "&mode=scatter&x=lr&up=width")
    until("logarithmic as the values are spread", lambda: (one("#logx").is_selected(), one("#logy").is_selected()) == (True, False))
    one("#logx").click()
    until("linear when it is asked for", lambda: "logx=0" in browser.current_url and not one("#logx").is_selected())
    go("#/overlay")
    until("curves of an experiment", lambda: [a.text for a in all_of("main p a")][-2:] and "find" in [a.text for a in all_of("main p a")])
    next(a for a in all_of("main p a") if a.text == "find").click()
    until("curves", lambda: all_of("#overlay-legend li"))


def brushes():
    go(FIND)
    until("lines", lambda: len(axes()) == 4)
    everything = inside()
    catcher = one("svg.axes g[data-axis=lr] rect.catch")
    ActionChains(browser).move_to_element_with_offset(catcher, 0, -60).click_and_hold().move_by_offset(0, 60).move_by_offset(0, 60).release().perform()
    until("a range of lr", lambda: "brush=lr" in browser.current_url and 0 < inside() < everything)
    by_lr = inside()
    catcher = one("svg.axes g[data-axis=opt] rect.catch")
    height = catcher.rect["height"]
    ActionChains(browser).move_to_element_with_offset(catcher, 0, int(height / 2) - 2).click_and_hold().move_by_offset(0, -40).move_by_offset(0, -20).release().perform()
    until("and one of opt", lambda: "opt" in browser.current_url.split("brush=")[1] and 0 < inside() < by_lr)
    both = inside()
    expect("in words", f"{both} of {everything} runs lie within the ranges" in text(), True)
    expect("a range for those who hear it", re.match(r"[\d.e-]+ to [\d.e-]+$", axis("lr").get_attribute("aria-valuetext")) is not None, True)
    looks("brushed")
    browser.refresh()
    until("the same after a reload", lambda: inside() == both)
    one("#inside").click()
    until("their table", lambda: "#/runs" in browser.current_url and text("#count").split()[0] == str(both))
    browser.back()
    until("back", lambda: inside() == both)
    one("#clear").click()
    until("all", lambda: inside() == everything and "brush" not in browser.current_url)
    # by the keyboard
    run("arguments[0].focus()", axis("width"))
    press("-", "-", "-")
    until("a range by keys", lambda: "brush=width" in browser.current_url and inside() < everything)
    press(Keys.DELETE)
    until("let go", lambda: inside() == everything)


def scatter():
    go(FIND + "&mode=scatter&x=lr&up=width&logx=1")
    until("a scatter", lambda: all_of("#explore-chart canvas") and f"{sum(COUNT.values())} runs." in text("#explore-note"))
    expect("two parameters, coloured by the result", (one("#x").get_attribute("value"), one("#up").get_attribute("value"), one("#y").get_attribute("value")), ("lr", "width", "val_loss"))
    expect("signs", f"pruned ({COUNT['pruned']})" in text("#explore-chart") and f"failed ({COUNT['failed']})" in text("#explore-chart"), True)
    looks("scatter")
    one("#by").send_keys("opt")
    until("marked by words", lambda: "by=opt" in browser.current_url and "opt sgd" in text("#explore-chart .legend"))


def contour():
    """The surface over two parameters has its valley where the program has it, and says where there is no data."""
    go(FIND + "&mode=contour&x=lr&up=width")
    until("a surface", lambda: all_of("#contour") and "Gaussian process" in text("#explore-note"))
    ask = "return fetch('/api/v1/surface?number=val_loss&x=lr&y=width&where=' + encodeURIComponent(arguments[0])).then((a) => a.json())"
    answer = run(ask, "experiment = find")
    grid, side = answer["grid"], answer["grid"]["side"]
    expect("the size of the grid, and its axes", (len(grid["mean"]), answer["x"]["is_log"], answer["y"]["is_log"]), (side * side, True, False))
    known = [k for k, v in enumerate(grid["mean"]) if v is not None]
    middle = range(side // 2, side * side, side)
    gap = run(ask, "experiment = find and (lr < 0.001 or lr > 0.3)")["grid"]["mean"]
    expect("no data between two heaps of runs, and some at their side", ({gap[k] for k in middle}, any(v is not None for v in gap)), ({None}, True))
    best = min(known, key=lambda k: grid["mean"][k])
    lr = answer["x"]["low"] * (answer["x"]["high"] / answer["x"]["low"]) ** (best % side / (side - 1))
    if not 0.002 < lr < 0.05:
        fail(f"the valley is at lr {lr}, and the program has it at 0.01")
    expect("intervals", all(grid["low"][k] <= grid["mean"][k] <= grid["high"][k] for k in known), True)
    looks("contour")
    one("#contour").send_keys(Keys.ARROW_LEFT)
    until("read by keys", lambda: "at lr" in text() and ("about" in text() or "no data" in text()))
    # by words, and of the same parameter twice, there is none
    one("#up").send_keys("opt")
    until("no surface over words", lambda: "must be numbers" in text("#why"))
    one("#up").send_keys("lr")
    until("two parameters", lambda: "different" in text("#why"))


def importance():
    go(FIND + "&mode=importance")
    until("bars", lambda: len(all_of("svg.bars rect")) == 3)
    rows = [r.text.split() for r in all_of("#explore-chart tbody tr")]
    expect("lr decides, and its interval is given", (rows[0][0], rows[0][2], "to" in rows[0]), ("lr", "%", True))
    expect("more than half", int(rows[0][1]) > 50, True)
    expect("from the runs that ended ok", f"from {COUNT['ok']} runs" in text("#explore-note"), True)
    looks("importance")
    go("#/explore?where=experiment%20%3D%20curves&mode=importance&y=accuracy")
    until("why there is none", lambda: "Importance needs 10 runs of different settings" in text("#why"))


for part in (parallel, other_runs, brushes, scatter, contour, importance):
    part()
end()
