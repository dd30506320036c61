# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the list of saved views; see web.page-views for those that are there."""
from selenium.webdriver.common.keys import Keys

from walk import all_of, browser, end, expect, go, one, press, rows, run, shot, text, until, window


def names():
    return [a.text for a in all_of("#view-list a")]


def opened():
    until("the list", lambda: one("#views summary"))
    if not one("#views").get_attribute("open"):
        one("#views summary").click()
    return until("views", names)


go("#/runs?where=experiment%20%3D%20curves&sort=rate")
until("rows", rows)
until("a pinned view", lambda: [a.text for a in all_of("#pinned a")] == ["mine"])
expect("views", opened(), ["mine", "page"])
shot("views")
one("#save-view").click()
until("the question", lambda: one("dialog #ask-name"))
press("by <rate>", Keys.ENTER)
until("saved", lambda: "by <rate>" in names())
# it leads back to the same state, from elsewhere
go("#/coverage")
opened()
next(a for a in all_of("#view-list a") if a.text == "by <rate>").click()
until("its state", lambda: "sort=rate" in browser.current_url and rows())
expect("the list is closed", one("#views").get_attribute("open"), None)
# pinned, shared, removed
opened()
one("[aria-label=\"pin 'by <rate>'\"]").click()
until("at the top", lambda: [a.text for a in all_of("#pinned a")] == ["by <rate>", "mine"])
one("[aria-label=\"unpin 'mine'\"]").click()
until("one at the top", lambda: [a.text for a in all_of("#pinned a")] == ["by <rate>"])
one("[aria-label=\"share 'by <rate>'\"]").click()
until("shared, and still pinned", lambda: "shared" in text("#view-list") and [a.text for a in all_of("#pinned a")] == ["by <rate>"])
expect("a view is a line", len({round(b.rect["y"]) for b in one("#view-list li").find_elements("css selector", "button")}), 1)
for width in (1280, 800, 390):
    window(width)
    opened()
    until("within the window", lambda: one(".sheet").rect["x"] >= 0 and one(".sheet").rect["x"] + one(".sheet").rect["width"] <= width)
window(1280, True)
opened()
shot("views-dark")
one("[aria-label=\"remove 'by <rate>'\"]").click()
until("gone", lambda: names() == ["mine", "page"] and not all_of("#pinned a"))
# another window saves a view of that name in the meantime: the first attempt says so, the next one replaces it
def saves(name):
    one("#save-view").click()
    until("the question", lambda: one("dialog #ask-name"))
    press(name, Keys.ENTER)


run("import('/js/api.js').then((m) => m.change({do: 'view-save', name: 'race', address: '#/forecast', instead_of: ''}))")
until("the other window's", lambda: "#/forecast" in run("return fetch('/api/v1/views').then((r) => r.json()).then((a) => a.views.filter((v) => v.name === 'race').map((v) => v.address))"))
saves("race")
until("refused", lambda: "was changed since you opened it" in text("#status") and "save yours" in text("#status"))
expect("not replaced", one("#view-list a[href='#/forecast']").text, "race")
saves("race")
until("replaced", lambda: not all_of("#view-list a[href='#/forecast']"))
one("[aria-label=\"remove 'race'\"]").click()
until("gone again", lambda: names() == ["mine", "page"])
# the keyboard: Escape closes, and the focus stays
one("#views summary").send_keys(Keys.ESCAPE)
until("closed", lambda: not one("#views").get_attribute("open"))
# without the key only reading
browser.execute_script("localStorage.clear()")
go("#/runs")
browser.refresh()
opened()
until("why", lambda: "printed" in text("#views"))
expect("the button", one("#save-view").is_enabled(), False)
end()
