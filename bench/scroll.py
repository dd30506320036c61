#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How smoothly the page's table scrolls over a large store, in a real browser (headless Chromium).

    cmake --build build --target bench_store_fill
    build/bench_store_fill /tmp/big/results.db 100000
    python3 bench/scroll.py build/orch /tmp/big/results.db [SECONDS]

Scrolls the table of runs, a row each, for SECONDS (4) at 10, 60 and 600 pixels a frame (a third of a row, two rows, more than half of
a window) and prints the frames a second, the share of frames that took longer than 16.7 ms, 20 ms (one was missed) and
33.4 ms, and the processor time of the page's main thread a frame, all of it and that of scripts, which the load of the
machine does not lengthen. Exit status 1 when the median of these is above 16.7 ms.
"""
import os
import statistics
import subprocess
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

SCROLL = """
const [pixels, seconds, done] = arguments, box = document.querySelector('.grid'), deltas = [], end = performance.now() + 1000 * seconds;
let before = null, waiting = 0;
requestAnimationFrame(function step(now) {
  if (before !== null) deltas.push(now - before);
  before = now;
  const edge = box.getBoundingClientRect();
  const row = document.elementFromPoint(edge.left + 200, edge.top + edge.height / 2)?.closest('tr');
  waiting += !row || row.classList.contains('waiting') || row.classList.contains('spacer'); // the last step is drawn by now
  box.scrollTop += pixels;
  if (now < end) requestAnimationFrame(step);
  else done([deltas, waiting]);
});"""


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,850"):
        options.add_argument(word)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def metrics(driver):
    return {m["name"]: m["value"] for m in driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}


def main():
    orch, store = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 4
    server = subprocess.Popen([orch, "serve", "--read-only", "--port", "0", "--db", store, "--quiet"], stdout=subprocess.PIPE, text=True)
    driver, costs = None, []
    try:
        base = server.stdout.readline().strip()
        driver = browser()
        driver.set_script_timeout(60)
        driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        for pixels in (10, 60, 600):
            driver.get("about:blank")
            driver.get(base + "#/runs?fold=0") # a row for each run
            WebDriverWait(driver, 30, 0.05).until(lambda d: d.execute_script("return performance.getEntriesByName('runs-drawn').length"))
            before = metrics(driver)
            deltas, waiting = driver.execute_async_script(SCROLL, pixels, seconds)
            after = metrics(driver)
            n = len(deltas)
            cost = {name: 1000 * (after[name] - before[name]) / n for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")}
            costs.append(cost["TaskDuration"])
            if pixels == 10:
                print(f"{driver.find_element('css selector', '.grid table').get_attribute('aria-rowcount')} rows with the heading")
            print(f"{pixels:4} px a frame: {1000 * n / sum(deltas):5.1f} frames/s, median {statistics.median(deltas):5.2f} ms;"
                  f" above 16.7 ms {100 * sum(d > 16.75 for d in deltas) / n:4.1f} %, 20 ms {100 * sum(d > 20 for d in deltas) / n:4.1f} %, 33.4 ms {100 * sum(d > 33.4 for d in deltas) / n:4.1f} %;"
                  f" rows not there yet in {100 * waiting / n:4.1f} % of frames; processor {cost['TaskDuration']:5.2f} ms a frame (scripts {cost['ScriptDuration']:.2f},"
                  f" styles {cost['RecalcStyleDuration']:.2f}, layout {cost['LayoutDuration']:.2f})")
    finally:
        if driver:
            driver.quit()
        server.terminate()
        server.wait()
    sys.exit(statistics.median(costs) > 16.7)


main()
