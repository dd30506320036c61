# The page of 'orch serve' in headless Chromium, on a store made by a real run. With ORCH_SHOTS=FOLDER it also leaves
# pictures of each page there, 1280 and 390 pixels wide.
. "$(dirname "$0")/../cli/lib.sh"
. "$(dirname "$0")/browser.sh"
. "$(dirname "$0")/store.sh"
serve
walk page.py
unserve
