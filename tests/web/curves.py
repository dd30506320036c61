# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the page of curves, and the pictures of a run; see web.page-curves-panels for the runs."""
import csv
import io
import xml.dom.minidom

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from walk import all_of, browser, end, expect, go, looks, one, press, run, shot, text, until

FIT = "#/overlay?where=experiment%20%3D%20fit"


def panels():
    return [p.get_attribute("data-metric") for p in all_of("#overlay-chart .panel")]


def ready():
    return one("#overlay-chart").get_attribute("data-ready") and not all_of("#overlay-chart[aria-busy]")


def label(panel=0):
    return all_of("#overlay-chart .chart")[panel].get_attribute("aria-label")


def opens():
    """A loss and an accuracy stand side by side, each with six lines and no isolated dots."""
    go(FIT)
    until("curves", ready)
    expect("panels", panels(), ["val_acc", "train_loss"])
    expect("lines in each", [c.get_attribute("data-curves") for c in all_of("#overlay-chart .chart")], ["6", "6"])
    expect("side by side", all_of("#overlay-chart .panel")[0].rect["y"] == all_of("#overlay-chart .panel")[1].rect["y"], True)
    expect("a setting is one place of the legend", [b.text for b in all_of("#overlay-legend button")], ["fit rate=2 (3 runs)", "fit rate=1 (3 runs)"])
    expect("its runs", len(all_of("#overlay-legend a")), 6)
    looks("curves")
    all_of("#overlay-legend button")[0].click()
    until("three lines less", lambda: all_of("#overlay-chart .chart")[0].get_attribute("data-curves") == "3" and "off=0" in browser.current_url)
    browser.refresh()
    until("hidden after a reload", lambda: ready() and all_of("#overlay-chart .chart")[0].get_attribute("data-curves") == "3")
    all_of("#overlay-legend button")[0].click()
    until("shown again", lambda: all_of("#overlay-chart .chart")[0].get_attribute("data-curves") == "6")


def picks():
    one("#metrics summary").click()
    until("metrics", lambda: one("#metrics input[value=epoch]").is_displayed())
    one("#metrics input[value=val_acc]").click()
    until("one panel", lambda: panels() == ["train_loss"] and "metrics=train_loss" in browser.current_url)
    go("#/runs")
    go(FIT)
    until("remembered for the experiment", lambda: ready() and panels() == ["train_loss"])
    go(FIT + "&metrics=val_acc,train_loss")
    until("the address comes first", lambda: ready() and panels() == ["val_acc", "train_loss"])


def across():
    one("#x").send_keys("epoch")
    until("by epoch", lambda: "x=metric.epoch" in browser.current_url and ready() and "by epoch" in label())
    ends = run("const u = document.querySelectorAll('#overlay-chart canvas'); return u.length")
    expect("charts", ends, 2)
    expect("points of ten epochs", "val_acc by epoch" in label() and "10 points" in label(), True)
    go(FIT + "&metrics=val_acc&x=metric.train_loss")
    until("by another metric", lambda: ready() and "by train_loss [nat]" in label())
    go(FIT + "&metrics=val_acc&x=time")
    until("by time", lambda: ready() and "by time since the start [s]" in label())


def outliers():
    go(FIT + "&metrics=train_loss")
    until("a curve", ready)
    numbers = lambda: [float(t) for t in file("csv", "svg")[1] if t.replace(".", "").isdigit()]
    expect("the axis reaches the outlier", max(numbers()) >= 800, True)
    one("#clip").click()
    until("cut off", lambda: "clip=1" in browser.current_url and ready() and "6 points lie outside" in text("#overlay-note"))
    expect("the axis does not", max(numbers()) <= 100, True)  # the steps go to 100
    shot("clipped")


