# SPDX-License-Identifier: GPL-3.0-or-later
"""A headless Chromium that walks the page of 'orch serve' as a reader would, for the scripts beside it, whose first
arguments are: ADDRESS CHROMIUM CHROMEDRIVER [FOLDER for pictures]. Whatever is not as it should be ends the script with
what the page shows, and status 1."""
import os
import sys
import tempfile
import time

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

ADDRESS, CHROMIUM, DRIVER = sys.argv[1:4]
BASE = ADDRESS.split("?")[0]
SHOTS = sys.argv[4] if len(sys.argv) > 4 else ""
PROFILE = tempfile.TemporaryDirectory(ignore_cleanup_errors=True) # of the browser; removed at the end


class Element(WebElement):
    """An element that is looked up anew where the page has replaced it, as a list does when a run goes on."""
    css, index = None, 0

    def again(self, what):
        for _ in range(600):
            try:
                return what()
            except StaleElementReferenceException:
                if not self.css:
                    raise
                time.sleep(0.05)
                found = browser.find_elements(By.CSS_SELECTOR, self.css)
                if self.index < len(found):
                    self._id = found[self.index].id
        return what()

    def _execute(self, command, params=None):
        return self.again(lambda: super(Element, self)._execute(command, params))

    def get_attribute(self, name):
        return self.again(lambda: super(Element, self).get_attribute(name))

    def is_displayed(self):
        return self.again(lambda: super(Element, self).is_displayed())


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--window-size=1280,900", "--force-device-scale-factor=1", f"--user-data-dir={PROFILE.name}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = webdriver.Chrome(service=Service(DRIVER), options=options)
    opened._web_element_cls = Element
    return opened


browser = open_browser()


def until(what, condition, seconds=300):
    """What the condition gives as soon as it is true."""
    try:
        return WebDriverWait(browser, seconds, 0.1, ignored_exceptions=[Exception]).until(lambda d: condition())
    except Exception:
        fail(f"waited in vain: {what}")


def fail(what):
    text = browser.find_element(By.TAG_NAME, "body").text
    print(f"{what}\n--- at {browser.current_url}\n{text[:3000]}")
    print(*(f"console: {line['message'][:300]}" for line in browser.get_log("browser")), sep="\n")
    browser.quit()
    sys.exit(1)


def expect(what, got, wanted):
    if got != wanted:
        fail(f"{what}: {got!r}, expected {wanted!r}")


def one(css):
    element = browser.find_element(By.CSS_SELECTOR, css)
    element.css = css
    return element


def all_of(css):
    elements = browser.find_elements(By.CSS_SELECTOR, css)
    for index, element in enumerate(elements):
        element.css, element.index = css, index
    return elements


def go(path):
    browser.get("about:blank")
    browser.get(BASE + path)


def press(*keys):
    """To what has the focus, which the page may just have replaced."""
    for _ in range(100):
        try:
            return browser.switch_to.active_element.send_keys(*keys)
        except StaleElementReferenceException:
            time.sleep(0.05)
    return browser.switch_to.active_element.send_keys(*keys)


def run(script, *words):
    return browser.execute_script(script, *words)


def window(width, is_dark=False, height=900):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})


def text(css="main"):
    return one(css).text


def rows():
    """The texts of all rows at one moment."""
    return run("return [...document.querySelectorAll('.grid tbody tr[data-i]')].map((r) => r.innerText.replaceAll('\\t', ' ').trim())")


def shot(name):
    if SHOTS:
        time.sleep(0.3)
        browser.save_screenshot(os.path.join(SHOTS, f"{name}.png"))


def looks(name):
    """Pictures at 1280 and 800 pixels, light and dark; nothing may be wider than the window."""
    for width in (1280, 800):
        for is_dark in (False, True):
            window(width, is_dark)
            time.sleep(0.4)
            expect(f"{name}: width of the page at {width} pixels", run("return document.documentElement.scrollWidth"), width)
            shot(f"{name}-{width}-{'dark' if is_dark else 'light'}")
    window(1280)
    time.sleep(0.5)  # the page is shown again in the other colours
    until("it is shown again", lambda: not all_of("[aria-busy]"))


def end():
    """The console has nothing to say; the browser ends."""
    noise = [line["message"] for line in browser.get_log("browser") if line["level"] == "SEVERE" and "status of 4" not in line["message"]]
    if noise:
        fail("the console:\n" + "\n".join(noise))
    browser.quit()
    print("walked")


browser.get(ADDRESS)
browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["notifications"]})
