# SPDX-License-Identifier: GPL-3.0-or-later
"""Walks the page of a group; see web.page-group for its members."""
from selenium.webdriver.support.ui import Select

from walk import all_of, browser, end, expect, go, one, rows, run, shot, text, until, window

EVIL = "<script>document.title=1</script> eve"


def lines():
    return run("return [...document.querySelectorAll('#view table tbody tr')].map(r => [...r.cells].map(c => c.innerText))")


go("#/group")
until("what is not pulled", lambda: "2 runs that are not in this store" in text("#standing") and "'orch pull'" in text("#standing"))
expect("what is not pushed", "It lacks 2 runs" in text("#standing"), True)
expect("members", [(r[0], r[1], r[3]) for r in lines()], [("bob (you)", "2", "0"), (EVIL, "2", "0"), ("ada", "2", "2")])
expect("a name is text", len(all_of("main script")), 0)
expect("the place in the menu", one("nav a[data-page=group]").get_attribute("aria-current"), "page")
shot("group")
for width in (1280, 800, 390):
    window(width)
    expect(f"no scroll sideways at {width}", run("return document.documentElement.scrollWidth <= innerWidth"), True)
window(1280, True)
shot("group-dark")
window(1280)
# a member's runs, and whose run is whose
# in one step, for the table is drawn anew when the store changes
until("a member's runs", lambda: run("const row = [...document.querySelectorAll('#view table tbody tr')].find(r => r.textContent.startsWith(arguments[0]));"
                                     "row?.querySelector('a').click(); return row !== undefined", EVIL))
until("the runs of a member", lambda: rows() and text("#count").startswith("2 runs"))
until("the member is chosen", lambda: Select(one("#member")).first_selected_option.text == EVIL)
Select(one("#member")).select_by_visible_text("everybody")
until("all runs", lambda: text("#count").startswith("6 runs"))
until("a column of people", lambda: all_of("button[data-sort=who]"))
shot("group-runs")
one("#filter").send_keys("seconds = 0.001")
until("fewer", lambda: text("#count").startswith("3 runs"))
Select(one("#member")).select_by_visible_text("ada")
until("both conditions", lambda: text("#count").startswith("1 run") and one("#filter").get_attribute("value") == "(seconds = 0.001) and who = 'ada'")
Select(one("#member")).select_by_visible_text("bob (you)")
until("another member", lambda: one("#filter").get_attribute("value") == "(seconds = 0.001) and who = 'bob'")
browser.refresh()
until("after a reload", lambda: text("#count").startswith("1 run") and Select(one("#member")).first_selected_option.text == "bob (you)")
end()