def zoom():
    go(FIT + "&metrics=val_acc,train_loss")
    until("curves", ready)
    all_of("#overlay-chart .chart")[1].click()
    press("+")
    until("a range in the address", lambda: "from=" in browser.current_url and "to=" in browser.current_url and ready())
    here = browser.current_url
    browser.refresh()
    until("the same after a reload", lambda: ready() and browser.current_url == here and one("#whole").is_displayed())
    xs = lambda: [float(row[1]) for row in file("csv")[0][1:]]
    expect("only the range", 20 <= min(xs()) and max(xs()) <= 80, True)
    # a drag in one panel holds in both
    over = all_of("#overlay-chart .u-over")[0]
    ActionChains(browser).move_to_element_with_offset(over, -60, 0).click_and_hold().move_by_offset(100, 0).release().perform()
    until("another range", lambda: browser.current_url != here and ready())
    expect("in both panels", len(all_of("#overlay-chart .panel")), 2)
    one("#whole").click()
    until("all again", lambda: "from=" not in browser.current_url and ready() and min(xs()) == 9)


def file(kind, other=None):
    """What the buttons of the first panel keep: rows of CSV, and the texts of an SVG."""
    run("window.kept = []; URL.createObjectURL = (b) => { (b.type === 'image/png' ? b.arrayBuffer().then((a) => [...new Uint8Array(a.slice(0, 8))]) : b.text()).then((t) => window.kept.push(t)); return '#'; };"
        "HTMLAnchorElement.prototype.click = () => {}")
    found = []
    for name in filter(None, (kind, other)):
        before = run("return window.kept.length")
        run("document.querySelector(arguments[0]).click()", f"[data-save={name}]")
        found.append(until(f"a file {name}", lambda: run("return window.kept[arguments[0]]", before)))
    rows = list(csv.reader(io.StringIO(found[0]))) if kind == "csv" else found[0]
    return rows, [t.firstChild.data for t in xml.dom.minidom.parseString(found[1]).getElementsByTagName("text") if t.firstChild] if other else None


def files():
    go(FIT + "&metrics=train_loss")
    until("curves", ready)
    rows, words = file("csv", "svg")
    expect("head", rows[0], ["series", "step", "train_loss [nat]"])
    expect("points", len(rows), 601)
    expect("names in the SVG", {"fit rate=1 (3 runs)", "fit rate=2 (3 runs)", "step", "train_loss [nat]"} <= set(words), True)
    expect("a PNG", file("png")[0], [137, 80, 78, 71, 13, 10, 26, 10])


def reads_all():
    """The cursor reads all runs, in all panels."""
    go(FIT + "&metrics=val_acc,train_loss&repeats=mean")
    until("bands", lambda: ready() and "lines" in text("#overlay-note"))
    go(FIT + "&metrics=val_acc,train_loss")
    until("curves", ready)
    ActionChains(browser).move_to_element(all_of("#overlay-chart .u-over")[0]).perform()
    until("six runs in both", lambda: all(len(p.find_elements("css selector", ".readout strong")) == 6 for p in all_of("#overlay-chart .panel")))
    shot("readout")


def pictures():
    go("#/runs?where=experiment%20%3D%20draw&fold=0")
    until("a run", lambda: len(all_of(".grid tbody tr[data-i]")) == 1)
    all_of(".grid tbody tr[data-i='0'] td")[1].click()
    until("a slider of three steps", lambda: one("figure.steps").get_attribute("data-steps") == "3")
    expect("the last one is shown", text("figure.steps figcaption"), "dots-30.png")
    expect("the other picture stands alone", [c.text for c in all_of(".pictures > figure figcaption")], ["map.png"])
    one("figure.steps input").send_keys(Keys.ARROW_LEFT)
    until("the one before", lambda: text("figure.steps figcaption") == "dots-20.png" and "20 (2 of 3)" in text("figure.steps"))
    until("it is there", lambda: run("return document.querySelector('figure.steps img').naturalWidth") == 32)
    shot("pictures")


for part in (opens, picks, across, outliers, zoom, files, reads_all, pictures):
    part()
end()
