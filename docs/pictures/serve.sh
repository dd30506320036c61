#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of docs/serve.md from runs of its own, in a scratch folder:
#   docs/pictures/serve.sh [BUILD-FOLDER]
# Needs chromium, chromium-driver and python3-selenium.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
PATH=$build:$PATH
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
cp "$here/serve.recipe" "$scratch"
cd "$scratch"
export ORCH_USER=ada
git init -q -b main . && git add -A
git -c user.name=orch -c user.email=orch@example.org commit -qm runs
orch run serve.recipe --no-progress
orch serve --port 0 --quiet >address &
server=$!
while [ ! -s address ]; do sleep 0.1; done
/usr/bin/python3 - "$(cat address)" "$here" <<'P'
import json, os, sys, time, urllib.request
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

address, folder = sys.argv[1:]
base = address.split("?")[0]
options = webdriver.ChromeOptions()
options.binary_location = "/usr/bin/chromium"
for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,860"):
    options.add_argument(word)
browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
browser.get(address)
with urllib.request.urlopen(base + "api/v1/runs?where=repeat%3D1&columns=key&sort=lr") as answer:
    keys = ",".join(row[0] for row in json.load(answer)["rows"])


def shot(name, path):
    browser.get("about:blank")
    browser.get(base + path)
    time.sleep(3)
    browser.save_screenshot(os.path.join(folder, name))


shot("serve-runs.png", f"#/runs?where=lr%20%3E%200.01&sort=final_accuracy&chosen={','.join(keys.split(',')[:3])}")
shot("serve-overlay.png", f"#/overlay?metrics=loss&log=1&runs={keys}")
shot("serve-forecast.png", "#/forecast?net=resnet50")
browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
shot("serve-phone.png", f"#/overlay?metrics=loss&runs={keys}")
browser.quit()
P
