# The page of 'orch serve' in headless Chromium, on a store made by a real run. With ORCH_SHOTS=FOLDER it also leaves
# pictures of each page there, 1280 and 390 pixels wide.
. "$(dirname "$0")/../cli/lib.sh"
PYTHON=
for p in python3 /usr/bin/python3; do "$p" -c 'import selenium' 2>/dev/null && PYTHON=$p && break; done
[ -n "$PYTHON" ] || skip 'python3-selenium is not installed (./build.sh browser)'
[ -n "$(command -v chromium)" ] && [ -n "$(command -v chromedriver)" ] || skip 'chromium and chromium-driver are not installed (./build.sh browser)'
. "$(dirname "$0")/store.sh"
serve
ok "$PYTHON" "$(dirname "$0")/page.py" "$base" "$(command -v chromium)" "$(command -v chromedriver)" "${ORCH_SHOTS:-}"
unserve
