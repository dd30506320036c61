# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the table of runs and the page of a run; see web.page-lab-book for the runs."""
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.keys import Keys

from walk import all_of, browser, end, expect, go, looks, one, press, rows, run, shot, text, until

SWEEP = "#/runs?where=experiment%20%3D%20sweep"


def heads():
    return [h.text.strip(" ▲▼123") for h in all_of(".grid thead th") if h.text.strip()]


def cells(row):
    return [c.text for c in all_of(f".grid tbody tr[data-i='{row}'] td")]


def own_columns():
    """What others declared is no column; what varies here is, and the curves come before the single value."""
    go(SWEEP)
    until("three lines", lambda: len(rows()) == 3 and text("#count") == "9 runs in 3 lines")
    expect("columns", heads(), ["run", "rate", "curve", "val_acc", "train_loss", "best_val_acc", "time", "ended"])
    expect("columns of others", [h for h in heads() if h in ("accuracy", "loss", "odd", "steps")], [])
    until("small curves", lambda: len(all_of(".spark polyline")) == 3)
    looks("own")
    until("the columns of a wide window", lambda: "train_loss" in heads() and "ended" in heads())
    # a choice holds for the experiment, and only for that
    one("#columns summary").click()
    picks = lambda: [label.text for label in all_of("#columns label")]
    until("columns to choose", lambda: "best_val_acc" in picks())
    expect("names that these runs do not have", [n for n in picks() if n in ("accuracy", "odd", "delay")], [])
    next(label for label in all_of("#columns label") if label.text == "train_loss").click()
    until("one less", lambda: "train_loss" not in heads())
    go("#/coverage")
    go(SWEEP)
    until("the choice is remembered", lambda: len(rows()) == 3 and "val_acc" in heads() and "train_loss" not in heads())
    go("#/runs?where=experiment%20%3D%20curves")
    until("another experiment has its own", lambda: "accuracy" in heads() and "rate" in heads())
    go(SWEEP)
    until("rows", lambda: len(rows()) == 3)
    one("#columns summary").click()
    until("the button", lambda: one("#usual").is_displayed())
    one("#usual").click()
    until("the usual columns", lambda: "train_loss" in heads())


def lines_open():
    go(SWEEP + "&sort=rate&order=up")
    until("lines", lambda: len(rows()) == 3)
    expect("a line's run, rate and number", (cells(0)[1], cells(0)[2]), ("▸ 3 runs", "0.1"))
    expect("mean, lowest and highest", ".." in cells(0)[4] and "(" in cells(0)[4], True)
    one(".grid tbody tr[data-i='0'] .opener").click()
    until("its runs", lambda: len(rows()) == 6 and one("tr[data-i='0'][aria-expanded=true]"))
    expect("each with its own number", all(float(cells(i)[4]) < 1 for i in (1, 2, 3)), True)
    expect("a line's level and a run's", [one(f"tr[data-i='{i}']").get_attribute("aria-level") for i in (0, 1)], ["1", "2"])
    expect("open in the address", "open=" in browser.current_url, True)
    browser.refresh()
    until("still open", lambda: len(rows()) == 6)
    shot("line-open")
    # by the keyboard: left closes, right opens, Enter opens a run
    one(".grid tbody tr[tabindex='0']").send_keys(Keys.ARROW_LEFT)
    until("closed", lambda: len(rows()) == 3)
    press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    until("the second one open", lambda: len(rows()) == 6 and one("tr[data-i='1'][aria-expanded=true]"))
    # attempts of one script
    go("#/runs?where=experiment%20%3D%20script")
    until("one line", lambda: len(rows()) == 1 and cells(0)[1] == "▸ 3 runs")
    expect("attempts have no mean", ".." in rows()[0], False)
    one("#fold").click()
    until("each run", lambda: len(rows()) == 3 and "fold=0" in browser.current_url)
    until("forecast beside the measured time", lambda: any("%" in r for r in rows()))


def sorts():
    go(SWEEP + "&fold=0&columns=key,rate,train_loss")
    until("rows", lambda: len(rows()) == 9)
    one("button[data-sort=rate]").click()
    until("by rate", lambda: "sort=rate" in browser.current_url and [cells(i)[1 + 1] for i in range(9)] == ["0.6"] * 3 + ["0.3"] * 3 + ["0.1"] * 3)
    ActionChains(browser).key_down(Keys.SHIFT).click(one("button[data-sort=train_loss]")).key_up(Keys.SHIFT).perform()
    losses = lambda: [float(cells(i)[4]) for i in range(9)]
    sorted_within = lambda: all(losses()[k:k + 3] == sorted(losses()[k:k + 3], reverse=True) for k in (0, 3, 6))
    until("then by loss", lambda: "sort=rate%2Ctrain_loss" in browser.current_url and sorted_within() and [cells(i)[2] for i in range(9)] == ["0.6"] * 3 + ["0.3"] * 3 + ["0.1"] * 3)
    expect("both marked", len(all_of("th[aria-sort=descending]")), 2)


def sorted_by_what_is_no_column():
    """What the runs are sorted by is a column, too."""
    go(SWEEP + "&sort=repeat&order=up&fold=0")
    until("sorted by the repeat", lambda: "repeat" in heads() and one("th[aria-sort=ascending]").text.startswith("repeat"))


