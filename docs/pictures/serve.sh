#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of README and docs/serve.md from runs of its own, in a scratch folder, and beside each NAME.png the file
# NAME.txt: the picture's SHA-256 and the texts that it shows, which test docs.page_pictures compares.
#   docs/pictures/serve.sh [BUILD-FOLDER [OUT-FOLDER]]
# Needs chromium, chromium-driver and python3-selenium.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
out=$(cd "${2:-$here}" && pwd)
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
/usr/bin/python3 - "$(cat address)" "$out" <<'P'
import hashlib, json, os, sys, time, urllib.request
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


def settled():
    """The page's texts, once they have been the same for two seconds."""
    text, same = "", 0
    while same < 8:
        time.sleep(0.25)
        now = browser.execute_script("return document.body.innerText")
        same = same + 1 if now and now == text else 0
        text = now
    return text


def shot(name, path):
    browser.get("about:blank")
    browser.get(base + path)
    text = settled()
    browser.save_screenshot(os.path.join(folder, name + ".png"))
    with open(os.path.join(folder, name + ".png"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(os.path.join(folder, name + ".txt"), "w") as file:
        file.write("sha256 %s\n%s\n" % (digest, text))


shot("serve-runs", f"#/runs?where=lr%20%3E%200.01&sort=final_accuracy&chosen={','.join(keys.split(',')[:3])}")
shot("serve-overlay", f"#/overlay?metrics=loss&log=1&runs={keys}")
shot("serve-forecast", "#/forecast?net=resnet50")
browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                        {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
shot("serve-phone", f"#/overlay?metrics=loss&runs={keys}")
browser.quit()
P
