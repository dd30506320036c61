#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How quickly the page answers over a large store, in a real browser (headless Chromium).

    cmake --build build --target bench_store_fill
    build/bench_store_fill /tmp/big/results.db 100000 curves      # 100,000 runs, 14 million points; minutes
    python3 bench/serve.py build/orch /tmp/big/results.db [ROUNDS]

Prints, of ROUNDS (5) loads each, the least, the median and the greatest milliseconds from the start of the navigation
until the table's rows, and the curves of fifty runs of 100,000 points each, are drawn: first a sample of each curve,
then the least and the greatest point of each bucket of steps. Each load begins with an empty
browser cache; the first of them finds the server fresh. Exit status 1 when a median is above 150 ms or 500 ms.
"""
import json
import statistics
import subprocess
import sys
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--window-size=1280,850"):
        options.add_argument(word)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def load(driver, url, mark):
    """Milliseconds from the navigation's start to the page's own mark."""
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.get(url)
    ask = "return performance.getEntriesByName(arguments[0])[0]?.startTime"
    return WebDriverWait(driver, 30, 0.02).until(lambda d: d.execute_script(ask, mark))


def main():
    orch, store = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    server = subprocess.Popen([orch, "serve", "--read-only", "--port", "0", "--db", store, "--quiet"],
                              stdout=subprocess.PIPE, text=True)
    driver = None
    try:
        base = server.stdout.readline().strip()
        driver = browser()
        first = [load(driver, base, "runs-drawn") for _ in range(rounds)]
        with urllib.request.urlopen(base + "api/v1/runs?columns=key&limit=50") as answer:
            keys = ",".join(row[0] for row in json.load(answer)["rows"])
        url = f"{base}#/overlay?runs={keys}&metrics=step_loss"
        overlay = [load(driver, url, "overlay-drawn") for _ in range(rounds)]
        whole = [load(driver, url, "overlay-whole") for _ in range(rounds)]
        points = driver.find_element("id", "overlay-note").text
    finally:
        if driver:
            driver.quit()
        server.terminate()
        server.wait()
    late = False
    for name, times, most in (("first view", first, 150), ("fifty curves, sampled", overlay, 500),
                              ("fifty curves, all points read", whole, None)):
        middle = statistics.median(times)
        late |= most is not None and middle > most
        goal = f" (goal {most} ms)" if most else ""
        print(f"{name}: {min(times):.0f} ms at best, median {middle:.0f} ms{goal}, "
              f"{max(times):.0f} ms at worst of {rounds}")
    print(points.split(".")[0])
    return late


if __name__ == "__main__":
    sys.exit(main())