def suggestions():
    go("#/runs")
    until("rows", lambda: len(rows()) >= 3)
    box = one("#filter")
    offers = lambda: [o.text for o in all_of("#filter-offers li")]
    box.send_keys("exp")
    until("a name", lambda: "experiment" in offers())
    box.send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    expect("the name is taken", box.get_attribute("value"), "experiment ")
    until("operators", lambda: "=" in offers())
    box.send_keys("= sw")
    until("values", lambda: offers() == ["sweep"])
    shot("suggestions")
    box.send_keys(Keys.ARROW_DOWN, Keys.TAB)
    box.send_keys("and rate = ")
    until("values of a parameter", lambda: {"0.1", "0.3", "0.6"} <= set(offers()))
    box.send_keys("0.3", Keys.ENTER)
    until("filtered", lambda: text("#count") == "3 runs in 1 line")
    expect("the condition", box.get_attribute("value"), "experiment = sweep and rate = 0.3")


def selected():
    return text("#overlay") if one("#overlay").is_displayed() else ""


def selection():
    go(SWEEP + "&fold=0&columns=key,rate")
    until("rows", lambda: len(rows()) == 9)
    one(".grid tbody tr[tabindex='0']").send_keys(Keys.SHIFT + Keys.ARROW_DOWN + Keys.ARROW_DOWN)
    until("three by the keyboard", lambda: "these 3 runs" in selected())
    one("#none").click()
    boxes = lambda: all_of(".grid tbody input[type=checkbox]")
    # a drag over the boxes from the second to the sixth
    at = [(b.rect["x"] + 8, b.rect["y"] + 8) for b in boxes()]  # the rows are drawn anew while the mouse moves
    mouse = ActionBuilder(browser)
    mouse.pointer_action.move_to_location(*at[1]).pointer_down().move_to_location(*at[3]).move_to_location(*at[5]).pointer_up()
    mouse.perform()
    until("five by a drag", lambda: "these 5 runs" in selected())
    one("#none").click()
    boxes()[0].click()
    until("one", lambda: "this run" in selected())
    ActionChains(browser).key_down(Keys.SHIFT).click(boxes()[3]).key_up(Keys.SHIFT).perform()
    until("four by Shift", lambda: "these 4 runs" in selected())
    expect("selected in the address", "chosen=" in browser.current_url, True)
    one("#none").click()
    go(SWEEP)
    until("lines", lambda: len(rows()) == 3)
    boxes()[0].click()
    until("a line selects its runs", lambda: "these 3 runs" in selected())


def actions():
    one("#do-tag").click()
    until("the question", lambda: one("dialog #ask-text"))
    shot("ask")
    press("kept-tag", Keys.ENTER)
    until("what was done", lambda: "3 runs are tagged" in text("#status"))
    one("#commands").click()
    area = until("commands", lambda: one("dialog textarea"))
    expect("the command", area.get_attribute("value"), "orch try --repeat=3 --name=sweep -s rate=0.6 --force -- python3 train.py '{rate}' '{seed}'")
    press(Keys.ESCAPE)
    until("closed", lambda: not all_of("dialog"))
    run("window.kept = []; URL.createObjectURL = (b) => { b.text().then((t) => window.kept.push(t)); return '#'; }; HTMLAnchorElement.prototype.click = () => {}")
    one("#export").click()
    lines = until("a table", lambda: run("return window.kept[0]")).split("\r\n")
    expect("its first line and number of lines", (lines[0].split(",")[:2], len(lines)), (["key", "rate"], 5))
    # two of them: compared
    go(SWEEP + "&fold=0&columns=key,rate&sort=rate&order=up")
    until("rows", lambda: len(rows()) == 9)
    for i in (0, 8):
        all_of(".grid tbody input[type=checkbox]")[i].click()
    one("#compare").click()
    until("compared", lambda: "#/run/" in browser.current_url and "with=" in browser.current_url and "results compared" in text())


def changed():
    """A run opens with what changed since the last one that was no repeat of it."""
    until("parameters that differ", lambda: "rate" in text("#changes"))
    table = [r.text for r in all_of("#changes table tbody tr")]
    expect("before and after", any(r == "rate 0.1 0.6" for r in table) or any(r == "rate 0.6 0.1" for r in table), True)
    expect("an interval of three runs each", "change (95 % interval)" in text("#changes") and "3 and 3" in text("#changes"), True)
    looks("changed")
    go("#/runs?where=experiment%20%3D%20script&fold=0&sort=ended&order=down")
    until("rows", lambda: len(rows()) == 3)
    all_of(".grid tbody tr[data-i='0'] td")[1].click()
    until("the source's lines", lambda: all_of("#changes pre.diff"))
    expect("the line before and after", [e.text.strip() for e in all_of("pre.diff .less, pre.diff .more")], ["-for epoch in range(1, 13):", "+for epoch in range(1, 11):"])
    expect("one run each has no interval", "no interval" in text("#changes"), True)
    here = browser.current_url
    one("[data-step='← run before']").click()
    until("the run before", lambda: browser.current_url != here and "#/run/" in browser.current_url and all_of("#changes pre.diff"))
    one("[data-step='run after →']").click()
    until("back again", lambda: browser.current_url == here and all_of("#changes pre.diff"))
    one("#with").send_keys("@{2}", Keys.ENTER)
    until("with another", lambda: "with=" in browser.current_url and ".05 * random" in text("#changes"))


def reads_only():
    """Without the token nothing can be changed, and the page says why."""
    browser.delete_all_cookies()
    go(SWEEP)
    browser.refresh()
    until("lines", lambda: len(rows()) == 3)
    all_of(".grid tbody input[type=checkbox]")[0].click()
    until("why", lambda: "printed" in text("#read-only"))
    expect("the button", one("#do-tag").is_enabled(), False)


for part in (own_columns, lines_open, sorts, sorted_by_what_is_no_column, suggestions, selection, actions, changed, reads_only):
    part()
end()
